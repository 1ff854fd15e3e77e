"""
===========
Adding rows
===========

Labelled rows often come bit by bit. A fitted model takes them in at once with ``add``, which fits
nothing: the new rows can be found by the search, and their labelsets predicted. This example shows
how far that goes, and when to fit the classifiers again with ``fit_copy``, or everything with
``fit``.
"""

# %%
# A labelset that the model has not seen
# --------------------------------------
# A model of 400 genes cannot predict a combination of labels that none of these genes carries.
# After ``add`` it can.

from copy import deepcopy

import matplotlib.pyplot as plt
import numpy as np

from nldd import NLDDClassifier, load_yeast
from nldd.metrics import evaluate

X, Y, label_names = load_yeast()
X_test, Y_test = X[1900:], Y[1900:]


def tell(model):
    """How many labelsets the model knows, and those of how many rows."""
    seen = {tuple(labelset) for labelset in model.labelsets_.tolist()}
    share = np.mean([tuple(labelset) in seen for labelset in Y_test.tolist()])
    print(f"{len(seen)} labelsets, those of {share:.0%} of the test rows")


model = NLDDClassifier(random_state=0).fit(X[:400], Y[:400])
tell(model)
model.add(X[400:1900], Y[400:1900])
tell(model)

# %%
# Three ways to take in rows
# --------------------------
# - ``add`` lets rows into the search. Classifiers and weights stay as they are.
# - ``fit_copy`` fits the classifiers to other rows and keeps the weights of both distances, so that
#   theta of both models is on one scale.
# - ``fit`` learns all of it again.
#
# Rows come 500 at a time, and after each batch the three are scored on test rows.

sizes = [400, 900, 1400, 1900]
first = NLDDClassifier(random_state=0).fit(X[:400], Y[:400])
added = deepcopy(first)
scores = {"add": [], "fit_copy": [], "fit": []}
for size in sizes:
    if size > 400:
        added.add(X[size - 500 : size], Y[size - 500 : size])
    fitted = NLDDClassifier(random_state=0).fit(X[:size], Y[:size])
    models = {
        "add": added,
        "fit_copy": first.fit_copy(X[:size], Y[:size]),
        "fit": fitted,
    }
    for name, each in models.items():
        scores[name].append(evaluate(Y_test, each.predict(X_test))["f_measure"])

fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
looks = {
    "add": ("#8c8c8c", "o"),
    "fit_copy": ("#0072b2", "s"),
    "fit": ("#d55e00", "^"),
}
for name, (colour, marker) in looks.items():
    ax.plot(sizes, scores[name], color=colour, marker=marker, label=name)
ax.set(
    xlabel="labelled rows",
    ylabel="F-measure on test rows",
    xticks=sizes,
    title="Three ways to take in rows",
)
ax.spines[["top", "right"]].set_visible(False)
_ = ax.legend(frameon=False)

# %%
# Over all rows ``fit_copy`` gains twice as much as ``add``: rows that teach the classifiers as well
# are worth more. But ``add`` gains too, and costs next to nothing.

for name, values in scores.items():
    print(f"{name:5s}", *(f"{value:.3f}" for value in values))

# %%
# What next
# ---------
# Answers that people have coded join a coding model in the same way: :doc:`plot_review`. What
# ``add`` costs with many rows is in :doc:`/scaling`.
