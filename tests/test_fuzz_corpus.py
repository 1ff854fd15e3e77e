"""What fuzzing has found so far is read or refused, and nothing else."""

import signal

import pytest

pytest.importorskip("resource")
import fuzz


@pytest.mark.parametrize("target", fuzz.TARGETS)
def test_corpus(tmp_path, target):
    inputs = fuzz.corpus_of(target)
    assert len(inputs) >= 3
    before = signal.signal(signal.SIGALRM, fuzz._hang)
    path = tmp_path / f"input{fuzz.TARGETS[target][1]}"
    try:
        found = {fuzz.outcome(target, data, path) for data in inputs}
    finally:
        signal.signal(signal.SIGALRM, before)
    assert "refused" in found


def test_corpus_is_small():
    assert sum(path.stat().st_size for path in fuzz.CORPUS.iterdir()) < 300_000
