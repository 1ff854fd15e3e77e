"""The package as a whole: lazy names, honest exports."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import nldd

CITATION = Path(__file__).parents[1] / "CITATION.cff"


def test_every_exported_name_resolves():
    for name in nldd.__all__:
        assert getattr(nldd, name) is not None
    assert set(nldd.__all__) <= set(dir(nldd))


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'NLDD'"):
        nldd.NLDD  # noqa: B018 - the access itself is what is tested


def test_citation_has_the_version():
    (version,) = re.findall(r"^version: (\S+)$", CITATION.read_text("utf-8"), re.MULTILINE)
    assert version == nldd.__version__


def test_import_loads_nothing_heavy():
    code = "import sys, nldd; sys.exit('sklearn' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
