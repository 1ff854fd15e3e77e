"""Every method with the paper's support vector machine on real data; run by `make test-slow`.

The targets are values that plain prototypes measured with the same settings (Hamming loss,
multi-label accuracy, F-measure); ours must lie within 0.012 of each.
"""

import numpy as np
import pytest

import paper_data
from nldd.bench.commands.demo import cross_validate, mean_scores
from nldd.estimators._registry import METHODS
from nldd.metrics._measures import evaluate

KEYS = ("hamming_loss", "zero_one_loss", "multilabel_accuracy", "f_measure")

TARGETS = {
    ("MLKNN", "yeast"): (0.1951, 0.5062, 0.6107),
    ("MLKNN", "scene"): (0.0866, 0.6656, 0.6791),
    ("MLKNN", "medical"): (0.0158, 0.5635, 0.5906),
    ("BR", "scene"): (0.1046, 0.6007, 0.6246),
    ("BR", "yeast"): (0.1987, 0.4990, 0.6094),
    ("BR", "emotions"): (0.1970, 0.5204, 0.5954),
    ("SMBR", "scene"): (0.1245, 0.6392, 0.6581),
    ("SMBR", "yeast"): (0.2046, 0.5080, 0.6151),
    ("ECC", "scene"): (0.0962, 0.6955, 0.7137),
    ("RAKEL", "scene"): (0.0922, 0.6772, 0.6946),
}


def seeded(key, **parameters):
    method = METHODS[key].as_in_paper(**parameters)
    known = method.get_params()
    settings = {"n_jobs": 2, "random_state": 0}
    return method.set_params(**{name: settings[name] for name in settings if name in known})


def assert_close(scores, target, title):
    print(title, *(f"{scores[key]:.4f}" for key in KEYS))
    found = [scores["hamming_loss"], scores["multilabel_accuracy"], scores["f_measure"]]
    assert np.abs(np.subtract(found, target)).max() <= 0.012


@pytest.mark.slow
@pytest.mark.parametrize(("key", "dataset"), TARGETS)
def test_method_reaches_the_measured_values(key, dataset):
    X, Y = paper_data.load(dataset)
    cells = list(cross_validate({key: seeded(key)}, X, Y, random_state=0))
    assert_close(mean_scores(cells, key), TARGETS[key, dataset], f"{key} on {dataset}:")


@pytest.mark.slow
def test_cbm_reaches_the_published_values_on_the_official_split_of_scene():
    """Five seeds give 0.0935, 0.723 and 0.736 on average: between the paper and a prototype.

    The prototype, of fifteen L-BFGS steps a maximisation, had 0.0902, 0.733 and 0.746: they end
    further from the optimum, which on scene does no harm.
    """
    X, Y = paper_data.load("scene")
    n = paper_data.N_SCENE_TRAIN
    model = seeded("CBM").fit(X[:n], Y[:n])
    scores = evaluate(Y[n:], model.predict(X[n:]))
    assert_close(scores, (0.0953, 0.7178, 0.7307), "CBM on scene, official split:")
