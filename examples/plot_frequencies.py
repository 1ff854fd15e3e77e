"""
=====================================
Shares of codes that can be published
=====================================

A machine that codes answers errs more often on some codes than on others, so counting its codes
gives shares that are off. This example corrects them by what people found in a random sample, with
intervals, and compares both with the truth, which is known here because the answers are made up.
"""

# %%
# Answers coded by machine, and a sample coded by people
# ------------------------------------------------------
# A model of 300 coded answers codes 900 new ones. Of these, 200 are drawn at random for people.
# Here the truth fills in what people would.

import csv
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

from nldd import load_survey
from nldd.coding import (
    CodingOptions,
    ColumnSpec,
    GuaranteeTarget,
    Settings,
    code_frequencies,
    code_table,
    fit_table,
)


def read(path):
    """All rows of a CSV file, the header first."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def write(path, rows):
    """Write a CSV file, the header first."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


survey = load_survey()
temporary = TemporaryDirectory()
folder = Path(temporary.name)
write(folder / "answers.csv", [survey.header, *survey.rows[:300]])
write(
    folder / "new.csv",
    [row[:4] for row in [survey.header, *survey.rows[300:1200]]],
)

request = ColumnSpec(text=("answer",), labels="codes")
fitted = fit_table(
    folder / "answers.csv", folder / "model.nldd", request, Settings(n_folds=4)
)
model = fitted.model
chosen = model.select(GuaranteeTarget(0.8))
policy = CodingOptions(None, n_random=200).apply(chosen)
counts = code_table(
    model,
    folder / "new.csv",
    folder / "coded.csv",
    policy,
    review=folder / "review.csv",
)
print(f"{counts.n_auto} automatic, {counts.n_review} for people")
print(f"{counts.n_drawn} of all drawn at random")

# %%
# In the review, people code the drawn answers only; what they leave as it was does not count.

truth = {row[0]: row[4] for row in survey.rows}
header, *rows = read(folder / "review.csv")
person, codes, ok, drawn = map(
    header.index, ("id", "codes", "nldd_ok", "nldd_drawn")
)
for row in rows:
    if row[drawn] == "yes":
        row[codes], row[ok] = truth[row[person]], "x"
write(folder / "review.csv", [header, *rows])

# %%
# Correct the shares
# ------------------
# For each code: how often the sample says that the machine gave it wrongly, or missed it.

found = code_frequencies(model, folder / "coded.csv", [folder / "review.csv"])
print(f"{found.n_answers} answers, {found.n_people} coded by people")
new = [set(row[4].split(";")) for row in survey.rows[300:1200]]
true_share = np.array(
    [np.mean([line.code in each for each in new]) for line in found.codes]
)
raw, share, low, high = (
    np.array([getattr(line, name) for line in found.codes])
    for name in ("raw", "share", "low", "high")
)
print(f"off by {100 * np.abs(raw - true_share).mean():.1f} points as counted,")
print(f"by {100 * np.abs(share - true_share).mean():.1f} points as corrected;")
inside = (low <= true_share) & (true_share <= high)
print(f"{inside.sum()} of {len(share)} intervals hold the truth")

# %%
# The bars are the 95 % intervals of the corrected shares.

places = np.arange(len(share))
fig, ax = plt.subplots(figsize=(7.2, 4.6), layout="constrained")
ax.hlines(places, 100 * low, 100 * high, color="#56b4e9", linewidth=5, zorder=1)
ax.scatter(
    100 * raw, places, marker="x", color="#d55e00", label="as counted", zorder=3
)
ax.scatter(
    100 * share,
    places,
    color="#0072b2",
    label="corrected, with interval",
    zorder=2,
)
ax.scatter(
    100 * true_share,
    places,
    marker="|",
    s=160,
    color="black",
    label="truth",
    zorder=4,
)
ax.set_yticks(places, [line.code for line in found.codes])
ax.set(
    xlabel="answers with the code (%)",
    xlim=(0, None),
    title="Shares of the codes among 900 answers",
)
ax.invert_yaxis()
ax.grid(axis="x", color="#e3e3e3")
ax.set_axisbelow(True)
ax.spines[["top", "right"]].set_visible(False)
_ = fig.legend(loc="outside upper center", ncols=3, frameon=False)
temporary.cleanup()

# %%
# What next
# ---------
# The method, how many answers to check, and how often the intervals hold are in
# :doc:`/frequencies`. On the command line: ``nldd frequencies``.
