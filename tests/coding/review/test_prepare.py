"""A table coded into a store: the same as `nldd predict` says, with all that people need."""

import json
from datetime import date, datetime

import numpy as np
import pytest

from coding_tables import HEADER, NEW, read_csv, succeed, write_csv
from nldd._files import file_sha256
from nldd.coding.guarantee import Guarantee, GuaranteeTarget
from nldd.coding.review.rounds import prepare_review
from nldd.coding.review.store import Store
from nldd.coding.tables.reading import read_table
from nldd.coding.tables.spreadsheet import frame_of
from nldd.coding.tables.writing import write_table
from nldd.exceptions import InputError

PROMISE = GuaranteeTarget(0.7, 0.9, "subset", "chance")


def prepare(made, path, table, promise=PROMISE, **more):
    prepared = prepare_review(made / "model.nldd", table, path, promise, **more)
    with Store.open(path, write=False) as store:
        (first,) = store.rounds()
        return prepared, store.study, list(store.items()), list(store.suggestions(0)), first


def read_rows(path):
    """The rows of a table as mappings from its columns."""
    header, rows = read_csv(path)
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_suggestions_are_those_of_predict(made, tmp_path, capsys):
    path, out, review = (tmp_path / name for name in ("new.review.db", "coded.csv", "review.csv"))
    prepared, study, items, said, first = prepare(made, path, made / "new.csv")
    words = ("-o", out, "--target-accuracy", "0.7", "--review", review)
    succeed(capsys, "predict", made / "model.nldd", made / "new.csv", *words)
    coded = read_rows(out)
    for found, row in zip(said, coded, strict=True):
        details = found.details
        assert (";".join(found.codes), found.status) == (row["nldd_codes"], row["nldd_status"])
        assert (details["theta"], details["why"]) == (float(row["nldd_theta"]), row["nldd_why"])
        assert details["nearest"][0]["text"] == row["nldd_nearest"]
    for row in read_rows(review):
        nexts = said[int(row["id"][2:]) - 1].details["next"]
        assert [";".join(codes) for codes in nexts] == [row[f"nldd_next_{k}"] for k in (1, 2, 3)]
    assert [item.cells for item in items] == [row[:-1] for row in NEW]
    assert [item.text for item in items] == [row[1] for row in NEW]
    assert study.table_sha256 == file_sha256(made / "new.csv")
    assert [code for code, _, _ in study.codes] == first.facts["codes"]
    n_auto = sum(row["nldd_status"] == "auto" for row in coded)
    assert 0 < first.facts["n_auto"] == prepared.counts.n_auto == n_auto < 40


def test_rows_with_codes_empty_ones_and_cells_of_a_workbook(made, tmp_path):
    rows = [
        ("p1", "salaries are too low", 44, datetime(2024, 2, 29, 12, 30), "pay;food"),
        ("p2", "  ", 1.5, date(2024, 2, 29), None),
        ("p3", "the heating is broken and lunch costs too much", None, True, None),
    ]
    table = tmp_path / "new.xlsx"
    write_table(table, frame_of(dict(zip(HEADER, zip(*rows, strict=True), strict=True))))
    prepared, study, items, said, _ = prepare(made, tmp_path / "new.review.db", table)
    assert [[*item.cells] for item in items] == read_table(table).frame.to_numpy().tolist()
    assert [item.given for item in items] == [{"pay", "food"}, None, None]
    assert [s.item for s in said] == [2, 3]
    assert (said[0].details["empty"], said[0].codes, said[0].status) == (True, (), "review")
    assert said[0].details["nearest"] == said[0].details["next"] == []
    assert not said[1].details["empty"]
    assert prepared.counts.n_coded == 1
    assert study.table_format["kind"] == "xlsx"


def test_those_drawn_are_a_sample_of_all_with_about_as_many_automatic_ones(made, tmp_path):
    rows = [(*row[:-1], "pay" if i % 10 == 0 else "") for i, row in enumerate(NEW * 10)]
    table = write_csv(tmp_path / "many.csv", rows)
    how = {"n_audit": 30, "seed": 1}
    prepared, study, items, said, first = prepare(made, tmp_path / "m.review.db", table, **how)
    drawn = [item for item in items if item.drawn]
    share = first.facts["n_auto"] / sum(item.given is None for item in items)
    assert (study.n_audit, study.blind) == (30, True)
    assert len(drawn) == prepared.counts.n_drawn == int(np.ceil(30 / share))
    assert not any(item.given for item in drawn)
    status = {s.item: s.status for s in said}
    n_auto = sum(status[item.item] == "auto" for item in drawn)
    assert abs(n_auto - 30) <= 3 * np.sqrt(30 * (1 - share))
    assert any("were not drawn from" in note for note in prepared.notes)
    again = prepare(made, tmp_path / "again.review.db", table, **how)[2]
    assert again == items
    assert not any("asked for" in note for note in prepared.notes)


@pytest.mark.parametrize("measure", ["subset", "hamming", "per-code"])
def test_the_guarantee_is_that_of_predict_and_is_exported(made, tmp_path, capsys, measure):
    path, promise = tmp_path / "new.review.db", GuaranteeTarget(0.7, 0.8, measure, "chance")
    *_, first = prepare(made, path, made / "new.csv", promise)
    stated = Guarantee.parse(first.facts["guarantee"])
    assert (stated.target, stated.confidence, stated.measure) == (0.7, 0.8, measure)
    coded, export = tmp_path / "coded.csv", tmp_path / "export.csv"
    words = ("--target-accuracy", "0.7", "--confidence", "0.8", "--measure", measure)
    succeed(capsys, "predict", made / "model.nldd", made / "new.csv", "-o", coded, *words)
    succeed(capsys, "review", "export", path, "-o", export)
    for table in (coded, export):
        assert {row["nldd_guarantee"] for row in read_rows(table)} == {str(stated)}


def test_what_cannot_be_reviewed_is_refused_and_leaves_nothing(made, tmp_path):
    path = tmp_path / "new.review.db"
    empty = write_csv(tmp_path / "empty.csv", [], HEADER[:-1])
    with pytest.raises(InputError, match="no rows below its header"):
        prepare(made, path, empty)
    other = write_csv(tmp_path / "other.csv", [("1",)], ("id",))
    with pytest.raises(InputError, match="no column 'answer'"):
        prepare(made, path, other)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["empty.csv", "other.csv"]
    path.write_text(json.dumps("mine"))
    with pytest.raises(InputError, match="already exists"):
        prepare(made, path, made / "new.csv")
    assert path.read_text() == '"mine"'
