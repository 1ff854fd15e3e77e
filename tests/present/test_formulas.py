"""Text that no spreadsheet runs."""

from time import process_time

import pytest

from nldd.present.text import escape_formula, unescape_formula

RUN_BY_A_SPREADSHEET = [
    *("=1+1", "+1+1", "-1+1", "@SUM(A1:A9)", "=cmd|' /C calc'!A0", "  =1+1", "\u00a0=1+1"),
    *("\ufeff=1+1", "\u200b=1+1", "\tplain", "\rplain", "\nplain", "\uff1d1+1", "\uff0b1"),
    *("\uff0d1", "\uff20SUM(1)", "-", "=", "-5 degrees", "+49 30 1234", "-1e5+1", "--5"),
    "- too expensive",
]
HARMLESS = [
    *("", "so-so", "good, - but\n- bad", "5", "-5", "+3.2", "-1e5", " -5 ", "-1,5", "-.5"),
    *("+.5E-3", "a=1", "'=1", '"=1'),
]


@pytest.mark.parametrize("text", RUN_BY_A_SPREADSHEET)
def test_guarded_puts_an_apostrophe_before_what_would_run(text):
    assert escape_formula(text) == f"'{text}"


@pytest.mark.parametrize("text", HARMLESS)
def test_guarded_leaves_the_rest(text):
    assert escape_formula(text) == text


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("a;=1+1", "a;'=1+1"),
        ("x\n=cmd|' /C calc'!A0", "x\n'=cmd|' /C calc'!A0"),
        ("a,b|@SUM(1)\t+1\r\n-1", "a,b|'@SUM(1)\t'+1\r\n'-1"),
        ("\t=1+1", "'\t'=1+1"),
        ("good, \u200b=1", "good,' \u200b=1"),
        ('a;""=1+1', 'a;\'""=1+1'),
        ("=1;=2", "'=1;'=2"),
        ("a;\n;=1", "a;\n;'=1"),
        ("-1,5+cmd|'x'!A0", "'-1,5+cmd|'x'!A0"),
        ("a\u2028=1\x85=2", "a\u2028'=1\x85'=2"),
    ],
)
def test_guarded_behind_separators_and_line_ends(text, safe):
    """Where another program cuts the file by another separator, a cell begins there."""
    assert escape_formula(text) == escape_formula(safe) == safe
    assert unescape_formula(safe) == text


def test_unguarded_leaves_apostrophes_of_people():
    for text in ("'twas", "it's; 'so'", "''=1", "a;''=1", "rock 'n' roll, '90s", "'", ""):
        assert unescape_formula(text) == text


def test_guarding_takes_time_by_the_length_only():
    start = process_time()
    for piece in ("\t", "; ", ' ;"', "\n\u200b", "=", ";'"):
        text = "x" + piece * 200_000
        assert unescape_formula(escape_formula(text)) in (text, text.replace(";'", ";"))
    assert process_time() - start < 3
