"""Numbers in estimators that compiled code takes for positions, without a look at the bounds.

scikit-learn walks trees and LIBSVM models as they are: one child beyond the last node, and a
prediction reads memory that is none of its business. So what a file says is checked once, here;
and so is the number of threads that it asks for.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.io._refusal import Refusal
from nldd.io._within import everything_within

LEAF = -1
MAX_THREADS = 1024


def check_positions(estimators: Any) -> None:
    """Refuse estimators that would lead compiled code out of their arrays."""
    checks = _checks()
    for thing in everything_within(estimators):
        _check_threads(thing)
        for families, check in checks:
            if isinstance(thing, families):
                try:
                    check(thing)
                except Refusal:
                    raise
                except Exception as error:  # attributes missing, or of types that have no sense
                    raise _refusal(thing) from error


def _checks() -> list[tuple[tuple[type, ...], Callable[[Any], None]]]:
    from sklearn import ensemble, svm
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.tree import BaseDecisionTree

    forests = (
        ensemble.RandomForestClassifier,
        ensemble.RandomForestRegressor,
        ensemble.ExtraTreesClassifier,
        ensemble.ExtraTreesRegressor,
        ensemble.RandomTreesEmbedding,
    )
    boosting = (ensemble.HistGradientBoostingClassifier, ensemble.HistGradientBoostingRegressor)
    return [
        ((BaseDecisionTree,), _check_tree),
        (forests, _check_forest),
        (boosting, _check_boosting),
        ((svm.SVC, svm.NuSVC), _check_machine),
        ((CountVectorizer,), _check_vocabulary),
    ]


def _check_threads(thing: Any) -> None:
    n_jobs = getattr(thing, "__dict__", {}).get("n_jobs")
    if isinstance(n_jobs, int | float | np.number) and n_jobs > MAX_THREADS:
        raise Refusal(f"a {type(thing).__name__} in it asks for {n_jobs} threads")


def _check_tree(estimator: Any) -> None:
    tree = vars(estimator).get("tree_")
    if tree is None:
        return
    nodes = tree.__getstate__()["nodes"]
    left, right, feature = nodes["left_child"], nodes["right_child"], nodes["feature"]
    inner = left != LEAF
    is_sound = (
        tree.n_features == estimator.n_features_in_
        and _is_tree(left, right, inner)
        and _are_within(feature[inner], tree.n_features)
        and _depth(left, right, inner) <= tree.max_depth
    )
    if not is_sound:
        raise _refusal(estimator)


def _is_tree(left: NDArray[Any], right: NDArray[Any], inner: NDArray[np.bool_]) -> bool:
    """Whether every node but the first is the child of just one other."""
    children = np.sort(np.concatenate([left[inner], right[inner]]))
    return len(left) > 0 and np.array_equal(children, np.arange(1, len(left)))


def _are_within(positions: NDArray[Any], length: int) -> bool:
    return not len(positions) or bool(positions.min() >= 0 and positions.max() < length)


def _depth(left: NDArray[Any], right: NDArray[Any], inner: NDArray[np.bool_]) -> int:
    depth, level = -1, np.zeros(1, dtype=np.intp)
    while len(level):
        depth += 1
        level = level[inner[level]]
        level = np.concatenate([left[level], right[level]])
    return depth


def _check_forest(forest: Any) -> None:
    for tree in vars(forest).get("estimators_", []):
        if tree.tree_.n_features != forest.n_features_in_:
            raise _refusal(forest)


def _check_boosting(model: Any) -> None:
    if "_predictors" not in vars(model):
        return
    if model._preprocessor is not None or np.any(model._bin_mapper.is_categorical_):
        raise Refusal(f"{type(model).__name__} with categorical features is not supported")
    if model._bin_mapper.is_categorical_.shape != (model.n_features_in_,):
        raise _refusal(model)
    for tree in (tree for trees in model._predictors for tree in trees):
        nodes = tree.nodes
        inner = nodes["is_leaf"] == 0
        is_sound = (
            not nodes["is_categorical"].any()
            and _is_tree(nodes["left"], nodes["right"], inner)
            and _are_within(nodes["feature_idx"][inner], model.n_features_in_)
        )
        if not is_sound:
            raise _refusal(model)


def _check_machine(machine: Any) -> None:
    """The arrays of a support vector machine must have the sizes that LIBSVM takes for granted."""
    if "support_" not in vars(machine):
        return
    vectors, counts = machine.support_vectors_, machine._n_support
    n_vectors, n_classes = vectors.shape[0], len(counts)
    n_pairs = n_classes * (n_classes - 1) // 2
    coef = machine._dual_coef_
    n_coef = coef.nnz if machine._sparse else coef.size
    fits = (
        machine.kernel != "precomputed"
        and n_classes >= 2
        and vectors.shape[1] == machine.n_features_in_
        and counts.min() >= 0
        and counts.sum() == n_vectors == len(machine.support_)
        and coef.shape == (n_classes - 1, n_vectors)
        and n_coef == (n_classes - 1) * n_vectors
        and machine._intercept_.size == n_pairs
        and machine._probA.size == machine._probB.size
        and machine._probA.size in (0, n_pairs)
    )
    if not fits:
        raise _refusal(machine)


def _check_vocabulary(vectorizer: Any) -> None:
    vocabulary = vars(vectorizer).get("vocabulary_", {})
    if sorted(vocabulary.values()) != list(range(len(vocabulary))):
        raise _refusal(vectorizer)


def _refusal(thing: Any) -> Refusal:
    return Refusal(f"a {type(thing).__name__} in it points outside of its own arrays")
