"""The types of nldd that a model file may hold, and what each of them has learned.

None of them calls what a file could name, or opens a file. An attribute is a number, a word, an
array, or an object that such an object may have. What follows from others, such as the number of
labels from their names, is not in files: it is worked out when they are read.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from nldd.persistence._rules import (
    LARGEST,
    Misfit,
    Rule,
    by_name,
    estimator,
    flag,
    matrix,
    member,
    names,
    narrowed,
    numbers,
    optional,
    positions,
    real,
    several,
    text,
    tuple_of,
    whole,
)

Attributes = dict[str, Any]
SMALLEST = 1 / LARGEST


@dataclass(frozen=True)
class Schema:
    """A type of nldd.

    Attributes
    ----------
    module : str
        Where it is.
    attributes : dict of rules
        What an object has, in the order of the file.
    finish : function of an object
        Works out what follows from its attributes; whether these, each right by itself, fit
        together.
    state : function of an object
        The attributes that are stored, if they are not those of the object.
    make : function of the type and the attributes
        Makes an object, if it takes more than to set these attributes.
    """

    module: str
    attributes: Mapping[str, Rule]
    finish: Callable[[Any], bool] = lambda _: True
    state: Callable[[Any], Attributes] = vars
    make: Callable[[Any, Attributes], Any] | None = None


def _derive(model: Any, **attributes: Any) -> bool:
    """Set attributes that follow from others."""
    vars(model).update(attributes)
    return True


def _derive_nldd(model: Any) -> bool:
    fitted, is_open = model._fitted, isinstance(model.estimator, str | dict)
    model._set_fitted(fitted)
    return (
        fitted.regression.model == model.model
        and len(fitted.rows) == len(fitted.index)
        and (fitted.tau is None) == (model.decision == "nearest")
        and hasattr(model, "chosen_") == is_open
    )


def _has_neighbours(model: Any) -> bool:
    model.estimators_ = []
    width = model.k + 1
    return bool(model.likelihood_on_.shape[1] == model.likelihood_off_.shape[1] == width)


def _has_coefficients(model: Any) -> bool:
    """Whether there are some for each label, or one set of them for two classes.

    And for each feature that is made of those that are given.
    """
    n_rows, width = 1 if model._is_binary() else model.n_labels_, model.n_features_in_
    if (features := model.features_) is None:
        return bool(model.coef_.shape == (n_rows, width))
    is_wide_enough = (features.n_given or 0) <= width
    return is_wide_enough and bool(model.coef_.shape == (n_rows, features.width(width)))


def _fits_chain(links: list[Any], n_features: int, n_labels: int) -> bool:
    """Whether there is one for each label, or one of all with coefficients of labels before."""
    if len(links) != 1 or not hasattr(links[0], "features_"):
        return len(links) == n_labels
    (model,) = links
    fits = model.features_ is None or model.features_.n_given in (None, n_features)
    return (
        fits and model.n_labels_ == n_labels and model.n_features_in_ == n_features + n_labels - 1
    )


def _is_joint(model: Any) -> bool:
    is_open = np.isnan(model.constants)
    constants_are_sure = bool((is_open | np.isin(model.constants, (0, 1))).all())
    return constants_are_sure and len(model.estimators) == int(is_open.any())


def _is_one_per_label(model: Any) -> bool:
    return len(model.estimators_) in (1, model.n_labels_)


def _is_ensemble_of_subsets(model: Any) -> bool:
    widths = [powerset.labelsets.shape[1] for powerset in model.estimators_]
    return bool(widths) and widths == [len(subset) for subset in model.subsets_]


def _index_state(index: Any) -> Attributes:
    """Rows by number, as the index holds them: divided by the scale, not as they were given.

    Multiplied by the scale and divided again, some would differ in the last bit.
    """
    order = np.argsort(index.groups.number)
    labelset = np.repeat(np.arange(len(index.counts)), index.counts)[order]
    Y = index.labelsets[labelset].astype(np.uint8)
    Z = index._rows()[order]
    return {"Y": Y, "scale": index.scale, "Z": Z if issparse(Z) else narrowed(Z)}


def _make_index(Type: Any, parts: Attributes) -> Any:
    """The index of the same rows, grouped anew."""
    if not parts["Y"].size:
        raise Misfit("has no rows")
    # Divided by 1 each row stays what it is.
    index = Type(parts["Z"], parts["Y"].astype(np.int8), np.ones(len(parts["scale"])))
    index.scale = parts["scale"]
    return index


FEATURES: dict[str, Rule] = {"n_features_in_": whole("d"), "feature_names_in_?": names("d")}
LABELS: dict[str, Rule] = {
    "label_names_": names("l"),
    "single_label_": flag,
    **FEATURES,
}
BASE: dict[str, Rule] = {**LABELS, "chosen_?": member("Choice")}
LABELSETS = numbers("s", "l", kinds="iu", least=0, most=1)
ESTIMATORS = several(estimator)
SHARE = real(0, 1)
ANY = numbers(3, 3, nan=True, least=-np.inf, most=np.inf)
MACHINE: dict[str, Rule] = {**FEATURES, "classes_": numbers("k", kinds="biuf")}

# Behind a name, ? says that it may be missing.
SCHEMAS: dict[str, Schema] = {
    "Pipeline": Schema("sklearn.pipeline", {}),
    "ConstantLabel": Schema("nldd.estimators._label_models", {"value": whole(most=1)}),
    "MultiLabelLogisticRegression": Schema(
        "nldd.linear._logistic",
        {
            **LABELS,
            "coef_": numbers("m", None),
            "intercept_": numbers("m"),
            "n_iter_": numbers("m", kinds="i", least=0),
            "features_": optional(member("Normalised", "Weighted", "Kernel")),
        },
        _has_coefficients,
    ),
    "Normalised": Schema("nldd.linear._features", {}),
    "Weighted": Schema("nldd.linear._features", {"weights": numbers("d", least=0)}),
    "Kernel": Schema(
        "nldd.linear._features",
        {
            "scale": numbers("d", least=SMALLEST),
            "landmarks": numbers("n", "d"),
            "root": numbers("n", "n"),
        },
    ),
    "PlattSVC": Schema(
        "nldd.estimators._platt_svc",
        {
            **MACHINE,
            "coef_": numbers(1, "d"),
            "intercept_": numbers(1),
            "sigmoid_": tuple_of(real()),
        },
        lambda machine: len(machine.classes_) == len(machine.sigmoid_) == 2,
    ),
    "Choice": Schema(
        "nldd.estimators._base_choice",
        {
            "name": text(),
            "estimator": estimator,
            "brier": by_name(SHARE),
            "n_rows": whole(),
            "f": optional(by_name(SHARE)),
        },
        lambda choice: choice.f is None or choice.f.keys() == {"alone", "with trees"},
    ),
    "BinaryRelevance": Schema(
        "nldd.estimators._binary_relevance", {**BASE, "estimators_": ESTIMATORS}, _is_one_per_label
    ),
    "SubsetMapping": Schema(
        "nldd.estimators._subset_mapping",
        {
            **BASE,
            "estimators_": ESTIMATORS,
            "labelsets_": LABELSETS,
            "counts_": numbers("s", kinds="i", least=0),
        },
        _is_one_per_label,
    ),
    "ClassifierChain": Schema(
        "nldd.estimators._classifier_chain",
        {**BASE, "estimators_": ESTIMATORS, "order_": positions("l", "l")},
        lambda chain: _fits_chain(chain.estimators_, chain.n_features_in_, chain.n_labels_),
    ),
    "EnsembleOfChains": Schema(
        "nldd.estimators._ensemble_of_chains",
        {**BASE, "estimators_": several(member("Member", l="l", d="d")), "threshold_": real()},
    ),
    "Member": Schema(
        "nldd.estimators._ensemble_of_chains",
        {
            "order": positions("l", "l"),
            "links": ESTIMATORS,
            "features": positions(None, "d"),
            "rows": numbers(None, kinds="i", least=0),
        },
        lambda chain: _fits_chain(chain.links, len(chain.features), len(chain.order)),
    ),
    "Powerset": Schema(
        "nldd.estimators._label_powerset", {"labelsets": LABELSETS, "estimators": ESTIMATORS}
    ),
    "LabelPowerset": Schema(
        "nldd.estimators._label_powerset",
        {**BASE, "_powerset": member("Powerset", l="l")},
        lambda model: _derive(
            model,
            labelsets_=model._powerset.labelsets,
            estimators_=model._powerset.estimators,
        ),
    ),
    "RAkEL": Schema(
        "nldd.estimators._rakel",
        {
            **BASE,
            "subsets_": several(positions(None, "l")),
            "estimators_": several(member("Powerset")),
        },
        _is_ensemble_of_subsets,
    ),
    "SeparateModels": Schema(
        "nldd.estimators._label_probabilities", {"estimators": several(estimator, "l")}
    ),
    "JointModel": Schema(
        "nldd.estimators._label_probabilities",
        {"estimators": ESTIMATORS, "constants": numbers("l", nan=True)},
        _is_joint,
    ),
    "MeanModel": Schema(
        "nldd.estimators._label_probabilities", {"models": several(member("JointModel", l="l"), 2)}
    ),
    "RandomForestPCT": Schema(
        "nldd.estimators._random_forest_pct",
        {**LABELS, "_forest": member("JointModel", l="l")},
        lambda model: _derive(model, estimators_=model._forest.estimators),
    ),
    "NeighborIndex": Schema(
        "nldd.search._neighbors", {"Z": matrix("n", "d")}, make=lambda Type, parts: Type(parts["Z"])
    ),
    "MLkNN": Schema(
        "nldd.estimators._mlknn",
        {
            **LABELS,
            "_Y": numbers("n", "l", kinds="i", least=0, most=1),
            "_index": member("NeighborIndex", n="n", d="d"),
            "prior_": numbers("l", least=0, most=1),
            **{f"likelihood_{x}_": numbers("l", None, least=0, most=1) for x in ("on", "off")},
        },
        _has_neighbours,
    ),
    "Weights": Schema("nldd.estimators._cbm", {"W": numbers("in", "out"), "bias": numbers("out")}),
    "ConditionalBernoulliMixture": Schema(
        "nldd.estimators._cbm",
        {
            **LABELS,
            "features_": positions("in", "d"),
            "labelsets_": LABELSETS,
            "allow_empty_": flag,
            "estimators_": several(member("Weights", **{"in": "in", "out": "l"}), "components"),
            "gating_": member("Weights", **{"in": "in", "out": "components"}),
            "objective_": numbers(None),
        },
    ),
    "LabelsetIndex": Schema(
        "nldd.search._index",
        {
            "Y": numbers("n", "l", kinds="u", least=0, most=1),
            "scale": numbers("d", least=SMALLEST),
            "Z": matrix("n", "d"),
        },
        state=_index_state,
        make=_make_index,
    ),
    "Pairs": Schema(
        "nldd.regression._regression",
        {
            "n_labels": whole(),
            **{name: numbers("n", least=0) for name in ("Dx", "Dy", "weight")},
            **{name: numbers("n", kinds="i", least=0) for name in ("errors", "instance", "row")},
        },
    ),
    "DistanceRegression": Schema(
        "nldd.regression._regression",
        {
            "model": text("linear", "multiplicative"),
            "covariance": text("independent", "exchangeable"),
            "beta": numbers(3),
            "covariance_matrix": ANY,
            "robust_covariance_matrix": ANY,
            "log_likelihood": real(),
            **{name: whole() for name in ("n_pairs", "n_instances", "n_labels", "n_steps")},
            **dict.fromkeys(("converged", "separated"), flag),
            "fixed": tuple_of(text()),
        },
        lambda regression: bool((regression.beta[1:] >= 0).all()),
    ),
    "NLDDClassifier": Schema(
        "nldd.estimators._nldd",
        {**BASE, "_fitted": member("FittedNLDD", l="l", d="d")},
        _derive_nldd,
    ),
    "FittedNLDD": Schema(
        "nldd.estimators._nldd",
        {
            "index": member("LabelsetIndex", l="l", d="d"),
            "rows": numbers("n", kinds="i", least=0),
            "n_fitted": whole(),
            "pairs": member("Pairs"),
            "regression": member("DistanceRegression"),
            "tau": optional(real(SMALLEST)),
            "classifiers": member("SeparateModels", "JointModel", "MeanModel", l="l"),
        },
    ),
}
