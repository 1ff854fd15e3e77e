"""How kernels are compiled and kept on disk, and how a person hears that it takes a while.

What is kept is for its user alone, and done without where it is damaged or the disk is full.
Importing this takes a third of a second, for numba: so no module does that before it is used.
"""

import gc
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

import numba
from platformdirs import user_cache_path
from tqdm import tqdm

caching: Any = import_module("numba.core.caching")  # without types, as the next
events: Any = import_module("numba.core.event")

OPTIONS = {
    "nogil": True,
    "_nrt": False,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
NOTICE = "Compiling, once after installation: a few seconds."


def kernel(**options: Any) -> Callable[[Any], Any]:
    """Decorator: compiled for its callers, other kernels, and free to run in several threads.

    Reference counts took half of the time. Without them kernels cannot allocate. What Python would
    need to call it takes as long to compile as itself, so only `cached_kernel` has that.
    """
    compiler: Any = numba.njit  # its types do not know all of its options
    return compiler(**{**OPTIONS, **options})


def by_type(choose: Any) -> Any:
    """Decorator: a kernel that `choose` makes of the type of its first argument, a named tuple.

    Only the way that is called for is compiled, and the caller is the same for all of them.
    """
    extending: Any = import_module("numba.extending")

    def stub(*args: Any) -> Any:
        raise NotImplementedError("Kernels alone can call this.")

    extending.overload(stub, jit_options=OPTIONS, strict=False)(
        lambda first, *others: choose(first.instance_class)
    )
    return stub


# Functions that take many arrays and are called often are compiled into their caller, because
# passing the arrays costs as much as using them.
inlined_kernel = partial(kernel, inline="always")
# Sums may be added up in any order: that is what lets the compiler use vector registers.
sum_kernel = partial(kernel, fastmath={"reassoc", "contract"})


def cached_kernel(function: Any) -> Any:
    """Decorator: a kernel that stays on disk until a file of its folder, or this one, changes."""
    # Numba by itself looks at the file of the function only: so the fingerprint of all of them is
    # part of the name under which it is cached; and so is whether it checks indices.
    checked = caching.config.BOUNDSCHECK
    sources = sorted(Path(function.__code__.co_filename).parent.glob("*.py"))
    fingerprint = crc32(b"".join(file.read_bytes() for file in [*sources, Path(__file__)]))
    function.__qualname__ += f"_{fingerprint:08x}" + "_checked" * bool(checked)
    compiled = kernel(no_cpython_wrapper=False)(function)
    with suppress(RuntimeError):  # no folder for the cache: compile in every process
        compiled._cache = KernelCache(function)
    events.register("numba:compile", Announcement(compiled))
    return compiled


def tell_compilation(tell: Callable[[str], None] | None = None) -> None:
    """Let `tell` have the one line that says why the first search of all takes so long.

    Without it the line goes to standard error, if that is a terminal, and nowhere otherwise.

    >>> tell_compilation(print)  # on standard output, terminal or not
    >>> tell_compilation()  # as it was
    """
    Announcement.tell = staticmethod(tell or _tell_terminal)


def _tell_terminal(line: str) -> None:
    if sys.stderr.isatty():
        tqdm.write(line, file=sys.stderr)  # above a progress bar, if one is being drawn


class Announcement(events.Listener):
    """Says so, once a process, when a kernel is compiled rather than loaded from the cache.

    Meanwhile nobody looks for garbage: numba makes so many objects that this took a tenth of the
    time.
    """

    tell: Callable[[str], None] = staticmethod(_tell_terminal)
    is_told = False
    collects_garbage = True

    def __init__(self, compiled: Any) -> None:
        self.compiled = compiled

    def on_start(self, event: Any) -> None:
        """A kernel, perhaps ours, is about to be compiled."""
        if event.data["dispatcher"] is not self.compiled:
            return
        if not Announcement.is_told:
            Announcement.is_told = True
            Announcement.tell(NOTICE)
        self.collects_garbage = gc.isenabled()
        gc.disable()

    def on_end(self, event: Any) -> None:
        """It is compiled, or cannot be."""
        if event.data["dispatcher"] is self.compiled and self.collects_garbage:
            gc.enable()


def private_folder() -> Path:
    """A folder for compiled code, which whoever can write to it would let us run: ours alone.

    It lies in the user's cache folder, or where ``NUMBA_CACHE_DIR`` says.
    """
    chosen, usual = caching.config.CACHE_DIR, user_cache_path("nldd", False, opinion=False)
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


class InPrivateFolder(caching._SourceFileBackedLocatorMixin, caching._CacheLocator):
    """Where numba looks for the kernels of one file."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file, self._lineno = file, function.__code__.co_firstlineno
        # Versions of numba, which differ in what they store, do not overwrite each other's.
        name = f"{self.get_suitable_cache_subpath(file)}_{caching.numba.__version__}"
        self._folder = private_folder() / name

    @classmethod
    def from_function(cls, function: Any, file: str) -> Any:
        """None, for a kernel that is not cached, if there is no such folder."""
        with suppress(OSError):
            return super().from_function(function, file)

    def get_cache_path(self) -> str:
        """The folder as numba wants it."""
        return str(self._folder)


class WithChecksum(caching.CompileResultCacheImpl):
    """What is stored; machine code that is damaged must not run."""

    _locator_classes = (InPrivateFolder,)

    def reduce(self, result: Any) -> tuple[int, bytes]:
        """A compiled kernel as bytes, with their checksum."""
        data = caching.dumps(super().reduce(result))
        return crc32(data), data

    def rebuild(self, context: Any, payload: tuple[int, bytes]) -> Any:
        """The kernel, if it is as it was."""
        checksum, data = payload
        if crc32(data) != checksum:
            raise ValueError("The machine code is damaged.")
        return super().rebuild(context, pickle.loads(data))


class KernelCache(caching.FunctionCache):
    """The cache of one kernel, as a dispatcher of numba asks it."""

    _impl_class = WithChecksum

    def load_overload(self, types: Any, context: Any) -> Any:
        """The kernel for arguments of these types, or None if it has to be compiled."""
        with self._or_without():
            result = super().load_overload(types, context)
            if result is not None and result.signature.args != tuple(types):
                raise ValueError("The machine code is for other types.")
            return result

    def save_overload(self, types: Any, result: Any) -> None:
        """Keep a kernel, where that is possible."""
        with self._or_without():
            super().save_overload(types, result)

    @contextmanager
    def _or_without(self) -> Iterator[None]:
        try:
            yield
        except Exception:  # a damaged pickle can raise anything
            with suppress(OSError):  # whoever comes next starts anew
                Path(self._cache_file._index_path).unlink()
