"""Critical differences: what the diagrams say, and when there are none."""

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from displays.drawn import assert_legible
from nldd.metrics import PAPER_MEASURES
from nldd.reports import published, results
from nldd.reports._differences import about_differences, difference_diagrams
from reports.records import everything, folds, grid, published_records, record

NAMES = [f"data{k:02}" for k in range(20)]


@pytest.fixture(scope="module")
def published_diagrams():
    return list(difference_diagrams(results(published_records())))


def words(picture):
    return [text.get_text() for text in picture.figure.axes[0].texts]


def test_there_is_one_diagram_a_measure(published_diagrams):
    assert [picture.key for picture in published_diagrams] == [
        f"differences_{measure.key}" for measure in PAPER_MEASURES
    ]


def test_diagrams_show_average_ranks_of_the_published_values(published_diagrams):
    hamming, *_, f_measure = published_diagrams
    assert hamming.alt == "Average ranks on Hamming loss: NLDD is best with 2.72."
    assert f_measure.alt == "Average ranks on F-measure: ECC is best with 2.11."
    shown = words(f_measure)
    ranks = {shown[k + 1]: shown[k] for k in range(10, 24, 2)}
    assert ranks == {
        **{"ECC": "2.11", "NLDD": "2.67", "CBM": "3.11", "SMBR": "4.00"},
        **{"RAKEL": "4.11", "BR": "5.33", "MLKNN": "6.67"},
    }


def test_captions_state_friedmans_test(published_diagrams):
    for picture, measure in zip(published_diagrams, PAPER_MEASURES, strict=True):
        test = friedmanchisquare(*published(measure.key).array().T)
        assert (
            f"Friedman's test over 9 data sets: chi-square {test.statistic:.1f}, "
            f"p = {test.pvalue:.2g}."
        ) in picture.caption


def test_diagrams_of_ten_methods_are_legible():
    pictures = list(difference_diagrams(results(everything())))
    assert len(pictures) == 4
    assert_legible(pictures[0].figure)


@pytest.mark.parametrize(
    ("n_datasets", "methods", "told"),
    [
        # m pairs and n data sets: the smallest p-value that Holm leaves is 2 m / 2^n.
        (
            9,
            ("BR", "SMBR", "NLDD", "ECC", "RAKEL", "MLKNN", "CBM"),
            "21 pairs {} 0.082, so no pair",
        ),
        (10, ("BR", "SMBR", "NLDD", "ECC", "RAKEL", "MLKNN", "CBM"), "21 pairs {} 0.041."),
        (2, ("BR", "NLDD", "ECC"), "3 pairs {} 1, so no pair can differ at 0.05"),
        (6, ("BR", "NLDD", "ECC"), "3 pairs {} 0.094, so no pair can differ at 0.05"),
        (7, ("BR", "NLDD", "ECC"), "3 pairs {} 0.047."),
    ],
)
def test_the_smallest_p_value_is_told(n_datasets, methods, told):
    values = np.full((n_datasets, len(methods)), 0.5)
    (sentence,) = about_differences(results(grid(values, NAMES[:n_datasets], methods)))
    assert sentence.startswith(f"With {n_datasets} data sets and ")
    told = told.format("of methods the smallest p-value that Holm's correction can leave is")
    assert told in sentence
    assert sentence.endswith("one bar joins all methods." if "so no" in told else told)


def test_methods_that_differ_are_not_joined():
    # NLDD is better on all of 7 data sets: p = 2 / 2^7 = 0.016.
    values = [[0.3 + 0.01 * k, 0.2] for k in range(7)]
    apart = next(difference_diagrams(results(grid(values, NAMES[:7], ("BR", "NLDD")))))
    # On six data sets with one tie, five differences: p = 2 / 2^5 = 0.062.
    values[0] = [0.2, 0.2]
    joined = next(difference_diagrams(results(grid(values[:6], NAMES[:6], ("BR", "NLDD")))))
    assert not [word for word in words(apart) if word.startswith("A bar joins")]
    assert [word for word in words(joined) if word.startswith("A bar joins")]
    assert "chi-square 7.0, p = 0.0082" in apart.caption
    assert "NLDD is best with 1.00" in apart.alt
    assert "NLDD is best with 1.08" in joined.alt


@pytest.mark.parametrize(
    "records",
    [
        grid([[0.1, 0.2]], ["yeast"], ("BR", "NLDD")),
        grid([[0.1], [0.2], [0.3]], NAMES[:3], ["BR"]),
        grid([[0.1, 0.2], [0.3, None], [None, 0.1]], NAMES[:3], ("BR", "NLDD")),
        [*grid([[0.1], [0.2]], NAMES[:2], ["BR"]), record(NAMES[0], "NLDD", error="no")],
    ],
    ids=["one-data-set", "one-method", "one-complete", "one-failed"],
)
def test_too_little_to_compare_is_said_and_not_drawn(records):
    found = results(records)
    assert list(about_differences(found)) == [
        "Methods are compared from two of them and two complete data sets on."
    ]
    assert list(difference_diagrams(found)) == []


def test_incomplete_data_sets_are_left_out():
    values = [[0.1, 0.2], [0.3, None], [0.1, 0.2]]
    some = folds(NAMES[1], "NLDD", [0.1, 0.2])[:1]
    found = results([*grid(values, NAMES[:3], ("BR", "NLDD")), *some])
    assert next(about_differences(found)).startswith("With 2 data sets ")
    assert "Friedman's test over 2 data sets" in next(difference_diagrams(found)).caption
    assert next(difference_diagrams(found)).alt == (
        "Average ranks on Hamming loss: BR is best with 1.00."
    )


def test_equal_values_everywhere_are_drawn():
    found = results(grid(np.full((3, 3), 0.5), NAMES[:3], ("BR", "NLDD", "ECC")))
    pictures = list(difference_diagrams(found))
    assert "chi-square 0.0, p = 1." in pictures[0].caption
    assert pictures[0].on_page().svg.startswith("<svg")
