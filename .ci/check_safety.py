"""``make lint``: what SECURITY.md says of the sources as a whole.

Prints what is wrong, one line each, and then fails. Pickle, `eval` and shells are left to ruff.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click

import nldd
from nldd.cli import cli

SOURCE = Path(nldd.__file__).parent
TREES = {
    path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text("utf-8"))
    for path in sorted(SOURCE.rglob("*.py"))
}
# Modules that open connections or listen, and the only files that may import them.
CLIENTS = {"requests", "pooch", "urllib.request", "http.client", "ftplib", "smtplib", "ssl"}
SERVERS = {"socket", "socketserver", "http.server"}
MAY_IMPORT = [
    (CLIENTS, {"bench/datasets/catalogue.py"}),
    (SERVERS, {"coding/review/server.py"}),
]
# They pass on what their own caller has given.
MAY_TRUST = {"persistence/__init__.py", "persistence/_archive.py", "coding/model_file.py"}
PAGE = SOURCE / "coding" / "review" / "page"
IN_SCRIPTS = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|DOMParser|\beval\(|new Function"
    r"|javascript:|setAttribute\(\s*[\"']on|https?://(?!www\.w3\.org/)"
)
IN_PAGE = re.compile(r"<script(?![^>]*\bsrc=)|<style|\bon\w+=|https?://")


def connection_problems() -> Iterator[str]:
    """Imports of modules for connections outside of the files that are meant to have them."""
    for modules, allowed in MAY_IMPORT:
        for path, tree in TREES.items():
            found = modules & set(_imported(tree))
            if found and path not in allowed:
                yield f"{path} imports {', '.join(sorted(found))}: only {sorted(allowed)} may"


def trust_problems() -> Iterator[str]:
    """Loading of foreign types that no caller has named, and of arrays with objects."""
    for path, tree in TREES.items():
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            name, given = ast.unparse(call.func), {key.arg: key.value for key in call.keywords}
            if "trusted" in given and path not in MAY_TRUST:
                yield f"{path}:{call.lineno} passes trusted="
            if name.endswith("load_coding_model") and len(call.args) != 1:
                yield f"{path}:{call.lineno} may pass trusted= by its position"
            pickles = ast.unparse(given["allow_pickle"]) if "allow_pickle" in given else "True"
            if name in ("joblib.load", "np.load") and pickles != "False":
                yield f"{path}:{call.lineno} may unpickle"
    for command in _every_command(cli):
        options = [word for parameter in command.params for word in parameter.opts]
        yield from (f"nldd {command.name}: {word}" for word in options if "trust" in word)
        if command.name == "review":
            yield from (f"nldd review: {o}" for o in options if "host" in o or "bind" in o)


def page_problems() -> Iterator[str]:
    """Scripts of the review page that write more than text; scripts and hosts within the page."""
    for path in sorted(PAGE.glob("*.js")):
        yield from (f"{path.name}: {bad}" for bad in IN_SCRIPTS.findall(path.read_text("utf-8")))
    yield from (f"index.html: {bad}" for bad in IN_PAGE.findall((PAGE / "index.html").read_text()))


def _imported(tree: ast.Module) -> Iterator[str]:
    """Modules that a file imports anywhere, and the packages around them."""
    for node in ast.walk(tree):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[:i]) for i in range(1, len(parts) + 1))


def _every_command(group: click.Group) -> Iterator[click.Command]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command
        yield command
        if isinstance(command, click.Group):
            yield from _every_command(command)


if __name__ == "__main__":
    found = [*connection_problems(), *trust_problems(), *page_problems()]
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
