"""Pages for tests: one as a benchmark makes it, and one with hostile text in every field."""

import numpy as np

from nldd.bench.displays import CriticalDifferenceDisplay
from nldd.bench.displays.hypercube import HypercubeDisplay
from nldd.bench.displays import PairChoiceDisplay
from nldd.bench.displays.share import ShareDisplay
from nldd.estimators._nldd import NLDDClassifier
from nldd.present.page import Figure, Page, Section, svg
from nldd.present.table import Table, TableEntry

DATASETS = (
    *("emotions", "scene", "yeast", "medical", "slashdot", "enron", "ohsumed", "tmc2007"),
    "bibtex",
)
METHODS = ("NLDD", "BR", "SMBR", "CC", "ECC", "RAKEL", "MLKNN", "CBM", "RF-PCT")
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="72pt" height="9pt"><path d="M0 0"/></svg>'
PAYLOADS = (
    "<script>document.title = 'owned'</script>",
    '"><img src=x onerror="document.title = \'owned\'">',
    "'><svg onload='document.title = \"owned\"'>",
    "javascript:document.title='owned'",
    "</style><script>document.title = 'owned'</script>",
    "</title></textarea></caption><script>document.title = 'owned'</script>",
    "{{ 7 * 7 }}{% include 'x' %}",
    "<!-- --!><script>document.title = 'owned'</script>",
    "&lt;script&gt; &#60;b&#62; \x00 \u202e <style>body { display: none }</style>",
    400 * "x",
    '<iframe src="http://127.0.0.1:9/"></iframe><link rel="stylesheet" href="http://127.0.0.1:9/">',
)


def results_table():
    """Nine data sets by nine methods: values and ranks, the best bold, the published ones below."""
    values = np.random.default_rng(1).uniform(0.05, 0.3, (len(DATASETS), len(METHODS)))
    places = values.argsort(axis=1).argsort(axis=1) + 1
    rows = []
    for name, of_dataset, place in zip(DATASETS, values, places, strict=True):
        cells = [
            TableEntry(f"{value:.4f} ({rank})", bold=rank == 1, under=f"{value + 0.002:.4f}")
            for value, rank in zip(of_dataset, place, strict=True)
        ]
        rows.append((name, *cells))
    return Table(
        key="hamming_loss",
        title="Hamming loss by ten-fold cross-validation, with ranks; lower is better",
        head=("Data", *METHODS),
        rows=tuple(rows),
        foot=(
            ("average rank", *(f"{rank:.2f}" for rank in places.mean(axis=0))),
            ("wins", *(f"{wins}" for wins in (places == 1).sum(axis=0))),
        ),
        notes=(
            "Small print: the value that the paper reports for the same data set and method.",
            "Bold: the best method of a data set.",
        ),
    )


def weights_table():
    return Table(
        key="weights",
        title="Weights of the two distances on yeast",
        head=("Source", "intercept", "Dx", "Dy"),
        rows=(("this run", "-4.61", "0.204", "1.183"), ("paper", "-3.9053", "0.1409", "0.8546")),
    )


def sample_page(X, Y, names):
    """A page as a benchmark makes it: two tables, four figures from real data."""
    sets = [{names[j] for j in range(3) if row[j]} for row in Y[:600]]
    model = NLDDClassifier(random_state=0).fit(X[:600], sets)
    ranks = [1.9, 4.6, 5.8, 5.1, 3.4, 4.0, 7.3, 5.2, 7.7]
    share = np.arange(1, 11) / 10
    displays = {
        "ranks": CriticalDifferenceDisplay(METHODS, ranks, [(0, 4, 5), (1, 3, 7), (6, 8)], "Ranks"),
        "cube": HypercubeDisplay.from_estimator(model, X[600:660], 0),
        "choice": PairChoiceDisplay.from_training(X[:600], Y[:600], 3, random_state=0),
        "share": ShareDisplay(share, 5 * share + 30 * share**2, 1.1 + np.exp(-4 * share) / 3),
    }
    ranks_figure, *others = (
        Figure(key, f"What {key} shows, in a sentence.", svg(display.plot().figure_, key), key)
        for key, display in displays.items()
    )
    words = "Ten folds, the same for every method; each value is a mean over the folds. " * 3
    return Page(
        title="Nearest labelsets against eight other methods",
        subtitle="Nine data sets, ten folds, four measures: this run beside the published values",
        facts=(
            ("data sets", "9"),
            ("methods", "9"),
            ("folds", "10"),
            ("base classifier", "linear SVM with Platt scaling"),
            ("seed", "0"),
            ("protocol", "sha256 " + 8 * "0f3a9c1e"),
        ),
        sections=(
            Section("What was run", (words, words)),
            Section("Hamming loss", (words,), (results_table(),), (ranks_figure,), "hamming"),
            Section("How NLDD decides", (words,), (weights_table(),), tuple(others), "how"),
        ),
        foot="Made by nldd 0.1.0 from results.jsonl.",
    )


def hostile_page(payload):
    """A page with the same text in every field that takes text."""
    entry = TableEntry(payload, True, payload)
    table = Table("t", payload, (payload, payload), ((payload, entry),), ((entry, payload),))
    wide = Table("w", payload, (payload,) * 6, ((payload,) * 6,), notes=(payload,))
    figure = Figure("f", payload, PICTURE, payload)
    section = Section(payload, (payload,), (table, wide), (figure,))
    return Page(payload, payload, ((payload, payload),), (section,), payload)
