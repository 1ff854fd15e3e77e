"""One method on growing shares of the training rows, as a table and as curves."""

import numpy as np
import pytest

from displays.drawn import assert_legible
from nldd.reports import results, to_csv
from nldd.reports._share_table import mismatches, share_pictures, share_table
from reports.records import record


def shares(*steps):
    """NLDD on bibtex: 2, 4, ... seconds, and a Hamming loss of 0.02 that falls by 0.001 a step."""
    return [
        record(
            "bibtex",
            "NLDD",
            share=share,
            score={"hamming_loss": 0.02 - 0.001 * k},
            fit_seconds=1.5 + 2 * k,
            n_labels=159,
            n_train=round(5546 * share),
        )
        for k, share in enumerate(steps)
    ]


def test_one_row_a_share_from_the_smallest_on():
    found = results([record("bibtex", "NLDD"), *reversed(shares(0.1, 0.55, 1.0))])
    table = share_table(found.shares)
    assert (table.key, table.head[0]) == ("shares", "share")
    assert table.title == "NLDD on shares of the training rows of bibtex"
    # Wrong labels a row: 0.02 x 159 = 3.18, 0.019 x 159 = 3.021, 0.018 x 159 = 2.862.
    assert table.rows == (
        ("10%", "555", "2.0", "3.1800"),
        ("55%", "3050", "4.0", "3.0210"),
        ("100%", "5546", "6.0", "2.8620"),
    )
    lines = to_csv(table).splitlines()
    assert lines[0] == "share,n_train,seconds,mismatches"
    numbers = [[float(text) for text in line.split(",")] for line in lines[1:]]
    expected = [[0.1, 555, 2, 3.18], [0.55, 3050, 4, 3.021], [1, 5546, 6, 2.862]]
    np.testing.assert_allclose(numbers, expected, rtol=1e-14)


def test_mismatches_are_hamming_loss_times_labels():
    assert mismatches(shares(1.0)[0]) == pytest.approx(3.18, rel=1e-14)


def test_without_shares_there_is_neither_table_nor_picture():
    assert share_table([]) is None
    assert list(share_pictures([])) == []


def test_without_the_whole_of_the_rows_there_is_a_table_and_no_picture():
    records = shares(0.1, 0.5)
    assert len(share_table(records).rows) == 2
    assert list(share_pictures(records)) == []


def test_curves_are_relative_to_all_rows():
    (picture,) = share_pictures(shares(0.1, 0.55, 1.0))
    assert picture.key == "shares"
    assert picture.caption.startswith("NLDD on bibtex: running time relative to all training rows")
    time, wrong = picture.figure.axes
    drawn = [line for line in time.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(drawn[0].get_xydata(), [[10, 100 / 3], [55, 200 / 3], [100, 100]])
    drawn = [line for line in wrong.lines if line.get_marker() == "s"]
    np.testing.assert_allclose(drawn[0].get_xydata(), [[10, 3.18], [55, 3.021], [100, 2.862]])
    assert picture.figure.get_suptitle() == "NLDD on bibtex"
    assert_legible(picture.figure)


def test_one_share_of_all_rows_is_a_picture_too():
    (picture,) = share_pictures(shares(1.0))
    assert picture.on_page().svg.startswith("<svg")
