"""Tables of survey programs through ``nldd fit``: read as a coder would, or refused with advice.

Those of text, and SPSS files with multiple-response sets (2 is "mentioned" in that of marks), lie
in ``tests/odd_answers/``; other files of SPSS and Stata are made here.
"""

from dataclasses import dataclass
from pathlib import Path

import pandas
import pytest

from coding_tables import QUICK
from nldd.coding import training
from nldd.exceptions import InputError

pyreadstat = pytest.importorskip("pyreadstat")
FOLDER = Path(__file__).parents[2] / "odd_answers"
TEXTS = ("too expensive", "slow and rude", "rude")


@dataclass(frozen=True)
class Odd:
    """A file, the columns that a coder names, and the answers and codes that it holds.

    Codes are lists with semicolons, or sets. `note` is part of what is said beside.
    """

    make: object
    options: str
    answers: tuple = TEXTS
    codes: tuple = ("price", "waiting;staff", "staff")
    note: str = ""

    def path(self, folder):
        """The file: one of the folder, or made now."""
        return FOLDER / self.make if isinstance(self.make, str) else self.make(folder)


def statistics_file(folder, name, columns, **labels):
    frame = pandas.DataFrame({"id": [1.0, 2.0, 3.0], "answer": TEXTS, **columns})
    write = pyreadstat.write_sav if name.endswith(".sav") else pyreadstat.write_dta
    write(frame, str(folder / name), **labels)
    return folder / name


def spss_value_labels(folder):
    names = {1: "price", 2: "waiting", 3: "staff", 9: "nobody decided"}
    labels = {"variable_value_labels": {"code": names}, "missing_ranges": {"code": [9]}}
    return statistics_file(folder, "odd.sav", {"code": [1.0, 9.0, 3.0]}, **labels)


def spss_list_label(folder):
    labels = {"variable_value_labels": {"code": {1: "price", 2: "waiting; staff"}}}
    return statistics_file(folder, "odd.sav", {"code": [1.0, 2.0, 1.0]}, **labels)


def stata_marks(folder):
    columns = {"price": [1, 0, 0], "waiting": [0, 1, 0], "staff": [0, 1, 1]}
    mentioned = {0: "not mentioned", 1: "mentioned"}
    labels = {"variable_value_labels": dict.fromkeys(columns, mentioned)}
    return statistics_file(folder, "odd.dta", columns, **labels)


LIST, CODE = "answer --labels codes", "answer --labels code"
BOTHERED = "What bothered you?"
KOBO = ("too expensive", "too expensive and slow", "rude staff", "slow and rude", "all of it")
KOBO += ("slow",)
KOBO_CODES = ("price", "price;waiting", "staff", "staff;waiting", "price;staff;waiting", "waiting")
GERMAN = ("zu teuer", "zu teuer, zu langsam")
FIRST_CODES = ("price", "price;waiting", "staff")

