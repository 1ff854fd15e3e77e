"""Do the intervals of ``nldd frequencies`` hold the share that they are for, in 95 of 100 studies?

Tables whose codes are known, with errors of a machine, and random parts that people check. ``python
results/frequencies.py`` runs the cells that are missing.
"""

from itertools import product

import marks
import numpy as np
from record_files import read, run_missing

from nldd.coding.frequencies import PartCounts, estimate_rest

PAGES = ("frequencies",)
N_STUDIES = 1000
PREVALENCES = (0.005, 0.02, 0.1, 0.3, 0.5)
# Of answers that have the code, the share that the machine misses; of others, that it gives it to.
ERRORS = {"few": (0.02, 0.0), "some": (0.2, 0.01), "many": (0.4, 0.05), "too often": (0.05, 0.1)}
SAMPLES = (50, 100, 200, 400)
# Answers of each part, and how many times as often the machine errs there.
DESIGNS = {
    "one part": ((5000, 1.0),),
    "two parts": ((3000, 0.5), (2000, 1.5)),
    "small table": ((600, 1.0),),
}
CELLS = list(product(DESIGNS, PREVALENCES, ERRORS, SAMPLES))


def draw_counts(rng, n_marked, n_all, n):
    """How many of `n` drawn are among those marked; one study after the other."""
    return rng.hypergeometric(n_marked, n_all - n_marked, n)


def make_part(rng, n_rows, n_checked, prevalence, missing, wrong):
    """A part of the table of each study, with its checked answers; and how many have the code."""
    true = rng.binomial(n_rows, prevalence, N_STUDIES)
    missed, false = rng.binomial(true, missing), rng.binomial(n_rows - true, wrong)
    given = true - missed + false
    checked_with = draw_counts(rng, given, n_rows, n_checked)
    right = draw_counts(rng, given - false, given, checked_with)
    checked_without = n_checked - checked_with
    found = draw_counts(rng, missed, n_rows - given, checked_without)
    rest = (given - checked_with, n_rows - given - checked_without)
    part = PartCounts(*rest, checked_with, right, checked_without, found)
    return part, true, given


def run_cell(design, prevalence, errors, n_checked):
    """Studies of one kind: how often the interval holds the true share, how wide, how biased."""
    seed = CELLS.index((design, prevalence, errors, n_checked))
    rng, parts = np.random.default_rng(seed), []
    left = n_answers = sum(n_rows for n_rows, _ in DESIGNS[design])
    drawn = np.full(N_STUDIES, n_checked)
    true, given = np.zeros(N_STUDIES), np.zeros(N_STUDIES)
    for n_rows, times in DESIGNS[design]:
        # What is drawn from all falls into the parts by chance.
        here = draw_counts(rng, n_rows, left, drawn) if n_rows < left else drawn
        rates = (times * rate for rate in ERRORS[errors])
        part, n_true, n_given = make_part(rng, n_rows, here, prevalence, *rates)
        parts.append(part)
        true, given, left, drawn = true + n_true, given + n_given, left - n_rows, drawn - here
    known = sum(part.right + part.missed for part in parts)
    share, low, high = ((known + x) / n_answers for x in estimate_rest(parts))
    true, raw = true / n_answers, given / n_answers
    # The same without looking at answers with and without the code apart.
    errors_found = sum(part.missed - (part.checked_with - part.right) for part in parts)
    plain = raw + errors_found / n_checked
    return {
        "studies": N_STUDIES,
        "covered": int(((low <= true + 1e-12) & (true <= high + 1e-12)).sum()),
        "width": round(float((high - low).mean()), 5),
        **{
            key: round(float(np.sqrt(np.square(found - true).mean())), 5)
            for key, found in (("off", share), ("difference_off", plain), ("raw_off", raw))
        },
    }


def tables() -> dict[str, str]:
    """Coverage by share of the code and answers checked, in Markdown, and its extremes."""
    records, rows, off = read("frequencies"), [], {}
    for prevalence, n in product(PREVALENCES, SAMPLES):
        here = [r for r in records if (r["prevalence"], r["checked"]) == (prevalence, n)]
        covered = [100 * r["covered"] / r["studies"] for r in here]
        width, *errors = (
            100 * float(np.mean([r[key] for r in here]))
            for key in ("width", "off", "difference_off", "raw_off")
        )
        shares = (f"{value:.1f} %" for value in (np.mean(covered), min(covered)))
        rows.append(
            [f"{100 * prevalence:g} %", str(n), *shares, *(f"{x:.1f}" for x in (width, *errors))]
        )
        off[prevalence, n] = errors
    covered = [100 * r["covered"] / r["studies"] for r in records]
    mean, least = (f"{value:.1f} %" for value in (np.mean(covered), min(covered)))
    told = (
        f"Of all {len(records)} kinds of studies, {mean} of the intervals held the share, at least "
    )
    head = "share of the code | answers checked | intervals that hold it | the least of 12 kinds "
    head += "| width | off by | difference off by | raw off by"
    raw = [errors[-1] for errors in off.values()]
    hundred = [errors[0] for (_, n), errors in off.items() if n == 100]
    return {
        "coverage": f"{marks.table(head, rows)}\n\n{told}{least} of each.",
        "coverage mean": mean,
        "coverage least": least,
        "raw off": f"{min(raw):.1f} to {max(raw):.1f}",
        "corrected off": f"{min(hundred):.1f} to {max(hundred):.1f}",
    }


if __name__ == "__main__":
    run_missing("frequencies", ("design", "prevalence", "errors", "checked"), CELLS, run_cell)
