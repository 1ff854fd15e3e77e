"""The committed splits behind docs/promise.md: complete, and as the page tells them."""

import importlib.util
import re
from pathlib import Path

import pytest

from nldd.coding import accuracy_interval

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "promise.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def promise():
    """The program that ran them, without its thousand draws a cell."""
    spec = importlib.util.spec_from_file_location("promise", ROOT / "results" / "promise.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.draws = lambda *args: (0.0, 0.0)
    return module


def table_on_page(share):
    text = re.search(rf"<!-- {share} -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)[1]
    return text.splitlines()


@pytest.mark.parametrize("share", ["half", "fifth"])
def test_page_has_all_splits_as_they_are_recorded(promise, share):
    for name in promise.NAMES:
        assert [record["split"] for record in promise.read(share, name)] == list(range(100))
    made, told = promise.table(share).splitlines(), table_on_page(share)
    assert len(told) == len(made) == 40
    for ours, line in zip(made, told, strict=True):
        assert line.split("|")[:8] == ours.split("|")[:8]


@pytest.mark.parametrize("share", ["half", "fifth"])
def test_new_rows_are_not_below_the_target_more_often_than_promised(promise, share):
    """As far as 100 splits can tell: no interval of that share lies above a tenth."""
    for row in (row for name in promise.NAMES for row in promise.rows(share, name)):
        low, _ = accuracy_interval([1] * row["below"] + [0] * (row["splits"] - row["below"]))
        assert low <= 0.1, row


@pytest.mark.parametrize("share", ["half", "fifth"])
def test_true_accuracy_is_below_the_target_no_more_often_than_promised(share):
    cells = [line.split("|") for line in table_on_page(share)[2:38]]
    assert len(cells) == 36
    for cell in cells:
        assert float(cell[9].strip(" %")) <= 10, cell
