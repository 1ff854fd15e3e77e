"""How the kernels of the search are compiled."""

from functools import partial

import numpy as np
from numba import njit

from nldd.search._ties import TIE

EPSILON = np.finfo(np.float64).eps
# A score or distance within this factor of the one to beat may turn out equal to it.
SLACK = 1 + 4 * TIE

# Without numba's reference counts, which are atomic and took more than half of the time. The price
# is that kernels cannot allocate: the caller gives them room. Functions that take many arrays and
# are called often are pasted into their caller, because passing the arrays costs as much.
kernel = partial(njit, cache=True, nogil=True, _nrt=False, error_model="numpy")
pasted = partial(kernel, inline="always")
# Sums may be added up in any order: that is what lets the compiler use vector registers.
summing = partial(kernel, fastmath={"reassoc", "contract"})
