"""An engineer's script, which passes ``mypy --strict`` and says which types it expects."""

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nldd import BinaryRelevance, NLDDClassifier, load_model, load_yeast, save_model
from nldd.linear import MultiLabelLogisticRegression
from nldd.metrics import MEASURES, evaluate, f_measure


def main(folder: Path, n_train: int = 300) -> dict[str, float]:
    """Fit, predict, explain, measure, tune, save and load."""
    X, Y, label_names = load_yeast()
    train, test = slice(None, n_train), slice(n_train, 2 * n_train)
    model = NLDDClassifier(decision="f1", random_state=0).fit(X[train], Y[train])
    assert_type(model, NLDDClassifier)
    Y_pred = assert_type(model.predict(X[test]), NDArray[Any])
    theta = assert_type(model.predict_theta(X[test]), NDArray[np.float64])
    for row, why in zip(np.argsort(theta)[:3], model.explain(X[test][:3]), strict=True):
        names = [label_names[label] for label in why.labels]
        print(f"{row}: {', '.join(names)}, {why.expected_loss:.1f} wrong labels expected")
    scores = assert_type(evaluate(Y[test], Y_pred, MEASURES.values()), dict[str, float])
    scores["f of BR"] = f_measure(Y[test], fit_rival(X[train], Y[train]).predict(X[test]))

    path = folder / "yeast.nldd"
    save_model(model, path)
    loaded: NLDDClassifier = load_model(path)
    assert np.array_equal(loaded.predict(X[test]), Y_pred)

    pipeline = make_pipeline(StandardScaler(), BinaryRelevance())
    scoring = MEASURES["f_measure"].scorer()
    search = GridSearchCV(pipeline, {"binaryrelevance__decision": ["sign"]}, scoring=scoring, cv=2)
    scores["f in search"] = search.fit(X[train], Y[train]).best_score_
    return scores


def fit_rival(X: NDArray[np.float64], Y: NDArray[np.int64]) -> BinaryRelevance:
    """A method of another base, by its return type."""
    base = MultiLabelLogisticRegression(features="rbf", C=5.0)
    return BinaryRelevance(base).fit(X, Y)
