"""
==========================
Choosing a base classifier
==========================

NLDD starts from the label probabilities of independent classifiers, and no labelset can be better
than they allow. By default it compares a few base classifiers on your data and takes the best. This
example shows what it chose and why, and how to let it choose among candidates of your own.
"""

# %%
# What was chosen, and why
# ------------------------
# With ``estimator="auto"``, the default, every candidate is fitted to one half of the rows. The
# Brier score on the other half decides: the mean squared distance of a label from its probability.

import matplotlib.pyplot as plt
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.neighbors import KNeighborsClassifier

from nldd import NLDDClassifier, load_yeast
from nldd.linear import MultiLabelLogisticRegression
from nldd.metrics import evaluate

X, Y, label_names = load_yeast()
X_train, Y_train, X_test, Y_test = X[:1000], Y[:1000], X[1000:], Y[1000:]
model = NLDDClassifier(random_state=0).fit(X_train, Y_train)
print(model.chosen_)

# %%
# Candidates of your own
# ----------------------
# A dict takes the place of ``"auto"``. Anything with probabilities will do. One that takes a whole
# matrix of labels, as trees and nearest neighbours do, is fitted once to all of them. The first
# two are those that ``"auto"`` compares on rows of numbers.

mine = {
    "logistic": MultiLabelLogisticRegression(),
    "rbf": MultiLabelLogisticRegression(features="rbf", C=5.0),
    "neighbours": KNeighborsClassifier(20),
    "extra trees": ExtraTreesClassifier(50, min_samples_leaf=3, random_state=0),
}
model = NLDDClassifier(mine, random_state=0).fit(X_train, Y_train)
print(model.chosen_)

# %%
# Do better probabilities give better labelsets?
# ----------------------------------------------
# To see that, each candidate is used alone, and scored on genes that no model has seen. The one
# that was chosen (orange) is the best here, too. But the order of the others is not the same: a
# Brier score is about single labels, and the F-measure about labelsets.

brier = model.chosen_.brier
names = sorted(brier, key=brier.get, reverse=True)
colours = [
    "#d55e00" if name == model.chosen_.name else "#0072b2" for name in names
]
scores = []
for name in names:
    alone = NLDDClassifier(mine[name], random_state=0).fit(X_train, Y_train)
    scores.append(evaluate(Y_test, alone.predict(X_test))["f_measure"])

fig, axes = plt.subplots(
    1, 2, figsize=(7.2, 2.6), sharey=True, layout="constrained"
)
fig.get_layout_engine().set(wspace=0.08)
fig.suptitle(
    "Candidates for the base classifier, the chosen one in orange", fontsize=11
)
titles = ("Brier score (lower is better)", "F-measure (higher is better)")
for ax, values, title in zip(
    axes, ([brier[name] for name in names], scores), titles, strict=True
):
    ax.scatter(values, names, s=60, color=colours, zorder=3)
    for value, name in zip(values, names, strict=True):
        ax.annotate(
            f"{value:.3f}",
            (value, name),
            (8, 0),
            textcoords="offset points",
            va="center",
        )
    ax.set(
        xlabel=title,
        xlim=(
            min(values) - 0.002,
            max(values) + 0.4 * (max(values) - min(values)),
        ),
    )
    ax.margins(y=0.15)
    ax.grid(axis="y", color="#e3e3e3")
    ax.spines[["top", "right"]].set_visible(False)

# %%
# What next
# ---------
# :doc:`plot_grid_search` sets the parameters of a base classifier by cross-validation. How well the
# choice does on nine data sets, and what it costs, is in :doc:`/base-classifiers`.
