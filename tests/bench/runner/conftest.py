"""Fixtures of the tests of experiments."""

import pytest

from nldd.bench.runner.protocol_file import load_protocol


@pytest.fixture
def own(tmp_path):
    """Loads a protocol from a text."""

    def load(text, name="mine.toml"):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return load_protocol(path)

    return load
