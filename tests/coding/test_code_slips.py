"""Slips in codes: what is recognised, and what is left alone."""

import pytest

from nldd.coding.code_slips import (
    Slip,
    close_code,
    find_lists,
    find_new_slips,
    likely_separator,
    notes_on_codes,
    other_names_of_numbers,
    sep_options,
    similar_groups,
)
from nldd.coding.columns import CodeColumns

LISTED = CodeColumns(("codes",))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["a|b", "c|d"], "|"),
        (["a/b", "c"], None),  # one alone may be a name
        (["a,b", "c,d", "e;f"], None),
        (["a,b", "c,d"] + ["e"] * 38, ","),
        (["a,b", "c,d"] + ["e"] * 39, None),  # less than one in twenty
        ([], None),
    ],
)
def test_likely_separator(cells, expected):
    assert likely_separator(cells, (";",)) == expected


KNOWN = ["Service", "Öffnungszeiten", "Preis", "Sauberkeit", "q1_06"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        *(("service", "Service"), ("SERVICE ", "Service"), ("Preise", "Preis"), ("", None)),
        *(("Öffnungszeitene", "Öffnungszeiten"), ("O\u0308ffnungszeiten", "Öffnungszeiten")),
        *(("sauberkiet", "Sauberkeit"), ("q1_07", None), ("q1_16", None), ("Q1_06", "q1_06")),
        *(("Sitzplätze", None), ("Preis2", None)),
    ],
)
def test_known_code_that_is_meant(name, meant):
    assert close_code(name, KNOWN) == meant


def test_groups_that_differ_in_capitals_spaces_and_zeros():
    names = ["Service", "SERVICE", "a  b", "A b", "bus", "buses", "straße", "STRASSE"]
    assert similar_groups(names) == [["Service", "SERVICE"], ["a  b", "A b"], ["straße", "STRASSE"]]
    assert similar_groups(["2", "02", "12", "002", "0", "00"]) == [["2", "02", "002"], ["0", "00"]]


def test_lists_consist_of_codes_that_are_there_by_themselves():
    codes = ["bus", "park", "rent", "bus,park", "Park / rent", "bus,tram", "a/b", "bus,"]
    codes.append("rent+bus")
    found = find_lists({name: row for row, name in enumerate(codes, 1)}, (";",))
    assert found == [
        Slip(4, "bus,park", ("bus", "park"), separator=","),
        Slip(5, "Park / rent", ("park", "rent"), separator="/"),
        Slip(9, "rent+bus", ("rent", "bus"), separator="+"),
    ]
    assert sep_options(found, (";",)) == '--sep ";" --sep "," --sep "/" --sep "+"'
    assert find_lists({"a": 1, "b": 2, "a,b": 3}, (";", ",")) == []
    found = find_lists({"a": 1, "b": 2, "c": 3, "a,b|c": 4}, (";",))
    assert found == [Slip(4, "a,b|c", ("a", "b", "c"), separator=",|")]
    assert sep_options(found) == '--sep "," --sep "|"'


def test_spaces_are_separators_where_many_codes_consist_of_others():
    codes = dict.fromkeys(["bus", "park", "rent", "bus park", "park rent"], 1)
    assert find_lists(codes, (";",)) == []  # which may be names
    found = find_lists(codes | {"rent bus park": 2, "bus tram": 3}, (";",))
    assert [slip.written for slip in found] == ["bus park", "park rent", "rent bus park"]
    assert sep_options(found) == '--sep " "'


@pytest.mark.parametrize(
    ("name", "meant", "advice"),
    [
        ("cycling,safety", ("cycling", "safety"), ""),
        ("Cycling/saftey", ("cycling", "safety"), ""),
        ("saftey", ("safety",), ""),
        ("safety cycling", ("safety", "cycling"), ""),
        ("safety,parks", (), None),  # a new code, as far as anybody can tell
        ("parks", (), None),
        ("??", (), "leave the cell empty"),
        ("-", (), "--no-code '-'"),
        ("2024-02-01T00:00:00", (), "made dates of codes such as 1-2"),
        *((date, (), "made dates of codes") for date in ("01. Feb", "Mar-24", "3/2/2024")),
        ("codes", (), "the header stands among the rows a second time"),
        ("market 1", (), None),
        ("1.2.10", (), None),
        ("1.2", ("1", "2"), ""),
    ],
)
def test_new_codes_that_may_be_slips(name, meant, advice):
    known = ("cycling", "safety", "1", "2")
    found = find_new_slips({"safety": 1, name: 7}, known, LISTED)
    slips = [] if advice is None else [(7, name, meant)]
    assert [(slip.row, slip.written, slip.meant) for slip in found] == slips
    assert all((advice or "") in slip.advice for slip in found)
    assert find_new_slips({"1.2": 1}, ("1", "2", "1.1"), LISTED) == []  # where codes have fractions


@pytest.mark.parametrize(
    ("names", "known", "expected"),
    [
        (["12", "12.0", "3.00", "bus"], [], {"12.0": "12", "3.00": "3"}),
        (["1.0", "1.1", "2"], [], {}),  # levels of a codebook
        (["02", "2"], [], {}),
        (["2", "3.0", "5"], ["02", "03"], {"2": "02", "3.0": "03"}),
        (["2"], ["02", "2"], {}),
        (["2.0"], ["02", "002"], {"2.0": "2"}),  # which of them is meant?
        (["12"], ["12.0"], {"12": "12.0"}),
        (["1" * 5000 + ".0"], [], {}),
    ],
)
def test_numbers_have_one_name(names, known, expected):
    assert other_names_of_numbers(names, known) == expected


def test_notes_on_codes():
    codes = [{"1"}, {"2"}, {"1"}, {"?"}, {"2024-02-01", "05.Feb"}, {"02"}]
    cells = ["#REF!", "#REF!", "NA", *(";".join(names) for names in codes)]
    missing, alike, asked, dates = notes_on_codes(cells, codes, LISTED, ())
    assert missing == "3 cells of 'codes' with '#REF!', 'NA': taken as not coded."
    assert alike.startswith("'02', '2' are taken as different codes")
    assert asked.startswith("'?' is taken as a code; if that means that nobody has decided")
    assert dates.startswith("'05.Feb', '2024-02-01' are taken as codes")
    assert list(notes_on_codes([], [{"?"}], LISTED, ("?",))) == []
    codes = [{"cycling"}] * 20 + [{"cyclng"}] + [{"cycle"}] * 3 + [{"Cycling"}]
    _, rare = notes_on_codes([], codes, LISTED, ())
    assert rare.startswith("'cyclng' 1 time: a code of its own, or 'cycling' misspelt?")
