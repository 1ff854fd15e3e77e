"""The demonstration, on a few folds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import KFold

from nldd import BinaryRelevance
from nldd.bench.commands.demo import run_demo
from nldd.metrics import MEASURES


@pytest.fixture(scope="module")
def demo():
    return run_demo(n_folds=2, random_state=1)


def test_demo_scores_are_means_over_the_folds(demo, yeast):
    X, Y, _ = yeast
    folds = KFold(2, shuffle=True, random_state=1).split(X)
    losses = []
    for train, test in folds:
        Y_pred = BinaryRelevance(random_state=1).fit(X[train], Y[train]).predict(X[test])
        losses.append(MEASURES["hamming_loss"](Y[test], Y_pred))
    assert demo.scores["BR"]["hamming_loss"] == pytest.approx(np.mean(losses), rel=1e-12)


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
    for value in (demo.scores["NLDD"]["f_measure"], 0.6438, demo.betas.mean(axis=0)[2], 0.8546):
        assert f"{value:.4f}" in text
    snapshot(text.partition("\nGene")[0], "demo_yeast", numbers=False)
