"""The record of a finished cell with its predictions, in files that survive every interruption."""

import io
import json
import os
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import quote

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray

from nldd._files import write_atomically
from nldd.exceptions import InputError
from nldd.present.text import printable

CELLS = "cells.jsonl"
PREDICTIONS = "predictions"
# Before the name of a decision, that of its array in a file of predictions.
DECIDED = "Y_pred by "
# Of the part of a path that is a name; systems allow 255 bytes, and more is written after it.
LONGEST_PART = 100
# What Windows keeps for itself, whatever follows the first dot.
RESERVED = re.compile(r"(?i:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")


class Key(NamedTuple):
    """What makes a cell the same cell in another run.

    Attributes
    ----------
    protocol, dataset, method : str
    fold, seed : int
        Folds count from 0.
    train_share : float or None
        Share of the training rows, in the study of shares; else None.

    Examples
    --------
    >>> from nldd.bench.runner.records import Key
    >>> Key("mine", "songs", "BR", fold=2, seed=0, train_share=None).method
    'BR'
    """

    protocol: str
    dataset: str
    method: str
    fold: int
    seed: int
    train_share: float | None


@dataclass(frozen=True, slots=True, eq=False)
class CellPredictions:
    """What a cell predicted: with it, any measure can be computed later.

    Attributes
    ----------
    rows : ndarray of shape (n_test,)
        The test rows in the data set.
    Y_true, Y_pred : ndarray of bool of shape (n_test, n_labels)
    P : ndarray of float32 of shape (n_test, n_labels) or None
        Probabilities, or shares of votes; None of a method that has neither.
    decided : dict of ndarray like Y_pred
        By decision, of a method that has one for each measure; `Y_pred` is that of its settings.

    Examples
    --------
    >>> import numpy as np
    >>> from nldd.bench.runner.records import CellPredictions
    >>> Y = np.array([[True, False], [True, True]])
    >>> found = CellPredictions(rows=np.array([3, 7]), Y_true=Y, Y_pred=~Y)
    >>> again = CellPredictions.from_bytes(found.to_bytes())
    >>> float((again.Y_true != again.Y_pred).mean()), again.P is None
    (1.0, True)
    """

    rows: NDArray[np.integer[Any]]
    Y_true: NDArray[np.bool_]
    Y_pred: NDArray[np.bool_]
    P: NDArray[np.float32] | None = None
    decided: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)

    def labels(self, decision: str | None) -> NDArray[np.bool_]:
        """What was predicted by a decision; there is one only without such."""
        return self.Y_pred if decision is None else self.decided[decision]

    def to_bytes(self) -> bytes:
        """A compressed ``.npz`` file, in which labels are bits."""
        arrays: dict[str, Any] = {"rows": self.rows, "n_labels": self.Y_true.shape[1]}
        arrays["Y_true"] = np.packbits(self.Y_true.astype(bool), axis=1)
        arrays["Y_pred"] = np.packbits(self.Y_pred.astype(bool), axis=1)
        for decision, Y in self.decided.items():
            arrays[f"{DECIDED}{decision}"] = np.packbits(Y.astype(bool), axis=1)
        if self.P is not None:
            arrays["P"] = self.P.astype(np.float32)
        stream = io.BytesIO()
        np.savez_compressed(stream, **arrays)
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        """What :meth:`to_bytes` has written."""
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            found = dict(file)
        decided: dict[str, NDArray[np.bool_]] = {}
        for name in [name for name in found if name.startswith("Y_")]:
            bits = np.unpackbits(found[name], axis=1, count=int(found["n_labels"]))
            found[name] = bits.astype(bool)
            if name.startswith(DECIDED):
                decided[name.removeprefix(DECIDED)] = found[name]
        return cls(found["rows"], found["Y_true"], found["Y_pred"], found.get("P"), decided)


@dataclass(frozen=True, slots=True)
class CellRecord:
    """One method on one fold of one data set.

    Attributes
    ----------
    protocol, dataset, method, fold, seed, train_share : as in :class:`Key`
        They make up the `key`.
    settings : str
        The estimator, with every parameter that is not its default.
    scores : dict
        Value of each measure by key; empty if the cell failed.
    fit_seconds, predict_seconds : float
        Processor time of the one thread of the cell, which other work on the machine hardly moves.
    details : dict
        Counts, standard errors, scores on observed and unobserved labelsets, warnings, and for
        NLDD the coefficients or what its posterior has learned; `decisions`, by measure, where a
        method has one for each.
    versions, machine, error : dict, dict, str or None
        What it was run with, and why it failed.
    predictions : CellPredictions or None
        Of a cell that was just run; they are kept in a file of their own, see
        :func:`read_predictions`.

    Examples
    --------
    >>> from nldd.bench.runner.records import CellRecord
    >>> what = "mine", "songs", "BR", 2, 0, None, "BinaryRelevance()"
    >>> record = CellRecord(*what, {"recall": 0.5}, 1.5, 0.5, details={})
    >>> record.seconds, record.key.fold, record.error is None
    (2.0, 2, True)
    """

    protocol: str
    dataset: str
    method: str
    fold: int
    seed: int
    train_share: float | None
    settings: str
    scores: dict[str, float]
    fit_seconds: float
    predict_seconds: float
    details: dict[str, Any]
    versions: dict[str, str] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    predictions: CellPredictions | None = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> Key:
        """What makes it the same cell in another run."""
        return Key(*(getattr(self, name) for name in Key._fields))

    @property
    def seconds(self) -> float:
        """Processor time of fit and prediction."""
        return self.fit_seconds + self.predict_seconds


