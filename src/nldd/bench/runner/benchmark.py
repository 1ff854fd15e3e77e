"""Methods on data sets under a protocol: cells run side by side, resumed where they stopped."""

import json
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from scipy.sparse import issparse

from nldd._files import write_atomically
from nldd.bench.datasets.catalogue import CATALOGUE
from nldd.bench.datasets.facts import describe
from nldd.bench.datasets.load import load_named
from nldd.bench.runner.cell import Cell, cells, empty_record, fingerprint
from nldd.bench.runner.methods import did_you_mean
from nldd.bench.runner.protocol import Protocol
from nldd.bench.runner.records import CellRecord, Key, RecordFile, read_records
from nldd.bench.runner.workers import Workers, make_workers
from nldd.datasets import Dataset
from nldd.exceptions import InputError
from nldd.present.text import printable

FACTS = "datasets.json"
WATCH_SECONDS = 0.5
WORKER_DIED = "the worker process died, most likely because memory ran out"


@dataclass(slots=True, eq=False)
class Task:
    """A cell to be run: whether a worker died of it, its start, and how long it takes."""

    cell: Cell
    is_deadly: bool = False
    since: float = 0.0
    expected_seconds: float | None = None

    def seconds_left(self, now: float) -> float | None:
        """Expected seconds until it is done; None if nothing is known."""
        if self.expected_seconds is None:
            return None
        return self.expected_seconds - min(now - (self.since or now), self.expected_seconds)


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """What a person who watches a benchmark wants to know.

    Attributes
    ----------
    total, done, n_failed : int
        Cells in all, those that are done, and those of them that failed.
    running : list
        Cells that are being run, each as the `cell` of a task.
    seconds_left : float or None
        None before enough is known.

    Examples
    --------
    >>> from nldd.bench.runner.benchmark import State
    >>> state = State(total=20, done=5, n_failed=0, running=[], seconds_left=90.0)
    >>> f"{state.done / state.total:.0%}"
    '25%'
    """

    total: int
    done: int
    n_failed: int
    running: list[Task]
    seconds_left: float | None


def run_benchmark(
    protocol: Protocol,
    datasets: Mapping[str, Dataset],
    folder: str | Path,
    *,
    methods: Sequence[str] | None = None,
    n_jobs: int = -1,
    backend: str = "processes",
    address: str | None = None,
    watch: Callable[[State], None] | None = None,
) -> list[CellRecord]:
    """Run every cell that `folder` does not hold yet, and return the records of all of them.

    Parameters
    ----------
    protocol : Protocol
        See :func:`load_protocol`.
    datasets : dict of Dataset by name
        See :func:`choose_datasets`.
    folder : str or Path
        Each finished cell is appended to its ``cells.jsonl`` at once. A run that was stopped, in
        whatever way, goes on where it was when it is called again; cells that failed are tried
        again.
    methods : sequence of str, default=None
        None takes those of the protocol.
    n_jobs : int, default=-1
        Cells at a time, each in a process of its own with one thread; -1 is one per core.
    backend : {"processes", "dask"}, default="processes"
    address : str, default=None
        Of the scheduler of a Dask cluster; None makes a cluster on this machine.
    watch : callable, default=None
        Called twice a second and after each cell with a :class:`State`.

    Returns
    -------
    list of CellRecord
        Failed cells have an `error` and no scores.

    Examples
    --------
    It starts processes, so a script calls it under ``if __name__ == "__main__":``.

    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from nldd.datasets import Dataset
    >>> from nldd.bench import Protocol, run_benchmark
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> points = Dataset(X, (X > 0).astype(int), ["right", "up"], ["x", "y"], "points")
    >>> protocol = Protocol("mine", "A first look", folds=2, methods=("BR",))
    >>> with TemporaryDirectory() as folder:
    ...     records = run_benchmark(protocol, {"points": points}, folder, n_jobs=1)
    >>> [(record.method, round(record.scores["hamming_loss"], 2)) for record in records]
    [('BR', 0.05), ('BR', 0.03)]
    """
    if not isinstance(datasets, Mapping):
        raise InputError(f"datasets must be a dict of data sets by name; got {datasets!r:.80}.")
    chosen, plan, folder = methods or protocol.methods, dict[Key, Cell](), Path(folder)
    check_datasets(protocol, datasets)
    check_capitals("data sets", datasets)
    check_capitals("methods", chosen)
    for name, dataset in datasets.items():
        plan |= {cell.key: cell for cell in cells(protocol, name, dataset, chosen)}
    with RecordFile(folder) as file:
        found = read_records(file.path)
        done = {record.key: record for record in found if record.key in plan and not record.error}
        check_folder(protocol, plan, found, folder)
        write_facts(datasets, folder)
        todo = [cell for key, cell in plan.items() if key not in done]
        if todo:
            workers = make_workers(backend, n_jobs, address)
            try:
                _Run(datasets, done, todo, workers, file).finish(watch or (lambda state: None))
            finally:
                workers.close()
    return [done[key] for key in plan]


