"""Fixtures of the tests of data sets."""

import pytest

from nldd.datasets import _fetch as fetch_module


@pytest.fixture
def quick_fetch(monkeypatch):
    """No waiting between attempts, and no mirror or proxy of whoever runs the tests."""
    monkeypatch.setattr(fetch_module, "WAIT_SECONDS", (0.0, 0.0))
    for name in ("NLDD_MIRROR", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
