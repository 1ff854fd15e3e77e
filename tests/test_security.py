"""Claims of SECURITY.md without tests elsewhere; `.ci/check_safety.py` has those of sources."""

import socket
from dataclasses import replace

import pytest
from sklearn.ensemble import GradientBoostingClassifier

from coding_tables import make_study, refuse
from nldd import NLDDClassifier, NLDDWarning
from nldd.coding.model_file import load_coding_model, save_coding_model
from nldd.coding.review.server import listen


@pytest.mark.filterwarnings("ignore::nldd.ZeroWeightWarning")
def test_model_of_a_foreign_type_is_refused_by_commands(tmp_path, capsys):
    make_study(tmp_path)
    path = tmp_path / "model.nldd"
    model = load_coding_model(path)
    base = GradientBoostingClassifier(n_estimators=1, max_depth=1)
    X = model.features.transform(model.answers)
    with pytest.warns(NLDDWarning, match="trusted"):
        save_coding_model(replace(model, classifier=NLDDClassifier(base).fit(X, model.Y)), path)
    for words in (
        ("predict", path, tmp_path / "new.csv", "-o", tmp_path / "c.csv"),
        ("triage", path),
    ):
        said, _ = refuse(capsys, *words)
        assert "GradientBoostingClassifier" in said
    assert not (tmp_path / "c.csv").exists()


def test_the_review_server_listens_on_loopback():
    with listen(0) as found:
        assert found.family == socket.AF_INET
        assert found.getsockname()[0] == "127.0.0.1"
