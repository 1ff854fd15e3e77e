"""
===========================
The review page in pictures
===========================

Answers that the machine is not sure of are decided by people, on a page in the browser: one key an
answer. This example shows the page, prepares a review in Python, records decisions as the page
does, and lets them join the model, which may code more of the next answers by itself.
"""

# %%
# The page
# --------
# ``nldd review model.nldd new.csv`` opens it. Nothing leaves the machine. On the left stands the
# answer, in the middle are the codes with their keys, on the right is what would be if you stopped.

import csv
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

from nldd import load_survey
from nldd.coding import (
    ColumnSpec,
    GuaranteeTarget,
    Settings,
    fit_table,
    prepare_review,
    triage,
    update_model,
)

# They lie in the repository; this file stands in its folder `examples`.
PICTURES = Path(sys.argv[0]).resolve().parents[1] / "docs"


def show(words, picture, left=0, right=None, top=0, bottom=None):
    """A part of a picture of the page, and words for who cannot see it."""
    points = plt.imread(PICTURES / picture)[top:bottom, left:right]
    height, width, _ = points.shape
    figure = plt.figure(figsize=(width / 100, height / 100), dpi=100)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.imshow(points)
    axes.axis("off")
    axes.set_title(
        words
    )  # outside of the figure; on the site it is the text of the picture


show("The whole page: answer, codes, progress", "review-light.png")

# %%
# One answer
# ----------
# The page says what it suggests, how often such a suggestion is wrong, why it asks, and which coded
# answers are nearest. Enter takes the suggestion.

show(
    "An answer and its suggestion",
    "review-light.png",
    right=668,
    top=60,
    bottom=680,
)

# %%
# A key switches each code on or off. ``u`` takes the last decision back, without limit.

show(
    "Codes and keys",
    "review-light.png",
    left=668,
    right=1084,
    top=60,
    bottom=605,
)

# %%
# Many at once, two coders, a phone
# ---------------------------------
# Answers with the same suggestion can be decided together, once they are read.

show(
    "Apply to all alike",
    "review-alike.png",
    left=222,
    right=878,
    top=134,
    bottom=626,
)

# %%
# Where two coders disagree, both codings stand side by side, to be settled.

show(
    "Disagreements of two coders",
    "review-settle.png",
    right=1090,
    top=60,
    bottom=592,
)

# %%
# The page works on a phone, and in the dark.

fig, (phone, dark) = plt.subplots(
    1, 2, figsize=(7.2, 4.6), width_ratios=(390, 665), layout="constrained"
)
phone.imshow(plt.imread(PICTURES / "review-phone.png"))
dark.imshow(plt.imread(PICTURES / "review-dark.png")[:780, :665])
for ax, title in ((phone, "On a phone"), (dark, "In the dark")):
    ax.axis("off")
    ax.set_title(title)

# %%
# Prepare a review in Python
# --------------------------
# The command does what follows. A model is fitted to 300 coded answers, made up like all of them
# here. It codes 150 new ones into a review file, which ``nldd review`` opens on the page. A random
# sample of the answers checks the model.

survey = load_survey()  # the fifth column has the codes
temporary = TemporaryDirectory()
folder = Path(temporary.name)
n_columns = {"answers.csv": 5, "new.csv": 4, "reviewed.csv": 5}
for name, n in n_columns.items():
    rows = survey.rows[:300] if name == "answers.csv" else survey.rows[300:450]
    with (folder / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(row[:n] for row in [survey.header, *rows])

model, review = folder / "model.nldd", folder / "new.review.db"
columns = ColumnSpec(text=("answer",), labels="codes")
before = fit_table(
    folder / "answers.csv", model, columns, Settings(n_folds=4)
).model
guarantee = GuaranteeTarget(0.8, confidence=0.9)
counts = prepare_review(
    model, folder / "new.csv", review, guarantee, n_audit=30
).counts
print(f"{counts.n_auto} coded automatically, {counts.n_review} sent to review")
print(f"{counts.n_drawn} in the random check sample")

# %%
# Add the decisions to the model
# ------------------------------
# ``nldd update`` takes the review file once people have decided. It takes spreadsheets of coded
# answers too, as here, where a coder has coded all new answers.

after = update_model(model, folder / "reviewed.csv").model
print(f"{len(before.answers)} answers before, {len(after.answers)} after")

targets = [0.9, 0.85, 0.8, 0.7]
shares = [
    [
        100 * next(t.share for t in triage(each).targets if t.target == target)
        for target in targets
    ]
    for each in (before, after)
]
places = np.arange(len(targets))
fig, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
for shift, values, colour, words in (
    (-0.2, shares[0], "#8c8c8c", "before the review"),
    (0.2, shares[1], "#0072b2", "after it"),
):
    bars = ax.bar(places + shift, values, 0.38, color=colour, label=words)
    ax.bar_label(bars, fmt="%.0f", padding=2, fontsize=9)
ax.set_xticks(places, [f"{target:.0%}" for target in targets])
ax.set(
    xlabel="target: answers with all codes right",
    ylabel="may be coded automatically (%)",
)
ax.set_title("What the model may code")
ax.spines[["top", "right"]].set_visible(False)
_ = fig.legend(loc="outside upper center", ncols=2, frameon=False)
temporary.cleanup()

# %%
# What next
# ---------
# All keys, orders of the queue and settings are in :doc:`/review`. ``nldd demo survey`` ends with
# the command that opens the page on made-up answers. Code frequencies, corrected for the model's
# errors, are in :doc:`plot_frequencies`.
