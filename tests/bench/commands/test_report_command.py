"""``nldd report`` as people call it."""

import json

import pytest

from bench.report.records import grid, record, write_records
from nldd import cli

CELLS = grid([[0.3, 0.2]], ["yeast"], ("BR", "NLDD"))


def run(capsys, *arguments):
    """Exit code, standard output and standard error."""
    code = cli.run(["report", *map(str, arguments)])
    return code, *capsys.readouterr()


def test_report_writes_everything_and_says_where(tmp_path, capsys, monkeypatch, snapshot):
    monkeypatch.chdir(tmp_path)
    write_records(tmp_path / "run", [*CELLS, *grid([[0.3, 0.2]], ["mine"], ("BR", "NLDD"))])
    code, out, err = run(capsys, "run")
    assert (code, err) == (0, "")
    snapshot(out.replace("\\", "/"), "report")


def test_report_of_some_measures_in_another_folder_as_json(tmp_path, capsys):
    folder, target = write_records(tmp_path / "run", CELLS), tmp_path / "new" / "report"
    options = ("--measures", "f_measure, zero-one-loss", "--nemenyi", "--out", target, "--json")
    code, out, err = run(capsys, folder, *options)
    assert (code, err) == (0, "")
    files = json.loads(out)
    assert files[0] == str(target / "report.html")
    assert set(files) == {str(path) for path in target.rglob("*") if path.is_file()}
    keys = {path.stem for path in target.rglob("*.tex")}
    assert {"f_measure", "zero_one_loss"} < keys and "hamming_loss" not in keys
    assert [path.name for path in folder.iterdir()] == ["cells.jsonl"]


def test_report_of_several_protocols_needs_a_choice(tmp_path, capsys):
    folder = write_records(tmp_path, [record(), record(score=0.125, protocol="paper")])
    assert "default, paper. Choose one with --protocol" in run(capsys, folder)[2]
    assert not (folder / "report.html").exists()
    code, _, err = run(capsys, folder, "--protocol", "paper")
    assert (code, err) == (0, "")
    assert "yeast,BR,0.125," in (folder / "tables" / "hamming_loss.csv").read_text()


@pytest.mark.parametrize(
    ("cells", "options", "code", "message"),
    [
        (None, [], 1, "has no cells.jsonl. Give the folder of a benchmark"),
        (None, ["missing"], 1, "nldd benchmark --out "),
        ([], [], 1, "There are no finished cells. Run `nldd benchmark`"),
        (CELLS, ["--protocol", "papers"], 1, "'papers'"),
        (CELLS, ["--out", "file"], 2, "is a file"),
        (CELLS, ["--out", "file/sub"], 1, "file"),
        (CELLS, ["file"], 2, "is a file"),
    ],
)
def test_what_makes_no_report_is_a_plain_error(
    cells, options, code, message, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("in the way")
    folder = tmp_path / "run"
    folder.mkdir()
    if cells is not None:
        write_records(folder, cells)
    before = sorted(tmp_path.rglob("*"))
    arguments = options if options[:1] in (["file"], ["missing"]) else ["run", *options]
    found, out, err = run(capsys, *arguments)
    assert (found, out) == (code, "")
    assert message in err
    assert sorted(tmp_path.rglob("*")) == before
