"""
=========================
Promises for single codes
=========================

Where few answers can be coded as a whole, many of their codes can. This example sets codes that are
sure, rules out those that surely do not apply, and asks people only about what is left. Both
promises are tested: how many of the codes set are right, and how many are missed.
"""

# %%
# A model of coded answers
# ------------------------
# The answers are made up, and come with the package. So few of them are coded that no answer may be
# coded as a whole, if 9 in 10 shall be right.

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
    code_table,
    fit_table,
    triage,
)

survey = load_survey()
temporary = TemporaryDirectory()
folder = Path(temporary.name)
for name, rows in (
    ("answers.csv", survey.rows[:450]),
    ("new.csv", survey.rows[450:700]),
):
    n_columns = (
        5 if name == "answers.csv" else 4
    )  # new answers have no codes yet
    with (folder / name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            row[:n_columns] for row in [survey.header, *rows]
        )

request = ColumnSpec(text=("answer",), labels="codes")
fitted = fit_table(
    folder / "answers.csv", folder / "model.nldd", request, Settings(n_folds=4)
)
model = fitted.model
whole = triage(model).selection
print(
    f"as a whole, {whole.share:.0%} of the answers may be coded automatically"
)

# %%
# Two thresholds
# --------------
# A code is set where its probability is at least the first threshold, ruled out where it is at most
# the second, and asked about between. Both are found by tests on answers that were predicted
# without themselves.

codes = triage(model, GuaranteeTarget(measure="per-code")).codes
print(f"set from a probability of {codes.yes:.2f} on")
print(f"ruled out up to {codes.no:.3f}")
print(f"{codes.right:.1%} of the codes set in an answer are right")
print(f"{codes.missed:.1%} of the codes that people gave are ruled out")
print(f"{codes.n_whole} of {codes.n_answers} answers are settled")
print(f"{codes.n_part} in part")
print(
    f"people are asked about {12 * codes.share_asked:.1f} of 12 codes an answer"
)

# %%
# Code by code
# ------------
# The thresholds are the same for all codes. The codes are sorted by how often people are asked.

probability = model.evidence.P
was_set, ruled_out = probability >= codes.yes, probability <= codes.no
asked = ~(was_set | ruled_out)
order = np.argsort(asked.mean(axis=0))[::-1]
names = [model.labels[i] for i in order]

fig, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
parts = {
    "set": (was_set, "#0072b2"),
    "for people": (asked, "#d55e00"),
    "ruled out": (ruled_out, "#e3e3e3"),
}
left = np.zeros(len(order))
for part, (mask, colour) in parts.items():
    share = 100 * mask.mean(axis=0)[order]
    ax.barh(names, share, left=left, color=colour, label=part)
    left += share
ax.set(xlabel="answers (%)", xlim=(0, 100), title="What becomes of each code")
ax.spines[["top", "right"]].set_visible(False)
_ = fig.legend(loc="outside upper center", ncols=3, frameon=False)

# %%
# Code new answers
# ----------------
# In the coded table ``nldd_ask`` lists the codes that people are asked about.

policy = CodingOptions(None).apply(codes)
counts = code_table(model, folder / "new.csv", folder / "coded.csv", policy)
print(f"{counts.n_auto} settled, {counts.n_part} in part")
with (folder / "coded.csv").open(newline="", encoding="utf-8") as file:
    partly = [
        row for row in csv.DictReader(file) if row["nldd_status"] == "part"
    ]
for row in partly[:2]:
    print(f"\n{row['answer']}")
    print(f"  set: {row['nldd_codes'] or 'none'}")
    print(f"  asked: {row['nldd_ask']}")
temporary.cleanup()

# %%
# What next
# ---------
# On the command line this is ``--measure per-code``; the columns of such a table are in
# :doc:`/coded-tables`. Whole answers are in :doc:`plot_triage`.
