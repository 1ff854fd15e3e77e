"""The package as a whole: lazy names, honest exports."""

import re
from pathlib import Path

import pytest

import nldd

CITATION = Path(__file__).parents[1] / "CITATION.cff"


@pytest.mark.parametrize("package", [nldd, nldd.bench, nldd.coding], ids=lambda p: p.__name__)
def test_every_exported_name_resolves(package):
    for name in package.__all__:
        assert getattr(package, name) is not None
    assert set(package.__all__) <= set(dir(package))


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'NLDD'"):
        nldd.NLDD  # noqa: B018 - the access itself is what is tested


def test_citation_has_the_version():
    (version,) = re.findall(r"^version: (\S+)$", CITATION.read_text("utf-8"), re.MULTILINE)
    assert version == nldd.__version__
