"""Codes that look like one another."""

import pytest

from nldd.coding._training_table import similar_code, similar_groups

KNOWN = ["Service", "Öffnungszeiten", "Preis", "Sauberkeit", "q1_06"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("service", "Service"),
        ("SERVICE ", "Service"),
        ("Preise", "Preis"),
        ("Öffnungszeitene", "Öffnungszeiten"),
        ("O\u0308ffnungszeiten", "Öffnungszeiten"),
        ("sauberkiet", "Sauberkeit"),
        ("q1_07", None),
        ("q1_16", None),
        ("Q1_06", "q1_06"),
        ("Sitzplätze", None),
        ("Preis2", None),
        ("", None),
    ],
)
def test_known_code_that_is_meant(name, meant):
    assert similar_code(name, KNOWN) == meant


def test_groups_that_differ_in_capitals_and_spaces():
    names = ["Service", "SERVICE", "a  b", "A b", "bus", "buses", "straße", "STRASSE"]
    assert similar_groups(names) == [["Service", "SERVICE"], ["a  b", "A b"], ["straße", "STRASSE"]]
