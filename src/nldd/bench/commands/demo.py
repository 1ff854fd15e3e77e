"""``nldd demo yeast``: compare BR and NLDD on yeast, and explain predictions."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold

from nldd import BinaryRelevance, NLDDClassifier, PlattSVC, as_label_sets, load_yeast
from nldd.bench.displays import PairsDisplay
from nldd.bench.report.published import PUBLISHED_COEFFICIENTS, doubtful, published
from nldd.estimators._explanation import Explanation, braces
from nldd.metrics import PAPER_MEASURES, evaluate
from nldd.present.console import (
    FOLDER,
    default_option,
    folds_option,
    progress,
    seed_option,
    show,
    threads_option,
)
from nldd.present.text import align

COEFFICIENTS = ("b0", "b1 (Dx, features)", "b2 (Dy, labels)")
BASE_NAMES = {"logistic": "logistic regression", "svm": "linear SVM with Platt scaling"}


@dataclass(frozen=True, eq=False)
class Example:
    """A gene that the model did not see: what it predicted and why, and the truth."""

    gene: int
    explanation: Explanation
    truth: tuple[str, ...]

    def __str__(self) -> str:
        wrong = len(set(self.explanation.labels) ^ set(self.truth))
        truth = f"truth: {braces(self.truth)}; wrong labels: {wrong}"
        return f"Gene {self.gene}: {self.explanation}\n  {truth} of {self.explanation.n_labels}"


@dataclass(frozen=True, eq=False)
class Demo:
    """Everything that the demonstration shows; printed, it is all but the picture."""

    base: str
    n_folds: int
    scores: dict[str, dict[str, float]]
    betas: NDArray[np.float64]
    examples: list[Example]
    model: NLDDClassifier = field(repr=False)

    def __str__(self) -> str:
        paper, spread = PUBLISHED_COEFFICIENTS["yeast"], self.betas.std(axis=0, ddof=1)
        table = zip(COEFFICIENTS, self.betas.mean(axis=0), spread, paper, strict=True)
        rows = [(name, *(f"{value:.4f}" for value in values)) for name, *values in table]
        parts = (
            f"Yeast: 2417 genes, 103 features, 14 labels; {self.n_folds}-fold cross-validation\n"
            f"Base classifier: {BASE_NAMES[self.base]} (the paper: {BASE_NAMES['svm']})",
            _scores(self.scores),
            "Weights of the two distances, mean over the folds\n"
            "  log-odds of a wrong label = b0 + b1 Dx + b2 Dy",
            align([("", "this run", "+-", "paper"), *rows], right=(1, 2, 3)),
            "Five genes that the model had not seen, from the surest to the least sure prediction\n"
            "  (rows are counted as genes are, in the whole data set)",
        )
        return "\n\n".join([*parts, *map(str, self.examples)])


def _scores(scores_by_method: Mapping[str, Mapping[str, float]]) -> str:
    """A line for each method, and the paper's below it."""
    names = [measure.name for measure in PAPER_MEASURES]
    better = [f"{measure.direction.split()[0]} better" for measure in PAPER_MEASURES]
    rows, notes = [("", *names), ("", *better)], []
    for method, scores in scores_by_method.items():
        rows.append((f"{method:<5}this run", *(f"{scores[m.key]:.4f}" for m in PAPER_MEASURES)))
        printed = []
        for measure in PAPER_MEASURES:
            doubt = doubtful(measure.key, "yeast", method)
            notes += [f"* {doubt}"] if doubt else []
            value = f"{published(measure.key).value('yeast', method):.4f}"
            printed.append(f"*{value}" if doubt else value)
        rows.append(("     paper", *printed))
    return "\n".join([align(rows, right=range(1, 5)), *notes])


def run_demo(
    *, base: str = "logistic", n_folds: int = 10, n_jobs: int | None = None, random_state: int = 0
) -> Demo:
    """Cross-validate BR and NLDD on yeast and explain five predictions of the first fold."""
    X, Y, label_names = load_yeast()
    estimator = PlattSVC() if base == "svm" else None
    how: dict[str, Any] = {"n_jobs": n_jobs, "random_state": random_state}
    methods = {"BR": BinaryRelevance(estimator, **how), "NLDD": NLDDClassifier(estimator, **how)}
    folds = list(KFold(n_folds, shuffle=True, random_state=random_state).split(X))
    models, rows = defaultdict(list), defaultdict(list)
    steps = progress(product(methods, folds), len(methods) * n_folds, "BR and NLDD on yeast")
    for name, (train, test) in steps:
        model = clone(methods[name]).fit(X[train], Y[train])
        models[name].append(model)
        rows[name].append(evaluate(Y[test], model.predict(X[test])))
    scores = {
        name: {key: float(np.mean([row[key] for row in found])) for key in found[0]}
        for name, found in rows.items()
    }
    betas, first = np.array([model.beta_ for model in models["NLDD"]]), models["NLDD"][0]
    return Demo(base, n_folds, scores, betas, _examples(first, folds[0], X, Y, label_names), first)


def _examples(
    model: NLDDClassifier, fold: tuple[Any, ...], X: Any, Y: Any, label_names: list[str]
) -> list[Example]:
    """Five genes of the test rows from the surest to the least sure prediction."""
    train, test = fold
    explanations = model.explain(X[test])
    by_theta = np.argsort([explanation.theta for explanation in explanations], kind="stable")
    chosen = by_theta[np.linspace(0, len(test) - 1, 5).round().astype(int)]
    truths = as_label_sets(Y[test[chosen]], label_names)

    def with_names(found: Any) -> Explanation:
        # The folds were cut from all genes: say which gene of the whole data set a row was.
        labels, row = tuple(label_names[label] for label in found.labels), int(train[found.row])
        other = None if found.runner_up is None else with_names(found.runner_up)
        return replace(found, labels=labels, row=row, runner_up=other)

    evidence = [with_names(explanations[i]) for i in chosen]
    return list(map(Example, test[chosen].tolist(), evidence, truths))


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
    result = run_demo(base=base, n_folds=folds, n_jobs=jobs, random_state=seed)
    show(str(result))
    picture = out / "pairs.png"
    PairsDisplay.from_estimator(result.model).plot().figure_.savefig(picture, dpi=150)
    show(f"\nPicture of the pairs behind the weights of the first fold: {picture}")
