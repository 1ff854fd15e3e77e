"""
============================
Triage: by machine or people
============================

People have coded some answers to an open question. A model learns from these and tells how much of
the rest may be coded automatically, if so many answers shall have all their codes right. This
example goes from a table of coded answers to a table of new ones: the sure ones coded, the others
marked for people, each with a reason.
"""

# %%
# A table of answers
# ------------------
# A CSV file with one answer a row and its codes in one cell; Excel, SPSS and others work alike. The
# answers come with the package. A program made them up; nobody was asked. 600 are coded, and the
# codes of 300 others are put aside to check the promise in the end.

import csv
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt

from nldd import load_survey
from nldd.coding import (
    CodingOptions,
    ColumnSpec,
    GuaranteeTarget,
    RiskCoverageDisplay,
    Settings,
    code_table,
    fit_table,
    triage,
)


def write(path, header, rows):
    """Write a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


survey = load_survey()
temporary = TemporaryDirectory()
folder = Path(temporary.name)
write(folder / "answers.csv", survey.header, survey.rows[:600])
write(
    folder / "new.csv",
    survey.header[:4],
    [row[:4] for row in survey.rows[600:900]],
)
print(survey.question)
print(*(folder / "answers.csv").read_text("utf-8").splitlines()[:4], sep="\n")

# %%
# Learn from the coded answers
# ----------------------------
# Every coded answer is also predicted by a model that has not seen it, which is where all promises
# come from. Four folds keep this example short; leave ``Settings`` out for your own data.

request = ColumnSpec(
    text=("answer",), labels="codes", features=("age", "region")
)
step = fit_table(
    folder / "answers.csv", folder / "model.nldd", request, Settings(n_folds=4)
)
model = step.model
print(f"{len(model.answers)} answers, {len(model.labels)} codes")

# %%
# How much may the machine code?
# ------------------------------
# That depends on the accuracy you ask for: the share of automatic answers with *all* codes right.
# Each line is tested, and holds with a confidence of 0.9.

found = triage(model, GuaranteeTarget(0.85))
for line in found.targets:
    print(f"{line.target:.0%} right: {line.share:.0%} of the answers automatic")

# %%
# The curve behind it: the surest answers first. The threshold stays left of where the curve meets
# the target, because it has to hold for new answers too.

evidence, chosen = model.evidence, found.selection
curve = RiskCoverageDisplay.from_predictions(
    evidence.doubt(chosen.rank_by),
    evidence.right(model.Y),
    target=chosen.target,
    chosen=(chosen.share, chosen.accuracy),
    title="The surest answers first",
)
fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
_ = curve.plot(ax)

# %%
# Code new answers
# ----------------
# The coded table has every row and column of the new one, and behind them codes, status, the chance
# that all codes are right, the nearest coded answer, and why people should look.

policy = CodingOptions(None).apply(chosen)
counts = code_table(model, folder / "new.csv", folder / "coded.csv", policy)
print(f"{counts.n_auto} coded automatically, {counts.n_review} for people")
for reason, number in counts.why.most_common():
    print(f"{number:5d} {reason}")

with (folder / "coded.csv").open(newline="", encoding="utf-8") as file:
    coded = list(csv.DictReader(file))
for row in coded[:4]:
    print(f"\n{row['answer']}")
    print(f"  {row['nldd_status']}: {row['nldd_codes']}  {row['nldd_why']}")

# %%
# Was the promise kept?
# ---------------------
# For once the truth is known. Of the automatic answers at least 85 % should be right.

truth = {row[0]: set(row[4].split(";")) for row in survey.rows}
right = {"auto": [], "review": []}
for row in coded:
    right[row["nldd_status"]].append(
        set(row["nldd_codes"].split(";")) == truth[row["id"]]
    )
for status, values in right.items():
    share = sum(values) / len(values)
    print(f"{status:6s} {len(values)} answers, all codes right in {share:.1%}")
temporary.cleanup()

# %%
# What next
# ---------
# People decide the rest on a page: :doc:`plot_review`. Where whole answers are too much to ask,
# single codes can be promised: :doc:`plot_per_code`. The same steps without programming are in
# :doc:`/coding`, and what the promise takes in :doc:`/promise`.
