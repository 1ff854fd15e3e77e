"""Rows of 0 and 1 as bits, 64 features a word: their distance is a count of bits."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

WORD = 64
# A word takes about a quarter of the time of a stored number in a dot product.
WORDS_PER_NUMBER = 4


def is_worth_packing(Z: Any) -> bool:
    """Whether the rows are sparse zeros and ones, and not so sparse that most words are empty."""
    if not issparse(Z) or not (Z.data == 1).all():
        return False
    return bool(Z.shape[0] * Z.shape[1] / WORD <= WORDS_PER_NUMBER * Z.nnz)


def pack(Z: Any) -> NDArray[np.uint64]:
    """CSR matrix of ones as words, of shape (n_rows, n_words).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> pack(csr_array(np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]])))
    array([[5],
           [0]], dtype=uint64)
    """
    n_words = -(-Z.shape[1] // WORD)
    words = np.zeros((Z.shape[0], n_words), dtype=np.uint64)
    row = np.repeat(np.arange(Z.shape[0]), np.diff(Z.indptr))
    word, bit = np.divmod(Z.indices.astype(np.uint64), np.uint64(WORD))
    np.bitwise_or.at(words, (row, word.astype(np.intp)), np.left_shift(np.uint64(1), bit))
    return words