def as_line(record: CellRecord) -> str:
    """The record as a line of JSON, which knows no NaN and no infinity."""
    values = {each.name: getattr(record, each.name) for each in fields(record)}
    del values["predictions"]
    return json.dumps(values, allow_nan=False) + "\n"


def predictions_path(folder: str | Path, key: Key) -> Path:
    """The file of the predictions of a cell: one of its own, under names that every system allows.

    Examples
    --------
    >>> from nldd.bench.runner.records import Key, predictions_path
    >>> predictions_path(Path(), Key("mine", "songs", "BR", 2, 0, None)).as_posix()
    'predictions/mine/songs/BR-seed0-fold2.npz'
    """
    share = "" if key.train_share is None else f"-share{float(key.train_share)!r}"
    name = f"{_quoted(key.method)}-seed{key.seed}{share}-fold{key.fold}.npz"
    return Path(folder) / PREDICTIONS / _quoted(key.protocol) / _quoted(key.dataset) / name


def _quoted(name: str) -> str:
    """A name as a part of a path: never that of another name, nor one with a meaning of its own."""
    quoted = quote(name, safe=" ", errors="surrogatepass") or "%"
    if len(quoted) > LONGEST_PART:
        whole = blake2b(quoted.encode(), digest_size=8).hexdigest()
        return f"{quoted[: LONGEST_PART - 17]}+{whole}"  # a plus of the name itself is quoted
    if RESERVED.fullmatch(quoted):
        return f"%{ord(quoted[0]):X}{quoted[1:]}"
    # A dot at the end would be lost on Windows, and one or two alone are folders.
    return f"{quoted[:-1]}%{ord(quoted[-1]):X}" if quoted.endswith((".", " ")) else quoted


def read_predictions(folder: str | Path, key: Key) -> CellPredictions | None:
    """What a cell predicted.

    Parameters
    ----------
    folder : path
        That of the benchmark.
    key : Key
        The `key` of a record.

    Returns
    -------
    CellPredictions or None
        None if its file is not there.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from nldd.bench import read_predictions
    >>> from nldd.bench.runner.records import Key, CellPredictions
    >>> key, Y = Key("mine", "songs", "BR", 2, 0, None), np.array([[True, False]])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "predictions", "mine", "songs", "BR-seed0-fold2.npz")
    ...     path.parent.mkdir(parents=True)
    ...     _ = path.write_bytes(CellPredictions(np.array([7]), Y, Y).to_bytes())
    ...     found = read_predictions(folder, key)
    >>> found.rows, found.Y_pred
    (array([7]), array([[ True, False]]))
    """
    path = predictions_path(folder, key)
    try:
        return CellPredictions.from_bytes(path.read_bytes())
    except FileNotFoundError:
        return None
    except PermissionError:
        raise
    except Exception as error:  # damaged bytes make the readers raise almost anything
        raise InputError(
            f"{path} holds no predictions: {printable(str(error))}. Remove it and the line of its "
            f"cell in {CELLS}, and the same command runs the cell again."
        ) from error


class RecordFile(AbstractContextManager["RecordFile"]):
    """An append-only file of records, one JSON line each, for one writer at a time.

    Every record is on the disk before the next cell counts as done. A line that a crash cut short
    is taken away when the file is opened again.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / CELLS
        self._lock = FileLock(folder / f".{CELLS}.lock")
        try:
            self._lock.acquire(timeout=0)  # the other run may take days
        except Timeout:
            raise InputError(
                f"{self.path} is being written by another benchmark. Wait for it, or choose "
                "another folder with --out."
            ) from None
        self._file = self.path.open("a+b")
        self._file.truncate(self.path.read_bytes().rfind(b"\n") + 1)

    def append(self, record: CellRecord) -> None:
        """Write a record and wait until the disk has it; its predictions come first."""
        if record.predictions is not None:
            path = predictions_path(self.path.parent, record.key)
            write_atomically(path, record.predictions.to_bytes())
        try:
            self._file.write(as_line(record).encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error

    def __exit__(self, *exception: object) -> None:
        with suppress(OSError):  # of a write that has failed before
            self._file.close()
        self._lock.release()


def read_records(path: str | Path) -> list[CellRecord]:
    """Records of a file, one a cell: the last one where a failed cell was run again.

    A last line without its end was cut short by a crash, and is left out.

    Parameters
    ----------
    path : path
        The ``cells.jsonl`` of a benchmark's folder.

    Returns
    -------
    list of CellRecord

    Examples
    --------
    >>> import json
    >>> from dataclasses import asdict
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.bench import read_records
    >>> from nldd.bench.runner.records import CellRecord
    >>> what = "mine", "songs", "BR", 0, 0, None, "BinaryRelevance()", {}, 0.0, 0.0, {"n_folds": 3}
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "cells.jsonl")
    ...     _ = path.write_text(json.dumps(asdict(CellRecord(*what, error="no memory"))) + "\\n")
    ...     (record,) = read_records(path)
    >>> record.method, record.error
    ('BR', 'no memory')
    """
    path = Path(path)
    records: dict[Key, CellRecord] = {}
    lines = path.read_bytes().split(b"\n")[:-1]
    for number, line in enumerate(lines, start=1):
        try:
            record = CellRecord(**json.loads(line))
            records[record.key] = record
        except (ValueError, TypeError, RecursionError) as error:
            raise InputError(
                f"{path}, line {number} is not a record of a benchmark: {printable(str(error))}. "
                "Remove the line, and the same command runs its cell again."
            ) from error
    return list(records.values())
