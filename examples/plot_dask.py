"""
===========
Dask arrays
===========

Rows that do not fit into memory can be learned from and predicted in blocks, as Dask arrays. This
example does both on one machine, without a cluster, and shows that the blocks change nothing: the
labelsets are those of a model that sees all rows at once.
"""

# %%
# Predict in blocks
# -----------------
# ``predict``, ``predict_theta`` and the like take Dask arrays and return Dask arrays. Nothing is
# computed before it is asked for, and a worker holds one block at a time. Here 4,000 rows are made
# block by block: yeast genes with a little noise.

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from nldd import NLDDClassifier, load_yeast
from nldd.linear import MultiLabelLogisticRegression

X, Y, label_names = load_yeast()
exact = MultiLabelLogisticRegression(
    tol=1e-9
)  # so that rounding is all that can differ
model = NLDDClassifier(exact, random_state=0).fit(X[:1500], Y[:1500])

genes = da.from_array(np.tile(X[1500:2300], (5, 1)), chunks=(1000, -1))
many = genes + da.random.default_rng(0).normal(
    0, 0.01, size=genes.shape, chunks=genes.chunks
)
theta = model.predict_theta(many)
print(theta)

# %%
# What follows is lazy as well. The histogram is all that is ever held in memory.

counts, edges = da.histogram(theta, bins=30, range=(0, 0.4))
counts = counts.compute()
print(f"{counts.sum():,} genes, mean theta {theta.mean().compute():.3f}")

# %%
# Learn in blocks
# ---------------
# A model is fitted to blocks of rows in the same way: no worker needs more than its own. The
# halves, the pairs and the rules for ties are those of one machine.

X_blocks = da.from_array(X[:1500], chunks=(500, -1))
Y_blocks = da.from_array(Y[:1500], chunks=(500, -1))
in_blocks = NLDDClassifier(exact, random_state=0).fit(X_blocks, Y_blocks)
print("weights in memory:", model.beta_)
print("weights in blocks:", in_blocks.beta_)

new = X[1500:1700]
same = (in_blocks.predict(new) == model.predict(new)).all(axis=1)
print(f"{same.sum()} of {len(new)} labelsets are the same")

# %%
# Both in pictures
# ----------------

fig, (left, right) = plt.subplots(
    1, 2, figsize=(7.2, 3.4), layout="constrained"
)
left.stairs(counts, edges, fill=True, color="#0072b2")
left.set(xlabel="theta", ylabel="rows", title="4,000 rows, predicted in blocks")
right.plot([0, 0.35], [0, 0.35], color="#8c8c8c", linewidth=1)
right.scatter(
    model.predict_theta(new),
    in_blocks.predict_theta(new),
    s=12,
    color="#d55e00",
    zorder=2,
)
right.set(
    xlabel="theta, fitted in memory",
    ylabel="theta, fitted in blocks",
    title="200 new rows",
)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)

# %%
# What next
# ---------
# On a cluster the code is the same: make a ``dask.distributed.Client`` first. The recipe, sizes of
# blocks, what cannot be done in blocks, and measurements up to 20 million rows are in
# :doc:`/scaling`.
