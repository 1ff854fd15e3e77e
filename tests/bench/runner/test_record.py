"""The file of records: what a crash can do to it, and what it cannot."""

import os
import sys
from contextlib import suppress
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from bench.runner.trials import n_lines
from nldd.bench.runner.records import (
    CELLS,
    CellPredictions,
    CellRecord,
    Key,
    RecordFile,
    as_line,
    predictions_path,
    read_predictions,
    read_records,
)
from nldd.exceptions import InputError

FULL = CellRecord(
    *("trial", "s\u00f3ngs\n", "NLDD", 3, 7, 0.1 + 0.2),  # no line end may get into the file
    settings="NLDDClassifier(random_state=10)",
    scores={"hamming_loss": 1 / 3, "f_measure": 1e-300},
    fit_seconds=0.123456789012345678,
    predict_seconds=5e-324,
    details={"n_folds": 9, "coefficients": [-4.5, 1 / 7], "coefficient_errors": [0.1, None]},
    versions={"numpy": "2.0"},
    machine={"cores": 2},
)


def record(fold, method="BR", **changes):
    return replace(FULL, method=method, fold=fold, **changes)


def append(folder, *records):
    with RecordFile(folder) as file:
        for each in records:
            file.append(each)


@pytest.fixture
def quick_disk(monkeypatch):
    """Hundreds of writes in a test need not wait for the disk."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def test_records_come_back_as_they_were(tmp_path):
    append(tmp_path, FULL, replace(FULL, train_share=None))
    assert read_records(tmp_path / CELLS) == [FULL, replace(FULL, train_share=None)]
    assert n_lines(tmp_path) == 2
    assert FULL.key == Key("trial", "s\u00f3ngs\n", "NLDD", 3, 7, 0.1 + 0.2)


def test_last_record_of_a_cell_counts_in_the_place_of_the_first(tmp_path):
    append(tmp_path, record(0, error="it broke"), record(1), record(0))
    found = read_records(tmp_path / CELLS)
    assert [(cell.fold, cell.error) for cell in found] == [(0, None), (1, None)]


def test_appended_record_is_on_the_disk_at_once(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_size))
    with RecordFile(tmp_path) as file:
        file.append(record(0))
        assert synced[-1] == file.path.stat().st_size > 300
        assert read_records(tmp_path / CELLS) == [record(0)]


def test_line_torn_at_any_place_is_dropped_and_written_again(tmp_path, quick_disk):
    append(tmp_path, record(0), record(1))
    whole = (tmp_path / CELLS).read_bytes()
    first = whole.index(b"\n") + 1
    assert len(whole) - first > 300
    for length in range(first, len(whole), 41):
        (tmp_path / CELLS).write_bytes(whole[:length])
        assert read_records(tmp_path / CELLS) == [record(0)]
        assert (tmp_path / CELLS).stat().st_size == length  # reading changes nothing
        with RecordFile(tmp_path) as file:
            assert file.path.stat().st_size == first
            assert read_records(file.path) == [record(0)]
            file.append(record(1))
        assert (tmp_path / CELLS).read_bytes() == whole


BROKEN = {
    "cut": b'{"protocol": "trial", "datas',
    "blank": b"",
    "not an object": b"[1, 2]",
    "missing field": b'{"protocol": "trial"}',
    "more fields": as_line(FULL).replace("{", '{"colour": 1, ', 1).strip().encode(),
    "not UTF-8": b'{"protocol": "\xff"}',
    "nested": b"[" * 100_000,
    "many digits": b'{"fold": ' + b"9" * 5000 + b"}",
    "escape in a key": b'{"\\u001b[2J": 1}',
}


@pytest.mark.parametrize("line", BROKEN.values(), ids=BROKEN)
def test_broken_line_in_the_middle_is_an_error_with_its_number(tmp_path, line):
    append(tmp_path, record(0), record(1))
    first, second = (tmp_path / CELLS).read_bytes().splitlines(keepends=True)
    (tmp_path / CELLS).write_bytes(first + line + b"\n" + second)
    with pytest.raises(InputError, match=r"cells\.jsonl, line 2 ") as caught:
        read_records(tmp_path / CELLS)
    assert str(caught.value).isprintable()
    append(tmp_path)
    assert (tmp_path / CELLS).read_bytes() == first + line + b"\n" + second


@pytest.mark.parametrize("missing", ["", "fcntl"], ids=["here", "as on Windows"])
def test_second_writer_is_refused_and_the_first_goes_on(tmp_path, monkeypatch, missing):
    if missing:
        monkeypatch.setitem(sys.modules, missing, None)
    with RecordFile(tmp_path) as file:
        (tmp_path / CELLS).write_bytes(b'{"protocol": ')  # which the first is writing
        with pytest.raises(InputError, match=r"another benchmark.*--out"):
            RecordFile(tmp_path)
        assert (tmp_path / CELLS).read_bytes() == b'{"protocol": '
        (tmp_path / CELLS).write_bytes(b"")
        file.append(record(1))
    append(tmp_path, record(2))  # free again
    assert len(read_records(tmp_path / CELLS)) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_full_disk_is_an_error_and_not_half_a_line(tmp_path):
    """A limit on the size of files cuts a write short, as a full disk does."""
    resource = pytest.importorskip("resource")
    append(tmp_path, record(0))
    limit = (tmp_path / CELLS).stat().st_size + 100
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            RecordFile(tmp_path).append(record(1))
        except OSError:
            os._exit(1)
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    assert read_records(tmp_path / CELLS) == [record(0)]


# CellPredictions


@pytest.mark.parametrize(("n_rows", "n_labels"), [(0, 3), (1, 1), (7, 8), (20, 9)])
@pytest.mark.parametrize("with_probabilities", [True, False])
def test_predictions_come_back_as_they_were(tmp_path, n_rows, n_labels, with_probabilities):
    rng = np.random.default_rng(n_labels)
    Y_true, Y_pred = rng.random((2, n_rows, n_labels)) < 0.5
    P = rng.random((n_rows, n_labels)).astype(np.float32) if with_probabilities else None
    kept = replace(record(0), predictions=CellPredictions(np.arange(n_rows) * 3, Y_true, Y_pred, P))
    append(tmp_path, kept)
    found = read_predictions(tmp_path, kept.key)
    for name in ("rows", "Y_true", "Y_pred", "P"):
        np.testing.assert_array_equal(getattr(found, name), getattr(kept.predictions, name))
    assert read_records(tmp_path / CELLS) == [kept]
    assert "predictions" not in (tmp_path / CELLS).read_text()
    assert read_predictions(tmp_path, kept.key._replace(fold=7)) is None


def test_predictions_of_odd_names_stay_in_their_folder(tmp_path):
    odd = ["../../a:b", ".", "..", "my/method", "数" * 90, "数" * 91, "a" * 300, "CON", "nul.x"]
    odd += ["X", "X-a", "a-b", "b", "X.", "X ", "%43ON", "X-seed0", "X-share0.5", "\udc80"]
    ends = [(0, 0, None), (0, 10, None), (0, 0, 0.12345678), (0, 0, 0.1234567)]
    protocols, datasets = ("X", "a-b", "b", ".."), ("X", "..", "CON", "数" * 90)
    keys = [Key(*names, *end) for *names, end in product(protocols, datasets, odd, ends)]
    paths = {predictions_path(tmp_path, key) for key in keys}
    assert len(paths) == len(keys)
    for path in paths:
        assert path.resolve().parents[2] == tmp_path / "predictions"
        for part in path.relative_to(tmp_path).parts:
            assert len(part) < 200
            assert not part.endswith((".", " "))
            assert part.partition(".")[0].upper() not in ("CON", "NUL")


def test_damaged_predictions_are_named_and_not_read(tmp_path):
    path = predictions_path(tmp_path, record(0).key)
    path.parent.mkdir(parents=True)
    rows = np.zeros((1, 1), bool)
    whole = CellPredictions(np.arange(1), rows, rows).to_bytes()
    flipped = [
        whole[:j] + bytes([whole[j] ^ 255]) + whole[j + 1 :] for j in range(0, len(whole), 3)
    ]
    for content in flipped:  # read as they were, or refused
        path.write_bytes(content)
        with suppress(InputError):
            read_predictions(tmp_path, record(0).key)
    for content in (b"", b"no", whole[: len(whole) // 2], whole[:-30]):
        path.write_bytes(content)
        with pytest.raises(InputError, match="holds no predictions"):
            read_predictions(tmp_path, record(0).key)
