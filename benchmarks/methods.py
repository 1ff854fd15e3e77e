"""Our methods against their peers.

Every ratio is peer time over ours, fit and predict together, medians of interleaved repeats on the
same 75/25 split: above 1 we are the faster one. The base classifier is the same, but in ECC, where
ours has its default and scikit-learn's chains the same regression by liblinear.
"""

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from measure import Answers, fit_predict, median_ratio, seconds, split
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain as SklearnChain

from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.estimators._cbm import ConditionalBernoulliMixture
from nldd.estimators._chains import EnsembleOfChains
from nldd.estimators._mlknn import MLkNN
from nldd.estimators._powersets import LabelPowerset, RAkEL


def mlknn(name: str, repeats: int) -> float:
    """Against scikit-multilearn-ng's, which wants sparse labels."""
    from skmultilearn.adapt import MLkNN as Peer

    data = split(name)
    return median_ratio(fit_predict(Peer(k=10), data), fit_predict(MLkNN(), data), repeats)


def chains(name: str, repeats: int) -> float:
    """Ten members against ten chains of scikit-learn, one after the other."""
    X, Y, X_new = split(name)
    kept = (Y[0] != Y).any(axis=0)  # scikit-learn's chain refuses constant labels
    data = (X, Y[:, kept], X_new)
    base = LogisticRegression(solver="liblinear")
    rng = np.random.RandomState(0)

    def ten_chains() -> None:
        for seed in range(10):
            rows = rng.randint(len(Y), size=len(Y))
            part = data[1][rows]
            varies = (part != part[0]).any(axis=0)
            chain = SklearnChain(base, order="random", random_state=seed)
            chain.fit(X[rows], part[:, varies]).predict(X_new)

    ours = EnsembleOfChains(n_jobs=2, random_state=0)
    return median_ratio(ten_chains, fit_predict(ours, data), repeats)


def powerset(name: str, repeats: int) -> float:
    """Label powerset against scikit-multilearn-ng's."""
    from skmultilearn.problem_transform import LabelPowerset as Peer

    data, base = split(name), LogisticRegression()
    ours = fit_predict(LabelPowerset(base), data)
    return median_ratio(fit_predict(Peer(base), data), ours, repeats)


def rakel(name: str, repeats: int) -> float:
    """RAkEL against scikit-multilearn-ng's; it builds one model more than asked for."""
    from skmultilearn.ensemble import RakelO as Peer

    data, base = split(name), LogisticRegression()
    n_models = 2 * data[1].shape[1]
    ours = RAkEL(base, n_models=n_models, n_jobs=2, random_state=0)
    peer = Peer(base_classifier=base, labelset_size=3, model_count=n_models - 1)
    return median_ratio(fit_predict(peer, data), fit_predict(ours, data), repeats)


def cbm(name: str, **parameters: Any) -> float:
    """Seconds of one fit and prediction of CBM; there is no peer in Python."""
    model = ConditionalBernoulliMixture(n_jobs=2, random_state=0, **parameters)
    return seconds(fit_predict(model, split(name)))


def cbm_over_br(name: str, repeats: int) -> float:
    """What a mixture of independent regressions costs, in units of one of them: below is better."""
    data = split(name)
    mixture = ConditionalBernoulliMixture(n_jobs=2, random_state=0)
    independent = fit_predict(BinaryRelevance(n_jobs=2), data)
    return median_ratio(fit_predict(mixture, data), independent, repeats)


# The peer of RAkEL takes up to a minute and many times as long as ours: one run tells.
LARGE = {"n_iterations": 5, "feature_fraction": 0.5}

QUESTIONS: dict[str, tuple[Callable[[int], float], str]] = {
    "ML-kNN, scene": (lambda r: mlknn("scene", r), ">= 5x"),
    "ML-kNN, yeast": (lambda r: mlknn("yeast", r), ">= 5x"),
    "ML-kNN, slashdot": (lambda r: mlknn("slashdot", r), ">= 5x"),
    "ECC of ten, scene": (lambda r: chains("scene", r), ">= 3x"),
    "ECC of ten, yeast": (lambda r: chains("yeast", r), ">= 3x"),
    "RAkEL, scene": (lambda r: rakel("scene", 1), ">= 1x"),
    "RAkEL, yeast": (lambda r: rakel("yeast", 1), ">= 1x"),
    "LP, scene": (lambda r: powerset("scene", r), ">= 1x"),
    "LP, medical": (lambda r: powerset("medical", r), ">= 1x"),
    "CBM over BR, medical": (lambda r: cbm_over_br("medical", r), "<= 40x"),
    "CBM over BR, slashdot": (lambda r: cbm_over_br("slashdot", r), "<= 40x"),
    "CBM seconds, scene": (lambda r: cbm("scene"), "< 60 s"),
    "CBM seconds, medical": (lambda r: cbm("medical"), "< 60 s"),
    "CBM seconds, bibtex, large-data settings": (lambda r: cbm("bibtex", **LARGE), "< 900 s"),
}


PEERS = {
    **dict.fromkeys(("ML-kNN", "RAkEL", "LP"), "scikit-multilearn-ng"),
    "ECC": "ten scikit-learn chains, one after the other",
    "CBM over BR": "our own time over that of our BR",
    "CBM": "no peer",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="questions that start so, such as ML-kNN")
    arguments = parser.parse_args()
    repeats = arguments.repeats
    answers = Answers("methods-trial" if arguments.only else "methods")
    for question, (answer, bar) in QUESTIONS.items():
        if not question.startswith(arguments.only):
            continue
        unit = "s" if bar.endswith(" s") else "x"
        peer = next(peer for method, peer in PEERS.items() if question.startswith(method))
        answers.add(question, f"{answer(repeats):.1f} {unit}".replace(" x", "x"), bar, peer)


if __name__ == "__main__":
    main()
