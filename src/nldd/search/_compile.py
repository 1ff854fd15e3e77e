"""How the kernels of the search are compiled."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import njit

from nldd.search._ties import TIE

EPSILON = np.finfo(np.float64).eps
# A score or distance within this factor of the one to beat may turn out equal to it.
SLACK = 1 + 4 * TIE


def kernel(**options: Any) -> Callable[[Any], Any]:
    """Decorator: compiled at the first call, kept on disk, free to run in several threads.

    Without numba's reference counts, which are atomic and took more than half of the time. The
    price is that kernels cannot allocate: the caller gives them room.
    """
    compiler = partial(njit, nogil=True, _nrt=False, error_model="numpy", **options)

    def decorate(function: Any) -> Any:
        try:
            return compiler(cache=True)(function)
        except RuntimeError:  # no folder to keep it in can be written: compile in every process
            return compiler()(function)

    return decorate


# Functions that take many arrays and are called often are pasted into their caller, because
# passing the arrays costs as much as using them.
pasted = partial(kernel, inline="always")
# Sums may be added up in any order: that is what lets the compiler use vector registers.
summing = partial(kernel, fastmath={"reassoc", "contract"})
