"""What SECURITY.md claims: each claim names its tests; here are those that no other file has."""

import ast
import re
import socket
from dataclasses import replace
from pathlib import Path

import click
import pytest
from sklearn.ensemble import GradientBoostingClassifier

import nldd
from coding_tables import make_study, refuse
from nldd.cli import cli
from nldd.coding.model_file import load_coding_model, save_coding_model
from nldd.coding.review.server import listen
from nldd.estimators._nldd import NLDDClassifier
from nldd.exceptions import NLDDWarning

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "SECURITY.md").read_text("utf-8")
SOURCE = Path(nldd.__file__).parent
TREES = {
    path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text("utf-8"))
    for path in SOURCE.rglob("*.py")
}


def test_every_claim_names_tests_that_are_there():
    table = PAGE[PAGE.index("## Where each claim is tested") :]
    rows = re.findall(r"^\| ([^|]+) \| (`tests/[^|]+) \|$", table, re.MULTILINE)
    assert len(rows) == 16
    for claim, files in rows:
        for name in re.findall(r"`([^`]+)`", files):
            text = (ROOT / name).read_text("utf-8")
            assert re.search(r"^def test_", text, re.MULTILINE), (claim, name)


# Code


def imported(tree):
    """Modules that a file imports, wherever it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def users_of(*modules):
    return {
        path
        for path, tree in TREES.items()
        for name in imported(tree)
        if any(name == module or name.startswith(f"{module}.") for module in modules)
    }


def test_nothing_is_unpickled():
    assert users_of("pickle", "marshal", "shelve", "dill", "cloudpickle") == set()
    loads = [
        path
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("joblib.load", "np.load")
        if not any(k.arg == "allow_pickle" and not k.value.value for k in node.keywords)
    ]
    assert loads == []


def test_no_text_becomes_python():
    calls = {
        (path, ast.unparse(node.func))
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    }
    assert not {path for path, name in calls if name in ("eval", "exec", "os.system", "os.popen")}


def test_only_trusted_loads_other_types_and_no_command_passes_it():
    passing = {
        path
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and any(k.arg == "trusted" for k in node.keywords)
    }
    # They pass on what their own caller has given.
    assert passing == {"persistence/__init__.py", "persistence/_archive.py", "coding/model_file.py"}
    words = {option for command in every_command(cli) for p in command.params for option in p.opts}
    assert not [word for word in words if "trust" in word]
    # Both spellings of the loader of coding models, by the position of `trusted`, would show here.
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("load_coding_model"):
                assert len(node.args) == 1, path


def every_command(group):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield command
        if isinstance(command, click.Group):
            yield from every_command(command)


@pytest.mark.filterwarnings("ignore::nldd.ZeroWeightWarning")
def test_model_of_a_foreign_type_is_refused_by_commands(tmp_path, capsys):
    make_study(tmp_path)
    path = tmp_path / "model.nldd"
    model = load_coding_model(path)
    base = GradientBoostingClassifier(n_estimators=1, max_depth=1)
    X = model.features.transform(model.answers)
    with pytest.warns(NLDDWarning, match="trusted"):
        save_coding_model(replace(model, classifier=NLDDClassifier(base).fit(X, model.Y)), path)
    for words in (
        ("predict", path, tmp_path / "new.csv", "-o", tmp_path / "c.csv"),
        ("triage", path),
    ):
        said, _ = refuse(capsys, *words)
        assert "GradientBoostingClassifier" in said
    assert not (tmp_path / "c.csv").exists()


# Connections


def test_connections_are_opened_by_data_sets_alone():
    """The review listens, and its server is uvicorn's; nothing else has a socket."""
    clients = ("requests", "pooch", "urllib.request", "http.client", "ftplib", "smtplib", "ssl")
    assert users_of(*clients) == {"bench/datasets/catalogue.py", "bench/datasets/fetch.py"}
    assert users_of("socket", "socketserver", "http.server") == {"coding/review/server.py"}


def test_the_server_listens_on_loopback_and_has_no_word_for_another():
    with listen(0) as found:
        assert found.family == socket.AF_INET
        assert found.getsockname()[0] == "127.0.0.1"
    review = next(command for command in every_command(cli) if command.name == "review")
    assert not [word for p in review.params for word in p.opts if "host" in word or "bind" in word]


# The page


@pytest.mark.parametrize(
    "path", sorted((SOURCE / "coding/review/page").glob("*.js")), ids=lambda p: p.name
)
def test_scripts_of_the_page_write_text_only(path):
    text = path.read_text("utf-8")
    writing = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|DOMParser"
    running = r"\beval\(|new Function|javascript:|setAttribute\(\s*[\"']on"
    assert re.findall(f"{writing}|{running}", text) == []
    assert re.findall(r"https?://(?!www\.w3\.org/)", text) == []


def test_the_page_itself_has_no_inline_script_and_no_other_host():
    text = (SOURCE / "coding/review/page/index.html").read_text("utf-8")
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\bon\w+=|https?://", text) == []
