"""Fixtures of the tests of data sets."""

from types import SimpleNamespace

import pooch.core
import pytest


@pytest.fixture
def quick_fetch(monkeypatch):
    """No waiting between attempts, and no mirror or proxy of whoever runs the tests."""
    monkeypatch.setattr(pooch.core, "time", SimpleNamespace(sleep=lambda seconds: None))
    for name in ("NLDD_MIRROR", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
