"""Files that nldd 0.1.0 wrote, with scikit-learn 1.6, are read and predict what they did then.

``expected.json`` has the rows and what 0.1.0 itself predicted for them.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_matrix

from nldd.coding import Answers, load_coding_model
from nldd.io import load_model, read_manifest, save_model

FILES = Path(__file__).parent / "files" / "v0.1.0"
EXPECTED = json.loads((FILES / "expected.json").read_text())
MODELS = [name for name, answers in EXPECTED.items() if "predict" in answers]

pytestmark = pytest.mark.filterwarnings("ignore:.*saved with scikit-learn 1.6")


@pytest.mark.parametrize("name", MODELS)
def test_old_model_predicts_the_same(name, tmp_path):
    path = FILES / f"{name}.nldd"
    assert read_manifest(path)["format"] == 1
    X = csr_matrix(np.array(EXPECTED["sparse X"])) if "sparse" in name else np.array(EXPECTED["X"])
    model = load_model(path)
    save_model(model, tmp_path / "new.nldd")
    assert read_manifest(tmp_path / "new.nldd")["format"] == 2
    for each in (model, load_model(tmp_path / "new.nldd")):
        for method, expected in EXPECTED[name].items():
            assert_array_equal(getattr(each, method)(X), expected)


def test_old_coding_model_codes_the_same():
    expected = EXPECTED["coding"]
    texts = expected["texts"]
    model = load_coding_model(FILES / "coding.nldd")
    found = model.code(Answers(texts, np.empty((len(texts), 0)), [()] * len(texts)))
    for name in set(expected) - {"texts"}:
        assert_array_equal(getattr(found, name), expected[name], err_msg=name)
    # It knew no chances, so theta ranks, and what theta lets through stays the same.
    selection = model.select(0.5, 0.6)
    assert found.chance is None
    assert (selection.rank_by, selection.limit) == ("theta", selection.threshold)
