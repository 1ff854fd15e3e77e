"""The committed studies behind docs/review.md: complete, and as the page tells them."""

import re
from pathlib import Path

import pytest

from nldd.coding.selective import accuracy_interval
from programs import program

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "review.md"


@pytest.fixture(scope="module")
def review():
    """The program that ran them."""
    return program("review")


@pytest.mark.parametrize("data", ["survey", "slashdot", "made"])
def test_all_studies_are_there(review, data):
    ways = review.WAYS[1:] if data == "made" else review.WAYS
    wanted = {(number, way) for number in range(review.N_STUDIES[data]) for way in ways}
    records = review.read(data)
    assert {(record["study"], record["way"]) for record in records} == wanted
    assert len(records) == len(wanted)


def test_page_has_the_tables_as_they_are_recorded(review):
    page = PAGE.read_text(encoding="utf-8")
    for key, text in review.tables().items():
        assert re.search(rf"<!-- {key} -->\n(.*?)<!-- end -->", page, re.DOTALL)[1] == text


def test_promises_are_broken_no_more_often_than_one_in_ten_whenever_people_stop(review):
    """As far as so many studies can tell: no interval of that share lies above a tenth."""
    for row in review.promise_rows(review.read("made")):
        low, _ = accuracy_interval([1] * row["broken"] + [0] * (row["studies"] - row["broken"]))
        assert low <= 0.1, row


def test_findings_are_told_with_the_numbers_of_the_records(review):
    told = " ".join(PAGE.read_text(encoding="utf-8").split())
    in_all = {row["way"]: row["in_all"] for row in review.rows("survey") if row["share"] == 0.8}
    orders = [in_all[way] for way in ("file", "unsure", "alike")]
    assert min(orders) == in_all["unsure"]
    assert f"people had to decide {min(orders):.0f} by the best order" in told
    assert f"and {max(orders):,.0f} by the slowest" in told
    queued = [r for r in review.promise_rows(review.read("made")) if r["way"] != "random"]
    assert f"in more than {max(row['broken'] for row in queued)} of them" in told
