"""How the kernels of the search are compiled, and how a person hears that it takes a while."""

import os
import pickle
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any
from zlib import crc32

from platformdirs import user_cache_path
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
    # Numba by itself looks at the file of the function only: so the fingerprint of all of them is
    # part of the name under which it is cached; and so is whether it checks indices.
    checked = import_module("numba.core.config").BOUNDSCHECK
    sources = sorted(Path(__file__).parent.glob("*.py"))
    fingerprint = crc32(b"".join(source.read_bytes() for source in sources))
    function.__qualname__ += f"_{fingerprint:08x}" + "_checked" * bool(checked)
    compiled = kernel()(function)
    with suppress(OSError, RuntimeError):  # no such folder: compile in every process
        compiled._cache = _cache_of(function, private_folder())
    _announce(compiled)
    return compiled


def private_folder() -> Path:
    """A folder for compiled code, which whoever can write to it would let us run: for us alone.

    It lies in the user's cache folder, or where ``NUMBA_CACHE_DIR`` says.
    """
    chosen = import_module("numba.core.config").CACHE_DIR
    usual = user_cache_path("nldd", appauthor=False, opinion=False)
    folder = Path(os.path.abspath(chosen) if chosen else usual) / "kernels"
    if not folder.is_absolute():  # there is no home to expand
        raise OSError(f"{folder} is no folder of a user.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    is_ours = not hasattr(os, "geteuid") or (
        found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    )
    if not stat.S_ISDIR(found.st_mode) or not is_ours:
        raise PermissionError(f"{folder} belongs to somebody else, or others may write to it.")
    return folder


def _cache_of(function: Any, folder: Path) -> Any:
    """Numba's cache in this folder, which does without where what it finds is damaged or full."""
    caching: Any = import_module("numba.core.caching")  # without types

    class InFolder(caching._SourceFileBackedLocatorMixin, caching._CacheLocator):  # type: ignore[misc]
        def __init__(self, function: Any, file: str) -> None:
            self._py_file, self._lineno = file, function.__code__.co_firstlineno
            # Versions of numba, which differ in what they store, do not overwrite each other's.
            self._folder = folder / f"{self.get_suitable_cache_subpath(file)}_{caching.numba.__version__}"

        def get_cache_path(self) -> str:
            return str(self._folder)

    class Checked(caching.CompileResultCacheImpl):  # type: ignore[misc]
        _locator_classes = (InFolder,)

        def reduce(self, result: Any) -> tuple[int, bytes]:
            data = caching.dumps(super().reduce(result))
            return crc32(data), data

        def rebuild(self, context: Any, payload: tuple[int, bytes]) -> Any:
            checksum, data = payload
            if crc32(data) != checksum:
                raise ValueError("Machine code that is damaged must not run.")
            return super().rebuild(context, pickle.loads(data))

    class Cache(caching.FunctionCache):  # type: ignore[misc]
        _impl_class = Checked

        def load_overload(self, types: Any, context: Any) -> Any:
            with self._or_without():
                result = super().load_overload(types, context)
                if result is None or result.signature.args == tuple(types):
                    return result
                raise ValueError("This was compiled for other types.")

        def save_overload(self, types: Any, result: Any) -> None:
            with self._or_without():
                super().save_overload(types, result)

        @contextmanager
        def _or_without(self) -> Iterator[None]:
            try:
                yield
            except Exception:  # a damaged pickle can raise anything
                with suppress(OSError):  # the next process starts anew
                    Path(self._cache_file._index_path).unlink()

    return Cache(function)


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
