"""``nldd report`` as people call it."""

import json

import pytest

from bench.report.records import folds, grid, record, write_records
from nldd import cli
from nldd.bench.report import report as report_module
from nldd.metrics._measures import PAPER_MEASURES

# One data set: no diagrams of differences, which take time to draw.
CELLS = grid([[0.3, 0.2]], ["yeast"], ("BR", "NLDD"))


@pytest.fixture
def quick(monkeypatch):
    """Reports without the illustrations, which take seconds."""
    monkeypatch.setattr(report_module, "illustrations", lambda: ())


def run(capsys, *arguments):
    """Exit code, standard output and standard error."""
    code = cli.run(["report", *map(str, arguments)])
    return code, *capsys.readouterr()


def test_report_writes_everything_and_says_where(quick, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    more = grid([[0.3, 0.2]], ["mine"], ("BR", "NLDD"))
    folder = write_records(tmp_path / "run", [*CELLS, *more])
    code, out, err = run(capsys, "run")
    assert (code, err) == (0, "")
    assert out.replace("\\", "/").splitlines() == [
        "run/report.html: the report, one file that opens anywhere.",
        "17 tables in run/tables as CSV and LaTeX.",
        "4 figures in run/figures as SVG and PNG.",
    ]
    assert len(list((folder / "tables").glob("*.csv"))) == 17
    assert {path.name for path in (folder / "figures").iterdir()} == {
        f"differences_{measure.key}.{ending}"
        for measure in PAPER_MEASURES
        for ending in ("svg", "png")
    }
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<strong>0.2000 (1)</strong> <small>0.1902 (+1.0)</small>" in page


def test_report_as_json_lists_the_files(quick, tmp_path, capsys):
    folder = write_records(tmp_path, CELLS)
    code, out, err = run(capsys, folder, "--json")
    assert (code, err) == (0, "")
    files = json.loads(out)
    assert files[0] == str(folder / "report.html")
    assert set(files) == {
        str(path) for path in folder.rglob("*") if path.is_file() and path.name != "cells.jsonl"
    }


def test_report_goes_to_another_folder(quick, tmp_path, capsys):
    folder, out_folder = write_records(tmp_path / "run", CELLS), tmp_path / "new" / "report"
    code, out, _ = run(capsys, folder, "--out", out_folder)
    assert code == 0
    assert out.startswith(f"{out_folder / 'report.html'}: the report")
    assert [path.name for path in folder.iterdir()] == ["cells.jsonl"]
    assert (out_folder / "tables" / "settings.tex").is_file()


def test_report_of_several_protocols_needs_a_choice(quick, tmp_path, capsys):
    folder = write_records(tmp_path, [record(), record(score=0.125, protocol="paper")])
    code, out, err = run(capsys, folder)
    assert (code, out) == (1, "")
    assert err == (
        "Error: The cells are of several protocols: default, paper. Choose one with --protocol.\n"
        "Try: nldd report --help\n"
    )
    code, out, err = run(capsys, folder, "--protocol", "papers")
    assert (code, out) == (1, "")
    assert err == (
        "Error: There are no cells of protocol 'papers'; there are default, paper.\n"
        "Try: nldd report --help\n"
    )
    code, _, err = run(capsys, folder, "--protocol", "paper")
    assert (code, err) == (0, "")
    assert "yeast,BR,0.125," in (folder / "tables" / "hamming_loss.csv").read_text()


def test_folders_without_a_benchmark_are_plain_errors(tmp_path, capsys):
    for folder in (tmp_path, tmp_path / "missing"):
        code, out, err = run(capsys, folder)
        assert (code, out) == (1, "")
        assert err.startswith(f"Error: {folder} has no cells.jsonl. Give the folder of a benchmark")
        assert f"nldd benchmark --out {folder}" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", [[], ["--out"]], ids=["folder", "out"])
def test_a_file_is_no_folder(option, tmp_path, capsys):
    folder = write_records(tmp_path / "run", CELLS)
    file = tmp_path / "file"
    file.write_text("in the way")
    code, _, err = run(capsys, *([folder, *option, file] if option else [file]))
    assert code == 2
    assert "is a file" in err


def test_an_output_folder_that_cannot_be_made_is_a_plain_error(quick, tmp_path, capsys):
    folder = write_records(tmp_path / "run", CELLS)
    (tmp_path / "file").write_text("in the way")
    code, out, err = run(capsys, folder, "--out", tmp_path / "file" / "sub")
    assert (code, out) == (1, "")
    assert err.startswith("Error: ")


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([], "There are no finished cells. Run `nldd benchmark`"),
        (
            folds("yeast", "BR", [0.1] * 10)[:4],
            "No method has all its folds on any data set yet; 4 cells are there. "
            "Let the benchmark go on: run the same command again.\nTry: nldd report --help\n",
        ),
        (
            [record(), record(seed=1)],
            "The cells are of several seeds: 0, 1. Keep each in its folder.\nTry: nldd report",
        ),
    ],
    ids=["no cell", "no method", "seeds"],
)
def test_cells_that_make_no_report_are_plain_errors(cells, message, tmp_path, capsys):
    code, out, err = run(capsys, write_records(tmp_path, cells))
    assert (code, out) == (1, "")
    assert err.startswith(f"Error: {message}")
    assert [path.name for path in tmp_path.iterdir()] == ["cells.jsonl"]
