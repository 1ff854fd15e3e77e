"""Published and measured numbers on real data, met again; most of it slow, run by `make test-slow`.

`MEASURED` are values of plain prototypes with the paper's settings (Hamming loss, multi-label
accuracy, F-measure); ours must lie within 0.012 of each.
"""

import numpy as np
import pytest
from sklearn.model_selection import KFold, cross_validate

import paper_data
from nldd import METHODS, NLDDClassifier
from nldd.linear._logistic import MultiLabelLogisticRegression
from nldd.metrics import PAPER_MEASURES, evaluate

MEASURED = {
    ("MLKNN", "yeast"): (0.1951, 0.5062, 0.6107),
    ("MLKNN", "scene"): (0.0866, 0.6656, 0.6791),
    ("MLKNN", "medical"): (0.0158, 0.5635, 0.5906),
    ("BR", "scene"): (0.1046, 0.6007, 0.6246),
    # The paper prints 0.1990, 0.4992 and 0.6094; its 0/1 loss is a misprint.
    ("BR", "yeast"): (0.1987, 0.4990, 0.6094),
    ("BR", "emotions"): (0.1970, 0.5204, 0.5954),
    ("SMBR", "scene"): (0.1245, 0.6392, 0.6581),
    ("SMBR", "yeast"): (0.2046, 0.5080, 0.6151),
    ("ECC", "scene"): (0.0962, 0.6955, 0.7137),
    ("RAKEL", "scene"): (0.0922, 0.6772, 0.6946),
}


def as_in_paper(key, **parameters):
    """A method with the paper's settings, seeded, on two cores."""
    method = METHODS[key].as_in_paper(**parameters)
    return method.set_params(
        **{
            name: v
            for name, v in (("n_jobs", 2), ("random_state", 0))
            if name in method.get_params()
        }
    )


def score(model, X, Y):
    return evaluate(Y, model.predict(X))


def cross_validated(model, X, Y):
    folds = KFold(10, shuffle=True, random_state=0)
    found = cross_validate(model, X, Y, cv=folds, scoring=score, error_score="raise")
    return {measure.key: found[f"test_{measure.key}"].mean() for measure in PAPER_MEASURES}


def assert_close(scores, target, title):
    print(title, scores)
    found = [scores[key] for key in ("hamming_loss", "multilabel_accuracy", "f_measure")]
    assert np.abs(np.subtract(found, target)).max() <= 0.012


@pytest.mark.slow
@pytest.mark.parametrize(("key", "dataset"), MEASURED)
def test_method_reaches_the_measured_values(key, dataset):
    scores = cross_validated(as_in_paper(key), *paper_data.load(dataset))
    assert_close(scores, MEASURED[key, dataset], f"{key} on {dataset}:")


@pytest.mark.slow
def test_cbm_reaches_the_published_values_on_the_official_split_of_scene():
    """Five seeds give 0.0935, 0.723 and 0.736 on average: between the paper and a prototype.

    The prototype, of fifteen L-BFGS steps a maximisation, had 0.0902, 0.733 and 0.746: they end
    further from the optimum, which on scene does no harm.
    """
    X, Y = paper_data.load("scene")
    n = paper_data.N_SCENE_TRAIN
    model = as_in_paper("CBM").fit(X[:n], Y[:n])
    scores = evaluate(Y[n:], model.predict(X[n:]))
    assert_close(scores, (0.0953, 0.7178, 0.7307), "CBM on scene, official split:")


@pytest.mark.slow
def test_nldd_of_the_paper_on_yeast(yeast):
    scores = cross_validated(as_in_paper("NLDD"), yeast.X, yeast.Y)
    assert scores["hamming_loss"] <= 0.195
    assert scores["zero_one_loss"] <= 0.765
    assert scores["multilabel_accuracy"] >= 0.535
    assert scores["f_measure"] >= 0.633


def test_default_on_yeast(yeast):
    scores = cross_validated(NLDDClassifier(n_jobs=2, random_state=0), yeast.X, yeast.Y)
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
