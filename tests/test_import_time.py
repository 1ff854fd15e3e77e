"""Importing nldd and asking for help stay fast: nothing heavy is loaded before it is used."""

import ast
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "wait4"), reason="CPU time of a child needs wait4")

IMPORT = ("import nldd",)
HELP = ("from nldd.cli import main; main()", "--help")
HEAVY = ["numba", "sklearn", "scipy", "numpy", "joblib", "dask", "distributed", "pandas"]
RUNS = 5
MOST_SECONDS = 0.2


def environment():
    """Without what would measure coverage in the child, which costs more than nldd itself."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COV")}


def cpu_seconds(code, *arguments):
    """User and system time of one Python process; unlike time on the clock, not that of others."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.DEVNULL, env=environment()
    )
    # Just this child: other tests of this process may have children of their own.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


@pytest.mark.parametrize("command", [IMPORT, HELP], ids=["import nldd", "nldd --help"])
def test_start_takes_hardly_longer_than_python_itself(command):
    # In turn, so that a busy spell of the machine hits both; the fastest run has least noise.
    pairs = [(cpu_seconds(*command), cpu_seconds("pass")) for _ in range(RUNS)]
    ours, bare = (min(times) for times in zip(*pairs, strict=True))
    assert ours - bare <= MOST_SECONDS


@pytest.mark.parametrize(
    "code",
    ["import nldd", "from nldd.cli import run; run(['--help'])", "import nldd; dir(nldd)"],
    ids=["import nldd", "nldd --help", "dir(nldd)"],
)
def test_start_loads_nothing_heavy(code):
    loaded = f"import sys; sys.exit(' '.join(name for name in {HEAVY} if name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{loaded}"],
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )
    assert done.stderr.split() == []  # sys.exit writes a text there


def test_the_check_sees_what_is_loaded():
    """Or the test above would pass whatever happened."""
    code = f"import sys, numpy; sys.exit(' '.join(name for name in {HEAVY} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.split() == ["numpy"]


def test_nldd_loads_no_other_method():
    code = "from nldd import NLDDClassifier\nimport nldd.io; nldd.persistence._models.load_model"
    others = "print([name for name in sys.modules if name.startswith('nldd.estimators._')])"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\n{others}"],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    )
    loaded = {name.removeprefix("nldd.estimators.") for name in ast.literal_eval(done.stdout)}
    of_base = {"_base_choice", "_label_models", "_label_probabilities"}
    assert loaded == {"_nldd", "_best_labelset", "_explanation", *of_base}
