"""The same methods in other systems: scores on the same rows, and times.

Ours, scikit-learn's and scikit-multilearn-ng's, each with the same base classifier where there is
one, on the first of ten folds of `KFold(10, shuffle=True, random_state=0)`. The figure is ours
and theirs in 0/1 loss and F-measure; the remark has the labels in which the two predictions
differ, and their time over ours for fitting and predicting. What differs by design is said.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import Answers, load, seconds
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold
from sklearn.multioutput import ClassifierChain as SklearnChain, MultiOutputClassifier

from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.estimators._chains import ClassifierChain
from nldd.estimators._mlknn import MLkNN
from nldd.estimators._powersets import LabelPowerset, RAkEL
from nldd.metrics._measures import f_measure, zero_one_loss

NAMES = ("emotions", "scene", "yeast", "medical")


def base() -> LogisticRegression:
    return LogisticRegression(solver="liblinear", random_state=0)


def classes() -> LogisticRegression:
    return LogisticRegression(max_iter=1000)


def ng(path: str, **parameters: Any) -> Any:
    """A classifier of scikit-multilearn-ng by the path of its class."""
    from importlib import import_module

    module, name = path.rsplit(".", 1)
    return getattr(import_module(f"skmultilearn.{module}"), name)(**parameters)


# What is compared: ours, the other's, and what differs by design.
Pair = tuple[Callable[[], Any], Callable[[], Any], str]
PAIRS: dict[str, Pair] = {
    "BR, scikit-learn": (
        lambda: BinaryRelevance(base()),
        lambda: MultiOutputClassifier(base()),
        "",
    ),
    "BR, scikit-multilearn-ng": (
        lambda: BinaryRelevance(base()),
        lambda: ng("problem_transform.BinaryRelevance", classifier=base()),
        "",
    ),
    "CC, scikit-learn": (lambda: ClassifierChain(base()), lambda: SklearnChain(base()), ""),
    "CC, scikit-multilearn-ng": (
        lambda: ClassifierChain(base()),
        lambda: ng("problem_transform.ClassifierChain", classifier=base()),
        "",
    ),
    "LP, scikit-multilearn-ng": (
        lambda: LabelPowerset(classes()),
        lambda: ng("problem_transform.LabelPowerset", classifier=classes()),
        "",
    ),
    "RAkEL, scikit-multilearn-ng": (
        lambda: RAkEL(classes(), random_state=0),
        lambda: ng("ensemble.RakelO", base_classifier=classes(), labelset_size=3, model_count=12),
        "other subsets of labels are drawn, and half of the votes are not enough there",
    ),
    "ML-kNN, scikit-multilearn-ng": (
        MLkNN,
        lambda: ng("adapt.MLkNN", k=10),
        "a training row is among its own neighbours there",
    ),
}


def dense(Y: Any) -> np.ndarray:
    return np.asarray(Y.toarray() if hasattr(Y, "toarray") else Y).astype(int)


def compare(answers: Answers, what: str, name: str) -> None:
    """One method of two systems on one fold; labels that are constant in training are left out."""
    ours, theirs, design = PAIRS[what]
    X, Y = load(name)
    train, test = next(KFold(10, shuffle=True, random_state=0).split(Y))
    # The other systems refuse them, or fail.
    varies = (Y[train] != Y[train[0]]).any(axis=0)
    Y_train, Y_test, found, taken = Y[train][:, varies], Y[test][:, varies], {}, {}
    for system, make in (("ours", ours), ("theirs", theirs)):
        model = make()
        if system == "theirs" and what.startswith("RAkEL"):
            model.model_count = 2 * Y_train.shape[1]

        def run(model: Any = model, system: str = system) -> None:
            found[system] = dense(model.fit(X[train], Y_train).predict(X[test]))

        try:
            taken[system] = seconds(run)
        except Exception as error:  # what a peer cannot do is a result too
            answers.add(f"{what}, {name}", "-", "", f"fails: {type(error).__name__}")
            return
    scores = [
        f"{measure(Y_test, found['ours']):.4f} {measure(Y_test, found['theirs']):.4f}"
        for measure in (zero_one_loss, f_measure)
    ]
    differ, ratio = np.mean(found["ours"] != found["theirs"]), taken["theirs"] / taken["ours"]
    remark = f"{differ:.2%} of the labels differ, {ratio:.1f}x" + (design and f"; {design}")
    answers.add(f"{what}, {name}", "; ".join(scores), "", remark)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="methods that start so, such as CC")
    arguments = parser.parse_args()
    answers = Answers("systems-trial" if arguments.only else "systems")
    for what in PAIRS:
        for name in NAMES if what.startswith(arguments.only) else ():
            compare(answers, what, name)


if __name__ == "__main__":
    main()
