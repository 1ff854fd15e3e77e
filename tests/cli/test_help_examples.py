"""The help of every command has examples, and they do what they say."""

import re
import shlex
import shutil
from pathlib import Path

import click
import pytest

from bench.report.records import grid, write_records
from coding.review.made_review import decide as decide_items
from coding_tables import ADDED, COLUMNS, HEADER, PHRASES, answers, call, read_csv, write_csv
from nldd import cli
from nldd.coding.guarantee import GuaranteeTarget
from nldd.coding.model_file import load_coding_model, save_coding_model
from nldd.coding.review.exchange import write_export
from nldd.coding.review.rounds import prepare_review
from nldd.coding.review.store import Store

DOCS = Path(__file__).parents[2] / "docs"
HEAVY = ("numpy", "scipy", "sklearn", "matplotlib", "jinja2", "openpyxl", "pyarrow")

# These are read by the command line as far as their last option, but not run.
NOT_RUN = {
    "nldd demo survey": "half a minute; test_coding_commands runs it",
    "nldd demo survey --out survey": "half a minute; test_coding_commands runs it",
    "nldd demo": "ten folds on yeast; test_cli runs two",
    "nldd demo yeast": "ten folds on yeast; test_cli runs two",
    "nldd demo yeast --folds 5 --out demo": "five folds on yeast; test_cli runs two",
    "nldd review model.nldd new.csv --target-accuracy 0.9 --audit 50": "serves until Ctrl-C",
    "nldd review model.nldd new.csv --show age,region --coder Ann": "serves until Ctrl-C",
    "nldd review model.nldd new.csv --port 8765 --no-browser": "serves until Ctrl-C",
    "nldd datasets fetch emotions": "needs the network; test_datasets has a server",
    "nldd datasets fetch emotions scene": "needs the network",
    "nldd datasets fetch all --data-dir /data/multilabel": "needs the network",
    "nldd datasets verify": "needs the files of the catalogue; test_datasets has some",
    "nldd datasets verify emotions scene": "needs the files of the catalogue",
    "nldd benchmark --datasets yeast": "minutes",
    "nldd benchmark --datasets yeast --methods BR,NLDD --out yeast": "minutes",
    "nldd benchmark --protocol paper --datasets emotions,yeast": "hours, and needs the network",
}


def commands(command=cli.cli, path=("nldd",)):
    """All commands and their words, groups before what is in them."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), (*path, name))


def examples(command):
    """Lines of the examples in a command's help."""
    _, _, part = command.help.partition("Example")
    return [line.strip() for line in part.splitlines()[1:] if line.strip()]


COMMANDS = dict(commands())
EXAMPLES = {line: path for path, command in COMMANDS.items() for line in examples(command)}


