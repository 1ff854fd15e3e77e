"""The types that estimators in a model file may be of, and what each of them holds.

None of the types calls a function or method that a file could name, or opens a file; an attribute
is a number, a word, an array or an object that such an object may have. What predictions do not
need, such as states of random numbers, has no place here and is left out of files.

Whether the attributes of an object fit together is looked at in :mod:`._whole_objects`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nldd.persistence._rules import (
    Misfit,
    Rule,
    Scope,
    by_name,
    classes,
    dict_of,
    either,
    estimator,
    flag,
    member,
    names,
    nothing,
    numbers,
    phrase,
    positions,
    real,
    several,
    text,
    whole,
)

TINIEST = np.nextafter(0.0, 1.0)
METRICS = (
    *("euclidean", "sqeuclidean", "l2", "manhattan", "cityblock", "l1", "minkowski"),
    *("chebyshev", "cosine", "hamming", "canberra", "braycurtis"),
)


@dataclass(frozen=True)
class Schema:
    """A type: the module to import it from, its attributes, and those that it may lack."""

    module: str
    attributes: Mapping[str, Rule]
    optional: frozenset[str]


def _nodes(value: Any, scope: Scope) -> NDArray[Any]:
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind != "V":
        raise Misfit("are no nodes")
    kinds = {name: value.dtype[name].kind for name in value.dtype.names or ()}
    needed = {"left_child": "i", "right_child": "i", "feature": "i", "threshold": "f"}
    if not needed.items() <= kinds.items() or not set(kinds.values()) <= set("biuf"):
        raise Misfit("lack what nodes of trees have")
    scope.agree("n", len(value))
    return value


FEATURES: dict[str, Rule] = {"n_features_in_": whole("d"), "feature_names_in_?": names("d")}
MAYBE_FEATURES: dict[str, Rule] = {
    "n_features_in_?": whole("d"),
    "feature_names_in_?": names("d"),
}
COUNT = either(nothing, whole(), numbers(None, kinds="iu", least=0))
LINEAR: dict[str, Rule] = {
    **FEATURES,
    "classes_?": classes("k"),  # worked out by some versions
    "coef_": either(numbers("m", "d", sparse=True), numbers("d")),
    "intercept_": either(numbers("m"), numbers(1), numbers()),
}
BAYES: dict[str, Rule] = {
    **FEATURES,
    "classes_": classes("k"),
    "class_count_": numbers("k", least=0),
}
DISCRETE_BAYES: dict[str, Rule] = {
    **BAYES,
    "feature_count_": numbers("k", "d", least=0),
    "feature_log_prob_": numbers("k", "d"),
    "class_log_prior_": numbers("k"),
}
TREE_SIZES = ("n_features", "n_classes", "n_outputs")
ONE_TREE = ("sklearn.DecisionTreeClassifier", "sklearn.ExtraTreeClassifier")
CLASSES_OF_ALL = either(classes(), several(classes()))
TREES: dict[str, Rule] = {
    **FEATURES,
    "n_outputs_": whole(),
    "classes_": CLASSES_OF_ALL,
    "n_classes_": either(whole(), numbers(None, kinds="iu", least=1), several(whole())),
}
CALIBRATION = member(
    "sklearn._SigmoidCalibration", "sklearn._TemperatureScaling", "sklearn.IsotonicRegression"
)
LABELSETS = numbers("s", "l", kinds="iu", least=0, most=1)
LABELS: dict[str, Rule] = {
    **FEATURES,
    "label_names_": names("l"),
    "n_labels_": whole("l"),
    "single_label_": flag,
    "classes_": either(numbers("l", 2, kinds="i", least=0, most=1), classes("l")),
    "_n_rows_given": whole(),
}
LOGISTIC = "nldd.MultiLabelLogisticRegression"
CHOSEN: dict[str, Rule] = {"chosen_?": member("nldd.Choice")}
ONE_A_LABEL: dict[str, Rule] = {
    **LABELS,
    **CHOSEN,
    "estimators_": either(several(member(LOGISTIC, l="l", d="d"), 1), several(estimator, "l")),
}
LINKS = either(several(member(LOGISTIC, l="l"), 1), several(estimator, "l"))
WEIGHTS = "nldd.Weights"

# A module, its types, and what they hold; behind a name, ? says that it may be missing.
ATTRIBUTES: dict[str, dict[str, Rule]] = {
    "sklearn.linear_model LogisticRegression LogisticRegressionCV": {
        **LINEAR,
        "n_iter_?": either(*(numbers(*n, kinds="iu") for n in ([None], [None] * 3))),
    },
    "sklearn.linear_model SGDClassifier Perceptron PassiveAggressiveClassifier": {
        **LINEAR,
        "n_iter_?": COUNT,
        "t_?": real,
    },
    "sklearn.linear_model RidgeClassifier": {
        **LINEAR,
        "n_iter_?": COUNT,
        "_label_binarizer": member("sklearn.LabelBinarizer"),
    },
    "sklearn.svm LinearSVC": {**LINEAR, "n_iter_?": COUNT},
    "sklearn.svm SVC NuSVC": {
        **FEATURES,
        "classes_": classes("k"),
        "class_weight_": numbers("k"),
        "_sparse": flag,
        "_effective_probability?": flag,
        "_gamma": real,
        "support_": numbers("v", kinds="i", least=0),
        "support_vectors_": numbers("v", "d", sparse=True),
        "_n_support": numbers("k", kinds="i", least=0),
        "dual_coef_": numbers(None, "v", sparse=True),
        "_dual_coef_": numbers(None, "v", sparse=True),
        "intercept_": numbers(None),
        "_intercept_": numbers(None),
        "_probA": numbers(None),
        "_probB": numbers(None),
        "fit_status_": whole(),
        "shape_fit_": several(whole(), 2),
        "n_iter_?": numbers(None, kinds="i"),
        "_num_iter?": numbers(None, kinds="i"),
    },
    "sklearn.tree._tree Tree": {
        "n_features": whole("d", most=2**31),
        "n_outputs": whole("q", least=1, most=2**31),
        "n_classes": numbers("q", kinds="i", least=1, most=2**31),
        "max_depth": whole(most=2**31),
        "node_count": whole("n"),
        "nodes": _nodes,
        "values": numbers("n", "q", None),
    },
    "sklearn.tree DecisionTreeClassifier ExtraTreeClassifier": {
        **TREES,
        "max_features_": whole(),
        "tree_": member("sklearn.Tree", d="d"),
    },
    "sklearn.ensemble RandomForestClassifier ExtraTreesClassifier": {
        **TREES,
        "estimators_": several(member(*ONE_TREE, d="d")),
        "estimator_": member(*ONE_TREE),
        "_n_samples?": whole(),
        "_n_samples_bootstrap?": either(nothing, whole()),
    },
    "sklearn.neighbors KNeighborsClassifier": {
        **FEATURES,
        "classes_": CLASSES_OF_ALL,
        "outputs_2d_": flag,
        "_fit_X": numbers("n", "d", kinds="fiu", sparse=True),
        "_y": either(*(numbers("n", *q, kinds="i", least=0) for q in ([], [None]))),
        "n_samples_fit_": whole("n", least=1),
        "effective_metric_": text(*METRICS),
        "effective_metric_params_": dict_of({"p": real}),
        "_fit_method": text("brute", "kd_tree", "ball_tree"),
    },
    "sklearn.naive_bayes GaussianNB": {
        **BAYES,
        "epsilon_": real,
        "theta_": numbers("k", "d"),
        "var_": numbers("k", "d", least=0),
        "class_prior_": numbers("k", least=0, most=1),
    },
    "sklearn.naive_bayes MultinomialNB BernoulliNB": DISCRETE_BAYES,
    "sklearn.naive_bayes ComplementNB": {**DISCRETE_BAYES, "feature_all_": numbers("d")},
    "sklearn.preprocessing StandardScaler": {
        **FEATURES,
        "n_samples_seen_": either(real, numbers("d", kinds="fi", least=0)),
        **{f"{name}_": either(nothing, numbers("d")) for name in ("mean", "var", "scale")},
    },
    "sklearn.preprocessing MinMaxScaler": {
        **FEATURES,
        "n_samples_seen_": whole(),
        **{f"{name}_": numbers("d") for name in ("scale", "min")},
        **{f"data_{name}_": numbers("d") for name in ("min", "max", "range")},
    },
    "sklearn.preprocessing MaxAbsScaler": {
        **FEATURES,
        "n_samples_seen_": whole(),
        "max_abs_": numbers("d"),
        "scale_": numbers("d"),
    },
    "sklearn.preprocessing Normalizer": FEATURES,
    "sklearn.preprocessing LabelBinarizer": {
        "classes_": classes(),
        "sparse_input_": flag,
        "y_type_": text("binary", "multiclass", "multilabel-indicator"),
    },
    "sklearn.pipeline Pipeline": {},
    "sklearn.multiclass OneVsRestClassifier": {
        **MAYBE_FEATURES,
        "classes_?": classes(),
        "label_binarizer_": member("sklearn.LabelBinarizer"),
        "estimators_": several(estimator),
    },
    "sklearn.calibration CalibratedClassifierCV": {
        **MAYBE_FEATURES,
        "classes_": classes("k"),
        "calibrated_classifiers_": several(member("sklearn._CalibratedClassifier")),
    },
    "sklearn.calibration _CalibratedClassifier": {
        "estimator": estimator,
        "calibrators": several(CALIBRATION),
        "classes": classes(),
        "method": text("sigmoid", "isotonic", "temperature"),
    },
    "sklearn.calibration _SigmoidCalibration": {"a_": real, "b_": real},
    "sklearn.calibration _TemperatureScaling": {"beta_": real},
    "sklearn.isotonic IsotonicRegression": {
        "increasing_": flag,
        "X_min_": real,
        "X_max_": real,
        "X_thresholds_": numbers("n"),
        "y_thresholds_": numbers("n"),
    },
    "nldd.estimators ConstantLabel": {"value": whole(most=1)},
    "nldd.linear MultiLabelLogisticRegression": {
        **LABELS,
        "classes_": either(numbers(None, kinds="i"), classes("l")),
        "coef_": numbers("m", None),
        "intercept_": numbers("m"),
        "n_iter_": numbers("m", kinds="i", least=0),
        "features_?": either(nothing, member("nldd.Normalised", "nldd.Weighted", "nldd.Kernel")),
    },
    "nldd.linear Normalised": {},
    "nldd.linear Weighted": {"weights": numbers("d", least=0)},
    "nldd.linear Kernel": {
        "scale": numbers("d", least=TINIEST),
        "landmarks": numbers("n", "d"),
        "root": numbers("n", "n"),
    },
    "nldd.estimators Choice": {
        "name": phrase,
        "estimator": estimator,
        "brier": by_name(real),
        "n_rows": whole(),
        "f": either(nothing, by_name(real)),
    },
    "nldd.estimators LinearSVM": {
        **FEATURES,
        "classes_": classes("k"),
        "coef_?": numbers(1, "d"),
        "support_vectors_?": numbers("v", "d", sparse=True),
        "dual_coef_?": numbers(None, "v"),
        "n_support_?": numbers("k", kinds="i", least=0),
        "intercept_": numbers(None),
    },
    "nldd.estimators PlattSVC": {**LINEAR, "sigmoid_": several(real, 2)},
    "nldd.estimators BinaryRelevance": ONE_A_LABEL,
    "nldd.estimators SubsetMapping": {
        **ONE_A_LABEL,
        "labelsets_": LABELSETS,
        "counts_": numbers("s", kinds="i", least=0),
    },
    "nldd.estimators ClassifierChain": {
        **LABELS,
        **CHOSEN,
        "estimators_": LINKS,
        "order_": positions("l", "l"),
    },
    "nldd.estimators EnsembleOfChains": {
        **LABELS,
        **CHOSEN,
        "estimators_": several(member("nldd.Member", l="l", d="d")),
        "threshold_": real,
    },
    "nldd.estimators Member": {
        "order": positions("l", "l"),
        "links": LINKS,
        "features": positions(None, "d"),
        "rows": numbers(None, kinds="i", least=0),
    },
    "nldd.estimators Powerset": {"labelsets": LABELSETS, "estimators": several(estimator)},
    "nldd.estimators LabelPowerset": {
        **LABELS,
        **CHOSEN,
        "_powerset": member("nldd.Powerset", l="l"),
        "labelsets_": LABELSETS,
        "estimators_": several(estimator),
    },
    "nldd.estimators RAkEL": {
        **LABELS,
        **CHOSEN,
        "subsets_": several(positions(None, "l")),
        "estimators_": several(member("nldd.Powerset")),
    },
    "nldd.estimators JointModel": {
        "estimators": several(estimator),
        "constants": numbers("l", least=0, most=1, nan=True),
    },
    "nldd.estimators RandomForestPCT": {
        **LABELS,
        "_forest": member("nldd.JointModel", l="l"),
        "estimators_": several(estimator),
    },
    "nldd.search NeighborIndex": {
        "Z": numbers("n", "d", sparse=True),
        "norms": numbers("n", least=0),
    },
    "nldd.estimators MLkNN": {
        **LABELS,
        "_Y": numbers("n", "l", kinds="iu", least=0, most=1),
        "_index": member("nldd.NeighborIndex", n="n", d="d"),
        "prior_": numbers("l", least=0, most=1),
        "likelihood_on_": numbers("l", None, least=0, most=1),
        "likelihood_off_": numbers("l", None, least=0, most=1),
        "estimators_": several(nothing, 0),
    },
    "nldd.estimators Weights": {"W": numbers("in", "out"), "bias": numbers("out")},
    "nldd.estimators ConditionalBernoulliMixture": {
        **LABELS,
        "features_": positions("in", "d"),
        "labelsets_": LABELSETS,
        "allow_empty_": flag,
        "_varies?": numbers("l", kinds="b", least=0, most=1),  # of older versions
        "estimators_": several(member(WEIGHTS, **{"in": "in", "out": "l"}), "components"),
        "gating_": member(WEIGHTS, **{"in": "in", "out": "components"}),
        "objective_": numbers(None),
    },
}
SCHEMAS = {
    f"{module.partition('.')[0]}.{kind}": Schema(
        module,
        {name.removesuffix("?"): rule for name, rule in attributes.items()},
        frozenset(name[:-1] for name in attributes if name.endswith("?")),
    )
    for types, attributes in ATTRIBUTES.items()
    for module, *kinds in [types.split()]
    for kind in kinds
}
