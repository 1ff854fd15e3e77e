"""The gallery: every example runs by itself, draws, leaves nothing behind and uses public names."""

import ast
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from api_reference import PACKAGES

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted(ROOT.glob("examples/plot_*.py"))
NEXT = "# %%\n# What next\n# ---------\n"
# Runs an example as a script, then tells how many figures it drew.
RUN = """
import runpy, sys
import matplotlib.pyplot as plt
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
print(f"\\n{len(plt.get_fignums())} figures")
"""

each_example = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


def cells(path):
    """The text of an example: its docstring, and the comments that open its cells."""
    source = path.read_text(encoding="utf-8")
    prose = [
        line[2:] if line.startswith("# ") else "" for line in re.findall(r"(?m)^#(?! %%).*", source)
    ]
    return "\n".join([ast.get_docstring(ast.parse(source)), *prose])


def imported(path):
    """Names that an example imports from nldd, each with the module that it takes it from."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "nldd":
            yield from ((node.module, name.name) for name in node.names)
        elif isinstance(node, ast.Import):
            yield from ((name.name, "") for name in node.names if name.name.startswith("nldd"))


def is_public(target):
    """Whether a role such as ``~nldd.NLDDClassifier.predict`` points to what users may rely on."""
    names = target.lstrip("~").split(".")
    n = 2 if ".".join(names[:2]) in PACKAGES else 1
    thing, rest = import_module(".".join(names[:n])), names[n:]
    if rest and rest[0] not in thing.__all__:
        return False
    for name in rest:
        thing = getattr(thing, name, None)
    return thing is not None


def test_the_head_of_the_gallery_names_every_example():
    assert len(EXAMPLES) >= 10
    header = (ROOT / "examples/GALLERY_HEADER.rst").read_text(encoding="utf-8")
    assert sorted(re.findall(r":doc:`(plot_\w+)`", header)) == [path.stem for path in EXAMPLES]


@each_example
def test_an_example_opens_with_a_title_and_what_it_shows(path):
    over, title, under, blank, *about = ast.get_docstring(
        ast.parse(path.read_text(encoding="utf-8"))
    ).splitlines()
    assert over == under == "=" * len(title) and not blank
    sentences = re.findall(r"[.:](?:\s|$)", " ".join(about))
    assert 2 <= len(sentences) <= 5, sentences


@each_example
def test_an_example_ends_with_what_to_read_next(path):
    before, head, last = path.read_text(encoding="utf-8").rpartition(NEXT)
    assert head and before.count("# %%") >= 2
    assert all(line.startswith("#") for line in last.splitlines())
    assert re.search(r":doc:`/?[\w-]+`", last)


@each_example
def test_an_example_imports_public_names_only(path):
    names = list(imported(path))
    assert names
    for module, name in names:
        assert module in PACKAGES and name in import_module(module).__all__, f"{module}.{name}"


@each_example
def test_links_of_an_example_lead_somewhere(path):
    text = cells(path)
    for page in re.findall(r":doc:`([^`]+)`", text):
        folder, ending = ("docs", ".md") if page.startswith("/") else ("examples", ".py")
        assert (ROOT / folder / f"{page.lstrip('/')}{ending}").is_file(), page
    for target in re.findall(r":(?:class|func|meth|mod|data):`([^`]+)`", text):
        assert target.lstrip("~").startswith("nldd."), "other projects' pages cannot be linked"
        assert is_public(target), target


@pytest.mark.slow
@each_example
def test_an_example_runs_draws_and_leaves_nothing_behind(path, tmp_path):
    environment = {**os.environ, "MPLBACKEND": "agg", "OPENBLAS_NUM_THREADS": "1"}
    work, temporary = tmp_path / "work", tmp_path / "temporary"
    for folder in (work, temporary):
        folder.mkdir()
    environment |= {"TMPDIR": str(temporary), "TEMP": str(temporary), "TMP": str(temporary)}
    words = [sys.executable, "-W", "error", "-c", RUN, str(path)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=work, env=environment)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert int(re.findall(r"(\d+) figures$", done.stdout)[0]) >= 1
    assert not list(work.iterdir()) and not list(temporary.iterdir())