def choose_datasets(
    names: Sequence[str],
    labels: str | None = None,
    data_dir: Path | None = None,
    *,
    text: str | None = None,
    columns_of: Callable[[str], Mapping[str, str]] = lambda name: {},
) -> dict[str, Dataset]:
    """Load data sets by catalogue name or path.

    A file goes by its name without the ending, and a training and a test file by what their names
    have in common.

    Parameters
    ----------
    names : sequence of str
        All of the catalogue if there are none.
    labels : str, default=None
        Label columns of files, in the words of the command: a pattern, names with commas, a count.
    data_dir : path, default=None
        See :func:`nldd.bench.datasets.catalogue.data_folder`.
    text : str, default=None
        The column of text of files.
    columns_of : callable
        Tells `labels` and `text` of a data set by its name, which come first; see
        :meth:`Protocol.columns_of`.

    Returns
    -------
    dict of Dataset by name

    Examples
    --------
    >>> from nldd.bench.runner.benchmark import choose_datasets
    >>> choose_datasets(["yeast"])
    {'yeast': Dataset('yeast', 2417 samples, 103 features, 14 labels)}
    """
    chosen: dict[str, Dataset] = {}
    for name in names or CATALOGUE:
        dataset = load_named(name, labels, text, data_dir, columns_of=columns_of)
        if dataset.name in chosen:
            raise InputError(
                f"Two data sets are called {dataset.name!r}: rename one file, or leave one of "
                "them out."
            )
        chosen[dataset.name] = dataset
    return chosen


def run_notes(protocol: Protocol, datasets: Mapping[str, Dataset]) -> Iterator[str]:
    """What a person should know about the data sets of a run before it starts."""
    for name in sorted(protocol.named_datasets - {*datasets, *CATALOGUE}):
        yield f"The protocol names a data set {printable(repr(name))}, which is not in this run."
    is_imputed = any("Imputer" in type(each).__name__ for each in protocol.prepare)
    for name, dataset in datasets.items():
        yield from (f"{name}: {note}" for note in dataset.notes)
        split = protocol.split_of(name, dataset.n_samples)
        if dataset.n_train is not None and split.kind != "given" and name not in CATALOGUE:
            yield (
                f"{name}: all its rows are split anew, {split.cut(dataset)['split']}. The split of "
                'its files is used by a protocol with split = "given".'
            )
        values = dataset.X.data if issparse(dataset.X) else dataset.X
        if not (is_imputed or dataset.is_text) and np.isnan(values).any():
            yield (
                f"{name}: some values are missing, which most methods refuse. To fill them in, put "
                'prepare = ["sklearn.impute:SimpleImputer"] into a protocol of your own.'
            )


def check_datasets(protocol: Protocol, names: Iterable[str]) -> None:
    """Refuse a protocol that speaks of a data set by a misspelt name."""
    known = [*names, *(name for name in CATALOGUE if name not in names)]
    for name in sorted(protocol.named_datasets.difference(known)):
        if near := did_you_mean(name, known):
            raise InputError(
                f"The protocol names a data set {printable(repr(name))}, which is neither among "
                f"those of this run nor in the catalogue{near}. There are {', '.join(known)}."
            )


def check_capitals(what: str, names: Iterable[str]) -> None:
    """Refuse names that differ in capitals only: many systems take their files for the same."""
    known: dict[str, str] = {}
    for name in names:
        other = known.setdefault(name.casefold(), name)
        if other != name:
            raise InputError(
                f"The {what} {printable(repr(other))} and {printable(repr(name))} differ in "
                "capitals only, and their files could be taken for the same. Rename one."
            )


