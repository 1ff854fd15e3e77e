"""
================
What theta means
================

Every prediction of NLDD comes with theta, the probability that one of its labels is wrong. This
example shows on the yeast genes where theta comes from, whether it keeps its word on genes that the
model has not seen, and how it sorts predictions that can be trusted from those that cannot.
"""

# %%
# Where theta comes from
# ----------------------
# While it is fitted, NLDD pairs genes with others that are near in features (Dx) or in labels (Dy),
# and counts the labels in which the two differ. A binomial regression on both distances then says
# how likely a label is wrong. Along each line theta is the same; pairs beyond it differ more.

import matplotlib.pyplot as plt

from nldd import NLDDClassifier, load_yeast
from nldd.bench import PairsDisplay
from nldd.coding import (
    CalibrationDisplay,
    RiskCoverageDisplay,
    selective_threshold,
)

X, Y, label_names = load_yeast()
model = NLDDClassifier(random_state=0).fit(X[:1200], Y[:1200])

fig, ax = plt.subplots(figsize=(7.2, 5), layout="constrained")
_ = PairsDisplay.from_estimator(model).plot(ax)

# %%
# Does theta keep its word?
# -------------------------
# The other genes are sorted by theta and cut into tenths. If theta is right, the share of wrong
# labels in each tenth is the mean theta there, and the point lies on the diagonal. (The displays
# speak of answers, as theirs are mostly answers to a survey; here they are genes.)

X_new, Y_new = X[1200:], Y[1200:]
theta = model.predict_theta(X_new)
n_wrong = (model.predict(X_new) != Y_new).sum(axis=1)
print(f"wrong labels a gene: {14 * theta.mean():.2f} expected")
print(f"and {n_wrong.mean():.2f} found")

fig, ax = plt.subplots(figsize=(4.8, 5.4), layout="constrained")
_ = CalibrationDisplay.from_predictions(
    theta, n_wrong, n_labels=14, title="Calibration"
).plot(ax)

# %%
# Which predictions to trust
# --------------------------
# The surest predictions come first: the further to the right, the more genes are left to the
# machine, and the fewer of them have all 14 labels right. A threshold that is merely read off such
# a curve promises too much, as the curve is only that of these genes.
# :func:`~nldd.coding.selective_threshold` tests instead: with a confidence of 0.9, at least half of
# the labelsets up to its threshold are right as a whole.

right = n_wrong == 0
found = selective_threshold(
    theta[:600], right[:600], target=0.5, confidence=0.9
)

curve = RiskCoverageDisplay.from_predictions(
    theta[:600],
    right[:600],
    target=0.5,
    chosen=(found.share, found.accuracy),
    measure="genes with all labels right",
    title="The surest genes first",
)
fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
curve.plot(ax)
_ = ax.set_xlabel("genes left to the machine (%)")

# %%
# The promise is checked on the genes that the threshold was not found on.

passed = theta[600:] <= found.threshold
print(f"{passed.sum()} of {len(passed)} other genes pass")
print(f"{right[600:][passed].mean():.1%} of them have all labels right")

# %%
# What next
# ---------
# :doc:`plot_triage` uses this for answers of a survey, which are coded by machine or by people.
# Why the test holds, and how often it did on real data, is in :doc:`/promise`;
# ``print(model.regression_)`` shows the regression with its standard errors.
