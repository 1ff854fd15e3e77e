"""The file of records: what a crash can do to it, and what it cannot."""

import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import asdict, replace
from zipfile import ZipFile

import numpy as np
import pytest

from nldd.bench.runner.records import (
    CELLS,
    CellPredictions,
    CellRecord,
    Key,
    RecordFile,
    predictions_path,
    read_predictions,
    read_records,
)
from nldd.exceptions import InputError
from nldd.metrics._measures import PAPER_MEASURES

KEYS = [measure.key for measure in PAPER_MEASURES]

FULL = CellRecord(
    protocol="trial",
    dataset="sóngs\n",  # no line end may get into the file as it is
    method="NLDD",
    fold=3,
    seed=7,
    train_share=0.1 + 0.2,
    settings="NLDDClassifier(random_state=10)",
    scores={**dict.fromkeys(KEYS, 0.5), "hamming_loss": 1 / 3, "f_measure": 1e-300},
    fit_seconds=0.123456789012345678,
    predict_seconds=5e-324,
    details={
        **dict.fromkeys(("n_folds", "n_train", "n_test", "n_labels"), 9),
        "standard_errors": dict.fromkeys(KEYS, 0.01),
        "observed": {"n": 9, **dict.fromkeys(KEYS, 0.5)},
        "unobserved": {"n": 0},
        "coefficients": [-4.5, 0.1, 1 / 7],
        "coefficient_errors": [0.1, None, 0.1],
        "warnings": {"a: b": 2},
    },
    versions={"numpy": "2.0"},
    machine={"cores": 2},
    error=None,
)


def record(fold, method="BR", **changes):
    return replace(FULL, method=method, fold=fold, **changes)


def append(folder, *records):
    with RecordFile(folder) as file:
        file.append(records)


@pytest.fixture
def quick_disk(monkeypatch):
    """Hundreds of writes in a test need not wait for the disk."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def test_records_come_back_as_they_were(tmp_path):
    append(tmp_path, FULL, replace(FULL, train_share=None))
    assert read_records(tmp_path / CELLS) == [FULL, replace(FULL, train_share=None)]
    assert (tmp_path / CELLS).read_bytes().count(b"\n") == 2


def test_key_is_what_makes_a_cell_the_same(tmp_path):
    assert FULL.key == Key("trial", "sóngs\n", "NLDD", 3, 7, 0.1 + 0.2)
    assert replace(FULL, settings="other", scores={}, error="x").key == FULL.key
    changes = {"protocol": "p", "dataset": "d", "method": "m", "fold": 0, "seed": 0}
    for name, value in {**changes, "train_share": None}.items():
        assert replace(FULL, **{name: value}).key != FULL.key


def test_last_record_of_a_cell_counts_in_the_place_of_the_first(tmp_path):
    append(tmp_path, record(0, error="it broke"), record(1), record(0))
    found = read_records(tmp_path / CELLS)
    assert [(cell.fold, cell.error) for cell in found] == [(0, None), (1, None)]


def test_appended_record_is_on_the_disk_at_once(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_size))
    with RecordFile(tmp_path) as file:
        file.append([record(0)])
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
            file.append([record(1)])
        assert (tmp_path / CELLS).read_bytes() == whole


BROKEN = {
    "cut": b'{"protocol": "trial", "datas',
    "blank": b"",
    "not an object": b"[1, 2]",
    "number": b"3",
    "missing field": b'{"protocol": "trial"}',
    "more fields": json.dumps({**asdict(FULL), "colour": "red"}).encode(),
    "not UTF-8": b'{"protocol": "\xff"}',
    "zeros": b"\x00" * 50,
    "nested": b"[" * 100_000,
    "many digits": b'{"fold": ' + b"9" * 5000 + b"}",
    "escape in a key": b'{"\\u001b[2J": 1}',
}


@pytest.mark.parametrize("line", BROKEN.values(), ids=BROKEN)
def test_broken_line_in_the_middle_is_an_error_with_its_number(tmp_path, line):
    append(tmp_path, record(0), record(1))
    first, second = (tmp_path / CELLS).read_bytes().splitlines(keepends=True)
    (tmp_path / CELLS).write_bytes(first + line + b"\n" + second)
    expected = r"cells\.jsonl, line 2 is not a record.*Remove the line"
    with pytest.raises(InputError, match=expected) as caught:
        read_records(tmp_path / CELLS)
    assert str(caught.value).isprintable()
    with RecordFile(tmp_path):
        pass
    assert (tmp_path / CELLS).read_bytes() == first + line + b"\n" + second


def test_second_writer_is_refused_where_there_is_no_fcntl(tmp_path, monkeypatch):
    """As on Windows, where two runs used to write into one file."""
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with RecordFile(tmp_path), pytest.raises(InputError, match="being written by another"):
        RecordFile(tmp_path)


def test_second_writer_is_refused_and_the_first_goes_on(tmp_path):
    with RecordFile(tmp_path) as file:
        file.append([record(0)])
        with pytest.raises(InputError, match=r"being written by another benchmark.*--out"):
            RecordFile(tmp_path)
        file.append([record(1)])
    assert len(read_records(tmp_path / CELLS)) == 2
    append(tmp_path, record(2))  # free again


def test_second_writer_does_not_touch_a_line_that_the_first_is_writing(tmp_path):
    with RecordFile(tmp_path):
        (tmp_path / CELLS).write_bytes(b'{"protocol": ')
        with pytest.raises(InputError, match="another benchmark"):
            RecordFile(tmp_path)
        assert (tmp_path / CELLS).read_bytes() == b'{"protocol": '


def exit_code_of(work):
    """Of a process like this one that does so; minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except OSError:
            os._exit(1)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@needs_fork
