"""Distances to the nearest row of every labelset, from products of rows.

The distance to one labelset after the other is what a posterior needs, so nothing can be left out,
and products are quickest: of dense rows by BLAS, of sparse ones by the rows of each word. Where
only the most probable labelset is asked for, sparse rows of labelsets that cannot be it any more
are left out.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse, vstack

from nldd.search._distances import FloatArray, scale_rows, squared_norms
from nldd.search._index import distinct_labelsets
from nldd.search._product_kernels import RowsByColumn, most_probable, nearest_members


class LabelsetRows:
    """Training rows in the order of their labelsets; it never changes, so threads can share it.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_rows, n_features)
    Y : ndarray of shape (n_rows, n_labels)
    scale : ndarray of shape (n_features,)
        Divisors of the features.
    unit_length : bool, default=False
        Divide rows by their length then.

    Attributes
    ----------
    labelsets : ndarray of shape (n_labelsets, n_labels)
        The distinct rows of `Y`.
    counts : ndarray of shape (n_labelsets,)
        How many rows carry each of them.
    number : ndarray of shape (n_rows,)
        Which row of `X` each one is.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [5.0]])
    >>> rows = LabelsetRows(X, np.array([[1, 0], [1, 1], [1, 1]]), scale=np.ones(1))
    >>> rows.distances(np.array([[4.0]]))
    (array([[4., 1.]]), array([[0, 2]]))
    """

    def __init__(
        self, X: Any, Y: NDArray[Any], scale: FloatArray, unit_length: bool = False
    ) -> None:
        self.scale, self.unit_length = scale, unit_length
        self._arrange(scale_rows(X, scale, unit_length), Y, np.arange(len(Y)))

    def __len__(self) -> int:
        return len(self.number)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prepared": None}  # as quickly made as read

    def with_rows(self, X: Any, Y: NDArray[Any]) -> "LabelsetRows":
        """The same with more rows, numbered on from the last; this one stays as it is."""
        new, Y_old = self._like_rows(X), np.repeat(self.labelsets, self.counts, axis=0)
        stack = vstack if issparse(self.Z) else np.concatenate
        larger: LabelsetRows = object.__new__(LabelsetRows)
        larger.scale, larger.unit_length = self.scale, self.unit_length
        number = np.append(self.number, len(self) + np.arange(len(Y)))
        larger._arrange(stack([self.Z, new]), np.concatenate([Y_old, Y]), number)
        return larger

    def distances(self, X: Any) -> tuple[FloatArray, NDArray[np.intp]]:
        """Distance of each row of `X` from the nearest member of each labelset, and which it is.

        Parameters
        ----------
        X : {ndarray, CSR} of shape (n_queries, n_features)

        Returns
        -------
        ndarray of shape (n_queries, n_labelsets)
            Off by about 1e-8 of the length of the rows, because they are found from products.
        ndarray of int of shape (n_queries, n_labelsets)
            Of members that are equally near, the first.
        """
        A, (norms, columns, centre) = self._like_rows(X), self._prepare()
        squares = np.empty((A.shape[0], len(self.counts)))
        nearest = np.empty(squares.shape, dtype=np.intp)
        if issparse(A):
            products, queries = np.empty((1, len(self))), csr_parts(A)
        else:
            A -= centre
            products, columns, queries = A @ columns.T, None, None
        nearest_members(
            self.starts, columns, norms, queries, squared_norms(A), products, squares, nearest
        )
        return np.sqrt(squares), self.number[nearest]

    def most_probable(self, X: Any, gain: FloatArray, weight: float) -> NDArray[np.intp]:
        """The labelset with the largest ``gain - weight * Dx`` for each row of `X`.

        Parameters
        ----------
        X : {ndarray, CSR} of shape (n_queries, n_features)
        gain : ndarray of shape (n_queries, n_labelsets)
        weight : float
            Not below 0.

        Returns
        -------
        ndarray of int of shape (n_queries,)
        """
        if weight == 0:
            return gain.argmax(axis=1)
        if not issparse(self.Z):
            return (gain - weight * self.distances(X)[0]).argmax(axis=1)
        A, (norms, columns, _) = self._like_rows(X), self._prepare()
        found, products = np.empty(A.shape[0], dtype=np.intp), np.empty(len(self))
        of_queries = csr_parts(A), squared_norms(A)
        most_probable(self.starts, columns, norms, *of_queries, products, gain, weight, found)
        return found

    def _arrange(self, Z: Any, Y: NDArray[Any], number: NDArray[np.intp]) -> None:
        """Put scaled rows into the order of their labelsets, and within one of their numbers."""
        self.labelsets, labelset = distinct_labelsets(Y)
        order = np.lexsort((number, labelset))
        self.Z, self.number = Z[order], number[order]
        self.counts = np.bincount(labelset)
        self.starts = np.cumsum(np.append(0, self.counts))
        self._prepared: Any = None

    def _prepare(self) -> Any:
        """Squared lengths of the rows, and sparse ones by column or dense ones around their mean.

        Made when it is first asked for; what two threads make is the same.
        """
        if self._prepared is None:
            Z, centre = self.Z, None
            if issparse(Z):
                norms, by_column = squared_norms(Z), Z.tocsc()
                starts, rows = by_column.indptr.astype(np.int64), by_column.indices.astype(np.int32)
                Z = RowsByColumn(starts, rows, by_column.data)
            else:
                # Around the mean, products lose the fewest digits.
                centre = Z.mean(axis=0)
                Z = Z - centre
                norms = squared_norms(Z)
            self._prepared = norms, Z, centre
        return self._prepared

    def _like_rows(self, X: Any) -> Any:
        """`X` sparse or dense as the rows are, and scaled."""
        if issparse(self.Z) and not issparse(X):
            X = csr_array(X)
        elif issparse(X) and not issparse(self.Z):
            X = X.toarray()
        return scale_rows(X, self.scale, self.unit_length)


def csr_parts(A: Any) -> tuple[NDArray[Any], ...]:
    """Where sparse rows begin, their columns and values, in the types that kernels take."""
    return A.indptr.astype(np.int64), A.indices.astype(np.int32), A.data
