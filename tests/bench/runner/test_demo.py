"""The demonstration, on a few folds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold

from nldd import BinaryRelevance, MLkNN
from nldd.bench.commands.demo import cross_validate, mean_scores, run_demo
from nldd.metrics import MEASURES


@pytest.fixture(scope="module")
def demo():
    return run_demo(n_folds=2, random_state=1)


def test_cross_validate_scores_every_method_on_the_same_folds(small):
    X, Y = small
    cells = list(cross_validate({"BR": BinaryRelevance(), "k": MLkNN()}, X, Y, n_folds=3))
    assert [(cell.method, cell.fold) for cell in cells] == [
        (method, fold) for fold in range(3) for method in ("BR", "k")
    ]
    train, test = next(KFold(3, shuffle=True, random_state=0).split(X))
    Y_pred = BinaryRelevance().fit(X[train], Y[train]).predict(X[test])
    assert cells[0].scores["hamming_loss"] == MEASURES["hamming_loss"](Y[test], Y_pred)
    assert_array_equal(cells[1].test_rows, test)
    mean = mean_scores(cells, "k")["f_measure"]
    assert_allclose(mean, np.mean([cell.scores["f_measure"] for cell in cells[1::2]]))


def test_demo_examples_go_from_sure_to_unsure_and_name_real_genes(demo, yeast):
    X, Y, label_names = yeast
    thetas = [example.explanation.theta for example in demo.examples]
    assert thetas == sorted(thetas)
    scale = demo.model.index_.scale
    for example in demo.examples:
        why = example.explanation
        assert example.truth == tuple(np.array(label_names)[Y[example.gene] == 1])
        assert why.labels == tuple(np.array(label_names)[Y[why.row] == 1])
        assert_allclose(np.linalg.norm((X[example.gene] - X[why.row]) / scale), why.Dx)


def test_demo_text_has_our_values_and_those_of_the_paper(demo, snapshot):
    assert demo.scores["NLDD"]["zero_one_loss"] < demo.scores["BR"]["zero_one_loss"] - 0.05
    text = str(demo)
    for value in (demo.scores["NLDD"]["f_measure"], 0.6438, demo.beta[2], 0.8546):
        assert f"{value:.4f}" in text
    snapshot(text.partition("\nGene")[0], "demo_yeast", numbers=False)
