"""The types that estimators in a model file may be made of, by name, and what each must hold.

A type is allowed where making one runs no code but its own, where it holds numbers and other
types of this list, and where it calls no method or function that the file names. To make one, its
module is imported, so nothing outside the list is even imported.

scikit-learn walks trees and LIBSVM models as they are: one child beyond the last node, and a
prediction reads memory that is none of its business. So types whose numbers compiled code takes
for positions have a check, which says whether an object that was loaded is sound.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.io._refusal import Refusal

LEAF = -1
MAX_THREADS = 1024
VALUES = (str, bytes, int, float, complex, type, type(None), np.generic)


def check_objects(estimators: Any) -> None:
    """Refuse estimators that would lead compiled code out of their arrays.

    Raises AttributeError where an attribute is missing that this scikit-learn gives its estimators.
    """
    for thing in everything_within(estimators):
        check_threads(thing)
        check = CHECKS.get(full_name(type(thing)))
        try:
            is_sound = check is None or check(thing)
        except AttributeError as error:
            if error.obj is thing:
                raise
            is_sound = False
        except Exception:  # attributes of types that make no sense
            is_sound = False
        if not is_sound:
            raise Refusal(f"a {type(thing).__name__} in it points outside of its own arrays")


def check_threads(estimator: Any) -> None:
    """Refuse an estimator that asks for more threads than any machine has."""
    n_jobs = getattr(estimator, "__dict__", {}).get("n_jobs")
    if isinstance(n_jobs, int | float | np.number) and n_jobs > MAX_THREADS:
        raise Refusal(f"a {type(estimator).__name__} in it asks for {n_jobs} threads")


def everything_within(root: Any) -> Iterator[Any]:
    """The root and all that it holds in attributes, lists, dicts and arrays, each once."""
    to_visit, seen = [root], set()
    while to_visit:
        thing = to_visit.pop()
        if isinstance(thing, VALUES) or id(thing) in seen:
            continue
        seen.add(id(thing))
        yield thing
        if isinstance(thing, dict):
            to_visit += thing.values()
        elif isinstance(thing, list | tuple | set):
            to_visit += thing
        elif isinstance(thing, np.ndarray):
            to_visit += thing.flat if thing.dtype == object else []
        else:
            to_visit += getattr(thing, "__dict__", {}).values()


def full_name(kind: type) -> str:
    """The name of a type with its module."""
    return f"{kind.__module__}.{kind.__name__}"


def is_allowed(loader: str, name: str, trusted: frozenset[str]) -> bool:
    """Whether skops may make a value of type `name` in the way `loader`."""
    return (loader in BY_CONSENT and name in trusted) or name in BY_LOADER.get(loader, ())


def _is_sound_tree(estimator: Any) -> bool:
    if "tree_" not in vars(estimator):
        return True
    tree = estimator.tree_
    nodes = tree.__getstate__()["nodes"]
    left, right, feature = nodes["left_child"], nodes["right_child"], nodes["feature"]
    inner = left != LEAF
    children = np.sort(np.concatenate([left[inner], right[inner]]))
    return bool(
        tree.n_features == estimator.n_features_in_
        # Every node but the first is the child of just one other.
        and len(left) > 0
        and np.array_equal(children, np.arange(1, len(left)))
        and _are_within(feature[inner], tree.n_features)
        and _depth(left, right, inner) <= tree.max_depth
    )


def _depth(left: NDArray[Any], right: NDArray[Any], inner: NDArray[np.bool_]) -> int:
    depth, level = -1, np.zeros(1, dtype=np.intp)
    while len(level):
        depth += 1
        level = level[inner[level]]
        level = np.concatenate([left[level], right[level]])
    return depth


def _are_within(positions: NDArray[Any], length: int) -> bool:
    return not positions.size or bool(positions.min() >= 0 and positions.max() < length)


def _is_sound_forest(forest: Any) -> bool:
    trees = vars(forest).get("estimators_", [])
    return all(tree.tree_.n_features == forest.n_features_in_ for tree in trees)


def _is_sound_machine(machine: Any) -> bool:
    """Whether the arrays of a support vector machine have the sizes that LIBSVM takes as given."""
    if "support_" not in vars(machine):
        return True
    vectors, counts, coef = machine.support_vectors_, machine._n_support, machine._dual_coef_
    n_vectors, n_classes = vectors.shape[0], len(counts)
    n_pairs = n_classes * (n_classes - 1) // 2
    return bool(
        machine.kernel != "precomputed"
        and n_classes >= 2
        and vectors.shape[1] == machine.n_features_in_
        and counts.min() >= 0
        and counts.sum() == n_vectors == len(machine.support_)
        and coef.shape == (n_classes - 1, n_vectors)
        and (coef.nnz if machine._sparse else coef.size) == (n_classes - 1) * n_vectors
        and machine._intercept_.size == n_pairs
        and machine._probA.size == machine._probB.size
        and machine._probA.size in (0, n_pairs)
    )


def _is_sound_neighbours(model: Any) -> bool:
    if "_fit_X" not in vars(model):
        return True
    classes = model.classes_ if isinstance(model.classes_, list) else [model.classes_]
    n_rows, y = model._fit_X.shape[0], model._y
    columns = y.reshape(len(y), -1).T
    return (
        len(y) == n_rows == model.n_samples_fit_
        and len(columns) == len(classes)
        and all(_are_within(*pair) for pair in zip(columns, map(len, classes), strict=True))
    )


def _names(table: str) -> set[str]:
    """Full names from lines of a module and its types."""
    lines = (line.split() for line in table.strip().splitlines())
    return {f"{module}.{name}" for module, *names in lines for name in names}


OBJECTS = _names("""
    sklearn.linear_model._logistic LogisticRegression LogisticRegressionCV
    sklearn.linear_model._stochastic_gradient SGDClassifier
    sklearn.linear_model._perceptron Perceptron
    sklearn.linear_model._passive_aggressive PassiveAggressiveClassifier
    sklearn.linear_model._ridge RidgeClassifier
    sklearn.svm._classes LinearSVC SVC NuSVC
    sklearn.tree._classes DecisionTreeClassifier ExtraTreeClassifier
    sklearn.ensemble._forest RandomForestClassifier ExtraTreesClassifier
    sklearn.neighbors._classification KNeighborsClassifier
    sklearn.naive_bayes GaussianNB MultinomialNB BernoulliNB ComplementNB
    sklearn.preprocessing._data StandardScaler MinMaxScaler MaxAbsScaler Normalizer
    sklearn.preprocessing._label LabelBinarizer
    sklearn.pipeline Pipeline
    sklearn.multiclass OneVsRestClassifier
    sklearn.calibration CalibratedClassifierCV _CalibratedClassifier
    sklearn.calibration _SigmoidCalibration _TemperatureScaling
    sklearn.isotonic IsotonicRegression
    nldd.estimators._binary_relevance BinaryRelevance
    nldd.estimators._cbm ConditionalBernoulliMixture Weights
    nldd.estimators._classifier_chain ClassifierChain
    nldd.estimators._ensemble_of_chains EnsembleOfChains Member
    nldd.estimators._label_models ConstantLabel
    nldd.estimators._label_powerset LabelPowerset Powerset
    nldd.estimators._label_probabilities JointModel
    nldd.estimators._mlknn MLkNN
    nldd.estimators._platt_svc PlattSVC
    nldd.estimators._rakel RAkEL
    nldd.estimators._random_forest_pct RandomForestPCT
    nldd.estimators._subset_mapping SubsetMapping
    nldd.search._neighbors NeighborIndex