@dataclass(eq=False)
class _Run:
    """The loop that hands cells to workers and writes down what comes back."""

    datasets: Mapping[str, Dataset]
    done: dict[Key, CellRecord]
    todo: list[Cell]
    workers: Workers
    file: RecordFile

    def __post_init__(self) -> None:
        self.queue = deque(map(Task, self.todo))
        self.running: dict[Future[CellRecord], Task] = {}
        self.total = len(self.done) + len(self.todo)
        self.forecast = Forecast({name: data.Y.size for name, data in self.datasets.items()})
        for record in self.done.values():
            self.forecast.learn(record)

    def finish(self, watch: Callable[[State], None]) -> None:
        while self.queue or self.running:
            while self._has_room():
                task = self.queue.popleft()
                dataset = self.datasets[task.cell.key.dataset]
                self.running[self.workers.submit(dataset, task.cell)] = task
                task.since = time.monotonic()
            watch(self._state())
            finished, _ = wait(self.running, WATCH_SECONDS, return_when=FIRST_COMPLETED)
            for future in finished:
                self._collect(future, self.running.pop(future))
        watch(self._state())

    def _has_room(self) -> bool:
        if not self.queue or len(self.running) >= self.workers.n_workers:
            return False
        # If memory ran out, other cells had a part in it: one that a worker died of runs alone.
        is_alone = any(task.is_deadly for task in (self.queue[0], *self.running.values()))
        return not self.running or not is_alone

    def _collect(self, future: "Future[CellRecord]", task: Task) -> None:
        try:
            record = future.result()
        except BrokenExecutor:
            if not task.is_deadly:
                self.queue.appendleft(Task(task.cell, is_deadly=True))
                return
            record = empty_record(task.cell, WORKER_DIED)
        except Exception as error:  # raised on the way to or from the worker
            record = empty_record(task.cell, repr(error))
        self.file.append(record)
        # Its predictions are on the disk, and would fill the memory.
        self.done[record.key] = replace(record, predictions=None)
        self.forecast.learn(record)

    def _state(self) -> State:
        now, running = time.monotonic(), list(self.running.values())
        for task in (*self.queue, *running):
            task.expected_seconds = self.forecast.seconds(task.cell.key)
        left = [task.seconds_left(now) for task in (*self.queue, *running)]
        known = [seconds for seconds in left if seconds is not None]
        seconds_left = sum(known) / self.workers.n_workers if len(known) == len(left) else None
        n_failed = sum(record.error is not None for record in self.done.values())
        return State(self.total, len(self.done), n_failed, running, seconds_left)


def write_facts(datasets: Mapping[str, Dataset], folder: Path) -> None:
    """Keep what is measured on each data set and what is noted about it, for the report."""
    path = folder / FACTS
    try:
        known = json.loads(path.read_bytes())
    except (OSError, ValueError):
        known = {}
    entries = known if isinstance(known, dict) else {}
    for name, dataset in datasets.items():
        facts = {k: None if v != v else v for k, v in asdict(describe(dataset)).items()}
        data, notes = fingerprint(dataset), list(dataset.notes)
        entries[name] = {"data": data, "facts": facts, "notes": notes}
    write_atomically(path, json.dumps(entries, indent=1, allow_nan=False).encode())


def check_folder(
    protocol: Protocol, plan: Mapping[Key, Cell], found: Iterable[CellRecord], folder: Path
) -> None:
    """Refuse to mix cells of a protocol that were run otherwise: the report compares them all.

    The seed is that of every cell; data and folds are those of every cell of a data set, whatever
    its method. Of a failed cell nothing but the seed is used, so all else may have changed.
    """
    folds = {(key.dataset, key.fold): cell for key, cell in plan.items()}
    for record in (record for record in found if record.protocol == protocol.name):
        pairs: list[tuple[str, Any, Any]] = [("the seed {}", record.seed, protocol.seed)]
        cell = folds.get((record.dataset, record.fold), folds.get((record.dataset, 0)))
        if cell is not None and record.error is None:
            was, now = record.details, cell.about
            pairs += [
                ("data with the fingerprint {}", was.get("data"), now["data"]),
                ("{}", was.get("split"), now["split"]),
                ("{} test rows", was.get("n_test"), len(cell.test)),
            ]
            if record.key in plan:
                pairs += [("{}", record.settings, plan[record.key].settings)]
        for text, before, after in pairs:
            if before != after:
                raise InputError(
                    f"{folder} holds cells of protocol {protocol.name!r} that do not go with this "
                    f"run: {record.method} on {record.dataset} had "
                    f"{printable(text.format(before))}, now it has {text.format(after)}. The "
                    "protocol or a file has changed since: put back what it had, choose another "
                    "folder with --out, or another name for the protocol or file."
                )


class Forecast:
    """Seconds of a cell: the mean of its method on its data set, learned from cells that are done.

    Else the method's mean on other data sets, in proportion to their sizes (rows times labels), or
    that of all methods.
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._sizes = sizes
        self._known: dict[tuple[str, ...], list[float]] = defaultdict(list)

    def learn(self, record: CellRecord) -> None:
        """Take the seconds of a cell that is done, unless it failed or is one of the shares."""
        if record.error is None and record.train_share is None:
            for_size = record.seconds / self._sizes[record.dataset]
            self._known[record.dataset, record.method].append(record.seconds)
            self._known[record.method,].append(for_size)
            self._known[()].append(for_size)

    def seconds(self, key: Key) -> float | None:
        """Expected seconds of a cell; None before anything is known."""
        if same := self._known.get((key.dataset, key.method)):
            return fmean(same)
        others = self._known.get((key.method,)) or self._known.get(())
        return fmean(others) * self._sizes[key.dataset] if others else None