def words_of(line):
    """The words behind ``nldd``, up to where the shell sends the output elsewhere."""
    words = shlex.split(line, comments=True)
    places = [i for i, word in enumerate(words) if word in (">", ">>", "|")]
    return words[1 : min(places, default=len(words))]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with files of all names that examples use."""
    folder = tmp_path_factory.mktemp("examples")
    rows = answers(120)
    marks = [f"q1_{code}" for code in PHRASES]
    write_csv(folder / "answers.csv", rows)
    in_columns = [(*row, *(int(code in row[-1].split(";")) for code in PHRASES)) for row in rows]
    one_each = [(*row[-1].split(";"), "", "")[:3] for row in rows]
    from nldd.coding.tables.spreadsheet import frame_of
    from nldd.coding.tables.writing import write_table

    whole = ((*row, *codes) for row, codes in zip(in_columns, one_each, strict=True))
    names = (*HEADER, *marks, "code1", "code2", "code3")
    columns = dict(zip(names, zip(*whole, strict=True), strict=True))
    write_table(folder / "answers.xlsx", frame_of(columns))
    numbered = [(i, i % 7, *row[len(HEADER) :]) for i, row in enumerate(in_columns)]
    labels = [f"label_{i}" for i in range(len(PHRASES))]
    write_csv(folder / "numbers.csv", numbered, ("a", "b", *labels))
    (folder / "my-data.arff").write_text(arff(numbered, labels))
    new = answers(30, seed=1)
    write_csv(folder / "new.csv", [row[:-1] for row in new], HEADER[:-1])
    write_csv(folder / "corrected.csv", answers(20, seed=2))
    write_csv(folder / "coded-by-people.csv", new)
    write_csv(folder / "codebook.csv", [("pay", "Salaries"), ("rooms", "")], ("code", "name"))
    write_csv(folder / "ann.csv", rows)
    other = [(*row[:-1], rows[i // 5][-1]) for i, row in enumerate(rows)]
    write_csv(folder / "bob.csv", other)
    both = [(*row, who) for who, coded in (("Ann", rows), ("Bob", other)) for row in coded]
    write_csv(folder / "all.csv", both, (*HEADER, "coder"))
    model = folder / "model.nldd"
    words = (*COLUMNS, "--features", "age,region", "--folds", "2", "--no-report", "-o", model)
    assert call("fit", folder / "answers.csv", *words) == 0
    coded = folder / "coded.csv"
    assert call("predict", model, folder / "new.csv", "-o", coded, "--max-theta", "1") == 0
    header, cells = read_csv(coded)
    # What the machine coded and people coded as well: `audit` takes it, and `evaluate` too.
    write_csv(coded, [(*a, b[-1]) for a, b in zip(cells, new, strict=True)], (*header, "codes"))
    checked = [(*row, "no" if i % 9 == 0 else "yes") for i, row in enumerate(cells)]
    write_csv(folder / "coded.audit.csv", checked[:20], (*header, "nldd_check"))
    write_csv(folder / "second.csv", checked[20:], (*header, "nldd_check"))
    write_csv(
        folder / "review.csv",
        [(*row, *[""] * len(ADDED), new[0][-1]) for row in read_csv(folder / "new.csv")[1][:12]],
        (*HEADER[:-1], *ADDED, "codes"),
    )
    make_reviews(folder, new)
    write_records(
        folder / "nldd-results" / "default", grid([[0.3, 0.2]], ["yeast"], ("BR", "NLDD"))
    )
    return folder


def make_reviews(folder, rows):
    """Reviews of the page, and annotations of Label Studio that are to join one."""
    promise = GuaranteeTarget(0.9, 0.9, "subset", "theta")
    for name in ("new", "ann", "bob"):
        store = folder / f"{name}.review.db"
        prepare_review(folder / "model.nldd", folder / "new.csv", store, promise, n_audit=5)
        decide_items(store, {i: row[-1].split(";") for i, row in enumerate(rows, 1)}, name)
    with Store.open(folder / "ann.review.db") as opened:
        write_export(opened, folder / "annotated.json")


def arff(rows, labels):
    names = [*("a", "b"), *labels]
    kinds = ["numeric"] * 2 + ["{0,1}"] * len(labels)
    head = [f"@attribute {name} {kind}" for name, kind in zip(names, kinds, strict=True)]
    lines = [",".join(map(str, row)) for row in rows]
    return "\n".join([f"@relation 'mine: -C -{len(labels)}'", *head, "@data", *lines, ""])


@pytest.fixture
def folder(prepared, tmp_path, monkeypatch):
    """A copy to work in, so that examples do not build on one another."""
    place = tmp_path / "work"
    shutil.copytree(prepared, place)
    monkeypatch.chdir(place)
    return place


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_has_an_example(path):
    lines = examples(COMMANDS[path])
    assert lines
    assert all(line.startswith("nldd ") for line in lines)
    if path != ("nldd",):
        assert any(tuple(shlex.split(line)[: len(path)]) == path for line in lines)


def to_run():
    """Examples, of which benchmarks take a minute even on small data."""
    for line in EXAMPLES:
        if line not in NOT_RUN:
            slow = line.startswith("nldd benchmark")
            yield pytest.param(line, marks=pytest.mark.slow if slow else (), id=line)


def changed(path, place):
    """A model with one step more, and where to put it."""
    return load_coding_model(path).record("update", "corrected.csv", "0" * 64, 20, 0), place


@pytest.mark.parametrize("line", list(to_run()))
def test_examples_run(line, folder, capsys):
    if line.startswith("nldd datasets info answers.csv"):
        shutil.copy("numbers.csv", "answers.csv")  # that example is for a table of numbers
    if line.startswith("nldd audit coded.csv"):  # checks of people are not replaced
        (folder / ("second.csv" if "--besides" in line else "coded.audit.csv")).unlink()
    if line.startswith("nldd fit"):
        (folder / "model.nldd").unlink()  # nor is a model
    if line.startswith("nldd undo"):
        (folder / "model.nldd").rename(folder / "model.nldd.bak")
        save_coding_model(*changed(folder / "model.nldd.bak", folder / "model.nldd"))
    if line.startswith("nldd predict"):
        (folder / "review.csv").unlink()  # nor are their codes, or anything unasked
        (folder / "coded.csv").unlink()
    if "-o codebook.csv" in line:
        (folder / "codebook.csv").unlink()
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert call(*words_of(line)) == 0, capsys.readouterr().err
    out, err = capsys.readouterr()
    assert out.strip()
    assert "Error" not in err
    for name in re.findall(r"(?:-o|--out|--review) (\S+)", line):
        path = folder / name
        assert before.get(path) != path.stat().st_mtime_ns, f"{name} was not written"


def test_the_page_of_commands_has_all_of_them_in_their_order():
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    table = re.findall(r"^\|[^|]+\| \[`nldd (\w+)`\]\(#command-\w+\) \|", page, flags=re.MULTILINE)
    assert table == list(cli.cli.modules)