READ = {
    "codes in several columns": Odd(
        "several_columns.csv",
        "answer --labels code1,code2,code3",
        (*KOBO[:3], "slow, rude, expensive"),
        (*FIRST_CODES, "price;staff;waiting"),
    ),
    "Qualtrics": Odd(
        "qualtrics.csv", "Q7 --labels Q7_codes", KOBO[:3], FIRST_CODES, "2 rows below the header"
    ),
    "mixed separators": Odd(
        "mixed_separators.csv",
        f"{LIST} --sep ; --sep , --sep /",
        (*KOBO[:4], "expensive and rude", "slow"),
        (*KOBO_CODES[:4], "price;staff", "waiting"),
    ),
    "numbers as codes": Odd(
        "numbers_as_codes.csv",
        LIST,
        ("too expensive", "too expensive again", "rude staff", "rude and expensive"),
        ("12", "12", "02", "12;2"),
        "Numbers as codes: '12.0' taken as '12'.",
    ),
    "LimeSurvey": Odd(
        "limesurvey.csv",
        "G1Q1 --label-columns G1Q2[SQ*",
        (*GERMAN, "unhöflich"),
        ("G1Q2[SQ001]", "G1Q2[SQ001];G1Q2[SQ002]", "G1Q2[SQ003]"),
    ),
    "SurveyMonkey": Odd(
        "surveymonkey.csv",
        f"{BOTHERED} --labels Which of these apply?,Waiting,Staff",
        KOBO[:3],
        ("Price", "Price;Waiting", "Staff"),
        "1 row below the header, as SurveyMonkey writes it",
    ),
    "KoBo, columns of 0 and 1": Odd(
        "kobo.csv",
        "what_bothered --label-columns reasons/*",
        KOBO,
        tuple(";".join(f"reasons/{code}" for code in codes.split(";")) for codes in KOBO_CODES),
    ),
    "KoBo, a list with spaces": Odd(
        "kobo.csv", "what_bothered --labels reasons --sep  ", KOBO, KOBO_CODES
    ),
    "semicolons, decimal commas, cp1252": Odd(
        "german_excel.csv",
        "Antwort --labels Codes --sep , --features Ausgaben",
        (*GERMAN, "unhöfliches Personal \u2013 schrecklich", "zu lange gewartet"),
        ("Preis", "Preis;Warten", "Personal", "Warten"),
        "The file is not in UTF-8; it was read as cp125",
    ),
    "a row of sums": Odd("summary_row.csv", LIST, note="1 of 4 coded rows without text"),
    "ja and nein": Odd(
        "ja_nein.csv",
        "Antwort --label-columns Preis,Warten,Personal",
        (*GERMAN, "unhöflich", "weiß nicht"),
        ("Preis", "Preis;Warten", "Personal", ""),
    ),
    "other, please specify": Odd(
        "other_specify.csv",
        f"{BOTHERED} --text Other, please specify --labels codes",
        ("too expensive\n", "Other\nslow and rude", "rude\nno parking"),
        ("price", "waiting;staff", "staff;parking"),
    ),
    "Google Forms, with a comma in an option": Odd(
        "google_forms.csv",
        f"{BOTHERED} --labels Which apply? --sep ,",
        ("too expensive", "expensive and rude", "rude", "expensive and far", "far", "far and rude"),
        (
            *("Price", "Price;Staff;rude or slow", "Staff;rude or slow", "Parking;Price"),
            *("Parking", "Parking;Staff;rude or slow"),
        ),
    ),
    "SPSS with value labels": Odd(
        spss_value_labels, CODE, ("too expensive", "rude"), ("price", "staff")
    ),
    "SPSS, a label that looks like a list": Odd(
        spss_list_label, f"{CODE} --sep |", codes=({"price"}, {"waiting; staff"}, {"price"})
    ),
    "SPSS, a set of several columns": Odd("spss_categories.sav", "answer --labels $codes"),
    "SPSS, a set of marks": Odd("spss_marks.sav", "answer --labels why"),
    "Stata, marks with labels": Odd(stata_marks, "answer --label-columns price,waiting,staff"),
}

# The same files by other options: parts of the error, and of its advice.
REFUSED = {
    "mixed separators": (LIST, "look like lists of others", '--sep ";" --sep "," --sep "/"'),
    "LimeSurvey": ("G1Q1 --label-columns G1Q2*", "row 3, column 'G1Q2[other]'", "correct"),
    "KoBo, a list with spaces": ("what_bothered --labels reasons", "' ' between", '--sep " "; or'),
    "Google Forms, with a comma in an option": (
        f"{BOTHERED} --labels Which apply?",
        "',' between",
        '--sep ","; or --as-written',
    ),
    "SPSS, a label that looks like a list": (CODE, "'waiting; staff' of 'code'", '--sep "|"'),
}


@pytest.fixture
def fit(monkeypatch, tmp_path, nldd):
    """Run ``nldd fit`` as far as what a model would learn from, of which none is fitted."""
    seen, leave_out = [], training.drop_blank_answers

    def stop(coded, columns, **_):
        seen.append(leave_out(coded, columns))
        raise InputError("enough", hint="nothing")

    def run(odd, options):
        each = f" --text {options}".split(" --")[1:]
        words = [word for option in each for word in f"--{option}".split(" ", 1)]
        done = nldd("fit", odd.path(tmp_path), *words, *QUICK, "-o", tmp_path / "m.nldd")
        assert not (tmp_path / "m.nldd").exists()
        return done, seen

    monkeypatch.setattr(training, "drop_blank_answers", stop)
    return run


@pytest.mark.parametrize("name", READ)
def test_the_table_is_read_as_a_coder_would(name, fit):
    odd = READ[name]
    done, learned = fit(odd, odd.options)
    assert learned, done.err
    ((found, decisions),) = learned
    assert tuple(found.texts) == odd.answers
    as_set = (c if isinstance(c, set) else set(c.split(";")) - {""} for c in odd.codes)
    assert decisions.codes == list(as_set)
    notes = [note for note in decisions.notes if "blank" not in note]
    assert odd.note in "\n".join(notes)
    assert bool(notes) == bool(odd.note)


@pytest.mark.parametrize("name", REFUSED)
def test_the_table_is_refused_with_what_to_do(name, fit):
    options, error, hint = REFUSED[name]
    done, learned = fit(READ[name], options)
    said, _, advice = done.err.removeprefix("Error: ").rpartition("\nTry: ")
    assert (done.code, learned) == (1, [])
    assert error in said
    assert hint in advice


def test_all_files_of_the_folder_are_used():
    named = {odd.make for odd in READ.values() if isinstance(odd.make, str)}
    assert named == {path.name for path in FOLDER.iterdir()}
