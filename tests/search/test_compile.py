"""Where kernels are kept, and what happens if they cannot be."""

import pytest
from numba.core.caching import CacheImpl

from nldd.search import _compile, _kernel


def test_kernel_is_kept_on_disk():
    assert _kernel.query_block.stats.cache_path


def test_without_a_folder_to_write_to_kernels_are_compiled_all_the_same(monkeypatch):
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])

    def make(fingerprint):
        def twice(x):
            return 2 * x if fingerprint > 0 else 0

        return twice

    assert _compile.kept(make)(21) == 42


@pytest.mark.parametrize("decorator", ["kernel", "pasted", "summing"])
def test_kernels_do_not_count_references(decorator):
    def first(x):
        return x[0]

    compiled = getattr(_compile, decorator)()(first)
    assert compiled.targetoptions["_nrt"] is False
    assert compiled.targetoptions["nogil"] is True


def test_kept_kernel_knows_the_files_it_is_made_of(monkeypatch, tmp_path):
    fingerprints = []

    def make(fingerprint):
        fingerprints.append(fingerprint)
        return lambda: fingerprint

    monkeypatch.setattr(_compile, "__file__", str(tmp_path / "_compile.py"))
    for text in ("TIE = 1", "TIE = 2", "TIE = 1"):
        (tmp_path / "_ties.py").write_text(text)
        _compile.kept(make)
    first, second, third = fingerprints
    assert first == third != second
    assert min(fingerprints) > 0
