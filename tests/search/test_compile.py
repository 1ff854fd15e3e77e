"""Where kernels are kept, and what happens if they cannot be."""

import pytest
from numba.core.caching import CacheImpl

from nldd.search import _compile, _kernel


def test_kernel_is_kept_on_disk():
    assert _kernel.query_block.stats.cache_path


def test_without_a_folder_to_write_to_kernels_are_compiled_all_the_same(monkeypatch):
    monkeypatch.setattr(CacheImpl, "_locator_classes", [])

    def twice(x):
        return 2 * x

    assert _compile.kernel()(twice)(21) == 42


@pytest.mark.parametrize("decorator", ["kernel", "pasted", "summing"])
def test_kernels_do_not_count_references(decorator):
    def first(x):
        return x[0]

    compiled = getattr(_compile, decorator)()(first)
    assert compiled.targetoptions["_nrt"] is False
    assert compiled.targetoptions["nogil"] is True
