"""Base classifiers fitted once for all methods that fit the same one to the same rows."""

import warnings
from hashlib import blake2b
from time import thread_time
from typing import Any, Self

import joblib
import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from nldd._sklearn import get_tags


def digest(values: Any) -> bytes:
    """Digest of an array or a CSR array: shape, type and contents."""
    parts = [values.data, values.indices, values.indptr] if issparse(values) else [values]
    state = blake2b(str(values.shape).encode(), digest_size=16)
    for part in parts:
        array = np.ascontiguousarray(part)
        state.update(array.dtype.str.encode())
        state.update(array.data)
    return state.digest()


class SharedFits:
    """Fitted base classifiers and the seconds that each took.

    `saved_seconds` is what the fits found here would have taken, so that a method can be charged
    for them as if it had been alone.
    """

    def __init__(self) -> None:
        self.saved_seconds = 0.0
        # By what was fitted to what: the model, its seconds and its warnings.
        self._fitted: dict[Any, tuple[Any, float, list[warnings.WarningMessage]]] = {}
        self._digests: dict[int, tuple[Any, bytes]] = {}

    def fit(self, estimator: Any, X: Any, y: Any) -> Any:
        """`estimator` fitted to X and y, now or before."""
        # Not by its text, which scikit-learn cuts short where a parameter is long.
        parameters = joblib.hash(estimator.get_params())
        key = type(estimator), parameters, self._digest(X), digest(y)
        if key in self._fitted:
            self.saved_seconds += self._fitted[key][1]
        else:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                start = thread_time()
                model = clone(estimator).fit(X, y)
                self._fitted[key] = model, thread_time() - start, caught
        model, _, caught = self._fitted[key]
        # Every method that uses the fit is warned, as if it had been alone.
        for w in caught:
            warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)
        return model

    def _digest(self, X: Any) -> bytes:
        """Digest of X, taken once an object: all labels of a method are fitted to the same one."""
        if id(X) not in self._digests:
            # X is kept beside its digest, or its id could be given to another one.
            self._digests[id(X)] = X, digest(X)
        return self._digests[id(X)][1]

    def __deepcopy__(self, memo: Any) -> Self:
        # Estimators are copied with their parameters; this one is a place, and stays the place.
        return self


class SharedBase(ClassifierMixin, BaseEstimator):
    """A base classifier whose `fit` hands over what was fitted to the same rows before.

    Only for estimators that keep what `fit` returns, as the methods here do.
    """

    def __init__(self, estimator: Any, fits: SharedFits) -> None:
        self.estimator = estimator
        self.fits = fits

    def fit(self, X: Any, y: Any) -> Any:
        """The fitted base classifier itself."""
        return self.fits.fit(self.estimator, X, y)

    def __getattr__(self, name: str) -> Any:
        # What the base classifier can do (predict_proba, decision_function) this one can.
        if name.startswith("__") or name == "estimator":
            raise AttributeError(name)
        return getattr(self.estimator, name)

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)
