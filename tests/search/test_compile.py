"""Where kernels are cached, what happens if they cannot be, and who hears of compilation."""

import sys

import pytest
from numba.core.caching import CacheImpl

from nldd.search import _compile, tell_compilation

NOTICE = "Compiling the search, once after installation: about 10 seconds."


def twice(x):
    return 2 * x


def copy_of(function):
    """The same function once more: a decorator may rename it."""
    return type(function)(function.__code__, function.__globals__, function.__name__)


@pytest.fixture
def without_cache(monkeypatch):
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])


def test_without_a_folder_to_write_to_kernels_are_compiled_all_the_same(without_cache):
    assert _compile.cached_kernel(copy_of(twice))(21) == 42


def test_cache_belongs_to_the_files_that_the_kernel_is_made_of(monkeypatch, tmp_path):
    """Numba alone would open what another version left, and fail where a module is gone."""
    monkeypatch.setattr(_compile, "__file__", str(tmp_path / "_compile.py"))
    names = []
    for text in ("TIE = 1", "TIE = 2", "TIE = 1"):
        (tmp_path / "_distances.py").write_text(text)
        compiled = _compile.cached_kernel(copy_of(twice))
        names.append(compiled._cache._impl.filename_base)
    first, second, third = names
    assert first == third != second


# Who hears of compilation


@pytest.fixture
def compile_twice(without_cache):
    """Two calls of a kernel that is not compiled yet, and one of another type."""

    def call():
        kernel = _compile.cached_kernel(copy_of(twice))
        assert (kernel(21), kernel(4), kernel(0.5)) == (42, 8, 1.0)

    return call


@pytest.mark.parametrize("is_terminal", [True, False])
def test_terminal_hears_once_that_the_search_is_compiled(
    compile_twice, monkeypatch, capsys, is_terminal
):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    compile_twice()
    assert capsys.readouterr() == ("", f"{NOTICE}\n" if is_terminal else "")


def test_compilation_is_told_to_whoever_asks(compile_twice):
    lines = []
    tell_compilation(lines.append)
    try:
        compile_twice()
    finally:
        tell_compilation()
    assert lines == [NOTICE]


def test_kernel_from_the_cache_is_no_news(monkeypatch, tmp_path):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    lines = []
    tell_compilation(lines.append)
    try:
        for _ in range(2):
            assert _compile.cached_kernel(copy_of(twice))(21) == 42
    finally:
        tell_compilation()
    assert lines == [NOTICE]
