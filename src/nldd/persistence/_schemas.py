"""The types of nldd that a model file may hold, and what each of them has learned.

None of them calls what a file could name, or opens a file. An attribute is a number, a word, an
array, or an object that such an object may have. What follows from others, such as the number of
labels from their names, is not in files: it is worked out when they are read.
"""

from pkgutil import resolve_name
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from nldd.persistence import _rules as rules
from nldd.persistence._rules import Rule, Schema

SMALLEST = 1 / rules.LARGEST


def _derive(model: Any, **attributes: Any) -> bool:
    """Set attributes that follow from others."""
    vars(model).update(attributes)
    return True


def _derive_nldd(model: Any) -> bool:
    fitted, is_open = model._fitted, isinstance(model.estimator, str | dict)
    model._set_fitted(fitted)
    regression = getattr(fitted.rule, "regression", None)
    return (
        (regression is not None) == (model.decision == "nearest")
        and (regression is None or regression.model == model.model)
        and len(fitted.rows) == len(fitted.rule.index)
        and fitted.rows.max() < fitted.n_fitted + model.n_added_
        and hasattr(model, "chosen_") == is_open
    )


def _fits_labelsets(posterior: Any) -> bool:
    """Whether each labelset was seen, by no more groups than rows."""
    weights, seen = posterior.weights, posterior.seen
    is_counted = len(seen) == len(posterior.index.counts) and (seen <= posterior.index.counts).all()
    named = resolve_name("nldd.estimators._posterior.PosteriorWeights")
    posterior.__dict__["weights"] = named(*weights)
    return bool(is_counted and len(weights) == 4 and min(weights[:3]) >= 0)


def _has_neighbours(model: Any) -> bool:
    model.estimators_ = []
    return bool(model.likelihood_on_.shape[1] == model.likelihood_off_.shape[1] == model.k + 1)


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
        widths = [getattr(link, "n_features_in_", n_features + i) for i, link in enumerate(links)]
        return widths == list(range(n_features, n_features + n_labels))
    (model,) = links
    fits = model.features_ is None or model.features_.n_given in (None, n_features)
    return (
        fits and model.n_labels_ == n_labels and model.n_features_in_ == n_features + n_labels - 1
    )


def _is_joint(model: Any) -> bool:
    is_open = np.isnan(model.constants)
    constants_are_sure = bool((is_open | np.isin(model.constants, (0, 1))).all())
    return constants_are_sure and len(model.estimators) == int(is_open.any())


def _tells_labelsets_apart(powerset: Any) -> bool:
    """Whether there is a classifier of the numbers of labelsets, if there are several."""
    n = len(powerset.labelsets)
    classes = [np.asarray(getattr(each, "classes_", range(n))) for each in powerset.estimators]
    return len(classes) == (n > 1) and all(np.array_equal(some, range(n)) for some in classes)


def _is_one_per_label(model: Any) -> bool:
    return len(model.estimators_) in (1, model.n_labels_)


def _is_ensemble_of_subsets(model: Any) -> bool:
    widths = [powerset.labelsets.shape[1] for powerset in model.estimators_]
    return bool(widths) and widths == [len(subset) for subset in model.subsets_]


def _labelset_rows_state(rows: Any) -> dict[str, Any]:
    """Rows by number, scaled, as below."""
    order = np.argsort(rows.number)
    Y = np.repeat(rows.labelsets, rows.counts, axis=0)[order].astype(np.uint8)
    Z = rows.Z[order]
    scaled = {"scale": rows.scale, "Z": Z if issparse(Z) else narrow(Z)}
    return {"Y": Y, "unit_length": rows.unit_length, **scaled}


def _arrange_labelset_rows(rows: Any) -> bool:
    Z, Y, scale, unit_length = (vars(rows).pop(name) for name in ("Z", "Y", "scale", "unit_length"))
    rows.__init__(Z, Y.astype(np.int8), np.ones(len(scale)))
    rows.scale, rows.unit_length = scale, unit_length
    return len(rows) > 0


def _index_state(index: Any) -> dict[str, Any]:
    """Rows by number, as the index holds them: divided by the scale, not as they were given.

    Multiplied by the scale and divided again, some would differ in the last bit.
    """
    order = np.argsort(index.groups.number)
    labelset = np.repeat(np.arange(len(index.counts)), index.counts)[order]
    Y = index.labelsets[labelset].astype(np.uint8)
    Z = index._rows()[order]
    return {"Y": Y, "scale": index.scale, "Z": Z if issparse(Z) else narrow(Z)}


def _arrange_rows(index: Any) -> bool:
    """Group the rows anew; divided by 1 each row stays what it is."""
    Z, Y, scale = (vars(index).pop(name) for name in ("Z", "Y", "scale"))
    index.__init__(Z, Y.astype(np.int8), np.ones(len(scale)))
    index.scale = scale
    return len(index) > 0


