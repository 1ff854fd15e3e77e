"""What else can stand behind values of the paper that are far from ours.

- The order of neighbours of ML-kNN whose distances are equal, as those of texts often are: the
  folds of the protocol `paper`, with the training rows as they are and in the opposite order, since
  of equal distances the row that comes first counts. ``python results/far_values.py`` runs them.
- Test sets: a 0/1 loss on one of them is a whole number of its rows.
"""

import marks
import numpy as np
from records import load, read, run_missing

from nldd.bench import load_protocol
from nldd.bench.report.published import published
from nldd.metrics._measures import PAPER_MEASURES

PAGES = ("results",)
NAMES = ("medical", "slashdot", "enron", "ohsumed", "tmc2007")
# Rows of one fold, or of a quarter of all rows, as the paper's text has it.
TEST_ROWS = {
    "enron": (170, 171),
    "ohsumed": (3482, 3483),
    "tmc2007": (7149,),
    "bibtex": (1848, 1849),
}


def run_cell(name: str, is_reversed: bool) -> dict:
    """Means over the folds of the paper's measures."""
    dataset, protocol = load(name), load_protocol("paper")
    folds = protocol.split_of(name, dataset.n_samples).rows(dataset, protocol.seed)
    scores = []
    for fold, (train, test) in enumerate(folds):
        train = train[::-1] if is_reversed else train
        model = protocol.model("MLKNN", dataset, fold).fit(dataset.X[train], dataset.Y[train])
        Y, found = dataset.Y[test], model.predict(dataset.X[test])
        scores.append([measure.function(Y, found) for measure in PAPER_MEASURES])
    return {"scores": np.mean(scores, axis=0).tolist()}


def whole_numbers(name: str, n: int) -> list[str]:
    """Methods whose printed 0/1 loss can be that of one test set of so many rows."""
    printed = published("zero_one_loss")
    values = {m: printed.value(name, m) for m in printed.methods if m != "CBM"}
    fitting = [m for m, v in values.items() if f"{round(v * n) / n:.4f}" == f"{v:.4f}"]
    chance = len(values) * n / 10_000  # so many of the numbers of four digits can be reached
    return [name, str(n), f"{len(fitting)} of {len(values)}", f"{chance:.1f}", ", ".join(fitting)]


def tables() -> dict[str, str]:
    """Both orders beside the paper, and the test sets that values fit, in Markdown."""
    keys, scores = [measure.key for measure in PAPER_MEASURES], {}
    for record in read("ties"):
        scores[record["dataset"], record["reversed"]] = record["scores"]
    rows = []
    for name in NAMES:
        printed = [published(key).value(name, "MLKNN") for key in keys]
        each = zip(scores[name, False], scores[name, True], printed, strict=True)
        rows.append([name, *(", ".join(f"{value:.4f}" for value in cell) for cell in each)])
    head = "data set | Hamming loss: as it is, opposite, paper | 0/1 loss | accuracy | F-measure"
    fitting = [whole_numbers(name, n) for name, sizes in TEST_ROWS.items() for n in sizes]
    whole = "data set | test rows | 0/1 losses that fit | by chance | which"
    return {"ties": marks.table(head, rows), "test-rows": marks.table(whole, fitting)}


if __name__ == "__main__":
    every = [(name, is_reversed) for name in NAMES for is_reversed in (False, True)]
    run_missing("ties", ("dataset", "reversed"), every, run_cell)
