"""Codebooks: names for reports, codes that become others, tables that have the old ones."""

import numpy as np
import pytest

from coding.made_up import (
    REQUEST,
    SETTINGS,
    answers_of,
    assert_same,
    made_up,
    read_csv,
    write_coded,
    write_csv,
)
from nldd.coding.codebook import (
    Codebook,
    CodebookEntry,
    apply_codebook,
    read_codebook,
    write_codebook,
)
from nldd.coding.columns import ColumnSpec
from nldd.coding.evaluation import evaluate_table
from nldd.coding.model_file import load_coding_model
from nldd.coding.training import fit_table, update_model
from nldd.exceptions import InputError

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")

TEXTS, CODES = made_up(80)
HEADER = ("code", "name", "merged into", "order")


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    folder = tmp_path_factory.mktemp("codebook")
    table = write_coded(folder / "answers.csv", TEXTS[:60], CODES[:60])
    fit_table(table, folder / "model.nldd", REQUEST, SETTINGS)
    return (folder / "model.nldd").read_bytes()


@pytest.fixture
def model_file(first, tmp_path):
    path = tmp_path / "model.nldd"
    path.write_bytes(first)
    return path


def merged(codes):
    return [{"transport" if c in ("bus", "rent") else c for c in names} for names in codes]


def test_names_and_renames_change_no_prediction(model_file, tmp_path):
    before = load_coding_model(model_file)
    rows = [("bus", "Buses", "", "2"), ("park", "", "green", ""), ("green", "Parks", "", "1")]
    model, changes = apply_codebook(model_file, write_csv(tmp_path / "book.csv", HEADER, rows))
    assert model.labels == ("bus", "green", "rent")
    assert model.shown == ("bus: Buses", "green: Parks", "rent")
    assert changes == ["'park' renamed to 'green'.", "2 codes with another name or description."]
    for row in (("buss", "Buses", "", ""), ("rent", "", "buss", "")):
        typo = write_csv(tmp_path / "typo.csv", HEADER, [row])
        with pytest.raises(InputError, match="'buss', but 'bus'"):
            apply_codebook(model_file, typo)
    new = answers_of(made_up(30, seed=2)[0])
    assert_same(model.code(new), before.code(new))
    assert load_coding_model(model_file).codebook == model.codebook
    assert [event.action for event in model.history] == ["fit", "codebook"]


def test_merged_codes_are_fitted_anew_as_if_people_had_given_the_new_one(model_file, tmp_path):
    rows = [("bus", "", "transport", ""), ("rent", "", "transport", "")]
    model, changes = apply_codebook(model_file, write_csv(tmp_path / "b.csv", HEADER, rows))
    assert changes[0] == "'bus', 'rent' merged into 'transport'."
    table = write_coded(tmp_path / "same.csv", TEXTS[:60], merged(CODES[:60]))
    same = fit_table(table, tmp_path / "same.nldd", REQUEST, SETTINGS).model
    assert model.labels == same.labels == ("park", "transport")
    assert (model.Y == same.Y).all()
    assert_same(model.evidence, same.evidence)
    assert (model.drawn == same.drawn).all()
    assert model.places == same.places


def test_tables_that_still_have_the_old_codes_are_understood(model_file, tmp_path):
    rows = [("bus", "", "transport", ""), ("rent", "", "bus", "")]
    apply_codebook(model_file, write_csv(tmp_path / "b.csv", HEADER, rows))
    review = write_coded(tmp_path / "review.csv", TEXTS[60:], CODES[60:])
    assert evaluate_table(load_coding_model(model_file), review).unknown_labels == ()
    new = update_model(model_file, review).model
    assert new.labels == ("park", "transport")
    assert [set(names) for names in new.codes(new.Y[60:])] == merged(CODES[60:])


def test_columns_of_marks_keep_their_names_in_the_data(tmp_path):
    names = ("bus", "park", "rent")
    rows = [(t, *(int(n in c) for n in names)) for t, c in zip(TEXTS, CODES, strict=True)]
    table = write_csv(tmp_path / "a.csv", ("answer", *names), rows[:60])
    request = ColumnSpec(("answer",), label_columns="bus,park,rent")
    fit_table(table, tmp_path / "m.nldd", request, SETTINGS)
    merges = [("bus", "", "transport", ""), ("rent", "", "bus", "")]
    apply_codebook(tmp_path / "m.nldd", write_csv(tmp_path / "b.csv", HEADER, merges))
    more = write_csv(tmp_path / "more.csv", ("answer", *names), rows[60:])
    model = update_model(tmp_path / "m.nldd", more).model
    assert model.labels == ("transport", "park")
    assert [set(c) for c in model.codes(model.Y)] == merged(CODES)


def test_a_codebook_can_be_had_before_the_first_fit(tmp_path):
    table = write_coded(tmp_path / "a.csv", TEXTS, CODES)
    rent = CodebookEntry("rent", merged_into="bus")
    entries = (rent, CodebookEntry("bus", "Buses and rent", order=1))
    book = Codebook(entries)
    model = fit_table(table, tmp_path / "m.nldd", REQUEST, SETTINGS, codebook=book).model
    assert model.shown == ("bus: Buses and rent", "park")
    assert model.Y[:, 0].astype(bool).tolist() == [bool({"bus", "rent"} & names) for names in CODES]


