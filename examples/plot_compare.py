"""
==================================================
Comparing methods by a critical-difference diagram
==================================================

Is one method better than another, or was it luck? One data set cannot tell. This example scores
three methods on one data set, and then tests the seven methods of the paper on its nine data sets:
average ranks in a critical-difference diagram, and how likely two methods are practically the same.
"""

# %%
# One data set
# ------------
# Every method is fitted to the same folds. However clear the result is, one data set proves nothing
# about others.

import matplotlib.pyplot as plt
from sklearn.model_selection import KFold, cross_val_predict

from nldd import METHODS, load_yeast
from nldd.bench import CriticalDifferenceDisplay, compare, published
from nldd.bench.statistics.significance import (
    about_least_p,
    cliques,
    pairwise_holm,
)
from nldd.metrics import evaluate

X, Y, label_names = load_yeast()
X, Y = X[:900], Y[:900]
folds = KFold(3, shuffle=True, random_state=0)
for key in ("BR", "NLDD", "LP"):
    method = METHODS[key].default(random_state=0)
    scores = evaluate(Y, cross_val_predict(method, X, Y, cv=folds))
    print(
        f"{key:5s}",
        *(f"{measure} {value:.3f}  " for measure, value in scores.items()),
    )
print(about_least_p(1))

# %%
# Nine data sets
# --------------
# The package carries the tables that the paper printed. One measure is an array with one row a data
# set and one column a method. For results of your own, :func:`~nldd.bench.run_benchmark`
# makes such a table.

table = published("f_measure")
F = table.array()
print(f"{'':10s}", *(f"{method:>6s}" for method in table.methods))
for dataset, row in zip(table.datasets, F, strict=True):
    print(f"{dataset:10s}", *(f"{value:6.3f}" for value in row))

# %%
# :func:`~nldd.bench.compare` makes all tests at once. Friedman's comes first: do the methods
# differ at all?

result = compare(F, table.methods, greater_is_better=True)
found = result.friedman
print(f"Friedman: F = {found.f_statistic:.1f}, p = {found.f_p_value:.1e}")
for pair in result.pairs:
    if "NLDD" in (pair.first, pair.second):
        print(
            f"{pair.first:>5s} - {pair.second:5s} {pair.gain:+.3f}, "
            f"wins {pair.wins}, losses {pair.losses}, "
            f"p = {pair.p_value:.3f}, Holm {pair.holm_p_value:.3f}"
        )

# %%
# The diagram
# -----------
# The best average rank is on the left. A bar joins methods that do not differ: the orange ones by
# Nemenyi's critical difference, the blue one with dots by Wilcoxon tests with Holm's correction.
# Seven methods make 21 pairs, and after a correction for so many tests no pair of them can differ
# on nine data sets. So choose the comparisons that matter before you look.

groups = cliques(result.average_ranks, pairwise_holm(F))
diagram = CriticalDifferenceDisplay(
    result.methods,
    result.average_ranks,
    groups,
    "Average ranks by F-measure",
    result.critical_difference,
)
fig, ax = plt.subplots(figsize=diagram.inches, layout="constrained")
_ = diagram.plot(ax)

# %%
# Better, or practically the same?
# --------------------------------
# A p-value above 0.05 does not say that two methods are equal. The Bayesian signed-rank test does,
# once you have said which differences are of no importance: here up to 0.01.

against = result.against("NLDD")
fig, ax = plt.subplots(figsize=(7.2, 3), layout="constrained")
parts = zip(*against.values(), strict=True)
left = [0.0] * len(against)
for part, color, shares in zip(
    ("better", "the same", "worse"), ("C0", "0.85", "C3"), parts, strict=True
):
    bars = ax.barh(list(against), shares, left=left, color=color, label=part)
    ax.bar_label(
        bars,
        [f"{100 * share:.0f} %" if share > 0.07 else "" for share in shares],
        label_type="center",
    )
    left = [sum(both) for both in zip(left, shares, strict=True)]
ax.invert_yaxis()
ax.set(xlim=(0, 1), xticks=[], title="By F-measure")
_ = ax.legend(
    title="Compared with these, NLDD is practically",
    loc="upper center",
    bbox_to_anchor=(0.5, 0),
    ncols=3,
    frameon=False,
)

# %%
# What next
# ---------
# Which test to choose is in :doc:`/statistics`. A whole comparison with its tables, tests and
# figures is two commands: :doc:`/benchmark`. Our own runs of ten methods are in :doc:`/results`.
