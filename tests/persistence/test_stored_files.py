"""Files of each format that is read say what they said on the day of writing."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from nldd.persistence import load_model
from nldd.persistence._archive import FORMAT

FILES = Path(__file__).parent / "files"
STORED = sorted(path.relative_to(FILES) for path in FILES.glob("*/*.nldd"))


@pytest.mark.parametrize("path", STORED, ids=str)
def test_stored_model_predicts_the_same(path):
    expected = json.loads((FILES / path.parent / "expected.json").read_text(encoding="utf-8"))
    model = load_model(FILES / path)
    for ask, said in expected["said"][path.name].items():
        found = getattr(model, ask)(np.array(expected["X"]))
        if ask == "predict":
            assert_array_equal(found, said)
        else:  # sums may differ in their last digits
            assert_allclose(found, said, rtol=1e-9, atol=1e-12)


def test_this_format_is_stored():
    assert any(path.parent.name == f"format{FORMAT}" for path in STORED)
