"""The types that estimators in a model file may be made of, each for a reason.

A type is allowed where making one runs no code but its own and can do nothing but hold values. To
make one, its module is imported, so nothing outside the list is even imported.
"""

from functools import cache
from typing import Any

# Estimators of scikit-learn that are held back although skops would load them.
HELD_BACK = {
    # Compiled code adds up trees where the file says, without a look at the bounds.
    "sklearn.ensemble._gb.GradientBoostingClassifier",
    "sklearn.ensemble._gb.GradientBoostingRegressor",
    # Their arrays go to LIBSVM as they are; those of SVC and NuSVC we know how to check.
    "sklearn.svm._classes.OneClassSVM",
    "sklearn.svm._classes.SVR",
    "sklearn.svm._classes.NuSVR",
}

# What estimators of scikit-learn hold inside, and who needs it.
PRIVATE = {
    "sklearn.calibration._CalibratedClassifier": "CalibratedClassifierCV: one of its folds",
    "sklearn.calibration._SigmoidCalibration": "CalibratedClassifierCV: two numbers",
    "sklearn.calibration._TemperatureScaling": "CalibratedClassifierCV: one number",
    "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper": "HistGradientBoosting: bins",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor": (
        "HistGradientBoosting: a tree; nldd checks its positions"
    ),
    "sklearn._loss.link.Interval": "HistGradientBoosting: range of its link function",
    "sklearn._loss.link.LogitLink": "HistGradientBoosting: link function",
    "sklearn._loss.link.MultinomialLogit": "HistGradientBoosting: link function",
    "sklearn._loss.loss.HalfBinomialLoss": "HistGradientBoosting: loss",
    "sklearn._loss.loss.HalfMultinomialLoss": "HistGradientBoosting: loss",
    "sklearn._loss._loss.CyHalfMultinomialLoss": "the same, as skops before 0.14 stores it",
    "sklearn.compose._column_transformer._RemainderColsList": (
        "ColumnTransformer, scikit-learn before 1.7: a list of columns"
    ),
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer": "MLP: state of its training",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer": "MLP: state of its training",
    "sklearn.metrics._scorer._PassthroughScorer": "GridSearchCV: calls its own estimator",
    "sklearn.model_selection._split.StratifiedKFold": "GridSearchCV: number of folds",
    "sklearn.utils._metadata_requests.MetadataRequest": "GridSearchCV, scikit-learn before 1.7",
    "sklearn.utils._metadata_requests.MethodMetadataRequest": "the same",
}

# Of nldd itself; all of them hold arrays, names and the estimators above.
OWN = {
    "nldd.estimators._platt_svc.PlattSVC": "base classifier of the paper",
    "nldd.estimators._label_models.ConstantLabel": "label that is the same in all rows",
    "nldd.estimators._label_probabilities.JointModel": "one classifier for all labels",
    "nldd.estimators._label_powerset.Powerset": "LabelPowerset, RAkEL: labelsets as classes",
    "nldd.estimators._ensemble_of_chains.Member": "EnsembleOfChains: a chain",
    "nldd.estimators._cbm.Weights": "ConditionalBernoulliMixture: a linear model",
    "nldd.search._neighbors.NeighborIndex": "MLkNN: its training rows",
    "nldd.estimators._binary_relevance.BinaryRelevance": "a model of its own",
    "nldd.estimators._cbm.ConditionalBernoulliMixture": "a model of its own",
    "nldd.estimators._classifier_chain.ClassifierChain": "a model of its own",
    "nldd.estimators._ensemble_of_chains.EnsembleOfChains": "a model of its own",
    "nldd.estimators._label_powerset.LabelPowerset": "a model of its own",
    "nldd.estimators._mlknn.MLkNN": "a model of its own",
    "nldd.estimators._rakel.RAkEL": "a model of its own",
    "nldd.estimators._random_forest_pct.RandomForestPCT": "a model of its own",
    "nldd.estimators._subset_mapping.SubsetMapping": "a model of its own",
}

_SCALARS = frozenset(
    f"numpy.{name}"
    for name in (
        *("bool", "bool_", "float16", "float32", "float64", "str_", "intp", "longlong"),
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    )
)
_LOSSES = frozenset(
    f"sklearn._loss._loss.{name}" for name in ("CyHalfBinomialLoss", "CyHalfMultinomialLoss")
) | frozenset(
    f"sklearn.linear_model._sgd_fast.{name}"
    for name in ("Hinge", "SquaredHinge", "ModifiedHuber", "Log", "SquaredLoss", "Huber")
)
_SPARSE = frozenset(
    f"scipy.sparse._{form}.{form}_{kind}" for form in ("csr", "csc") for kind in ("array", "matrix")
)
KEY_TYPES = (
    frozenset({"builtins.str", "builtins.int", "builtins.float", "builtins.bool"}) | _SCALARS
)

# How skops makes a value -> the types it may make in that way. The other ways, among them those
# that call functions, methods and operators, are never taken.
BY_LOADER = {
    "JsonNode": frozenset({"builtins.str"}),
    "DictNode": frozenset(
        {"builtins.dict", "collections.OrderedDict", "sklearn.utils._bunch.Bunch"}
    ),
    "ListNode": frozenset({"builtins.list"}),
    "TupleNode": frozenset({"builtins.tuple"}),
    "SetNode": frozenset({"builtins.set"}),
    "SliceNode": frozenset({"builtins.slice"}),
    "NdArrayNode": _SCALARS | {"numpy.ndarray"},
    "MaskedArrayNode": frozenset({"numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray"}),
    "SparseMatrixNode": _SPARSE,
    "TypeNode": KEY_TYPES,
    "DTypeNode": frozenset({"numpy.dtype"}),
    "TreeNode": frozenset({"sklearn.tree._tree.Tree"}),  # nldd checks its positions
    "LossNode": _LOSSES,
}
# What somebody who trusts a file may allow by name.
BY_CONSENT = {"ObjectNode", "TypeNode", "FunctionNode", "ConstructorFromReduceNode", "PartialNode"}


def is_allowed(loader: str, name: str, trusted: frozenset[str]) -> bool:
    """Whether skops may make a value of type `name` in the way `loader`."""
    if loader in BY_CONSENT and name in trusted:
        return True
    allowed = allowed_objects() if loader == "ObjectNode" else BY_LOADER.get(loader, frozenset())
    return name in allowed


@cache
def allowed_objects() -> frozenset[str]:
    """The estimators of scikit-learn, what they hold inside, and nldd's own types."""
    from sklearn.utils.discovery import all_estimators

    estimators = {_full_name(estimator) for _, estimator in all_estimators()} - HELD_BACK
    ours = {name for name in estimators if name.startswith("sklearn.")}
    return frozenset(ours | PRIVATE.keys() | OWN.keys())


def _full_name(kind: type[Any]) -> str:
    return f"{kind.__module__}.{kind.__name__}"
