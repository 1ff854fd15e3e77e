"""
==========================
Predicting for the measure
==========================

NLDD predicts the labelset with the smallest theta, which aims at few wrong labels. Where a missed
label costs more than an extra one, as in search or in suggestions to a person, another labelset is
the better one. This example shows what ``decision`` changes, in labels and in measures.
"""

# %%
# Three decisions on the same model
# ---------------------------------
# ``"accuracy"`` and ``"f"`` look at the 30 nearest labelsets, take the truth to be one of them, and
# predict the one with the highest expected accuracy or F-measure.

import matplotlib.pyplot as plt
import numpy as np

from nldd import NLDDClassifier, load_yeast
from nldd.metrics import PAPER_MEASURES, evaluate

X, Y, label_names = load_yeast()
X_train, Y_train, X_test, Y_test = X[:1500], Y[:1500], X[1500:], Y[1500:]

scores, n_labels = {}, {}
for decision in ("nearest", "accuracy", "f"):
    model = NLDDClassifier(decision=decision, random_state=0).fit(
        X_train, Y_train
    )
    Y_pred = model.predict(X_test)
    scores[decision] = evaluate(Y_test, Y_pred)
    n_labels[decision] = Y_pred.sum(axis=1).mean()
print(f"labels a gene: {Y_test.sum(axis=1).mean():.2f} in truth")
for decision, number in n_labels.items():
    print(f"{decision:8s} {number:.2f}")

# %%
# What it gains and costs
# -----------------------
# More labels are predicted, so fewer are missed: accuracy and F-measure rise. In exchange, fewer
# labelsets are right as a whole. Losses are drawn as one minus the loss, so that higher is better
# in all four.

fig, ax = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
colours = {"nearest": "#8c8c8c", "accuracy": "#56b4e9", "f": "#0072b2"}
places = np.arange(len(PAPER_MEASURES))
for shift, (decision, colour) in enumerate(colours.items()):
    values = [
        scores[decision][m.key]
        if m.greater_is_better
        else 1 - scores[decision][m.key]
        for m in PAPER_MEASURES
    ]
    bars = ax.bar(
        places + 0.27 * (shift - 1), values, 0.25, color=colour, label=decision
    )
    ax.bar_label(bars, fmt="%.3f", fontsize=8, padding=2)
names = [
    m.name if m.greater_is_better else f"1 - {m.name}" for m in PAPER_MEASURES
]
ax.set_xticks(places, names)
ax.set(
    ylabel="on 917 test rows",
    ylim=(0, 0.95),
    title="Three decisions by four measures",
)
ax.spines[["top", "right"]].set_visible(False)
_ = fig.legend(
    loc="outside upper center", ncols=3, frameon=False, title="decision"
)

# %%
# What next
# ---------
# Which decision suits which purpose is in :doc:`/nldd`, what each gained on nine data sets in
# :doc:`/results`, and all measures with their conventions in :doc:`/metrics`.
