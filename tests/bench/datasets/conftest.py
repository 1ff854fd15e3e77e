"""Fixtures of the tests of data sets."""

from types import SimpleNamespace

import pooch.core
import pytest

from nldd.bench.datasets.load import load_dataset


@pytest.fixture
def quick_fetch(monkeypatch):
    """No waiting between attempts, and no mirror or proxy of whoever runs the tests."""
    monkeypatch.setattr(pooch.core, "time", SimpleNamespace(sleep=lambda seconds: None))
    for name in ("NLDD_MIRROR", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def load(tmp_path):
    """Load a data set from text or bytes, as if they were a file."""

    def load(content, file="toy.arff", **options):
        path = tmp_path / file
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return load_dataset(path, **options)

    load.folder = tmp_path
    return load
