"""The two pairs of one validation instance: by hand, by the model, and as drawn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array, csr_array

from drawn import assert_legible
from nldd.bench.displays import PairChoice, PairChoiceDisplay, PairsDisplay, pair_distances
from nldd.estimators._nldd import NLDDClassifier
from nldd.exceptions import InputError
from nldd.present.drawing import make_figure

# The instance is at 0 with p = (1, 0.5). The second feature is divided by 2, so that
#   row     0            1            2            3
#   Dx      5            3            4 / 2 = 2    2
#   Dy      0.5          0.5          sqrt(1.25)   0.5 * sqrt(5), the same
X = np.array([[5.0, 0.0], [3.0, 0.0], [0.0, 4.0], [2.0, 0.0]])
Y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
INSTANCE, P, SCALE = np.array([[0.0, 0.0]]), np.array([1.0, 0.5]), np.array([1.0, 2.0])


@pytest.mark.parametrize("container", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_distances_and_choice_by_hand(container):
    choice = pair_distances(container(X), Y, container(INSTANCE), P, SCALE)
    assert_allclose(choice.Dx, [5, 3, 2, 2])
    assert_allclose(choice.Dy, [0.5, 0.5, np.sqrt(1.25), np.sqrt(1.25)])
    assert_array_equal(choice.tied_in_x, [2, 3])
    assert_array_equal(choice.tied_in_y, [0, 1])
    # Both distances of rows 2 and 3 are equal: the lower one. Of rows 0 and 1 the nearer in x.
    assert (choice.first, choice.second) == (2, 1)


def test_among_rows_tied_in_features_the_labels_decide():
    choice = pair_distances(X, Y[[0, 1, 2, 1]], INSTANCE, P, SCALE)
    assert choice.first == 3
    assert choice.second == 3


def test_distances_that_differ_by_rounding_are_tied():
    # |(0.1, 0.2)| and |(0.2, 0.1)| are summed in another order.
    rows = np.array([[0.1, 0.7, 0.2], [0.2, 0.1, 0.7], [0.7, 0.2, 0.1]])
    choice = pair_distances(rows, Y[:3], np.zeros((1, 3)), P, np.ones(3))
    assert_array_equal(choice.tied_in_x, [0, 1, 2])
    assert choice.first == 0


@pytest.mark.parametrize("i", [0, 149])
def test_choice_is_the_one_that_the_model_made(yeast, i):
    X, Y, _ = yeast
    model = NLDDClassifier(None, random_state=4).fit(X[:300], Y[:300])
    choice = PairChoiceDisplay.from_training(X[:300], Y[:300], i, random_state=4).choice
    pairs = model.pairs_
    mine = pairs.instance == np.unique(pairs.instance)[i]
    chosen = list(dict.fromkeys([choice.first, choice.second]))
    assert_allclose(pairs.Dx[mine], choice.Dx[chosen])
    assert_allclose(pairs.Dy[mine], choice.Dy[chosen])
    assert len(choice.Dx) == 150
    assert len(np.unique(choice.Dy.round(9))) == len(
        np.unique(Y[:300][np.setdiff1d(np.arange(300), pairs.instance)], axis=0)
    )


def test_sparse_features_give_the_same_choice(small):
    X, Y = small
    dense = PairChoiceDisplay.from_training(X, Y, 2, random_state=0).choice
    sparse = PairChoiceDisplay.from_training(coo_array(X), Y, 2, random_state=0).choice
    assert_allclose(sparse.Dx, dense.Dx)
    assert_allclose(sparse.Dy, dense.Dy, atol=1e-3)  # liblinear stops elsewhere
    assert sparse.first == dense.first


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_plot_marks_and_names_both_pairs_and_the_ties():
    display = PairChoiceDisplay(pair_distances(X, Y, INSTANCE, P, SCALE)).plot()
    assert legend(display) == [
        "4 rows of T1",
        "2 rows tied at the smallest Dx",
        "2 rows tied at the smallest Dy",
        "$m_{i1}$, nearest in features: (2.00, 1.12)",
        "$m_{i2}$, nearest in labels: (3.00, 0.50)",
    ]
    points, *_, first, second = display.ax_.collections
    assert_allclose(points.get_offsets()[:, 0], [5, 3, 2, 2])
    assert_allclose(first.get_offsets(), [[2, np.sqrt(1.25)]])
    assert_allclose(second.get_offsets(), [[3, 0.5]])
    assert [text.get_text() for text in display.ax_.texts] == ["$m_{i1}$", "$m_{i2}$"]
    assert display.ax_.get_xlabel() == "Dx, distance in feature space"


def test_one_row_nearest_in_both_is_named_once():
    display = PairChoiceDisplay(pair_distances(X, Y[[0, 1, 2, 1]], INSTANCE, P, SCALE)).plot()
    assert legend(display)[-1] == "$m_{i1} = m_{i2}$, nearest in both: (2.00, 0.50)"
    assert [text.get_text() for text in display.ax_.texts] == ["$m_{i1} = m_{i2}$"]


def test_nearest_few_rows_keep_the_chosen_and_the_tied():
    choice = PairChoice(np.arange(10.0), np.arange(10.0)[::-1], 0, 9, np.array([0]), np.array([9]))
    display = PairChoiceDisplay(choice, nearest=3).plot()
    assert_array_equal(display.ax_.collections[0].get_offsets()[:, 0], [0, 1, 2, 9])
    assert legend(display)[0] == "4 rows of T1"


@pytest.mark.parametrize("i", [0, 7])
def test_words_never_overlap(yeast, i):
    display = PairChoiceDisplay.from_training(yeast.X, yeast.Y, i, random_state=0)
    assert_legible(display.plot().figure_)


def test_instances_that_are_not_in_the_second_half_are_refused(small):
    for i in (60, -1):
        with pytest.raises(InputError, match=f"i must be from 0 to 59.*got {i}"):
            PairChoiceDisplay.from_training(*small, i, random_state=0)


# All pairs of a model


def test_pairs_display_draws_every_pair_and_lines_of_theta(small, tmp_path):
    model = NLDDClassifier(random_state=0).fit(*small)
    display = PairsDisplay.from_estimator(model).plot()
    points = display.ax_.collections[0]
    assert len(points.get_offsets()) == len(model.pairs_)
    assert sorted(points.get_array()) == sorted(model.pairs_.errors)
    assert f"{model.beta_[1]:.3f} Dx" in display.ax_.get_title()
    assert len(display.ax_.collections) > 1
    display.figure_.savefig(tmp_path / "pairs.png")
    assert (tmp_path / "pairs.png").read_bytes().startswith(b"\x89PNG")


def test_pairs_display_takes_axes_and_the_multiplicative_model(small):
    model = NLDDClassifier(model="multiplicative", random_state=0).fit(*small)
    axes = make_figure((7, 5)).subplots()
    display = PairsDisplay.from_estimator(model).plot(ax=axes)
    assert display.ax_ is axes
    assert "Dx^" in axes.get_title()


@pytest.mark.parametrize("kind", [PairChoice, PairChoiceDisplay, PairsDisplay])
def test_what_holds_arrays_is_told_apart_by_identity(kind):
    """`==` of arrays is no answer that a dataclass could give."""
    assert kind.__eq__ is object.__eq__
