"""How the kernels of the search are compiled, and how a person hears that it takes a while."""

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from zlib import crc32

from tqdm import tqdm

from nldd.search._distances import TIE

# A score or distance within this factor of the one to beat may turn out equal to it.
SLACK = 1 + 4 * TIE
NOTICE = "Compiling the search, once after installation: about 10 seconds."


def kernel(**options: Any) -> Callable[[Any], Any]:
    """Decorator: compiled at the first call, free to run in several threads.

    Reference counts took half of the time. Without them kernels cannot allocate.
    """
    import numba  # takes a third of a second, so not before a kernel is made

    compiler: Any = numba.njit  # its types do not know all of its options
    return compiler(nogil=True, _nrt=False, error_model="numpy", **options)


# Functions that take many arrays and are called often are compiled into their caller, because
# passing the arrays costs as much as using them.
inlined_kernel = partial(kernel, inline="always")
# Sums may be added up in any order: that is what lets the compiler use vector registers.
sum_kernel = partial(kernel, fastmath={"reassoc", "contract"})


def cached_kernel(function: Any) -> Any:
    """Decorator: a kernel that stays on disk until one of the files of this folder changes."""
    from nldd.search._cache import KernelCache, caching

    # Numba by itself looks at the file of the function only: so the fingerprint of all of them is
    # part of the name under which it is cached; and so is whether it checks indices.
    checked = caching.config.BOUNDSCHECK
    sources = sorted(Path(__file__).parent.glob("*.py"))
    fingerprint = crc32(b"".join(source.read_bytes() for source in sources))
    function.__qualname__ += f"_{fingerprint:08x}" + "_checked" * bool(checked)
    compiled = kernel()(function)
    with suppress(RuntimeError):  # no folder for the cache: compile in every process
        compiled._cache = KernelCache(function)
    _announce(compiled)
    return compiled


def tell_compilation(tell: Callable[[str], None] | None = None) -> None:
    """Let `tell` have the one line that says why the first search of all takes so long.

    Without it the line goes to standard error, if that is a terminal, and nowhere otherwise.

    >>> tell_compilation(print)  # on standard output, terminal or not
    >>> tell_compilation()  # as it was
    """
    global _tell
    _tell = tell or _tell_terminal


def _tell_terminal(line: str) -> None:
    if sys.stderr.isatty():
        tqdm.write(line, file=sys.stderr)  # above a progress bar, if one is being drawn


_tell: Callable[[str], None] = _tell_terminal


def _announce(compiled: Any) -> None:
    """Say so when `compiled` is compiled for the first time, rather than loaded from the cache."""
    events: Any = import_module("numba.core.event")  # without types

    class Announcement(events.Listener):
        def on_start(self, event: Any) -> None:
            if event.data["dispatcher"] is compiled and not compiled.overloads:
                _tell(NOTICE)

        def on_end(self, event: Any) -> None:
            pass

    events.register("numba:compile", Announcement())
