"""Fit and save a model, or load it in another process and predict; or predict by old files.

Prints predictions as JSON: ``model_files.py save|load FILE`` and ``model_files.py old FOLDER``.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

from nldd.datasets import load_yeast
from nldd.estimators._nldd import NLDDClassifier
from nldd.persistence._models import load_model, save_model

what, place = sys.argv[1], Path(sys.argv[2])
X, Y, _ = load_yeast()


def answers(model):
    return {
        "labels": model.predict(X[600:700]).tolist(),
        "theta": model.predict_theta(X[600:700]).tolist(),
    }


def save():
    model = NLDDClassifier(random_state=0).fit(X[:600], Y[:600])
    save_model(model, place)
    return answers(model)


def load():
    return answers(load_model(place))


def old():
    """Whether each file of an old version predicts what that version did, by name of the file."""
    warnings.simplefilter("ignore")  # of another scikit-learn
    expected = json.loads((place / "expected.json").read_text(encoding="utf-8"))
    rows, same = np.array(expected["X"]), {}
    for path in sorted(place.glob("*.nldd")):
        model, wanted = load_model(path), expected[path.stem]
        same[path.stem] = all(np.array_equal(getattr(model, n)(rows), wanted[n]) for n in wanted)
    return same


print(json.dumps({"save": save, "load": load, "old": old}[what]()))
