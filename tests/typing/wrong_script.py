"""Mistakes that a type checker has to find: strict mypy reports comments here that are not needed.

Nothing calls these functions.
"""

from nldd import BinaryRelevance, NLDDClassifier, load_yeast
from nldd.linear import MultiLabelLogisticRegression
from nldd.metrics import MEASURES, hamming_loss


def misspell_choices() -> None:
    NLDDClassifier(decision="F1")  # type: ignore[arg-type]
    NLDDClassifier(standardize="nummeric")  # type: ignore[arg-type]
    BinaryRelevance(decision="Sign")  # type: ignore[arg-type]
    MultiLabelLogisticRegression(features="tf-idf")  # type: ignore[arg-type]


def misuse_results() -> None:
    yeast = load_yeast()
    model = NLDDClassifier().fit(yeast.X, yeast.Y)
    model.predict(yeast.X).append(1)  # type: ignore[attr-defined]
    model.predict_theta(yeast.X) + "%"  # type: ignore[operator]
    print(model.explain(yeast.X).theta)  # type: ignore[attr-defined]
    print(model.explain(yeast.X)[0].thetas)  # type: ignore[union-attr]
    hamming_loss(yeast.Y, yeast.Y, weights=None)  # type: ignore[call-arg]
    print(MEASURES["f_measure"].function_name)  # type: ignore[attr-defined]
    NLDDClassifier(decisions="f")  # type: ignore[call-arg]
    NLDDClassifier().fit(yeast.X)  # type: ignore[call-arg]
