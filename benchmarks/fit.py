"""NLDD against the binary relevance it stands on, and that against scikit-learn's.

Fit on all rows and predict them, the default base classifier, two workers each.
"""

import argparse
from statistics import median

import joblib
from measure import NAMES, Answers, fit_predict, load, seconds
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from nldd import BinaryRelevance, NLDDClassifier


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", default="", help="data sets, separated by commas")
    arguments = parser.parse_args()
    answers = Answers("fit-trial" if arguments.only else "fit")
    for name in arguments.only.split(",") if arguments.only else NAMES:
        X, Y = load(name)
        data = (X, Y, X)
        ours = fit_predict(NLDDClassifier(n_jobs=2, random_state=0), data)
        relevance = fit_predict(BinaryRelevance(n_jobs=2, random_state=0), data)
        peer = OneVsRestClassifier(LogisticRegression(solver="liblinear"), n_jobs=2)
        repeats = arguments.repeats if len(Y) < 5000 else max(1, arguments.repeats // 3)
        ours()
        rounds = []
        for _ in range(repeats):
            with joblib.parallel_config("threading"):
                one_vs_rest = seconds(fit_predict(peer, data))
            rounds.append((seconds(ours), seconds(relevance), one_vs_rest))
        to_relevance = median(n / b for n, b, _ in rounds)
        to_peer = median(b / o for _, b, o in rounds)
        answers.add(f"NLDD to BR, {name}", f"{to_relevance:.2f}x", "<= 1.6x")
        answers.add(f"BR to OneVsRestClassifier, {name}", f"{to_peer:.2f}x", "<= 1.05x")


if __name__ == "__main__":
    main()
