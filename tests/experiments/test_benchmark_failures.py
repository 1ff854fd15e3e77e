"""Cells that fail, workers that die and people who interrupt: what a benchmark makes of them."""

from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool

import pytest

from experiments.trials import (
    HomeWorkers,
    Raises,
    n_lines,
    replace_method,
    songs,
    trial,
    work_at_home,
)
from nldd.experiments._benchmark import WORKER_DIED, run_benchmark
from nldd.experiments._cell import run_batch
from nldd.experiments._record import CELLS, read_records

SONGS = {"songs": songs()}


@pytest.fixture
def workers(monkeypatch):
    return work_at_home(monkeypatch)


def cell_of(record):
    return record.dataset, record.method, record.fold


@pytest.fixture
def failing(monkeypatch, tmp_path, workers):
    """A protocol whose MLKNN fails on the second fold until its file is removed."""
    (tmp_path / "fail").touch()
    replace_method(monkeypatch, "MLKNN", Raises)
    return trial(parameters={"MLKNN": {"place": str(tmp_path)}})


def test_failure_is_kept_and_tried_again(tmp_path, failing, workers):
    out = tmp_path / "out"
    records = run_benchmark(failing, SONGS, out)
    failed = [record for record in records if record.error]
    assert [cell_of(record) for record in failed] == [("songs", "MLKNN", 1)]
    assert failed[0].error == "ValueError: this fold is not for me"
    assert n_lines(out) == 9
    run_benchmark(failing, SONGS, out)
    assert n_lines(out) == 10  # failed again, and only this one was tried
    (tmp_path / "fail").unlink()
    records = run_benchmark(failing, SONGS, out)
    assert [record.error for record in records] == [None] * 9
    assert n_lines(out) == 11
    assert [record.error for record in read_records(out / CELLS)] == [None] * 9
    run_benchmark(failing, SONGS, out)
    assert n_lines(out) == 11


def test_worker_that_dies_is_replaced_and_its_batch_tried_once_more(tmp_path, monkeypatch):
    workers = work_at_home(monkeypatch, HomeWorkers(deaths={1}))
    records = run_benchmark(trial(), SONGS, tmp_path)
    assert [record.error for record in records] == [None] * 9
    assert workers.n_restarts == 1
    assert workers.batches[1] == workers.batches[2]


def test_batch_that_kills_two_workers_is_written_down_and_the_others_go_on(tmp_path, monkeypatch):
    workers = work_at_home(monkeypatch, HomeWorkers(deaths={1, 2}))
    records = run_benchmark(trial(), SONGS, tmp_path)
    failed = [record for record in records if record.error]
    assert [cell_of(record) for record in failed] == [("songs", "MLKNN", 0)]
    assert {record.error for record in failed} == {WORKER_DIED}
    assert workers.n_restarts == 2
    assert n_lines(tmp_path) == 9


class Slots(HomeWorkers):
    """Two at a time: a batch ends when the next but one begins; MLKNN of fold 1 is deadly.

    When a worker dies all batches that run are lost, as with a pool of processes.
    """

    def __init__(self):
        super().__init__(n_workers=2)
        self.open = []
        self.most = 0

    def submit(self, dataset, batch):
        self.batches.append([cell.key for cell in batch])
        self.open = [(future, done) for future, done in self.open if not future.done()]
        future = Future()
        self.open.append((future, lambda: future.set_result(run_batch(dataset, batch))))
        self.most = max(self.most, len(self.open))
        if any(cell.key[2:4] == ("MLKNN", 1) for cell in batch):
            for other, _ in self.open:
                other.set_exception(BrokenProcessPool("a worker died"))
            self.open = []
        return future

    def look(self, state):
        """What happens while the runner waits: the oldest batch ends."""
        if self.open:
            self.open.pop(0)[1]()


def test_batches_beside_a_deadly_one_are_not_blamed(tmp_path, monkeypatch):
    workers = work_at_home(monkeypatch, Slots())
    records = run_benchmark(trial(), SONGS, tmp_path, watch=workers.look)
    failed = [record for record in records if record.error]
    assert [cell_of(record) for record in failed] == [("songs", "MLKNN", 1)]
    assert workers.most == 2  # two at a time where nothing has died
    assert workers.n_restarts == 2
    times = [batch for batch in workers.batches if batch[0][2:4] == ("MLKNN", 1)]
    assert len(times) == 2


def test_cells_that_only_share_with_a_deadly_one_are_not_lost(tmp_path, monkeypatch):
    """BR and SMBR are well; NLDD, in the same batch, takes the memory of every worker."""

    class Deadly(HomeWorkers):
        def submit(self, dataset, batch):
            self.deaths = {len(self.batches)} if any(c.key.method == "NLDD" for c in batch) else ()
            return super().submit(dataset, batch)

    work_at_home(monkeypatch, Deadly())
    records = run_benchmark(trial(), SONGS, tmp_path, methods=("BR", "SMBR", "NLDD"))
    assert {record.method for record in records if record.error} == {"NLDD"}


def test_worker_that_dies_between_two_batches_is_replaced(tmp_path, monkeypatch):
    """Then not a future tells of it, but the call that hands over the next batch."""

    class Broken(HomeWorkers):
        def submit(self, dataset, batch):
            if len(self.batches) == 2 and not self.n_restarts:
                raise BrokenProcessPool("a worker died")
            return super().submit(dataset, batch)

    workers = work_at_home(monkeypatch, Broken())
    records = run_benchmark(trial(), SONGS, tmp_path)
    assert [record.error for record in records] == [None] * 9
    assert workers.n_restarts == 1


def test_interruption_closes_the_workers_and_keeps_what_is_done(tmp_path, workers):
    def interrupt(state):
        if state.done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_benchmark(trial(), SONGS, tmp_path, watch=interrupt)
    assert workers.closed
    assert n_lines(tmp_path) == 3
    records = run_benchmark(trial(), SONGS, tmp_path)  # the file is free again
    assert len(records) == 9


def test_states_count_failures(tmp_path, failing):
    states = []
    run_benchmark(failing, SONGS, tmp_path / "out", watch=states.append)
    assert [state.n_failed for state in states] == [0, 0, 0, 0, 1, 1, 1]
    run_benchmark(failing, SONGS, tmp_path / "out", watch=states.append)
    assert [(state.done, state.n_failed) for state in states[7:]] == [(8, 0), (9, 1)]
