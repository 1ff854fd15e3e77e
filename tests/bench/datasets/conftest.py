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
def write(tmp_path):
    """Write a text or bytes to a file, and return its path."""

    def write(content, file):
        path = tmp_path / file
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def load(write, tmp_path):
    """Load a data set from text or bytes, as if they were a file."""

    def load(content, file="toy.arff", **options):
        return load_dataset(write(content, file), **options)

    load.folder = tmp_path
    return load
