"""Why answers are left to people."""

import numpy as np
import pytest

from nldd.coding import Predictions, reasons
from nldd.coding._output import FAR, NO_FIT, above_threshold, typical_parts

BOTH = f"{FAR}, and {NO_FIT}"


def parts(x_part, y_part, theta=None):
    x_part, y_part = np.asarray(x_part, dtype=float), np.asarray(y_part, dtype=float)
    ones = np.ones(len(x_part))
    theta = ones if theta is None else np.asarray(theta)
    return Predictions(ones[:, np.newaxis].astype(np.int8), theta, ones, ones, ones, x_part, y_part)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (4.0, 1.0, FAR),  # 4 of 4 above the usual 0 and 1
        (3.0, 2.0, FAR),  # 3 of 4 is just enough
        (2.98, 2.02, BOTH),
        (2.0, 3.0, BOTH),
        (1.0, 4.0, NO_FIT),  # 3 of 4
        (1.02, 3.98, BOTH),
        (-5.0, 1.5, NO_FIT),  # nearer than usual: no excess
        (0.5, -9.0, FAR),
        (0.0, 2.0, NO_FIT),
    ],
)
def test_reason_is_the_distance_that_exceeds_the_usual_one(x, y, expected):
    assert reasons(parts([x], [y]), (0.0, 1.0)) == [expected]


def test_each_answer_has_its_own_reason():
    found = reasons(parts([5, 1, 5], [1, 5, 5]), (1, 1))
    assert found == [FAR, NO_FIT, BOTH]
    assert len({FAR, NO_FIT, BOTH}) == 3


def test_answer_without_any_excess_is_not_said_to_be_far():
    (found,) = reasons(parts([1.0], [1.0]), (1.0, 1.0))
    assert "far" not in found
    assert "no known combination" not in found


def test_usual_parts_are_medians_of_those_below_the_threshold():
    evidence = parts([1, 2, 9, 4, 5], [10, 60, 30, 20, 50], [0.1, 0.2, 0.3, 0.4, 0.5])
    assert typical_parts(evidence, 0.3) == (2.0, 30.0)
    assert typical_parts(evidence, 0.25) == (1.5, 35.0)
    assert typical_parts(evidence, 1.0) == (4.0, 30.0)
    # Without a threshold the surer half, the one in the middle included.
    assert typical_parts(evidence, None) == typical_parts(evidence, 0.3)
    # None is that sure: all of them.
    assert typical_parts(evidence, 0.01) == (4.0, 30.0)


def test_answers_above_the_threshold_go_to_people():
    theta = np.array([0.1, 0.2, 0.2, 0.3])
    assert above_threshold(theta, 0.2).tolist() == [False, False, False, True]
    assert above_threshold(theta, 0.0).tolist() == [True] * 4
    assert above_threshold(theta, 1.0).tolist() == [False] * 4
    assert above_threshold(theta, None).tolist() == [True] * 4


def test_threshold_that_is_not_a_number_lets_none_through():
    assert above_threshold(np.array([0.1, 0.9]), float("nan")).tolist() == [True, True]
