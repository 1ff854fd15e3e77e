"""
====================================
A base classifier of your own, tuned
====================================

Any classifier with probabilities can be the base of NLDD, a pipeline as well, and all parameters
inside can be searched by scikit-learn's tools. This example tunes a base classifier with
``GridSearchCV``, by a measure of whole labelsets.
"""

# %%
# A pipeline as the base
# ----------------------
# The base sees the features by itself, so that what it needs goes into a pipeline of its own. Here
# these are a few principal components. Distances still use all features.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

from nldd import NLDDClassifier, load_yeast
from nldd.linear import MultiLabelLogisticRegression
from nldd.metrics import MEASURES, evaluate

X, Y, label_names = load_yeast()
X_train, Y_train, X_test, Y_test = X[:500], Y[:500], X[500:], Y[500:]

base = make_pipeline(
    PCA(random_state=0), MultiLabelLogisticRegression(features="rbf")
)
model = NLDDClassifier(base, random_state=0)

# %%
# The search
# ----------
# Names of parameters go through the layers: ``estimator`` is the base, and its steps have names.
# Every measure of nldd knows its direction and makes a scorer. Pass ``Y`` as a matrix of 0 and 1,
# not as sets: each fold would give its own columns to the names that it sees.

grid = {
    "estimator__pca__n_components": [10, 30],
    "estimator__multilabellogisticregression__C": [0.1, 1.0, 10.0],
}
search = GridSearchCV(
    model,
    grid,
    scoring=MEASURES["f_measure"].scorer(),
    cv=KFold(3, shuffle=True, random_state=0),
)
search.fit(X_train, Y_train)
print(
    {
        name.rpartition("__")[2]: value
        for name, value in search.best_params_.items()
    }
)

# %%
# What was found
# --------------
# Mean F-measure over the folds. The best one is framed.

scores = search.cv_results_["mean_test_score"].reshape(3, 2)
fig, ax = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
image = ax.imshow(scores, cmap="cividis")
middle = (scores.min() + scores.max()) / 2
for (i, j), value in np.ndenumerate(scores):
    colour = "black" if value > middle else "white"
    ax.text(j, i, f"{value:.3f}", ha="center", va="center", color=colour)
i, j = np.unravel_index(scores.argmax(), scores.shape)
ax.add_patch(
    plt.Rectangle(
        (j - 0.48, i - 0.48),
        0.96,
        0.96,
        fill=False,
        edgecolor="#d55e00",
        linewidth=3,
    )
)
ax.set_xticks(range(2), grid["estimator__pca__n_components"])
ax.set_yticks(range(3), grid["estimator__multilabellogisticregression__C"])
ax.set(
    xlabel="principal components",
    ylabel="C of the logistic regressions",
    title="Mean F-measure",
)
_ = fig.colorbar(image, label="F-measure")

# %%
# On rows that the search has not seen, the base that NLDD chooses by itself does no worse. A search
# pays where you know something of your data that ``"auto"`` does not.

chosen = NLDDClassifier(random_state=0).fit(X_train, Y_train)
for name, each in (("tuned", search.best_estimator_), ("auto", chosen)):
    found = evaluate(Y_test, each.predict(X_test))
    print(
        f"{name:6s}", *(f"{key} {value:.3f}  " for key, value in found.items())
    )

# %%
# What next
# ---------
# NLDD can also choose among candidates without a search: :doc:`plot_base`. Measures and their
# scorers are in :doc:`/metrics`, base classifiers in :doc:`/base-classifiers`.
