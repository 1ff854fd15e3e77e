"""Applications whose extra is not installed say so, in one sentence with the command."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("extra", "library", "words"),
    [("coding", "xlsxwriter", ["fit", "a.csv"]), ("bench", "pooch", ["datasets", "list"])],
)
def test_a_missing_extra_is_named_with_the_command(extra, library, words):
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "import nldd; nldd.NLDDClassifier; nldd.load_model\n"
        f"from nldd.cli import run; sys.exit(run({words!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"Error: nldd.{extra} needs {library}, which is not installed.",
        f'Try: pip install "nldd[{extra}]"',
    ]