""")
# Types whose numbers lead somewhere -> whether an object of theirs leads to its own arrays only.
CHECKS: dict[str, Callable[[Any], bool]] = {
    "sklearn.svm._classes.SVC": _is_sound_machine,
    "sklearn.svm._classes.NuSVC": _is_sound_machine,
    "sklearn.tree._classes.DecisionTreeClassifier": _is_sound_tree,
    "sklearn.tree._classes.ExtraTreeClassifier": _is_sound_tree,
    "sklearn.ensemble._forest.RandomForestClassifier": _is_sound_forest,
    "sklearn.ensemble._forest.ExtraTreesClassifier": _is_sound_forest,
    "sklearn.neighbors._classification.KNeighborsClassifier": _is_sound_neighbours,
}

_SCALARS = _names("""
    numpy bool bool_ float16 float32 float64 str_ intp longlong
    numpy int8 int16 int32 int64 uint8 uint16 uint32 uint64
""")
KEY_TYPES = _SCALARS | _names("builtins str int float bool")
# How skops makes a value -> the types it may make in that way. The other ways, among them those
# that call functions, methods and operators, are never taken.
BY_LOADER = {
    "ObjectNode": OBJECTS,
    "JsonNode": {"builtins.str"},
    "DictNode": {"builtins.dict"},
    "ListNode": {"builtins.list"},
    "TupleNode": {"builtins.tuple"},
    "NdArrayNode": _SCALARS | {"numpy.ndarray"},
    "SparseMatrixNode": _names("""
        scipy.sparse._csr csr_array csr_matrix
        scipy.sparse._csc csc_array csc_matrix
    """),
    "TypeNode": KEY_TYPES,
    "TreeNode": {"sklearn.tree._tree.Tree"},
    "LossNode": _names("""
        sklearn._loss._loss CyHalfBinomialLoss
        sklearn.linear_model._sgd_fast Hinge SquaredHinge ModifiedHuber Log SquaredLoss Huber
    """),
}
# What somebody who trusts a file may allow by name.
BY_CONSENT = {
    *("ObjectNode", "TypeNode", "FunctionNode", "ConstructorFromReduceNode", "PartialNode"),
    *("DictNode", "SetNode", "SliceNode", "MaskedArrayNode", "DTypeNode", "LossNode"),
}
