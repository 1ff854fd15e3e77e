"""Whether the attributes of an object in a model file, each right by itself, fit together.

scikit-learn walks trees and LIBSVM models as they are: one child beyond the last node, and a
prediction reads memory that is none of its business.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from nldd.linear._logistic import MultiLabelLogisticRegression

LEAF = -1
Attributes = dict[str, Any]


def _is_tree(tree: Attributes) -> bool:
    """Whether every node but the first is the child of just one other, and splits by a feature."""
    nodes = tree["nodes"]
    left, right, feature = (nodes[name] for name in ("left_child", "right_child", "feature"))
    inner = left != LEAF
    children = np.sort(np.concatenate([left[inner], right[inner]]))
    return bool(
        len(left) > 0
        and np.array_equal(children, np.arange(1, len(left)))
        and (feature[inner] >= 0).all()
        and (feature[inner] < tree["n_features"]).all()
        and tree["n_classes"].max(initial=0) == tree["values"].shape[2]
        and _depth(left, right, inner) <= tree["max_depth"]
    )


def _depth(left: NDArray[Any], right: NDArray[Any], inner: NDArray[np.bool_]) -> int:
    depth, level = -1, np.zeros(1, dtype=np.intp)
    while len(level):
        depth += 1
        level = level[inner[level]]
        level = np.concatenate([left[level], right[level]])
    return depth


def _is_machine(machine: Attributes) -> bool:
    """Whether the arrays of a support vector machine have the sizes that LIBSVM takes as given."""
    counts, coef, is_sparse = (machine[name] for name in ("_n_support", "_dual_coef_", "_sparse"))
    n_vectors, n_classes = machine["support_vectors_"].shape[0], len(counts)
    n_pairs = n_classes * (n_classes - 1) // 2
    return bool(
        n_classes >= 2
        and counts.sum() == n_vectors
        and coef.shape == (n_classes - 1, n_vectors)
        and is_sparse == issparse(coef) == issparse(machine["support_vectors_"])
        and (coef.nnz if is_sparse else coef.size) == (n_classes - 1) * n_vectors
        and len(machine["_intercept_"]) == n_pairs
        and len(machine["_probA"]) == len(machine["_probB"])
        and len(machine["_probA"]) in (0, n_pairs)
    )


def _is_linear_machine(machine: Attributes) -> bool:
    """Whether it has the hyperplane of two classes, or vectors for each pair of more."""
    n_classes, n_pairs = len(machine["classes_"]), len(machine["intercept_"])
    if n_classes == 2 or not {"support_vectors_", "dual_coef_", "n_support_"} <= machine.keys():
        return n_classes == 2 and n_pairs == 1 and "coef_" in machine
    return bool(
        n_pairs == n_classes * (n_classes - 1) // 2
        and machine["n_support_"].sum() == machine["support_vectors_"].shape[0]
        and machine["dual_coef_"].shape[0] == n_classes - 1
    )


def _are_neighbours(model: Attributes) -> bool:
    """Whether there is a class for each label, in each column of labels."""
    each = model["classes_"] if isinstance(model["classes_"], list) else [model["classes_"]]
    columns = model["_y"].reshape(len(model["_y"]), -1).T
    return len(columns) == len(each) and all(
        not len(column) or column.max() < len(of_column)
        for column, of_column in zip(columns, each, strict=True)
    )


def _has_all_labels(model: Attributes) -> bool:
    """Whether there are coefficients for each label, or one set of them for two classes.

    And for each feature that is made of those that are given.
    """
    is_binary = model["single_label_"] and model["n_labels_"] == 2
    n_rows, width = 1 if is_binary else model["n_labels_"], model["n_features_in_"]
    if (features := model.get("features_")) is None:
        return bool(model["coef_"].shape == (n_rows, width))
    is_wide_enough = (features.n_given or 0) <= width
    return bool(is_wide_enough and model["coef_"].shape == (n_rows, features.width(width)))


def _is_chain(chain: Attributes) -> bool:
    return _fits_chain(chain["estimators_"], chain["n_features_in_"], chain["n_labels_"])


def _is_member(chain: Attributes) -> bool:
    return _fits_chain(chain["links"], len(chain["features"]), len(chain["order"]))


def _fits_chain(links: list[Any], n_features: int, n_labels: int) -> bool:
    """Whether one model of all links has coefficients for the features and the labels before."""
    if not isinstance(links[0], MultiLabelLogisticRegression):
        return True
    features = links[0].features_
    fits = features is None or features.n_given in (None, n_features)
    return fits and links[0].n_features_in_ == n_features + n_labels - 1


CHECKS: dict[str, Callable[[Attributes], bool]] = {
    "sklearn.Tree": _is_tree,
    "sklearn.SVC": _is_machine,
    "sklearn.NuSVC": _is_machine,
    "sklearn.KNeighborsClassifier": _are_neighbours,
    "nldd.MultiLabelLogisticRegression": _has_all_labels,
    "nldd.LinearSVM": _is_linear_machine,
    "nldd.ClassifierChain": _is_chain,
    "nldd.Member": _is_member,
}


def fits_together(kind: str, attributes: Attributes) -> bool:
    """Whether the attributes of a type, by its name in records, make one object."""
    return kind not in CHECKS or CHECKS[kind](attributes)
