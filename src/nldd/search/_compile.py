"""How the kernels of the search are compiled."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numba import njit

from nldd.search._ties import TIE

EPSILON = np.finfo(np.float64).eps
# A score or distance within this factor of the one to beat may turn out equal to it.
SLACK = 1 + 4 * TIE


def kernel(**options: Any) -> Callable[[Any], Any]:
    """Decorator: compiled at the first call, and free to run in several threads.

    Without numba's reference counts, which are atomic and took more than half of the time. The
    price is that kernels cannot allocate: the caller gives them room.
    """
    compiler: Any = njit  # its types do not know all of its options
    return compiler(nogil=True, _nrt=False, error_model="numpy", **options)


def kept(make: Callable[[int], Any]) -> Any:
    """The kernel that `make` makes of a fingerprint, kept on disk for as long as that is the same.

    Numba looks at the file of a function only to see whether what it kept is out of date, but a
    kernel is made of several files. It does tell apart functions with different closures, so the
    kernel encloses the fingerprint of all files of this folder.
    """
    sources = sorted(Path(__file__).parent.glob("*.py"))
    fingerprint = 1 + crc32(b"".join(source.read_bytes() for source in sources))
    function = make(fingerprint)
    try:
        return kernel(cache=True)(function)
    except RuntimeError:  # no folder to keep it in can be written: compile in every process
        return kernel()(function)


# Functions that take many arrays and are called often are pasted into their caller, because
# passing the arrays costs as much as using them.
pasted = partial(kernel, inline="always")
# Sums may be added up in any order: that is what lets the compiler use vector registers.
summing = partial(kernel, fastmath={"reassoc", "contract"})
