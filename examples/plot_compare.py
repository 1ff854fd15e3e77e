"""
==================================================
Comparing methods by a critical-difference diagram
==================================================

Is one method better than another, or was it luck? One data set cannot tell. This example scores
three methods on one data set, and then tests the seven methods of the paper on its nine data sets:
average ranks in a critical-difference diagram, and how large the differences are.
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
# The best average rank is on the left. A bar joins methods whose average ranks are within Nemenyi's
# critical difference. Seven methods make 21 pairs, and after Holm's correction for so many tests no
# pair of them can differ on nine data sets. So choose the comparisons that matter before you look.

print(result.statement())
diagram = CriticalDifferenceDisplay(
    result.methods,
    result.average_ranks,
    title="Average ranks by F-measure",
    critical_difference=result.critical_difference,
)
fig, ax = plt.subplots(figsize=diagram.inches, layout="constrained")
_ = diagram.plot(ax)

# %%
# How large is the difference?
# ----------------------------
# A p-value does not say how large a difference is, and one above 0.05 does not say that there is
# none. The rank-biserial correlation is 1 if NLDD is better wherever the two differ, 0 if they are
# even, and -1 if it is worse everywhere.

effects = {
    pair.second if pair.first == "NLDD" else pair.first: (
        pair.rank_biserial if pair.first == "NLDD" else -pair.rank_biserial
    )
    for pair in result.pairs
    if "NLDD" in (pair.first, pair.second)
}
fig, ax = plt.subplots(figsize=(7.2, 2.8), layout="constrained")
bars = ax.barh(list(effects), list(effects.values()), color="#0072b2")
ax.bar_label(bars, fmt="%+.2f", padding=4)
ax.axvline(0, color="#1a1a1a", linewidth=0.8)
ax.invert_yaxis()
ax.set(
    title="NLDD against each other method, by F-measure",
    xlabel="rank-biserial correlation",
    xlim=(-1.15, 1.15),
)
ax.spines[["top", "right"]].set_visible(False)

# %%
# What next
# ---------
# Which test to choose is in :doc:`/statistics`. A whole comparison with its tables, tests and
# figures is two commands: :doc:`/benchmark`. Our own runs of ten methods are in :doc:`/results`.
