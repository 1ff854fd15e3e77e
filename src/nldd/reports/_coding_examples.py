"""Examples of the coding reports: single predictions with what speaks for them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nldd._labels import as_label_sets
from nldd.coding import Answers, CodingModel, Columns, Evaluation
from nldd.estimators import theta_in_words
from nldd.reports import Entry, Row, Table
from nldd.reports._coding_words import LONGEST_ANSWER, shown

N_EXAMPLES = 3


def example_rows(quality: Evaluation, answers: Answers) -> dict[str, list[int]]:
    """Answers to show: the surest right ones, the least sure, and wrong ones that seemed sure."""
    right = quality.right("subset") == 1
    order = np.argsort(quality.predictions.theta, kind="stable")
    return {
        "surest": _distinct(order[right[order]], answers),
        "unsure": _distinct(order[::-1], answers),
        "wrong": _distinct(order[~right[order]], answers),
    }


def _distinct(rows: NDArray[np.intp], answers: Answers) -> list[int]:
    """The first rows that do not say the same: a short answer may come a hundred times."""
    found: dict[object, int] = {}
    for row in rows.tolist():
        said = answers.texts[row] or (answers.categories[row], answers.numbers[row].tobytes())
        found.setdefault(said, row)
        if len(found) == N_EXAMPLES:
            break
    return list(found.values())


def examples_table(
    key: str,
    title: str,
    rows: Sequence[int],
    quality: Evaluation,
    answers: Answers,
    model: CodingModel,
    numbers: Sequence[int] | None = None,
) -> Table:
    """Predictions with what speaks for them; `numbers` are those of the rows in their table."""
    return Table(
        key=f"examples-{key}",
        title=title,
        head=("how sure", "answer", "codes of the machine", "codes of people", "taken from"),
        rows=tuple(
            _example(row, quality, answers, model, "" if numbers is None else f"row {numbers[row]}")
            for row in rows
        ),
    )


def _example(
    row: int, quality: Evaluation, answers: Answers, model: CodingModel, where: str
) -> Row:
    found, chosen = quality.predictions, np.array([row])
    # Words for a theta that was rounded to zero would divide by it.
    theta = max(float(found.theta[row]), 1e-6)
    number, words = theta_in_words(theta, quality.n_known).split(": ", 1)
    n_wrong = round((1 - quality.right("hamming")[row]) * len(quality.labels))
    return (
        Entry(number, under=words),
        answer_entry(answers, row, model.columns, where),
        Entry(
            said_codes(as_label_sets(found.Y[chosen], model.labels)[0]),
            under=f"{n_wrong} wrong of {len(quality.labels)} labels" if n_wrong else "all right",
        ),
        said_codes(as_label_sets(quality.Y[chosen], quality.labels)[0]),
        answer_entry(model.answers, int(found.row[row]), model.columns),
    )


def said_codes(names: Sequence[str]) -> str:
    """Names of the codes of an answer."""
    return "; ".join(map(shown, names)) if names else "no code"


def answer_entry(answers: Answers, row: int, columns: Columns, where: str = "") -> Entry:
    """The text of an answer, with its place and its other features in the second line."""
    numbers = zip(columns.numeric, answers.numbers[row].tolist(), strict=True)
    categories = zip(columns.categorical, answers.categories[row], strict=True)
    facts = [where] if where else []
    facts += [f"{shown(name)} {value:g}" for name, value in numbers if not np.isnan(value)]
    facts += [f"{shown(name)} {shown(value)}" for name, value in categories if value]
    text = shown(answers.texts[row], LONGEST_ANSWER) or "(no text)"
    return Entry(text, under=", ".join(facts))
