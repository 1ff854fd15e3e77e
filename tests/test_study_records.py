"""Records of the project: of the protocols as they are, kept whole, and to be had again."""

import json
from dataclasses import replace

import pytest

from bench.runner.trials import rows_only
from nldd.bench.datasets.catalogue import CATALOGUE
from nldd.bench.runner.cell import cells
from nldd.bench.runner.protocol_file import load_protocol
from nldd.bench.runner.records import CELLS, as_line
from nldd.coding import guarantee
from programs import program

# A recorded cell of each kind of study that takes seconds and needs no data but the package's.
AGAIN = [
    ("frequencies", "run_cell", "frequencies", ("one part", 0.02, "many", 100)),
    ("choice", "run_cell", "choice", ("yeast", 0, 1, "auto")),
    ("repeats", "run_tests", "refit-tests", (5, True, 1)),
    ("repeats", "run_repeats", "repeats", (50, False, True, 3)),
]


@pytest.fixture(scope="module")
def records():
    return program("record_files")


@pytest.mark.parametrize("name", ["default", "best", "paper", "decided", "fresh"])
def test_records_are_of_all_cells_of_their_protocol_as_it_is(records, name):
    own = records.HERE / "protocols" / f"{name}.toml"
    protocol = load_protocol(own if own.exists() else name)
    planned = {
        cell.key: cell.settings
        for entry in CATALOGUE.values()
        for cell in cells(protocol, entry.name, rows_only(entry.n_samples), protocol.methods)
    }
    found = records.cells(name)
    assert {record.key: record.settings for record in found} == planned
    assert all(record.error is None for record in found)


def test_a_finished_benchmark_is_kept_as_it_was(records, tmp_path, monkeypatch):
    some = records.cells("best")[:3]
    monkeypatch.setattr(records, "HERE", tmp_path)
    (run := tmp_path / "run").mkdir()
    some = [replace(record, protocol="mine") for record in some]
    (run / CELLS).write_text("".join(map(as_line, some)))
    records.keep(run)
    assert list(map(as_line, records.cells("mine"))) == list(map(as_line, some))


def half(x, n):
    if n == 3:
        raise KeyboardInterrupt
    return {"half": x / 2}


def third(x, n):
    return {"half": x / 3}


def test_an_interrupted_study_goes_on(records, tmp_path, monkeypatch):
    monkeypatch.setattr(records, "HERE", tmp_path)
    records.write("thirds", [json.dumps({"x": 9, "n": 0, "half": 1}) + "\n"])
    every = [(9, 0), (4, 1), (5, 2)]
    records.run_missing("thirds", ("x", "n"), every[:2], half)
    assert [one["half"] for one in records.read("thirds")] == [1, 2.0]
    (tmp_path / "thirds.jsonl").write_text('{"x":5,"n":2,"half":7}\n')  # of a run that was ended
    records.run_missing("thirds", ("x", "n"), [*every, (6, 3)], third)
    assert [one["half"] for one in records.read("thirds")] == [1, 2.0, 7, 2.0]
    assert [path.name for path in tmp_path.iterdir()] == ["thirds.jsonl.xz"]


@pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")
@pytest.mark.parametrize(("study", "run", "name", "cell"), AGAIN, ids=[one[2] for one in AGAIN])
def test_a_recorded_cell_can_be_run_again(records, study, run, name, cell):
    found = getattr(program(study), run)(*cell)
    (recorded,) = (r for r in records.read(name) if tuple(r.values())[: len(cell)] == cell)
    for key in found.keys() - {"seconds"}:  # other libraries, other last digits
        assert flat(found[key]) == pytest.approx(flat(recorded[key]), abs=0.02, nan_ok=True), key


def flat(value):
    """The numbers in lists and dicts, one after the other; anything else as it is."""
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if not isinstance(value, list):
        return value
    return [number for one in value for number in (flat(one) if isinstance(one, list) else [one])]


@pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")
def test_a_recorded_review_has_the_same_rounds_if_it_is_run_again(records):
    """Its thresholds were found by an earlier rule, as the page says."""
    cell = ("made", 0, "unsure")
    (recorded,) = (r for r in records.read("review") if (r["data"], r["study"], r["way"]) == cell)
    rounds = [
        [(n_decided, n_tested) for n_decided, *_, n_tested in each["looks"]]
        for each in (recorded, program("review").run_study(*cell))
    ]
    assert rounds[0] == rounds[1]


def test_a_recorded_comparison_of_spreads_can_be_run_again(records, monkeypatch):
    spread, cell = program("spread"), ("dip at the top", 600)
    monkeypatch.setattr(guarantee, "starting_levels", spread.SPREADS["now"])  # it sets both
    (recorded,) = (r for r in records.read("spread") if (r["name"], r["n"]) == cell)
    for way, found in spread.compare(*cell, n_studies=200).items():
        assert flat(found) == pytest.approx(flat(recorded[way]), abs=0.06)


@pytest.mark.parametrize(
    ("figure", "bar", "missed"),
    [
        *(("2.1x", ">= 3x", True), ("3.0x", ">= 3x", False), ("0.30x", "<= 0.3x", False)),
        *(("N^0.93", "<= 0.6", True), ("1.0 s", "< 1 s", True), ("8,347", ">= 9,000", True)),
        ("0.9 s", "", False),
    ],
)
def test_missed_bars_of_benchmarks_are_found(figure, bar, missed):
    page = program("page", "benchmarks")
    assert page.is_missed({"figure": figure, "bar": bar}) is missed
