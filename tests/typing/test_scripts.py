"""The script that ``make types`` checks runs, too."""

import pytest
import user_script


def test_user_script_runs(tmp_path, capsys):
    scores = user_script.main(tmp_path, n_train=100)
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert scores["hamming_loss"] == pytest.approx(0.27, abs=0.03)
    assert scores["f in search"] == pytest.approx(0.48, abs=0.05)
