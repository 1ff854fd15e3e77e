"""The paper's two illustrations and the pairs of a fit, drawn from the yeast data."""

from collections.abc import Iterator
from typing import Any

from nldd.datasets import load_yeast
from nldd.displays import HypercubeDisplay, PairChoiceDisplay, PairsDisplay
from nldd.estimators import NLDDClassifier
from nldd.reports._picture import Picture

# Three labels of which training has seen seven combinations: nearly all of the cube is in use.
LABELS = [0, 1, 2]
N_TRAIN, N_SHOWN = 1500, 40


def illustrations() -> Iterator[Picture]:
    """The cube of labelsets, the choice of a pair, and all pairs with the weights they gave."""
    X, Y, names = load_yeast()
    X_train, Y_train = X[:N_TRAIN], Y[:N_TRAIN]
    yield _hypercube(X, Y, names)
    yield Picture(
        "pair_choice",
        "How the pairs are chosen: both distances of one gene of T2 to all genes of T1, with its "
        "nearest in features and its nearest in labels.",
        "A scatter plot of two distances with two rows marked.",
        PairChoiceDisplay.from_training(X_train, Y_train, random_state=0).plot().figure_,
    )
    model = NLDDClassifier(random_state=0).fit(X_train, Y_train)
    yield Picture(
        "pairs",
        f"All pairs of a fit to {N_TRAIN} genes, by the number of labels in which they differ, "
        "with lines of equal theta from the regression.",
        "A scatter plot of pairs with lines of equal error probability.",
        PairsDisplay.from_estimator(model).plot().figure_,
    )


def _hypercube(X: Any, Y: Any, names: list[str]) -> Picture:
    three = [{names[j] for j in LABELS if row[j]} for row in Y[:N_TRAIN]]
    model = NLDDClassifier(random_state=0).fit(X[:N_TRAIN], three)
    shown = HypercubeDisplay.from_estimator(model, X[N_TRAIN : N_TRAIN + N_SHOWN])
    return Picture(
        "hypercube",
        "The label space of three labels of yeast. Vertices are labelsets, points inside are the "
        f"probabilities of {N_SHOWN} genes, and for one of them the distances Dy to the labelsets "
        "seen in training.",
        "A cube whose corners are labelsets, with points inside it.",
        shown.plot().figure_,
    )
