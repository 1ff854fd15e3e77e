"""Whether the parts of a loaded model fit together, before anything is computed with them."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from nldd.coding._evidence import Predictions
from nldd.coding._history import Event
from nldd.coding._model import CodingModel


def check_parts(model: CodingModel) -> None:
    """Refuse parts of wrong kinds or sizes, which would fail later and far from their cause."""
    for what, fits in _checks(model):
        if not fits:
            raise ValueError(f"{what} cannot be right")


def _checks(model: CodingModel) -> Iterator[tuple[str, bool]]:
    """Each part with whether it is right; later ones rely on earlier ones."""
    n, n_labels = len(model.answers), len(model.labels)
    columns, codes, settings = model.columns, model.columns.codes, model.settings
    yield "separator", isinstance(codes.separator, str) and isinstance(codes.none, str)
    yield "folds", type(settings.n_folds) is int and settings.n_folds >= 2
    yield "seed", type(settings.random_state) is int and 0 <= settings.random_state < 2**32
    yield "labels", len(set(model.labels)) == n_labels
    yield "codes", _is_indicator(model.Y, (n, n_labels))
    yield "numbers", _is_float(model.answers.numbers, (n, len(columns.numeric)), nan=True)
    yield "categories", len(model.answers.categories) == n
    width = len(columns.categorical)
    yield "categories", all(len(row) == width for row in model.answers.categories)
    yield from _feature_checks(model)
    yield from _evidence_checks(model.evidence, n, n_labels)
    rows = model.classifier.rows_
    yield "rows", bool(((rows >= 0) & (rows < n)).all())
    yield "number of labels", model.classifier.n_labels_ == n_labels
    yield "identities", len(model.identities) in (0, n)
    yield "history", all(_is_event(event) for event in model.history)


def _feature_checks(model: CodingModel) -> Iterator[tuple[str, bool]]:
    features, columns = model.features, model.columns
    for terms in (features.words, features.letters):
        yield terms.kind, len(set(terms.terms)) == len(terms.terms)
        yield terms.kind, _is_float(terms.weights, (len(terms.terms),))
    yield "centre", _is_float(features.centre, (len(columns.numeric),))
    yield "scale", _is_float(features.scale, (len(columns.numeric),))
    yield "scale", bool((features.scale > 0).all())
    yield "levels", len(features.levels) == len(columns.categorical)
    yield "levels", all(len(set(levels)) == len(levels) for levels in features.levels)
    n_terms = len(features.words.terms) + len(features.letters.terms)
    n_columns = n_terms + 2 * len(columns.numeric) + sum(map(len, features.levels))
    yield "number of features", model.classifier.n_features_in_ == n_columns


def _evidence_checks(evidence: Predictions, n: int, n_labels: int) -> Iterator[tuple[str, bool]]:
    yield "predicted codes", _is_indicator(evidence.Y, (n, n_labels))
    for name in ("theta", "Dx", "Dy", "x_part", "y_part"):
        yield name, _is_float(getattr(evidence, name), (n,))
    yield "theta", bool(((evidence.theta >= 0) & (evidence.theta <= 1)).all())
    rows = evidence.row
    yield "evidence", rows.shape == (n,) and rows.dtype.kind == "i"
    yield "evidence", bool(((rows >= 0) & (rows < n)).all())


def _is_indicator(Y: Any, shape: tuple[int, ...]) -> bool:
    return Y.shape == shape and Y.dtype == np.int8 and bool(((Y == 0) | (Y == 1)).all())


def _is_float(values: Any, shape: tuple[int, ...], nan: bool = False) -> bool:
    if values.shape != shape or values.dtype != np.float64:
        return False
    return bool((np.isfinite(values) | (nan & np.isnan(values))).all())


def _is_event(event: Event) -> bool:
    return all(
        type(getattr(event, field.name)).__name__ == field.type
        if isinstance(field.type, str)
        else type(getattr(event, field.name)) is field.type
        for field in fields(Event)
    )
