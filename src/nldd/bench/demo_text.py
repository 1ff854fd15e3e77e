"""The demonstration as text."""

from nldd.bench.demo import BASE_NAMES, Demo, Example
from nldd.bench.report.published import PUBLISHED_COEFFICIENTS, doubtful, published
from nldd.estimators._explanation import braces, theta_in_words
from nldd.metrics._measures import PAPER_MEASURES

SHORT_NAMES = {"multilabel_accuracy": "accuracy"}
COEFFICIENTS = ("b0", "b1 (Dx, features)", "b2 (Dy, labels)")


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
