"""Data of any size that look like real ones: a few causes behind many features and labels."""

import numpy as np

CAUSES = 10


def make(n_rows, n_features=100, n_labels=20, seed=0):
    """X and Y: features and labels are noisy linear functions of ten hidden causes.

    The functions are the same for every seed, so parts drawn with other seeds go together. About
    13 % of the labels are set.
    """
    rules = np.random.default_rng(0)
    to_features = rules.normal(size=(CAUSES, n_features)) / np.sqrt(CAUSES)
    to_labels = rules.normal(size=(CAUSES, n_labels)) / np.sqrt(CAUSES)
    rng = np.random.default_rng([seed, n_rows])
    causes = rng.normal(size=(n_rows, CAUSES))
    X = causes @ to_features
    X += 0.5 * rng.normal(size=X.shape)
    noise = 0.3 * rng.normal(size=(n_rows, n_labels))
    return X, (causes @ to_labels + noise > 1.1).astype(np.int8)
