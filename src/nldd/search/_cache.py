"""Compiled kernels on disk: for their user alone, and done without where damaged or full."""

import os
import pickle
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from zlib import crc32

from platformdirs import user_cache_path

caching: Any = import_module("numba.core.caching")  # without types


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