def narrow(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in fewer bytes, where all of them fit to the last bit.

    Counts and words that occur or not fit a byte, single precision fits a half.
    """
    raw = values.tobytes()
    for kind in ("|u1", "<f4") if values.dtype.kind == "f" else ("<i2", "<i4"):
        with np.errstate(all="ignore"):
            fewer = values.astype(kind)
        if fewer.astype(values.dtype).tobytes() == raw:
            return fewer
    return values


FEATURES: dict[str, Rule] = {
    "n_features_in_": rules.whole("d", rules.MAX_WIDTH),
    "feature_names_in_": rules.maybe(rules.names("d")),
}
LABELS: dict[str, Rule] = {
    "label_names_": rules.names("l"),
    "single_label_": rules.flag,
    **FEATURES,
}
BASE: dict[str, Rule] = {**LABELS, "chosen_": rules.maybe(rules.member("Choice"))}
MACHINE: dict[str, Rule] = {**FEATURES, "classes_": rules.numbers("k", kinds="biuf")}
LABELSETS = rules.numbers("s", "l", kinds="iu", least=0, most=1)
ESTIMATORS, LINKS = rules.several(rules.fitted("d")), rules.several(rules.fitted())
LIKELIHOODS = rules.numbers("l", None, least=0, most=1)
SHARES = rules.by_name(rules.real(0, 1))
ANY = rules.numbers(3, 3, nan=True, least=-np.inf, most=np.inf)

# Types are imported when they are needed: a model of one method does not wait for the others.
SCHEMAS_BY_PATH: dict[str, Schema] = {
    "sklearn.pipeline.Pipeline": Schema(),
    "nldd.estimators._base_classifiers.ConstantLabel": Schema(value=rules.whole(most=1)),
    "nldd.linear._logistic.MultiLabelLogisticRegression": Schema(
        _has_coefficients,
        **LABELS,
        coef_=rules.numbers("m", None),
        intercept_=rules.numbers("m"),
        n_iter_=rules.numbers("m", kinds="i", least=0),
        features_=rules.optional(rules.member("Normalised", "Weighted", "Kernel")),
    ),
    "nldd.linear._features.Normalised": Schema(),
    "nldd.linear._features.Weighted": Schema(weights=rules.numbers("d", least=0)),
    "nldd.linear._features.Kernel": Schema(
        scale=rules.numbers("d", least=SMALLEST),
        landmarks=rules.numbers("n", "d"),
        root=rules.numbers("n", "n"),
    ),
    "nldd.estimators._svm.PlattSVC": Schema(
        lambda machine: len(machine.classes_) == len(machine.sigmoid_) == 2,
        **MACHINE,
        coef_=rules.numbers(1, "d"),
        intercept_=rules.numbers(1),
        sigmoid_=rules.tuple_of(rules.real()),
    ),
    "nldd.estimators._base_classifiers.Choice": Schema(
        name=rules.text,
        estimator=rules.estimator,
        brier=SHARES,
        n_rows=rules.whole(),
        with_trees=rules.flag,
    ),
    "nldd.estimators._binary_relevance.BinaryRelevance": Schema(
        _is_one_per_label, **BASE, estimators_=ESTIMATORS
    ),
    "nldd.estimators._binary_relevance.SubsetMapping": Schema(
        _is_one_per_label,
        **BASE,
        estimators_=ESTIMATORS,
        labelsets_=LABELSETS,
        counts_=rules.numbers("s", kinds="i", least=0),
    ),
    "nldd.estimators._chains.ClassifierChain": Schema(
        lambda chain: _fits_chain(chain.estimators_, chain.n_features_in_, chain.n_labels_),
        **BASE,
        estimators_=LINKS,
        order_=rules.positions("l", "l"),
    ),
    "nldd.estimators._chains.EnsembleOfChains": Schema(
        **BASE,
        estimators_=rules.several(rules.member("Member", l="l", d="d")),
        threshold_=rules.real(),
    ),
    "nldd.estimators._chains.Member": Schema(
        lambda chain: _fits_chain(chain.links, len(chain.features), len(chain.order)),
        order=rules.positions("l", "l"),
        links=LINKS,
        features=rules.positions(None, "d"),
        rows=rules.numbers(None, kinds="i", least=0),
    ),
    "nldd.estimators._powersets.Powerset": Schema(
        _tells_labelsets_apart, labelsets=LABELSETS, estimators=ESTIMATORS
    ),
    "nldd.estimators._powersets.LabelPowerset": Schema(
        lambda model: _derive(
            model, labelsets_=model._powerset.labelsets, estimators_=model._powerset.estimators
        ),
        **BASE,
        _powerset=rules.member("Powerset", l="l", d="d"),
    ),
    "nldd.estimators._powersets.RAkEL": Schema(
        _is_ensemble_of_subsets,
        **BASE,
        subsets_=rules.several(rules.positions(None, "l")),
        estimators_=rules.several(rules.member("Powerset", d="d")),
    ),
    "nldd.estimators._base_classifiers.SeparateModels": Schema(
        estimators=rules.several(rules.fitted("d"), "l")
    ),
    "nldd.estimators._base_classifiers.JointModel": Schema(
        _is_joint, estimators=ESTIMATORS, constants=rules.numbers("l", nan=True)
    ),
    "nldd.estimators._base_classifiers.MeanModel": Schema(
        models=rules.several(rules.member("JointModel", l="l", d="d"), 2)
    ),
    "nldd.estimators._random_forest_pct.RandomForestPCT": Schema(
        lambda model: _derive(model, estimators_=model._forest.estimators),
        **LABELS,
        _forest=rules.member("JointModel", l="l", d="d"),
    ),
    "nldd.estimators._mlknn.NeighborIndex": Schema(
        lambda index: index.__init__(index.Z) is None, Z=rules.matrix("n", "d")
    ),
    "nldd.estimators._mlknn.MLkNN": Schema(
        _has_neighbours,
        **LABELS,
        _Y=rules.numbers("n", "l", kinds="i", least=0, most=1),
        _index=rules.member("NeighborIndex", n="n", d="d"),
        prior_=rules.numbers("l", least=0, most=1),
        likelihood_on_=LIKELIHOODS,
        likelihood_off_=LIKELIHOODS,
    ),
    "nldd.estimators._cbm.Weights": Schema(W=rules.numbers("i", "o"), bias=rules.numbers("o")),
    "nldd.estimators._cbm.ConditionalBernoulliMixture": Schema(
        **LABELS,
        features_=rules.positions("i", "d"),
        labelsets_=LABELSETS,
        allow_empty_=rules.flag,
        estimators_=rules.several(rules.member("Weights", i="i", o="l"), "components"),
        gating_=rules.member("Weights", i="i", o="components"),
        objective_=rules.numbers(None),
    ),
    "nldd.search._index.LabelsetIndex": Schema(
        _arrange_rows,
        _index_state,
        Y=rules.numbers("n", "l", kinds="u", least=0, most=1),
        scale=rules.numbers("d", least=SMALLEST),
        Z=rules.matrix("n", "d"),
    ),
    "nldd.search._products.LabelsetRows": Schema(
        _arrange_labelset_rows,
        _labelset_rows_state,
        Y=rules.numbers("n", "l", kinds="u", least=0, most=1),
        scale=rules.numbers("d", least=SMALLEST),
        unit_length=rules.flag,
        Z=rules.matrix("n", "d"),
    ),
    "nldd.regression._regression.Pairs": Schema(
        n_labels=rules.whole(),
        **{name: rules.numbers("n", least=0) for name in ("Dx", "Dy", "weight")},
        **{name: rules.numbers("n", kinds="i", least=0) for name in ("errors", "instance", "row")},
    ),
    "nldd.regression._regression.DistanceRegression": Schema(
        lambda regression: bool((regression.beta[1:] >= 0).all()),
        model=rules.word("linear", "multiplicative"),
        covariance=rules.word("independent", "exchangeable"),
        beta=rules.numbers(3),
        covariance_matrix=ANY,
        robust_covariance_matrix=ANY,
        log_likelihood=rules.real(),
        **{name: rules.whole() for name in ("n_pairs", "n_instances", "n_labels", "n_steps")},
        converged=rules.flag,
        separated=rules.flag,
        fixed=rules.tuple_of(rules.text),
    ),
    "nldd.estimators._nldd.NLDDClassifier": Schema(
        _derive_nldd, **BASE, _fitted=rules.member("FittedNLDD", l="l", d="d")
    ),
    "nldd.estimators._nldd.FittedNLDD": Schema(
        rule=rules.member("NearestRule", "Posterior", l="l", d="d"),
        rows=rules.numbers("n", kinds="i", least=0),
        n_fitted=rules.whole(),
        classifiers=rules.member("SeparateModels", "JointModel", "MeanModel", l="l", d="d"),
    ),
    "nldd.estimators._nearest.NearestRule": Schema(
        index=rules.member("LabelsetIndex", l="l", d="d"),
        pairs=rules.member("Pairs"),
        regression=rules.member("DistanceRegression"),
    ),
    "nldd.estimators._posterior.Posterior": Schema(
        _fits_labelsets,
        lambda posterior: vars(posterior) | {"weights": tuple(posterior.weights)},
        index=rules.member("LabelsetRows", l="l", d="d"),
        weights=rules.tuple_of(rules.real()),
        counts=rules.numbers("s", least=SMALLEST),
        seen=rules.numbers("s", kinds="i", least=1),
        is_closed=rules.flag,
    ),
}
PATHS = {path.rpartition(".")[2]: path for path in SCHEMAS_BY_PATH}
SCHEMAS = {name: SCHEMAS_BY_PATH[path] for name, path in PATHS.items()}


def find_type(name: str) -> Any:
    """The type of an object that a file may hold."""
    return resolve_name(PATHS[name])
