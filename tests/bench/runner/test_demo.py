"""Cross-validation and the demonstration, on a few folds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold

from nldd.bench.commands.demo import cross_validate, mean_scores, render_demo, run_demo
from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.estimators._nldd import NLDDClassifier
from nldd.metrics._measures import MEASURES


@pytest.fixture(scope="module")
def demo():
    return run_demo(n_folds=2, random_state=1)


def test_cross_validate_scores_every_method_on_the_same_folds(small):
    X, Y = small
    methods = {"BR": BinaryRelevance(), "NLDD": NLDDClassifier(None, random_state=0)}
    cells = list(cross_validate(methods, X, Y, n_folds=3, random_state=5))
    assert [(cell.method, cell.fold) for cell in cells] == [
        (method, fold) for fold in range(3) for method in methods
    ]
    train, test = next(KFold(3, shuffle=True, random_state=5).split(X))
    Y_pred = BinaryRelevance().fit(X[train], Y[train]).predict(X[test])
    assert cells[0].scores["hamming_loss"] == MEASURES["hamming_loss"](Y[test], Y_pred)
    assert_array_equal(cells[0].test_rows, cells[1].test_rows)
    assert_array_equal(np.sort(np.concatenate([c.test_rows for c in cells[::2]])), np.arange(120))
    mean = mean_scores(cells, "NLDD")["f_measure"]
    assert_allclose(mean, np.mean([cell.scores["f_measure"] for cell in cells[1::2]]))


def test_demo_shows_nldd_ahead_of_binary_relevance(demo):
    br, nldd = demo.scores["BR"], demo.scores["NLDD"]
    assert nldd["hamming_loss"] < br["hamming_loss"]
    assert nldd["zero_one_loss"] < br["zero_one_loss"] - 0.05
    assert nldd["multilabel_accuracy"] > br["multilabel_accuracy"] + 0.02
    assert nldd["f_measure"] > br["f_measure"] + 0.02


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


def test_demo_text_has_both_tables_and_five_genes(demo):
    text = render_demo(demo)
    assert f"{demo.scores['NLDD']['f_measure']:.4f}" in text
    assert "0.6438" in text  # the paper's
    assert f"{demo.beta[2]:.4f}" in text
    assert "0.8546" in text  # the paper's
    assert text.count("\nGene ") == 5
    assert "probably a misprint" in text
    assert max(len(line) for line in text.splitlines()) <= 100
