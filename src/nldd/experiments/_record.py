"""The record of a finished cell, and the file of records that survives every interruption."""

import json
import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout

from nldd.exceptions import InputError

CELLS = "cells.jsonl"
# What a line of a file must hold for anything else to make sense.
FIELD_TYPES = {
    **dict.fromkeys(("protocol", "dataset", "method", "settings"), str),
    **dict.fromkeys(("fold", "seed"), int),
    **dict.fromkeys(("scores", "details"), dict),
}


class Key(NamedTuple):
    """What makes a cell the same cell in another run."""

    protocol: str
    dataset: str
    method: str
    fold: int
    seed: int
    train_share: float | None


@dataclass(frozen=True, slots=True)
class Record:
    """One method on one fold of one data set.

    Attributes
    ----------
    protocol, dataset, method, fold, seed, train_share
        The key; `train_share` is that of the training rows in the study of shares, else None.
    settings : str
        The estimator, with every parameter that is not its default.
    scores : dict
        Value of each measure by key; empty if the cell failed.
    fit_seconds, predict_seconds : float
        Processor time of the one thread of the cell, which other work on the machine hardly moves.
    details : dict
        Counts, standard errors, scores on observed and unobserved labelsets, warnings, and for
        NLDD the coefficients.
    versions, machine, error : dict, dict, str or None
        What it was run with, and why it failed.
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

    def __post_init__(self) -> None:
        for name, kind in FIELD_TYPES.items():
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"{name} is {getattr(self, name)!r}")

    @property
    def key(self) -> Key:
        return Key(*(getattr(self, name) for name in Key._fields))

    @property
    def seconds(self) -> float:
        return self.fit_seconds + self.predict_seconds


def as_line(record: Record) -> str:
    """The record as a line of JSON, which knows no NaN and no infinity."""
    return json.dumps(asdict(record), allow_nan=False) + "\n"


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

    def append(self, records: Iterable[Record]) -> None:
        """Write records and wait until the disk has them."""
        self._file.write("".join(map(as_line, records)).encode())
        self._file.flush()
        os.fsync(self._file.fileno())

    def __exit__(self, *exception: object) -> None:
        self._file.close()
        self._lock.release()


def read_records(path: Path) -> list[Record]:
    """Records of a file, one a cell: the last one where a failed cell was run again.

    A last line without its end was cut short by a crash, and is left out.
    """
    records: dict[Key, Record] = {}
    lines = path.read_bytes().split(b"\n")[:-1]
    for number, line in enumerate(lines, start=1):
        try:
            record = Record(**json.loads(line))
            records[record.key] = record
        except (ValueError, TypeError) as error:
            raise InputError(
                f"{path}, line {number} is not a record of a benchmark: {error}. Remove the line, "
                "and the same command runs its cell again."
            ) from error
    return list(records.values())
