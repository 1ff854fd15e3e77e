"""Fit and save a model, or load it in another process and predict.

Prints predictions as JSON: ``model_files.py save|load FILE``.
"""

import json
import sys
from pathlib import Path

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


print(json.dumps({"save": save, "load": load}[what]()))
