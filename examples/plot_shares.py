"""
==================================
What more training data would give
==================================

Labels are expensive, and so is time. This example fits NLDD to growing shares of the yeast genes,
as in Figure 3 of the paper: how many labels are wrong, and how long it takes. If the errors still
fall at the end, more data will help.
"""

# %%
# Shares of the training data
# ---------------------------
# Each share holds the smaller ones, so that the curve compares like with like. The first fit is not
# counted: it compiles.

from time import process_time

import matplotlib.pyplot as plt
import numpy as np

from nldd import NLDDClassifier, load_yeast

X, Y, label_names = load_yeast()
order = np.random.default_rng(0).permutation(len(X))
train, test = order[:1600], order[1600:]
shares = np.arange(1, 9) / 8
NLDDClassifier(None, random_state=0).fit(X[:200], Y[:200]).predict(X[:10])

seconds, mismatches = [], []
for share in shares:
    rows = train[: round(share * len(train))]
    start = process_time()
    model = NLDDClassifier(None, random_state=0).fit(X[rows], Y[rows])
    predicted = model.predict(X[test])
    seconds.append(process_time() - start)
    mismatches.append((predicted != Y[test]).sum(axis=1).mean())
    print(f"{len(rows):5d} genes, {mismatches[-1]:.3f} wrong labels per gene")

# %%
# Time and errors
# ---------------
# A search among all training rows costs time in proportion to their number, for each new row. The
# dashed lines are what a linear and a quadratic method would take. For a benchmark with a study of
# shares, ``nldd report`` writes the same numbers as a table.

relative = 100 * np.array(seconds) / seconds[-1]
fig, (left, right) = plt.subplots(
    1, 2, figsize=(7.2, 3.3), layout="constrained"
)
for power, words in ((1, "linear"), (2, "quadratic")):
    left.plot(100 * shares, 100 * shares**power, "--", color="#8c8c8c")
    left.annotate(words, (62, 100 * 0.62**power), fontsize=9, color="#595959")
left.plot(100 * shares, relative, "o-", color="#0072b2")
left.set(ylabel="time (% of that for all rows)", ylim=(0, None))
right.plot(100 * shares, mismatches, "s-", color="#d55e00")
right.set(ylabel="wrong labels per gene")
for ax in (left, right):
    ax.set(xlabel="share of the training data (%)", xlim=(0, 104))
    ax.spines[["top", "right"]].set_visible(False)

# %%
# What next
# ---------
# Times of larger data are in :doc:`/performance`. A protocol can have such a study of shares:
# :doc:`/benchmark`.
