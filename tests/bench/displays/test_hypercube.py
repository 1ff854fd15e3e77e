"""The cube of three labels: what is drawn where, from a fitted model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from drawn import assert_legible
from nldd.bench.displays.hypercube import HypercubeDisplay, projected
from nldd.estimators._nldd import NLDDClassifier
from nldd.exceptions import InputError

NAMES = ("Class1", "Class2", "Class3")


@pytest.fixture(scope="module")
def model(yeast):
    X, Y, _ = yeast
    sets = [{NAMES[j] for j in np.flatnonzero(row)} for row in Y[:500, :3]]
    return NLDDClassifier(random_state=0).fit(X[:500], sets)


@pytest.fixture(scope="module")
def X_test(yeast):
    return yeast.X[500:540]


def words(display):
    return [text.get_text() for text in display.ax_.texts]


def test_display_holds_what_the_model_says(model, X_test, yeast):
    display = HypercubeDisplay.from_estimator(model, X_test, i=5)
    assert_array_equal(display.P, model.label_probabilities(X_test))
    assert_array_equal(display.labelsets[display.chosen], model.predict(X_test)[5])
    labelsets, counts = np.unique(yeast.Y[:500, :3], axis=0, return_counts=True)
    assert_array_equal(display.labelsets, labelsets)
    assert_array_equal(display.counts, counts)
    # One Dy by hand: the distance to the first labelset, which carries no label.
    assert_allclose(display.Dy[0], np.sqrt((display.P[5] ** 2).sum()))
    near = model.nearest_labelsets(X_test, k=1)
    assert_allclose(display.Dy[display.chosen], near.Dy[5, 0])


def test_every_vertex_tells_its_rows_and_its_distance(model, X_test, yeast):
    display = HypercubeDisplay.from_estimator(model, X_test, i=5).plot()
    told = {text.partition("\n")[0]: text for text in words(display)[:8]}
    assert len(told) == 8
    seen = {tuple(labelset) for labelset in display.labelsets.tolist()}
    assert len(seen) == 7
    for labelset, count, Dy in zip(display.labelsets, display.counts, display.Dy, strict=True):
        assert f"\n{count} rows\nDy = {Dy:.2f}" in told[str(tuple(labelset.tolist()))]
    assert told["(0, 1, 0)"] == "(0, 1, 0)\nnot in training"
    chosen = [text for text in display.ax_.texts if text.get_text().endswith("\nchosen")]
    labelset = tuple(display.labelsets[display.chosen].tolist())
    assert [text.get_text().partition("\n")[0] for text in chosen] == [str(labelset)]
    assert chosen[0].get_fontweight() == "bold"
    assert words(display)[8:] == [f"{name} \N{RIGHTWARDS ARROW}" for name in NAMES]


def test_lines_go_from_the_instance_to_the_labelsets_seen(model, X_test):
    display = HypercubeDisplay.from_estimator(model, X_test, i=0).plot()
    lines = [line for line in display.ax_.lines if line.get_zorder() == 3]
    assert_allclose([line.get_xydata()[1] for line in lines], projected(display.labelsets))
    assert_allclose(
        [line.get_xydata()[0] for line in lines], np.tile(projected(display.P[0]), (7, 1))
    )
    thick = [number for number, line in enumerate(lines) if line.get_linewidth() > 2]
    assert thick == [display.chosen]


def test_points_are_the_other_instances_and_areas_follow_counts(model, X_test):
    display = HypercubeDisplay.from_estimator(model, X_test, i=3).plot()
    clouds = {points.get_label(): points for points in display.ax_.collections}
    others = clouds["39 others"].get_offsets()
    assert_allclose(others, projected(np.delete(display.P, 3, axis=0)))
    areas = {
        tuple(points.get_offsets()[0].round(6)): points.get_sizes()[0]
        for points in display.ax_.collections
        if points.get_zorder() == 4 and len(points.get_offsets())
    }
    assert len(areas) == 8
    largest = display.counts.argmax()
    for labelset, count in zip(display.labelsets, display.counts, strict=True):
        at = tuple(projected(labelset).round(6))
        expected = areas[tuple(projected(display.labelsets[largest]).round(6))]
        assert_allclose(areas[at], max(12, expected * count / display.counts[largest]))


@pytest.mark.parametrize("i", (0, 24))
def test_words_never_overlap(model, X_test, i):
    display = HypercubeDisplay.from_estimator(model, X_test, i)
    assert_legible(display.plot().figure_)
    display.label_names = [f"a label of many words, number {j}" for j in range(3)]
    assert_legible(display.plot().figure_)
    assert words(display)[8:] == [
        *("a label of many words, nu... \N{RIGHTWARDS ARROW}",) * 2,
        "a label of m... \N{RIGHTWARDS ARROW}",
    ]


@pytest.mark.filterwarnings("ignore::nldd.exceptions.ZeroWeightWarning")
def test_one_instance_alone_classes_and_unnamed_labels():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = rng.normal(size=(300, 2)) + np.eye(3)[y][:, :2]
    model = NLDDClassifier(random_state=0).fit(X, y)
    display = HypercubeDisplay.from_estimator(model, X[:1]).plot()
    assert_array_equal(display.labelsets, np.eye(3, dtype=int)[::-1])
    assert_array_equal(display.labelsets[display.chosen], np.eye(3)[model.predict(X[:1])[0]])
    assert words(display)[8:] == [f"label {j} \N{RIGHTWARDS ARROW}" for j in range(3)]
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert len(legend) == 2  # no others


def test_wrong_models_and_rows_are_refused(small, model, X_test):
    X, Y = small
    four = NLDDClassifier(random_state=0).fit(X, Y)
    with pytest.raises(InputError, match="three labels, but the model was fitted to 4"):
        HypercubeDisplay.from_estimator(four, X)
    for i in (40, -1):
        with pytest.raises(InputError, match=f"i must be from 0 to 39.*got {i}"):
            HypercubeDisplay.from_estimator(model, X_test, i)
