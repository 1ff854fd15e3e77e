"""Tables as survey programs, spreadsheets and people make them, each with what a coder would say.

Those of text, and SPSS files with multiple-response sets (2 is "mentioned" in that of marks), lie
in ``odd_answers/``; other workbooks and files of SPSS and Stata are made here.
"""

import datetime
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "odd_answers"
TEXTS = ("too expensive", "slow and rude", "rude")
CODES = ("price", "waiting;staff", "staff")


@dataclass(frozen=True)
class Odd:
    """A table, the columns that a coder names, and the answers and codes that it holds.

    Codes are lists with semicolons, or sets. `notes` are parts of what is said beside. Where it is
    refused, `error` and `hint` are parts of both sentences instead.
    """

    make: object
    options: tuple
    answers: tuple = TEXTS
    codes: tuple = CODES
    notes: tuple = ()
    error: str = ""
    hint: str = ""

    def path(self, folder):
        """The file: one of the folder, or made now."""
        return FOLDER / self.make if isinstance(self.make, str) else self.make(folder)


def workbook(folder, rows, *, finish=lambda sheet: None):
    from openpyxl import Workbook

    book = Workbook()
    for row in rows:
        book.active.append(row)
    finish(book.active)
    book.save(folder / "odd.xlsx")
    return folder / "odd.xlsx"


def listed(*codes):
    """Rows of a workbook with these cells as codes."""
    return [("id", "answer", "codes"), *zip(range(1, 9), TEXTS, codes, strict=False)]


def merged_cells(folder):
    rows = [*listed("price", "staff", None)]
    return workbook(folder, rows, finish=lambda sheet: sheet.merge_cells("C3:C4"))


def dates_for_codes(folder):
    return workbook(folder, listed("1", datetime.datetime(2024, 2, 1), "2"))


def broken_formulas(folder):
    def finish(sheet):
        sheet["C4"].value, sheet["C4"].data_type = "#REF!", "e"

    return workbook(folder, listed("price", "waiting;staff", "x"), finish=finish)


def formulas_without_values(folder):
    return workbook(folder, listed("price", "waiting;staff", '=IF(B4="rude","staff","")'))


def alt_enter(folder):
    return workbook(folder, listed("price", "waiting\nstaff", "staff"))


def hidden_first_sheet(folder):
    def finish(sheet):
        sheet.sheet_state = "hidden"
        other = sheet.parent.create_sheet("Answers")
        for row in listed(*CODES):
            other.append(row)
        sheet.parent.active = 1

    return workbook(folder, [("list of codes",), ("price",)], finish=finish)


def numbers_in_a_workbook(folder):
    return workbook(folder, listed(1, "2;3", 3.0))


def empty_columns_before(folder):
    def finish(sheet):
        sheet.insert_cols(1, 2)
        sheet.insert_rows(1, 3)

    return workbook(folder, listed(*CODES), finish=finish)


def statistics_file(folder, name, columns, **labels):
    import pandas
    import pyreadstat

    path = folder / name
    write = pyreadstat.write_sav if path.suffix == ".sav" else pyreadstat.write_dta
    write(
        pandas.DataFrame({"id": [1.0, 2.0, 3.0], "answer": TEXTS, **columns}), str(path), **labels
    )
    return path


NAMES = {1: "price", 2: "waiting", 3: "staff", 9: "nobody decided"}


def spss_value_labels(folder):
    columns = {"code": [1.0, 9.0, 3.0]}
    labels = {"variable_value_labels": {"code": NAMES}, "missing_ranges": {"code": [9]}}
    return statistics_file(folder, "odd.sav", columns, **labels)


def spss_list_label(folder):
    labels = {"variable_value_labels": {"code": {1: "price", 2: "waiting; staff"}}}
    return statistics_file(folder, "odd.sav", {"code": [1.0, 2.0, 1.0]}, **labels)


def stata_marks(folder):
    columns = {"price": [1, 0, 0], "waiting": [0, 1, 0], "staff": [0, 1, 1]}
    mentioned = {0: "not mentioned", 1: "mentioned"}
    labels = {"variable_value_labels": dict.fromkeys(columns, mentioned)}
    return statistics_file(folder, "odd.dta", columns, **labels)


LIST = ("--text", "answer", "--labels", "codes")
BOTHERED = ("--text", "What bothered you?")
MARKS = ("--text", "answer", "--label-columns", "price,waiting,staff")
KOBO = (
    "too expensive",
    "too expensive and slow",
    "rude staff",
    "slow and rude",
    "all of it",
    "slow",
)
GERMAN = ("zu teuer", "zu teuer, zu langsam")

