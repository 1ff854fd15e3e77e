"""BR and NLDD against scikit-learn's binary relevance.

Fit on all rows and predict them, two workers each. The peer is one liblinear fit a label; ours have
their defaults. Below 1 we are the faster one.
"""

import argparse
from statistics import median

import joblib
from measure import NAMES, Answers, fit_predict, load, seconds
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.estimators._nldd import NLDDClassifier

DENSE = ("emotions", "scene", "yeast")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--only", default="", help="data sets, separated by commas")
    arguments = parser.parse_args()
    answers = Answers("fit-trial" if arguments.only else "fit")
    within = 0
    for name in arguments.only.split(",") if arguments.only else NAMES:
        X, Y = load(name)
        data = (X, Y, X)
        ours = fit_predict(NLDDClassifier(None, n_jobs=2, random_state=0), data)
        relevance = fit_predict(BinaryRelevance(n_jobs=2, random_state=0), data)
        peer = OneVsRestClassifier(LogisticRegression(solver="liblinear"), n_jobs=2)
        repeats = arguments.repeats if len(Y) < 5000 else max(1, arguments.repeats // 3)
        ours()  # compiles
        rounds = []
        for _ in range(repeats):
            with joblib.parallel_config("threading"):
                one_vs_rest = seconds(fit_predict(peer, data))
            rounds.append((seconds(relevance) / one_vs_rest, seconds(ours) / one_vs_rest))
        to_peer, nldd_to_peer = (median(ratios) for ratios in zip(*rounds, strict=True))
        within += nldd_to_peer <= 0.6
        bar = "<= 0.3x" if name in DENSE else "<= 0.6x"
        answers.add(f"BR to OneVsRestClassifier, {name}", f"{to_peer:.2f}x", bar)
        answers.add(f"NLDD to OneVsRestClassifier, {name}", f"{nldd_to_peer:.2f}x", "<= 1.0x")
    answers.add("NLDD to OneVsRestClassifier, data sets within 0.6x", f"{within}", ">= 5")


if __name__ == "__main__":
    main()
