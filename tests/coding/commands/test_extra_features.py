"""Features that people bring in a file: whose row is whose, and what is said where none can be."""

import numpy as np
import pytest

from coding_tables import QUICK, call, read_csv, write_csv
from nldd.coding.model_file import load_coding_model
from nldd.present.text import percent

CODES = ("food", "pay", "rooms")
COLUMNS = ("--text", "answer", "--labels", "codes")
HEADER = ("id", "answer", "codes")
pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")


def rows_and_features(n, seed):
    """Answers that say nothing in words; the largest of three numbers tells their code."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, size=n)
    features = np.eye(3)[code] + rng.normal(scale=0.2, size=(n, 3))
    names = [CODES[j] for j in code]
    return [[f"{seed}-{i}", "see above", names[i]] for i in range(n)], features


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Coded answers with their features, new ones, and a model."""
    folder = tmp_path_factory.mktemp("study")
    rows, features = rows_and_features(90, 1)
    rows[3][2] = rows[10][2] = ""  # nobody has coded these
    rows[20] = rows[7]  # one answer, twice
    write_csv(folder / "answers.csv", rows, HEADER)
    np.save(folder / "answers.npy", features)
    new, of_new = rows_and_features(40, 2)
    write_csv(folder / "new.csv", [row[:2] for row in new], HEADER[:2])
    write_csv(folder / "truth.csv", new, HEADER)
    np.save(folder / "new.npy", of_new.astype(np.float32))
    extra = ("--extra-features", folder / "answers.npy", "-o", folder / "model.nldd")
    assert call("fit", folder / "answers.csv", *COLUMNS, *QUICK, *extra) == 0
    return folder


@pytest.fixture
def study(study, monkeypatch):
    monkeypatch.chdir(study)
    return study


FIT_WORDS = ("fit", "answers.csv", *COLUMNS, *QUICK, "-o", "words.nldd")
OF_NEW = ("--extra-features", "new.npy")


def test_features_follow_the_rows_that_are_left_out(study, succeed):
    assert "3 extra features" in succeed("inspect", "model.nldd").out
    left = [i for i in range(90) if i not in (3, 10, 20)]
    model = load_coding_model(study / "model.nldd")
    expected = np.load("answers.npy")[left].astype(np.float32)
    np.testing.assert_array_equal(model.answers.extra, expected)


def test_features_code_what_words_cannot(study, succeed):
    succeed("predict", "model.nldd", "new.csv", *OF_NEW, "-o", "coded.csv")
    header, coded = read_csv(study / "coded.csv")
    assert header[:4] == ("id", "answer", "nldd_row", "nldd_codes")
    assert [row[2] for row in coded] == [str(i) for i in range(1, 41)]
    truth = [row[2] for row in rows_and_features(40, 2)[0]]
    right = sum(row[3] == code for row, code in zip(coded, truth, strict=True))
    assert right >= 38
    model = load_coding_model(study / "model.nldd")
    assert model.evidence.right(model.Y).mean() >= 0.9  # each fold has the rows of its answers
    said = succeed("evaluate", "model.nldd", "truth.csv", *OF_NEW, "--no-report").out
    assert percent(right / 40) in said
    succeed(*FIT_WORDS)
    words = load_coding_model(study / "words.nldd")
    assert words.evidence.right(words.Y).mean() < 0.6


def test_a_review_in_any_order_finds_its_features_again(study, succeed):
    words = ("predict", "model.nldd", "new.csv", *OF_NEW, "-o", "coded.csv", "--review", "r.csv")
    succeed(*words, "--max-theta", "0")
    header, review = read_csv(study / "r.csv")
    truth = {row[0]: row[2] for row in rows_and_features(40, 2)[0]}
    codes = header.index("codes")
    assert (header[codes + 1], header[-1]) == ("nldd_ok", "nldd_row")
    others = [row for row in review[::-1] if row[0] != "2-5"]
    given = [[*row[:codes], truth[row[0]], "x", *row[codes + 2 :]] for row in others]
    write_csv(study / "r.csv", given, header)
    succeed("update", "model.nldd", "r.csv", *OF_NEW, "--no-report", "--jobs", "1")
    model = load_coding_model(study / "model.nldd")
    places = [int(row[0].split("-")[1]) for row in given]
    assert len(places) == 39
    np.testing.assert_array_equal(model.answers.extra[87:], np.load("new.npy")[places])


# Of a file: its array, and parts of the error and of its advice.
REFUSED = {
    "few.npy": (np.zeros((39, 3)), "few.npy has 39 rows, new.csv has 40", "in the same order"),
    "many.npy": (np.zeros((41, 3)), "many.npy has 41 rows, new.csv has 40", "in the same order"),
    "nan.npy": (np.where(np.eye(40)[:, 6:9] == 1, np.nan, 0), "nan.npy, row 7: ", "such as 0"),
    "beyond-single.npy": (np.full((40, 3), 1e39), "beyond-single.npy, row 1: ", "such as 0"),
    "wide.npy": (np.zeros((40, 4)), "got 4", "made as for nldd fit"),
    "flat.npy": (np.zeros(40), "shape (40,)", "numpy.save"),
    "text.npy": (np.full((40, 3), "a"), "got numbers of type <U1", "numpy.save"),
    "pickle.npy": (np.full((40, 3), None), "pickle.npy: ", "numpy.save"),
    "new.csv": (None, "new.csv: ", "numpy.save"),
    "there-is-none.npy": (None, "there-is-none.npy: ", "check its name"),
    "": (None, "got none", "--extra-features"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_refused(study, refuse, name):
    array, message, hint = REFUSED[name]
    if array is not None:
        np.save(name, array)
    extra = ("--extra-features", name) if name else ()
    said, advice = refuse("predict", "model.nldd", "new.csv", "-o", "coded.csv", *extra)
    assert message in said
    assert hint in advice
    assert not (study / "coded.csv").exists()


def test_a_header_that_claims_too_much_is_refused(study, refuse):
    content = (study / "new.npy").read_bytes()
    (study / "lies.npy").write_bytes(content.replace(b"(40, 3), ", b"(4000000000, 3), ", 1))
    words = ("fit", "answers.csv", *COLUMNS, *QUICK, "--extra-features", "lies.npy", "--force")
    assert "lies.npy: " in refuse(*words)[0]


def test_a_model_without_extra_features_takes_none(study, succeed, refuse):
    succeed(*FIT_WORDS)
    words = ("predict", "words.nldd", "new.csv", "-o", "coded.csv", "--max-theta", "0", *OF_NEW)
    said, advice = refuse(*words)
    assert "got 3" in said
    assert "--extra-features" in advice


def test_row_numbers_that_are_none_are_refused(study, refuse):
    write_csv(study / "some.csv", [("see above", "2"), ("see above", "41")], ("answer", "nldd_row"))
    said, _ = refuse("predict", "model.nldd", "some.csv", "-o", "coded.csv", *OF_NEW)
    assert "some.csv, row 2, column 'nldd_row'" in said
    assert "1 to 40" in said