ODD = {
    "codes in several columns": Odd(
        "several_columns.csv",
        ("--text", "answer", "--labels", "code1,code2,code3"),
        ("too expensive", "too expensive and slow", "rude staff", "slow, rude, expensive"),
        ("price", "price;waiting", "staff", "price;staff;waiting"),
    ),
    "Qualtrics": Odd(
        "qualtrics.csv",
        ("--text", "Q7", "--labels", "Q7_codes"),
        ("too expensive", "too expensive and slow", "rude staff"),
        ("price", "price;waiting", "staff"),
        notes=("2 rows below the header, as Qualtrics writes them",),
    ),
    "mixed separators": Odd(
        "mixed_separators.csv",
        LIST,
        error="codes look like lists of others",
        hint='--sep ";" --sep "," --sep "/"',
    ),
    "mixed separators, named": Odd(
        "mixed_separators.csv",
        (*LIST, "--sep", ";", "--sep", ",", "--sep", "/"),
        (*KOBO[:4], "expensive and rude", "slow"),
        ("price", "price;waiting", "staff", "staff;waiting", "price;staff", "waiting"),
    ),
    "numbers as codes": Odd(
        "numbers_as_codes.csv",
        LIST,
        ("too expensive", "too expensive again", "rude staff", "rude and expensive"),
        ("12", "12", "02", "12;2"),
        notes=(
            "Numbers as codes: '12.0' taken as '12'.",
            "'02', '2' are taken as different codes; write them alike if they are one.",
        ),
    ),
    "LimeSurvey": Odd(
        "limesurvey.csv",
        ("--text", "G1Q1", "--label-columns", "G1Q2[SQ*"),
        (*GERMAN, "unhöflich"),
        ("G1Q2[SQ001]", "G1Q2[SQ001];G1Q2[SQ002]", "G1Q2[SQ003]"),
    ),
    "LimeSurvey with its other": Odd(
        "limesurvey.csv",
        ("--text", "G1Q1", "--label-columns", "G1Q2*"),
        error="limesurvey.csv, row 3, column 'G1Q2[other]': expected 0 or 1 (or yes, no, x), got "
        "'parkplatz'.",
        hint="correct the cell",
    ),
    "SurveyMonkey": Odd(
        "surveymonkey.csv",
        (*BOTHERED, "--labels", "Which of these apply?,Waiting,Staff"),
        ("too expensive", "too expensive and slow", "rude staff"),
        ("Price", "Price;Waiting", "Staff"),
        notes=("1 row below the header, as SurveyMonkey writes it",),
    ),
    "KoBo, columns of 0 and 1": Odd(
        "kobo.csv",
        ("--text", "what_bothered", "--label-columns", "reasons/*"),
        KOBO,
        (
            "reasons/price",
            "reasons/price;reasons/waiting",
            "reasons/staff",
            "reasons/staff;reasons/waiting",
            "reasons/price;reasons/staff;reasons/waiting",
            "reasons/waiting",
        ),
    ),
    "KoBo, a list with spaces": Odd(
        "kobo.csv",
        ("--text", "what_bothered", "--labels", "reasons"),
        error="codes look like lists of others, with ' ' between them",
        hint='--sep " "; or --as-written',
    ),
    "KoBo, a list with spaces, named": Odd(
        "kobo.csv",
        ("--text", "what_bothered", "--labels", "reasons", "--sep", " "),
        KOBO,
        ("price", "price;waiting", "staff", "staff;waiting", "price;staff;waiting", "waiting"),
    ),
    "semicolons, decimal commas, cp1252": Odd(
        "german_excel.csv",
        ("--text", "Antwort", "--labels", "Codes", "--sep", ",", "--features", "Ausgaben"),
        (*GERMAN, "unhöfliches Personal \u2013 schrecklich", "zu lange gewartet"),
        ("Preis", "Preis;Warten", "Personal", "Warten"),
        notes=("The file is not in UTF-8; it was read as cp125",),
    ),
    "UTF-16 text of Excel": Odd(
        "unicode_text.txt",
        LIST,
        ("too expensive", "slow, größer \u2013 rude", "rude"),
        notes=("it was read as utf-16-le.",),
    ),
    "tabs in .txt": Odd("tabs.txt", LIST, ("too expensive, really", "slow; rude", "rude")),
    "a byte order mark": Odd("byte_order_mark.csv", LIST, TEXTS[:2], CODES[:2]),
    "empty rows": Odd("empty_rows.csv", LIST, TEXTS[:2], CODES[:2]),
    "a title above the header": Odd(
        "title_line.csv",
        LIST,
        error="title_line.csv has no column 'answer'.",
        hint="--header-row",
    ),
    "a title above the header, told": Odd(
        "title_line.csv", (*LIST, "--header-row", "3"), TEXTS[:2], CODES[:2]
    ),
    "repeated names": Odd(
        "same_names.csv",
        ("--text", "answer (2)", "--labels", "codes (2)"),
        TEXTS[:2],
        CODES[:2],
        notes=("Repeated column names got a number: 'answer (2)', 'codes (2)'.",),
    ),
    "a row of sums": Odd("summary_row.csv", LIST, notes=("1 of 4 coded rows without text",)),
    "ja and nein": Odd(
        "ja_nein.csv",
        ("--text", "Antwort", "--label-columns", "Preis,Warten,Personal"),
        (*GERMAN, "unhöflich", "weiß nicht"),
        ("Preis", "Preis;Warten", "Personal", ""),
    ),
    "other, please specify": Odd(
        "other_specify.csv",
        (*BOTHERED, "--text", "Other, please specify", "--labels", "codes"),
        ("too expensive\n", "Other\nslow and rude", "rude\nno parking"),
        ("price", "waiting;staff", "staff;parking"),
    ),
    "JSON lines": Odd("lines.jsonl", LIST),
    "Google Forms": Odd(
        "google_forms.csv",
        (*BOTHERED, "--labels", "Which apply?"),
        error="codes look like lists of others, with ',' between them",
        hint='--sep ","; or --as-written',
    ),
    "Google Forms, with a comma in an option": Odd(
        "google_forms.csv",
        (*BOTHERED, "--labels", "Which apply?", "--sep", ","),
        ("too expensive", "expensive and rude", "rude", "expensive and far", "far", "far and rude"),
        (
            *("Price", "Price;Staff;rude or slow", "Staff;rude or slow", "Parking;Price"),
            *("Parking", "Parking;Staff;rude or slow"),
        ),
    ),
    "lists of Python": Odd("python_lists.csv", LIST, TEXTS[:2], CODES[:2]),
    "the header once more": Odd(
        "header_again.csv",
        LIST,
        ("too expensive", "slow and rude", "answer", "rude"),
        ("price", "waiting;staff", "codes", "staff"),
        notes=("if the header stands among the rows a second time, delete it there",),
    ),
    "capitals and question marks": Odd(
        "capitals.csv",
        LIST,
        ("too expensive", "expensive", "rude", "rude", "rude?"),
        ("price", "Price", "staff", "staff", "?"),
        notes=("'Price', 'price' are taken as different codes", "'?' is taken as a code"),
    ),
    "a misspelt column": Odd(
        "several_columns.csv",
        ("--text", "anwser", "--labels", "code1"),
        error="several_columns.csv has no column 'anwser'.",
        hint="Did you mean 'answer'?",
    ),
    "a quote that is never closed": Odd(
        "unclosed_quote.csv", LIST, error="unclosed_quote.csv, line 2", hint="quote"
    ),
    "merged cells": Odd(
        merged_cells,
        LIST,
        TEXTS[:2],
        ("price", "staff"),
        notes=("1 group of merged cells in the rows",),
    ),
    "dates that were codes": Odd(
        dates_for_codes,
        LIST,
        codes=("1", "2024-02-01", "2"),
        notes=("if a spreadsheet made dates of codes such as 1-2",),
    ),
    "#REF!": Odd(
        broken_formulas,
        LIST,
        TEXTS[:2],
        CODES[:2],
    ),
    "formulas without values": Odd(
        formulas_without_values,
        LIST,
        TEXTS[:2],
        CODES[:2],
        notes=("Formulas without a value, such as C4, were read as empty",),
    ),
    "Alt+Enter": Odd(alt_enter, LIST),
    "a hidden first sheet": Odd(hidden_first_sheet, LIST, notes=("The sheet 'Answers' was read",)),
    "numbers in a workbook": Odd(numbers_in_a_workbook, LIST, codes=("1", "2;3", "3")),
    "a table that begins at C4": Odd(
        empty_columns_before, LIST, notes=("2 columns had no name: 'column 1', 'column 2'.",)
    ),
    "SPSS with value labels": Odd(
        spss_value_labels,
        ("--text", "answer", "--labels", "code"),
        ("too expensive", "rude"),
        ("price", "staff"),
    ),
    "SPSS, a label that looks like a list": Odd(
        spss_list_label,
        ("--text", "answer", "--labels", "code"),
        error="odd.sav: the label 'waiting; staff' of 'code' holds ';', which separates codes.",
        hint='--sep "|"',
    ),
    "SPSS, a label that looks like a list, told": Odd(
        spss_list_label,
        ("--text", "answer", "--labels", "code", "--sep", "|"),
        codes=({"price"}, {"waiting; staff"}, {"price"}),
    ),
    "SPSS, a set of several columns": Odd(
        "spss_categories.sav", ("--text", "answer", "--labels", "$codes")
    ),
    "SPSS, a set of marks": Odd("spss_marks.sav", ("--text", "answer", "--labels", "why")),
    "Stata, marks with labels": Odd(stata_marks, MARKS),
}
