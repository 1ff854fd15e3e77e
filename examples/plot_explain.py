"""
=======================
Explaining a prediction
=======================

A labelset that NLDD predicts comes from one row of the training data, and that row is the reason
for it. This example shows that row, what each of the two distances adds to the doubt, which
labelsets came next, and how the weights of the distances were learned from pairs of rows.
"""

# %%
# The evidence
# ------------
# Labels may be given as sets of names, and then explanations speak in these names.

import matplotlib.pyplot as plt
import numpy as np

from nldd import BinaryRelevance, NLDDClassifier, as_label_sets, load_yeast

X, Y, label_names = load_yeast()
names = [f"{number:02d}" for number in range(1, 15)]
labels = [set(found) for found in as_label_sets(Y, names)]
model = NLDDClassifier(None, random_state=0).fit(X[:1500], labels[:1500])

gene = X[[1502]]
explanation = model.explain(gene)[0]
print(explanation)
print("truth:", sorted(labels[1502]))
print("training row:", sorted(labels[explanation.row]))

# %%
# Why this labelset and not another
# ---------------------------------
# :meth:`~nldd.NLDDClassifier.nearest_labelsets` gives the runners-up as well. Each bar is the
# weighted sum of both distances, and the smallest one wins. A row may be further away in features
# and still win, because the classifiers are surer of its labels; or the other way round.

best = model.nearest_labelsets(gene, k=6)
b0, b1, b2 = model.beta_
x_part, y_part = b1 * best.Dx[0], b2 * best.Dy[0]
sets = as_label_sets(best.labelsets[0], model.label_names_)
rows = ["{" + ", ".join(names) + "}" for names in sets]

fig, ax = plt.subplots(figsize=(7.2, 3.4), layout="constrained")
ax.barh(rows, x_part, color="#0072b2", label="features, b1 Dx")
bars = ax.barh(
    rows, y_part, left=x_part, color="#e69f00", label="labels, b2 Dy"
)
ax.bar_label(bars, [f"theta {theta:.3f}" for theta in best.theta[0]], padding=4)
ax.set(
    title="The six nearest labelsets",
    xlabel="weighted distance",
    ylabel="labelset",
    xlim=(0, 1.25 * (x_part + y_part).max()),
)
ax.invert_yaxis()
ax.spines[["top", "right"]].set_visible(False)
_ = fig.legend(loc="outside upper center", ncols=2, frameon=False)

# %%
# What the classifiers said
# -------------------------
# Dy is the distance from the label probabilities to the labelset. Where they disagree most is what
# a person should look at first.

carried = model.predict(gene)[0] == 1
probabilities = np.array(explanation.probabilities)
fig, ax = plt.subplots(figsize=(7.2, 3), layout="constrained")
ax.bar(
    model.label_names_,
    probabilities,
    color=np.where(carried, "#d55e00", "#8c8c8c"),
)
ax.bar(0, 0, color="#d55e00", label="in the predicted labelset")
ax.bar(0, 0, color="#8c8c8c", label="not in it")
ax.axhline(0.5, color="#1a1a1a", linewidth=0.8, linestyle=":")
ax.set(
    xlabel="label",
    ylabel="probability",
    ylim=(0, 1),
    title="Label probabilities",
)
ax.spines[["top", "right"]].set_visible(False)
_ = fig.legend(loc="outside upper center", ncols=2, frameon=False)

# %%
# How the weights were learned
# ----------------------------
# NLDD compares one half of the training rows, T1, with the other. Each row of the other half is
# paired with its nearest row of T1 in features and its nearest in labels, as in Figure 2 of the
# paper. This is one of them, with a random half as T1 and classifiers of T1 alone.

rows = np.random.default_rng(0).permutation(1500)
T1, row = rows[:750], rows[750]
classifiers = BinaryRelevance(random_state=0).fit(X[T1], Y[T1])
p = classifiers.predict_proba(X[[row]])[0]
scale = X[:1500].std(axis=0, ddof=1)
Dx = np.linalg.norm((X[T1] - X[row]) / scale, axis=1)
Dy = np.linalg.norm(Y[T1] - p, axis=1)
# Many rows have the same labelset, and so the same Dy: the nearest of them in features counts.
nearest = {
    "nearest in features": (np.argmin(Dx), "#d55e00", "s"),
    "nearest in labels": (np.lexsort((Dx, Dy.round(9)))[0], "#0072b2", "^"),
}

fig, ax = plt.subplots(figsize=(7.2, 4.8), layout="constrained")
ax.scatter(Dx, Dy, s=13, color="#8c8c8c", alpha=0.7, label="rows of T1")
for words, (chosen, colour, marker) in nearest.items():
    ax.scatter(
        Dx[chosen],
        Dy[chosen],
        s=110,
        color=colour,
        marker=marker,
        edgecolor="white",
        label=f"{words}: {(Y[T1[chosen]] != Y[row]).sum()} labels differ",
    )
ax.axvline(Dx.min(), color="#d55e00", linestyle=":", linewidth=1)
ax.axhline(Dy.min(), color="#0072b2", linestyle=":", linewidth=1)
ax.set(
    title="The two pairs of one row",
    xlabel="Dx, distance in feature space",
    ylabel="Dy, distance in label space",
)
ax.spines[["top", "right"]].set_visible(False)
_ = fig.legend(loc="outside upper center", ncols=3, frameon=False)

# %%
# The number of labels in which a pair differs is regressed on both distances, over all pairs.

print(model.regression_)

# %%
# What next
# ---------
# :doc:`plot_theta` shows whether theta can be trusted. :doc:`plot_text` explains predictions of
# texts by the text that they come from. All methods and attributes are in :doc:`/nldd`.
