"""One row at a time: by a model that is warm, and by a process that has just loaded it.

NLDD with plain logistic regression, and as the peer one logistic regression a label,
``MultiOutputClassifier(LogisticRegression())``: its probabilities of the row, and its file written
by joblib. Below 1 we are the faster one.
"""

import tempfile
from pathlib import Path
from statistics import median

import joblib
from measure import median_ratio, read_options, seconds_told, split
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

from nldd import NLDDClassifier, save_model

CALLS = 100  # of one row are timed together
LOADED = """
import sys, time
import joblib
row = joblib.load(sys.argv[2])
start = time.perf_counter()
from {module} import {load}
{load}(sys.argv[1]).{ask}(row)
print(time.perf_counter() - start)
"""
OURS = LOADED.format(module="nldd", load="load_model", ask="predict")
PEER = LOADED.format(module="joblib", load="load", ask="predict_proba")


def repeated(call, row):
    """A run of many calls, since one is too short to be timed."""

    def run() -> None:
        for _ in range(CALLS):
            call(row)

    return run


def loaded(model, peer, row, repeats: int) -> tuple[float, float]:
    """Median seconds from the first import of a new process to its first prediction."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / name) for name in ("model.nldd", "peer.joblib", "row.joblib")]
        save_model(model, paths[0])
        joblib.dump(peer, paths[1])
        joblib.dump(row, paths[2])
        seconds_told(OURS, folder, paths[0], paths[2])  # fills numba's cache
        taken = [
            (
                seconds_told(OURS, folder, paths[0], paths[2]),
                seconds_told(PEER, folder, paths[1], paths[2]),
            )
            for _ in range(repeats)
        ]
    ours, theirs = zip(*taken, strict=True)
    return median(ours), median(theirs)


def main() -> None:
    answers, names, repeats = read_options("one_row", __doc__, 9, ("yeast",))
    for name in names:
        X, Y, X_new = split(name)
        varies = (Y[0] != Y).any(axis=0)  # the peer refuses constant labels
        model = NLDDClassifier(None, random_state=0).fit(X, Y)
        peer = MultiOutputClassifier(LogisticRegression()).fit(X, Y[:, varies])
        row = X_new[:1]
        theirs = repeated(peer.predict_proba, row)
        for ask in ("predict", "predict_proba"):
            ours = repeated(getattr(model, ask), row)
            ours()  # compiles
            ratio = median_ratio(ours, theirs, repeats)
            question = f"one row, {ask} to MultiOutputClassifier, {name}"
            answers.add(question, f"{ratio:.2f}x", "<= 0.3x")
        ours, theirs = loaded(model, peer, row, repeats)
        question = f"load and first prediction to MultiOutputClassifier, {name}"
        remark = f"{ours:.2f} s and {theirs:.2f} s, imports included"
        answers.add(question, f"{ours / theirs:.2f}x", "", remark)


if __name__ == "__main__":
    main()
