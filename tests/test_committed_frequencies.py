"""The committed studies behind docs/frequencies.md: complete, covered, and as the page tells."""

import re
from pathlib import Path

import pytest

from programs import program

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "frequencies.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def studies():
    return program("frequencies")


def test_page_has_the_recorded_coverage(studies):
    told = re.search(r"<!-- coverage -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)[1]
    assert told == studies.table(studies.read())


def test_findings_are_told_with_the_numbers_of_the_records(studies):
    rows = [line.split(" | ") for line in studies.table(studies.read()).splitlines()[2:22]]
    off = sorted(float(row[5]) for row in rows if row[1] == "100")
    raw = sorted(float(row[7].strip(" |")) for row in rows)
    told = " ".join(PAGE.split())
    assert f"in our simulations by {raw[0]} to {raw[-1]} percentage points" in told
    assert f"the corrected shares were off by {off[0]} to {off[-1]} points" in told
    assert "97.6 % of all intervals held the true share" in told
    assert "97.6 % of the intervals held the share, at least 94.2 %" in told
    assert "fewer than 94.2 % of its intervals" in told


def test_all_kinds_of_studies_are_recorded(studies):
    names = ("design", "prevalence", "errors", "checked")
    recorded = [tuple(record[name] for name in names) for record in studies.read()]
    assert recorded == [cell for _, cell in studies.cells()]
    assert {record["studies"] for record in studies.read()} == {1000}


def test_intervals_hold_the_share_as_often_as_promised(studies):
    """Of nominally 95 %, at least 93 % of each kind."""
    for record in studies.read():
        assert record["covered"] >= 930, record


def test_corrected_shares_are_nearer_to_the_truth_than_the_difference_estimator(studies):
    for record in studies.read():
        if record["errors"] in ("many", "too often"):
            assert record["off"] <= record["difference_off"], record