def test_codebooks_are_written_and_read(tmp_path):
    entries = (
        CodebookEntry("=1", "a \u00e4", "what, it\nmeans", order=7),
        CodebookEntry("12", "Price", order=1),
        CodebookEntry("old", merged_into="12"),
    )
    write_codebook(tmp_path / "b.csv", Codebook(entries).for_labels(["12", "new"]), {"12": 5})
    header, rows = read_csv(tmp_path / "b.csv")
    assert header == ["\ufeffcode", "name", "description", "merged_into", "order", "answers"]
    expected = [("12", "1", "5"), ("'=1", "2", "0"), ("new", "3", "0"), ("old", "", "0")]
    assert [(row[0], row[-2], row[-1]) for row in rows] == expected
    again = read_codebook(tmp_path / "b.csv")
    # Places in a row, so that the order stays what it was.
    assert [entry.code for entry in again.for_labels([]).entries] == ["12", "=1", "new", "old"]
    assert again.by_code["=1"] == CodebookEntry("=1", "a \u00e4", "what, it\nmeans", order=2)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", "", "b", ""), ("b", "", "a", "")], "merged in a circle: 'a' into 'b' into 'a'"),
        ([("a", "", "a", "")], "row 1: 'a' is merged into itself"),
        ([("a", "", "", ""), ("a", "", "", "")], "more than one row for the code 'a'"),
        ([("", "no code", "", "")], "row 1: a code is missing"),
        ([("a", "", "", "first")], "expected a whole number as order, got 'first'"),
        ([], "has no codes"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, rows, message):
    with pytest.raises(InputError, match=message):
        read_codebook(write_csv(tmp_path / "b.csv", HEADER, rows))


@pytest.mark.parametrize(
    ("header", "entry"),
    [
        (("Code", "Label"), CodebookEntry("1", "Bus")),
        (("VALUE", "text"), CodebookEntry("1", "Bus")),
        ((" Value ", "Name", "Text"), CodebookEntry("1", "Bus", "About buses")),
        (("Text", "LABEL", "code"), CodebookEntry("About buses", "Bus", "1")),
        (("Code", "Name", "Value"), CodebookEntry("1", "Bus")),
        (("Code",), CodebookEntry("1")),
    ],
)
def test_headings_of_survey_firms_are_read(tmp_path, header, entry):
    row = ("1", "Bus", "About buses")[: len(header)]
    assert read_codebook(write_csv(tmp_path / "b.csv", header, [row])).entries == (entry,)


@pytest.mark.parametrize(
    "header", [("Code", "Bezeichnung"), ("Nummer", "Label"), ("Label", "Text")]
)
def test_headings_that_say_nothing_are_refused_with_what_was_found(tmp_path, header):
    with pytest.raises(InputError) as error:
        read_codebook(write_csv(tmp_path / "b.csv", header, [("1", "Bus")]))
    assert all(repr(name) in str(error.value) for name in header)
    assert "label" in error.value.hint


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(code, "", "x", "") for code in ("bus", "park", "rent")], "carry the same codes"),
        ([("bus", "", "bus; tram", "")], "'bus; tram' cannot be a code"),
        ([("bus", "", "NA", "")], "'NA' cannot be a code"),
    ],
)
def test_codes_that_cannot_be_leave_the_model(model_file, tmp_path, rows, message):
    before = model_file.read_bytes()
    with pytest.raises(InputError, match=message):
        apply_codebook(model_file, write_csv(tmp_path / "b.csv", HEADER, rows))
    assert model_file.read_bytes() == before


def test_a_codebook_that_changes_nothing_leaves_the_file(model_file, tmp_path):
    book = write_csv(tmp_path / "b.csv", HEADER, [("bus", "Buses", "", "")])
    assert apply_codebook(model_file, book)[1]
    before = model_file.read_bytes()
    model, changes = apply_codebook(model_file, book)
    assert changes == [] and [event.action for event in model.history] == ["fit", "codebook"]
    assert model_file.read_bytes() == before


def test_misspelt_codes_are_found_though_the_right_one_has_become_another(model_file, tmp_path):
    apply_codebook(model_file, write_csv(tmp_path / "b.csv", HEADER, [("rent", "", "housing", "")]))
    review = write_coded(tmp_path / "review.csv", TEXTS[60:], [{"rentt"}, *CODES[61:]])
    with pytest.raises(InputError, match="does not know these codes:\n  row 1: 'rentt'"):
        update_model(model_file, review)


def test_chains_of_merges_end_at_the_code_that_stays():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(2, 9))
        target = [int(rng.integers(i + 1, n + 1)) for i in range(n)]  # n: stays
        into = [str(t) if t < n else "" for t in target]
        book = Codebook(tuple(CodebookEntry(str(i), merged_into=t) for i, t in enumerate(into)))
        for code in range(n):
            end = code
            while target[end] < n:
                end = target[end]
            assert book.current(str(code)) == str(end)
