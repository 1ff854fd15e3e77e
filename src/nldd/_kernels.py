"""Kernels that stay compiled, in the cache of numba."""

from collections.abc import Callable
from typing import Any

from numba import njit


def cached_kernel(**options: Any) -> Callable[[Any], Any]:
    """Decorator: ``njit`` that is kept on disk, wherever there is a folder to write to.

    Numba compiles again when the file of the function has changed, and looks at no other file. So
    all that is compiled into it has to be in that file: kernels, constants, options, named tuples.
    """

    def decorate(function: Any) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError:  # neither beside the file nor in the user's folder
            return njit(**options)(function)

    return decorate
