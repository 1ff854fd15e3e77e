"""The house: packages keep to their doors, rooms have a natural size, a command loads little."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import nldd
from coding_tables import make_study

SOURCE = Path(nldd.__file__).parent
MODULES = {
    ".".join(("nldd", *path.relative_to(SOURCE).with_suffix("").parts)): path
    for path in sorted(SOURCE.rglob("*.py"))
}
SMALLEST = 60
# Private modules with one user that are rooms of their own all the same, and why.
REASONS = {"nldd.__main__": "`python -m nldd` looks for it by this name"}


def imports(path):
    """Modules that a file names in its imports, wherever they stand."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
    return found & MODULES.keys()


@pytest.fixture(scope="module")
def all_imports():
    return {module: imports(path) for module, path in MODULES.items()}


def is_private(module):
    return module.rpartition(".")[2].startswith("_") and not module.endswith("__init__")


def test_no_package_imports_a_private_module_of_another(all_imports):
    reached = [
        (module, used)
        for module, users in all_imports.items()
        for used in users
        if used.count(".") == 2 and is_private(used) and module.split(".")[1] != used.split(".")[1]
    ]
    assert reached == []


def test_small_private_modules_have_several_users(all_imports):
    alone = []
    for module, path in MODULES.items():
        users = [user for user, used in all_imports.items() if module in used]
        small = len(path.read_text(encoding="utf-8").splitlines()) < SMALLEST
        if is_private(module) and small and len(users) <= 1:
            alone.append(module)
    assert sorted(alone) == sorted(REASONS)


@pytest.mark.parametrize("most", [80])
def test_predict_loads_few_modules(most, tmp_path):
    """People wait for them whenever they run it."""
    make_study(tmp_path)
    code = (
        "import sys; from nldd.coding import Policy, code_table, load_coding_model\n"
        "print(*sys.modules); from nldd.cli import run\n"
        "assert run(['predict', 'model.nldd', 'new.csv', '-o', 'coded.csv']) == 0\n"
        "print(*sys.modules)"
    )
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path)
    first, *_, last = (line.split() for line in done.stdout.splitlines())
    assert sum(name.startswith("nldd.coding") for name in first) <= 17
    loaded = [name for name in last if name.split(".")[0] == "nldd"]
    assert len(loaded) <= most, sorted(loaded)
    unwanted = ("matplotlib", "jinja2", "nldd.displays", "nldd.experiments")
    assert not [name for name in last if name.startswith(unwanted)]
