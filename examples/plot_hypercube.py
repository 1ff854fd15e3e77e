"""
===========================
Two labels in the hypercube
===========================

A labelset is a corner of a hypercube; with two labels, of a square. This example shows on made-up
songs how NLDD finds a corner for a new one: by its distance to the training songs in features, and
by the distance of its label probabilities to their labelsets. The corner has always been seen in
training, so the prediction is a combination of labels that does occur.
"""

# %%
# Songs that are sad, or sad and quiet
# ------------------------------------
# Each song has two features and up to two labels. The songs come in four genres, which differ in
# how many songs are sad, and how many of the sad ones are quiet. None is quiet without being sad.

from itertools import combinations, product

import matplotlib.pyplot as plt
import numpy as np

from nldd import NLDDClassifier, as_label_sets

NAMES = ["sad", "quiet"]
# Mean tempo and loudness of a genre, the share of sad songs, and of quiet ones among these.
GENRES = [
    (-1.6, -1.2, 0.95, 0.9),
    (-1.4, 1.2, 0.9, 0.1),
    (1.3, 1.0, 0.05, 0.0),
    (0.9, -1.4, 0.5, 0.85),
]

rng = np.random.default_rng(4)
X, Y = [], []
for tempo, loudness, share_sad, share_quiet in GENRES:
    X.append(rng.normal((tempo, loudness), 0.55, size=(40, 2)))
    sad = rng.random(40) < share_sad
    Y.append(np.column_stack([sad, sad & (rng.random(40) < share_quiet)]))
X, Y = np.vstack(X), np.vstack(Y).astype(int)

model = NLDDClassifier(None, random_state=0).fit(X, Y)
for labelset in model.labelsets_:
    words = " and ".join(as_label_sets([labelset], NAMES)[0]) or "neither"
    print(np.equal(Y, labelset).all(axis=1).sum(), "songs are", words)

# %%
# A new song
# ----------
# The classifiers of the two labels do not know of each other. Of this song they say that it is
# quiet, and not sad: a combination that nobody has ever seen. NLDD predicts one that was seen.

song = np.array([[1.2, -2.6]])
p = model.label_probabilities(song)[0]
print(f"probabilities: sad {p[0]:.2f}, quiet {p[1]:.2f}")
print("predicted:", *as_label_sets(model.predict(song), NAMES)[0])

# %%
# Two distances
# -------------
# From the new song to each training song there are two distances: Dx between their features (left)
# and Dy from its probabilities to the corner of the other's labelset (right). The prediction is the
# labelset of the song with the smallest weighted sum of both. The orange lines lead to that song.
# The weights were learned from the data.

print("weights of Dx and Dy:", model.beta_[1:].round(2))
best = model.nearest_labelsets(song, k=1)
row, corner = best.row[0, 0], best.labelsets[0, 0]

colours = {(0, 0): "#8c8c8c", (1, 0): "#56b4e9", (1, 1): "#0072b2"}
fig, (left, right) = plt.subplots(
    1, 2, figsize=(7.2, 4.2), layout="constrained"
)
for labelset, colour in colours.items():
    rows = np.equal(Y, labelset).all(axis=1)
    words = " and ".join(as_label_sets([labelset], NAMES)[0]) or "neither"
    left.scatter(
        *X[rows].T, s=18, color=colour, label=f"{words} ({rows.sum()})"
    )
    right.scatter(*labelset, s=4 * rows.sum(), color=colour, zorder=3)
left.plot(*np.vstack([song, X[[row]]]).T, color="#d55e00", linewidth=2.5)
left.scatter(
    *song.T, s=60, color="black", marker="D", label="the new song", zorder=4
)
left.set(xlabel="tempo", ylabel="loudness", title="features", box_aspect=1)
fig.legend(loc="outside lower center", ncols=4, fontsize=9, frameon=False)

right.plot(
    [0, 1, 1, 0, 0], [0, 0, 1, 1, 0], color="#8c8c8c", linewidth=1, zorder=1
)
right.scatter(
    0, 1, s=60, facecolor="white", edgecolor="#595959", linestyle=":", zorder=3
)
right.annotate(
    "not in training", (0, 1), (0, 8), textcoords="offset points", fontsize=9
)
right.plot(*np.vstack([p, corner]).T, color="#d55e00", linewidth=2.5, zorder=2)
right.scatter(*p, s=60, color="black", marker="D", zorder=4)
right.set(
    xlabel="probability of sad", ylabel="probability of quiet", title="labels"
)
_ = right.set(
    xlim=(-0.2, 1.25),
    ylim=(-0.2, 1.25),
    box_aspect=1,
    xticks=[0, 0.5, 1],
    yticks=[0, 0.5, 1],
)

# %%
# Three labels make a cube
# ------------------------
# This is the label space of three labels, as in Figure 1 of the paper. Corners are labelsets, as
# large as they are frequent; points inside are what the classifiers say of songs. From the new song
# a line leads to each labelset seen in training, and the thick one to the labelset that is
# predicted. It need not be the nearest one in labels, because the features count as well.

dance = X[:, 0] + 0.7 * rng.normal(size=len(X)) > 1
Y = np.column_stack([Y, dance])
three = NLDDClassifier(None, random_state=0).fit(X, Y)
p, chosen = three.label_probabilities(song)[0], three.predict(song)[0]

fig = plt.figure(figsize=(7.2, 6), layout="constrained")
ax = fig.add_subplot(projection="3d")
for ends in combinations(product((0, 1), repeat=3), 2):
    if np.abs(np.subtract(*ends)).sum() == 1:
        ax.plot(*zip(*ends, strict=True), color="#bbbbbb", linewidth=1)
for labelset in three.labelsets_:
    n_songs, Dy = (
        np.equal(Y, labelset).all(axis=1).sum(),
        np.linalg.norm(p - labelset),
    )
    is_chosen = np.array_equal(labelset, chosen)
    ax.plot(
        *np.vstack([p, labelset]).T,
        color="#d55e00" if is_chosen else "#0072b2",
        linewidth=2.6 if is_chosen else 1,
    )
    ax.scatter(*labelset, s=4 * n_songs, color="#56b4e9", edgecolor="#1a1a1a")
    ax.text(*labelset, f"  {n_songs} songs\n  Dy = {Dy:.2f}", fontsize=9)
others = three.label_probabilities(X[::4])
ax.scatter(*others.T, s=8, color="#8c8c8c", label="other songs")
ax.scatter(*p, s=60, color="black", marker="D", label="the new song")
ax.text(0.5, -0.1, -0.1, "sad \N{RIGHTWARDS ARROW}")
ax.text(1.1, 0.4, -0.1, "quiet \N{RIGHTWARDS ARROW}")
ax.text(-0.4, 0, 0.45, "to dance to \N{UPWARDS ARROW}")
ax.set_axis_off()
ax.set_box_aspect(None, zoom=1.15)
ax.view_init(elev=18, azim=-62)
_ = fig.legend(loc="outside lower center", ncols=2, frameon=False)

# %%
# What next
# ---------
# :doc:`plot_theta` shows what the weighted sum says about errors, :doc:`plot_explain` where a
# prediction came from. The method is described on one page in :doc:`/nldd`.
