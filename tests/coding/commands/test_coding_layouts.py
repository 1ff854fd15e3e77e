"""Where and how codes stand: several columns, wrong separators, slips, files with two headers."""

import io
import sys
from collections import Counter

import pytest

from coding_tables import HEADER, NEW, PHRASES, QUICK, answers, call, counts_of, read_csv, write_csv
from nldd.coding.model_file import load_coding_model

ROWS = answers(60)
IN_COLUMNS = ("id", "answer", "code1", "code2", "code3")


def in_columns(rows):
    """Codes one a column, with the second one in the third column."""
    split = ((row, row[-1].split(";")) for row in rows)
    return [(row[0], row[1], first, "", "".join(more)) for row, (first, *more) in split]


def with_codes(rows, **cells):
    """Rows with other codes, by their numbers."""
    given = {int(key.removeprefix("row")): cell for key, cell in cells.items()}
    return [(*row[:-1], given.get(i, row[-1])) for i, row in enumerate(rows, 1)]


def test_codes_in_several_columns_from_fit_to_update(tmp_path, succeed):
    path = write_csv(tmp_path / "answers.csv", in_columns(ROWS), IN_COLUMNS)
    model, review = tmp_path / "model.nldd", tmp_path / "review.csv"
    words = ("--text", "answer", "--labels", "code1,code2,code3", *QUICK)
    fitted = succeed("fit", path, *words, "-o", model, "--json").json
    assert fitted["labels"] == counts_of(ROWS)
    assert fitted["columns"]["codes"]["names"] == ["code1", "code2", "code3"]

    new = write_csv(tmp_path / "new.csv", [(f"n{row[0]}", row[1]) for row in NEW], HEADER[:2])
    out = ("-o", tmp_path / "coded.csv", "--review", review, "--max-theta", "0")
    succeed("predict", model, new, *out)
    header, rows = read_csv(review)
    known = {f"n{row[0]}": row[2:] for row in in_columns(NEW)}
    filled = [dict(zip(header, row, strict=True)) for row in rows]
    for row in filled:
        row |= dict(zip(IN_COLUMNS[2:], known[row["id"]], strict=True), nldd_ok="x")
    given = [tuple(row.values()) for row in filled]
    done = succeed("update", model, write_csv(review, given, header))
    assert "40 coded answers joined the model" in done.out
    found = load_coding_model(model)
    assert found.labels == tuple(sorted(PHRASES))
    given = Counter(frozenset(row[-1].split(";")) for row in NEW)
    assert Counter(map(frozenset, found.codes(found.Y)[-40:])) == given


@pytest.fixture
def model(made):
    return made / "model.nldd"


def test_update_takes_separator_and_mark_of_its_file(model, tmp_path, succeed):
    commas = [(*row[:-1], row[-1].replace(";", ",")) for row in with_codes(NEW, row4="-")]
    path = write_csv(tmp_path / "more.csv", commas)
    new = tmp_path / "new.nldd"
    words = ("--sep", ",", "--no-code", "-", "--no-report", "-o", new)
    succeed("update", model, path, *words)
    found = load_coding_model(new)
    assert found.labels == tuple(sorted(PHRASES))
    assert found.codes(found.Y)[-37] == ()
    assert found.columns == load_coding_model(model).columns  # as the first table lists them
    assert succeed("evaluate", model, path, *words[:5], "--json").json["unknown_labels"] == []


def test_evaluate_tells_slips(model, tmp_path, succeed):
    path = write_csv(tmp_path / "more.csv", with_codes(NEW, row2="food,pay", row5="Managers"))
    done = succeed("evaluate", model, path, "--no-report")
    assert 'correct them, or use --sep ";" --sep ",":\n  row 2: \'food,pay\': meant' in done.err
    assert "\n  row 5: 'Managers': meant as 'managers'?\n" in done.err


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("answer", ["y", "n"])
def test_at_a_terminal_a_person_is_asked(answer, model, tmp_path, monkeypatch):
    path = write_csv(tmp_path / "more.csv", with_codes(NEW, row2="food,pay"))
    said, new = Terminal(), tmp_path / "new.nldd"
    monkeypatch.setattr(sys, "stdin", Terminal(f"{answer}\n"))
    monkeypatch.setattr(sys, "stderr", said)
    code = call("update", model, path, "-o", new, "--no-report")
    assert "row 2: 'food,pay'" in said.getvalue()
    assert "[y/N]:" in said.getvalue()
    assert (code, new.exists()) == ((0, True) if answer == "y" else (1, False))
    if new.exists():
        assert load_coding_model(new).labels == tuple(sorted(PHRASES))
