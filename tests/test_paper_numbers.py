"""The published numbers on real data; slow, run by `make test-slow`."""

import numpy as np
import pytest

import paper_data
from nldd.bench.commands.demo import cross_validate, mean_scores
from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.estimators._nldd import NLDDClassifier
from nldd.estimators._svm import PlattSVC
from nldd.linear._logistic import MultiLabelLogisticRegression


def scores_on_yeast(yeast, methods):
    cells = list(cross_validate(methods, yeast.X, yeast.Y, random_state=0))
    return {name: mean_scores(cells, name) for name in methods}


@pytest.mark.slow
def test_paper_recipe_on_yeast(yeast):
    svm = PlattSVC()
    scores = scores_on_yeast(
        yeast,
        {
            "BR": BinaryRelevance(svm, n_jobs=2, random_state=0),
            "NLDD": NLDDClassifier(svm, n_jobs=2, random_state=0),
        },
    )
    print(scores)
    nldd, br = scores["NLDD"], scores["BR"]
    assert nldd["hamming_loss"] <= 0.195
    assert nldd["zero_one_loss"] <= 0.765
    assert nldd["multilabel_accuracy"] >= 0.535
    assert nldd["f_measure"] >= 0.633
    # BR of the paper; its printed 0/1 loss is left out, see experiments/_published.py.
    assert br["hamming_loss"] == pytest.approx(0.1990, abs=0.005)
    assert br["multilabel_accuracy"] == pytest.approx(0.4992, abs=0.01)
    assert br["f_measure"] == pytest.approx(0.6094, abs=0.01)


def test_default_on_yeast(yeast):
    scores = scores_on_yeast(yeast, {"NLDD": NLDDClassifier(n_jobs=2, random_state=0)})["NLDD"]
    # Eight seeds gave 0.1918, 0.7505, 0.5448, 0.6425 on average; bounds are two of their
    # standard deviations (0.0006, 0.0021, 0.0012, 0.0013) away.
    assert scores["hamming_loss"] <= 0.1930
    assert scores["zero_one_loss"] <= 0.7547
    assert scores["multilabel_accuracy"] >= 0.5424
    assert scores["f_measure"] >= 0.6399


@pytest.mark.slow
def test_coefficients_on_bibtex():
    """Twelve random 75/25 splits: one alone has a standard error of half of b1.

    With a penalty on the intercept, which the measured values have: without it, b1 is nearer to 0.
    """
    X, Y = paper_data.load("bibtex")
    betas = []
    for seed in range(12):
        train = np.random.RandomState(seed).permutation(len(Y))[: int(0.75 * len(Y))]
        base = MultiLabelLogisticRegression(intercept="penalised")
        model = NLDDClassifier(base, max_pairs=None, n_jobs=2, random_state=seed)  # as the paper
        betas.append(model.fit(X[train], Y[train]).beta_)
    mean, error = np.mean(betas, axis=0), np.std(betas, axis=0, ddof=1) / np.sqrt(len(betas))
    print(mean, error)
    assert mean[0] == pytest.approx(-4.84, rel=0.1)
    assert mean[2] == pytest.approx(0.729, rel=0.1)
    assert abs(mean[1] - 0.0082) < 3 * error[1]
