"""``nldd demo yeast``: compare BR and NLDD on yeast by cross-validation."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold

from nldd._labels import as_label_sets
from nldd.bench.displays import PairsDisplay
from nldd.bench.report.published import PUBLISHED_COEFFICIENTS, doubtful, published
from nldd.datasets import load_yeast
from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.estimators._explanation import Explanation, braces, theta_in_words
from nldd.estimators._nldd import NLDDClassifier
from nldd.estimators._svm import PlattSVC
from nldd.metrics._measures import PAPER_MEASURES, Measure, evaluate
from nldd.present.console import (
    FOLDER,
    default_option,
    folds_option,
    progress,
    seed_option,
    show,
    threads_option,
)

SHORT_NAMES = {"multilabel_accuracy": "accuracy"}
COEFFICIENTS = ("b0", "b1 (Dx, features)", "b2 (Dy, labels)")
BASE_NAMES = {"logistic": "logistic regression", "svm": "linear SVM with Platt scaling"}


@dataclass(frozen=True, eq=False)
class FittedFold:
    """One method on one fold: the scores, the times, and the fitted model for a closer look."""

    method: str
    fold: int
    scores: dict[str, float]
    fit_seconds: float
    predict_seconds: float
    model: Any = field(repr=False)
    test_rows: Any = field(repr=False)


def cross_validate(
    methods: Mapping[str, Any],
    X: Any,
    Y: Any,
    *,
    n_folds: int = 10,
    random_state: int = 0,
    measures: Iterable[Measure] = PAPER_MEASURES,
) -> Iterator[FittedFold]:
    """Fit and score every method on every fold, handing over each cell as it is done.

    The folds are a random partition, the same for all methods.
    """
    measures = tuple(measures)
    folds = KFold(n_folds, shuffle=True, random_state=random_state).split(X)
    for fold, (train, test) in enumerate(folds):
        for name, method in methods.items():
            start = perf_counter()
            model = clone(method).fit(X[train], Y[train])
            fitted = perf_counter()
            Y_pred = model.predict(X[test])
            predicted = perf_counter()
            scores = evaluate(Y[test], Y_pred, measures)
            yield FittedFold(name, fold, scores, fitted - start, predicted - fitted, model, test)


def mean_scores(cells: Iterable[FittedFold], method: str) -> dict[str, float]:
    """Mean of each measure over the folds of `method`."""
    rows = [cell.scores for cell in cells if cell.method == method]
    return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}


@dataclass(frozen=True, eq=False)
class Example:
    """A gene that the model did not see: what it predicted and why, and the truth."""

    gene: int
    explanation: Explanation
    truth: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Demo:
    """Everything that the demonstration shows."""

    base: str
    n_folds: int
    scores: dict[str, dict[str, float]]
    seconds: dict[str, float]
    beta: NDArray[np.float64]
    beta_spread: NDArray[np.float64]
    examples: list[Example]
    model: NLDDClassifier = field(repr=False)


def run_demo(
    *,
    base: str = "logistic",
    n_folds: int = 10,
    n_jobs: int | None = None,
    random_state: int = 0,
    watch: Callable[[Iterable[FittedFold], int], Iterator[FittedFold]] | None = None,
) -> Demo:
    """Cross-validate BR and NLDD on yeast and explain five predictions of the first fold.

    `watch` sees the cells go by, with their number, and may draw a progress bar.
    """
    X, Y, label_names = load_yeast()
    estimator = PlattSVC() if base == "svm" else None
    methods = {
        "BR": BinaryRelevance(estimator, n_jobs=n_jobs, random_state=random_state),
        "NLDD": NLDDClassifier(estimator, n_jobs=n_jobs, random_state=random_state),
    }
    steps = cross_validate(methods, X, Y, n_folds=n_folds, random_state=random_state)
    cells = list(steps if watch is None else watch(steps, n_folds * len(methods)))
    folds = [cell for cell in cells if cell.method == "NLDD"]
    beta = np.array([fold.model.beta_ for fold in folds])
    seconds = dict.fromkeys(methods, 0.0)
    for cell in cells:
        seconds[cell.method] += cell.fit_seconds + cell.predict_seconds
    scores = {method: mean_scores(cells, method) for method in methods}
    mean, spread = beta.mean(axis=0), beta.std(axis=0, ddof=1)
    examples = _examples(folds[0], X, Y, label_names)
    return Demo(base, n_folds, scores, seconds, mean, spread, examples, folds[0].model)


def _examples(cell: FittedFold, X: Any, Y: Any, label_names: list[str]) -> list[Example]:
    """Five genes of the test fold from the surest to the least sure prediction."""
    rows, explanations = cell.test_rows, cell.model.explain(X[cell.test_rows])
    by_theta = np.argsort([explanation.theta for explanation in explanations], kind="stable")
    chosen = by_theta[np.linspace(0, len(rows) - 1, 5).round().astype(int)]
    truths = as_label_sets(Y[rows[chosen]], label_names)
    # The folds were cut from all genes: say which gene of the whole data set a row was.
    train = np.setdiff1d(np.arange(len(X)), rows)
    evidence = [_with_names(explanations[i], label_names, train) for i in chosen]
    return list(map(Example, rows[chosen].tolist(), evidence, truths))


def _with_names(explanation: Explanation, label_names: list[str], train: Any) -> Explanation:
    """The same evidence with label names, and with rows counted in the whole data set."""
    runner_up = explanation.runner_up
    return replace(
        explanation,
        labels=tuple(label_names[label] for label in explanation.labels),
        row=int(train[explanation.row]),
        runner_up=None if runner_up is None else _with_names(runner_up, label_names, train),
    )


def render_demo(demo: Demo) -> str:
    """All of the demonstration but the picture."""
    head = "Five genes that the model had not seen, from the surest to the least sure prediction"
    examples = map(_example, demo.examples)
    return "\n\n".join([_scores(demo), _coefficients(demo), head, *examples])


def _scores(demo: Demo) -> str:
    names = [SHORT_NAMES.get(measure.key, measure.name) for measure in PAPER_MEASURES]
    better = [f"{measure.direction.split()[0]} better" for measure in PAPER_MEASURES]
    lines = [
        f"Yeast: 2417 genes, 103 features, 14 labels; {demo.n_folds}-fold cross-validation",
        f"Base classifier: {BASE_NAMES[demo.base]} (the paper: {BASE_NAMES['svm']})",
        "",
        *(" " * 15 + "".join(f"{head:>16}" for head in heads) for heads in (names, better)),
    ]
    notes = []
    for method, scores in demo.scores.items():
        ours, paper = f"{method:<5}this run   ", f"{'':<5}paper      "
        for measure in PAPER_MEASURES:
            doubt = doubtful(measure.key, "yeast", method)
            printed = published(measure.key).value("yeast", method)
            ours += f"{scores[measure.key]:>15.4f} "
            paper += f"{printed:>15.4f}{'*' if doubt else ' '}"
            notes += [f"* {doubt}"] if doubt else []
        lines += [ours.rstrip(), paper.rstrip()]
    return "\n".join([*lines, *notes])


def _coefficients(demo: Demo) -> str:
    paper = PUBLISHED_COEFFICIENTS["yeast"]
    table = zip(COEFFICIENTS, demo.beta, demo.beta_spread, paper, strict=True)
    lines = [
        "Weights of the two distances, mean over the folds",
        "  log-odds of a wrong label = b0 + b1 Dx + b2 Dy",
        "",
        f"{'':<20}{'this run':>10}{'+-':>8}{'paper':>10}",
        *(f"{name:<20}{b:>10.4f}{s:>8.4f}{p:>10.4f}" for name, b, s, p in table),
    ]
    return "\n".join(lines)


def _example(example: Example) -> str:
    why, truth = example.explanation, example.truth
    lines = [
        f"Gene {example.gene}: {braces(why.labels)}",
        f"  {theta_in_words(why.theta, why.n_labels)}",
        f"  from gene {why.row}: Dx = {why.Dx:.2f}, Dy = {why.Dy:.2f}; "
        f"weighted {why.x_part:.2f} + {why.y_part:.2f}",
    ]
    if other := why.runner_up:
        next_best = f"{braces(other.labels)} from gene {other.row}, theta {other.theta:.3f}"
        lines.append(f"  next best: {next_best}")
    wrong = len(set(why.labels) ^ set(truth))
    lines.append(f"  truth: {braces(truth)}; wrong labels: {wrong} of {why.n_labels}")
    return "\n".join(lines)


@click.command()
@default_option(
    "--base",
    type=click.Choice(["logistic", "svm"]),
    default="logistic",
    help="Base classifier; svm is the paper's and takes a few minutes.",
)
@folds_option(default=10, show_default=True, help="Number of folds.")
@seed_option
@threads_option
@default_option("--out", type=FOLDER, default=Path("nldd-demo"), help="Folder for the picture.")
def yeast(base: str, folds: int, seed: int, jobs: int, out: Path) -> None:
    """Compare BR and NLDD on yeast by cross-validation, and explain five predictions.

    Prints the four measures and the weights next to the paper's, five predictions with the
    evidence behind them, and draws the pairs that the weights were learned from.

    \b
    Examples:
      nldd demo yeast
      nldd demo yeast --folds 5 --out demo
    """
    # Before the work rather than after it: a folder that cannot be made is better known now.
    out.mkdir(parents=True, exist_ok=True)
    watch = partial(progress, title="BR and NLDD on yeast")
    result = run_demo(base=base, n_folds=folds, n_jobs=jobs, random_state=seed, watch=watch)
    show(render_demo(result))
    picture = out / "pairs.png"
    PairsDisplay.from_estimator(result.model).plot().figure_.savefig(picture, dpi=150)
    show(f"\nPicture of the pairs behind the weights of the first fold: {picture}")