def test_lock_ends_with_a_killed_process(tmp_path):
    def die():
        file = RecordFile(tmp_path)
        os.kill(os.getpid(), signal.SIGKILL)
        file.append([])

    assert exit_code_of(die) == -signal.SIGKILL
    append(tmp_path, record(0))
    assert read_records(tmp_path / CELLS) == [record(0)]


@needs_fork
def test_full_disk_is_an_error_and_not_half_a_line(tmp_path):
    """A limit on the size of files cuts a write short, as a full disk does."""
    resource = pytest.importorskip("resource")
    append(tmp_path, record(0))
    limit = (tmp_path / CELLS).stat().st_size + 100

    def write():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        RecordFile(tmp_path).append([record(1)])

    assert exit_code_of(write) == 1
    assert read_records(tmp_path / CELLS) == [record(0)]


# CellPredictions


@pytest.mark.parametrize(("n_rows", "n_labels"), [(0, 3), (1, 1), (7, 8), (20, 9)])
@pytest.mark.parametrize("with_probabilities", [True, False])
def test_predictions_come_back_as_they_were(tmp_path, n_rows, n_labels, with_probabilities):
    rng = np.random.default_rng(n_labels)
    Y_true, Y_pred = rng.random((2, n_rows, n_labels)) < 0.5
    P = rng.random((n_rows, n_labels)).astype(np.float32) if with_probabilities else None
    kept = replace(record(0), predictions=CellPredictions(np.arange(n_rows) * 3, Y_true, Y_pred, P))
    with RecordFile(tmp_path) as file:
        file.append([kept])
    found = read_predictions(tmp_path, kept.key)
    for name in ("rows", "Y_true", "Y_pred", "P"):
        np.testing.assert_array_equal(getattr(found, name), getattr(kept.predictions, name))
    with ZipFile(tmp_path / "packed.zip", "w") as archive:  # as the committed ones are kept
        place = tmp_path / "predictions"
        for path in place.rglob("*.npz"):
            archive.write(path, path.relative_to(place))
            path.unlink()
    (tmp_path / "packed.zip").rename(tmp_path / "predictions.zip")
    np.testing.assert_array_equal(read_predictions(tmp_path, kept.key).Y_pred, Y_pred)
    assert read_records(tmp_path / CELLS) == [kept]
    assert "predictions" not in (tmp_path / CELLS).read_text()
    assert read_predictions(tmp_path, kept.key._replace(fold=7)) is None


def test_predictions_of_odd_names_stay_in_their_folder(tmp_path):
    odd = ["../../a:b", ".", "..", "my/method", "数" * 90, "数" * 91, "a" * 300, "CON", "nul.x"]
    odd += ["X", "X-a", "a-b", "b", "X.", "X ", "%43ON", "X-seed0", "X-share0.5", "\udc80"]
    keys = [
        Key(protocol, dataset, method, fold, seed, share)
        for protocol in ("X", "a-b", "b", "..")
        for dataset in ("X", "..", "CON", "数" * 90)
        for method in odd
        for fold, seed, share in [
            (0, 0, None),
            (0, 10, None),
            (0, 0, 0.12345678),
            (0, 0, 0.1234567),
        ]
    ]
    paths = {predictions_path(tmp_path, key) for key in keys}
    assert len(paths) == len(keys)
    for path in paths:
        assert path.resolve().parents[2] == tmp_path / "predictions"
        assert max(map(len, path.relative_to(tmp_path).parts)) < 200
        for part in path.relative_to(tmp_path).parts:
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
