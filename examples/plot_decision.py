"""
==========================
Predicting for the measure
==========================

The paper's NLDD predicts the labelset with the smallest theta, whatever the predictions are for.
Where a missed label costs more than an extra one, as in search or in suggestions to a person,
another labelset is the better one. This example shows what ``decision`` changes, in labels and in
measures.
"""

# %%
# Five decisions
# --------------
# All but ``"nearest"`` rest on a posterior over labelsets, which one fit makes for all four.

import matplotlib.pyplot as plt
import numpy as np

from nldd import NLDDClassifier, load_yeast
from nldd.metrics import PAPER_MEASURES, evaluate

X, Y, label_names = load_yeast()
X_train, Y_train, X_test, Y_test = X[:1500], Y[:1500], X[1500:], Y[1500:]

nearest = NLDDClassifier(random_state=0).fit(X_train, Y_train)
model = NLDDClassifier(decision="subset", random_state=0)
model.fit(X_train, Y_train)
predictions = {"nearest": nearest.predict(X_test)}
for decision in ("hamming", "subset", "jaccard", "f1"):
    predictions[decision] = model.set_params(decision=decision).predict(X_test)

scores = {name: evaluate(Y_test, Y) for name, Y in predictions.items()}
print(f"labels a gene: {Y_test.sum(axis=1).mean():.2f} in truth")
for decision, Y_pred in predictions.items():
    print(f"{decision:8s} {Y_pred.sum(axis=1).mean():.2f}")

# %%
# What each is good for
# ---------------------
# Each decision is the best at the measure that it aims at, and no better elsewhere: whole labelsets
# right, few labels wrong, and few missed do not go together. Losses are drawn as one minus the
# loss, so that higher is better in all four.

fig, ax = plt.subplots(figsize=(7.2, 3.8), layout="constrained")
colours = dict(
    zip(
        predictions,
        ["#8c8c8c", "#56b4e9", "#009e73", "#e69f00", "#0072b2"],
        strict=True,
    )
)
places = np.arange(len(PAPER_MEASURES))
for shift, (decision, colour) in enumerate(colours.items()):
    values = [
        scores[decision][m.key]
        if m.greater_is_better
        else 1 - scores[decision][m.key]
        for m in PAPER_MEASURES
    ]
    bars = ax.bar(
        places + 0.17 * (shift - 2), values, 0.16, color=colour, label=decision
    )
    ax.bar_label(bars, fmt="%.2f", fontsize=7, padding=2)
names = [
    m.name if m.greater_is_better else f"1 - {m.name}" for m in PAPER_MEASURES
]
ax.set_xticks(places, names)
ax.set(
    ylabel="on 917 test rows",
    ylim=(0, 0.95),
    title="Five decisions by four measures",
)
ax.spines[["top", "right"]].set_visible(False)
_ = fig.legend(
    loc="outside upper center", ncols=5, frameon=False, title="decision"
)

# %%
# How sure it is
# --------------
# The posterior says how probable it is that the whole labelset is right, and why.

model.set_params(decision="subset")
print(model.explain(X_test[:1])[0])

# %%
# What next
# ---------
# Which decision suits which purpose is in :doc:`/nldd`, what each gained on nine data sets in
# :doc:`/results`, and all measures with their conventions in :doc:`/metrics`.
