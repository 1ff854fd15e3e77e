"""The loop of a benchmark: what is run, kept, tried again and refused, and when workers die."""

import json
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool

import pytest

from bench.runner.trials import (
    HomeWorkers,
    Raises,
    Stub,
    n_lines,
    replace_method,
    songs,
    trial,
    work_at_home,
    written,
)
from nldd.bench.runner import benchmark
from nldd.bench.runner.benchmark import WORKER_DIED, run_benchmark
from nldd.bench.runner.cell import run_cell
from nldd.bench.runner.protocol import Shares
from nldd.bench.runner.records import CELLS, read_records
from nldd.datasets import Dataset
from nldd.exceptions import InputError

SONGS = {"songs": songs()}


@pytest.fixture
def workers(monkeypatch):
    return work_at_home(monkeypatch)


@pytest.fixture
def whole(tmp_path, workers):
    """What an undisturbed run of the trial writes, and the file itself."""
    run_benchmark(trial(), SONGS, tmp_path / "whole")
    return (tmp_path / "whole" / CELLS).read_bytes()


def cell_of(record):
    return record.dataset, record.method, record.fold


# What is run and kept


def test_every_cell_is_run_and_returned_in_order(tmp_path, workers):
    records = run_benchmark(trial(), SONGS, tmp_path)
    assert [cell_of(record) for record in records] == [
        ("songs", method, fold) for fold in range(3) for method in ("BR", "SMBR", "MLKNN")
    ]
    assert all(record.error is None for record in records)
    assert len(written(tmp_path)) == 9
    assert sorted(read_records(tmp_path / CELLS), key=cell_of) == sorted(records, key=cell_of)
    assert workers.closed


def test_several_data_sets_and_their_shares(tmp_path, workers):
    protocol = trial(shares=Shares("films", "BR", (0.5, 1.0)))
    films = Dataset(songs().X[:30], songs().Y[:30], songs().label_names)
    records = run_benchmark(protocol, {**SONGS, "films": films}, tmp_path, methods=("BR",))
    assert [(r.dataset, r.fold, r.train_share, r.details["n_train"]) for r in records] == [
        *(("songs", fold, None, 40) for fold in range(3)),
        *(("films", fold, None, 20) for fold in range(3)),
        ("films", 0, 0.5, 10),
        ("films", 0, 1.0, 20),
    ]


def test_finished_run_does_nothing_more(tmp_path, workers, whole, monkeypatch):
    records = run_benchmark(trial(), SONGS, tmp_path / "whole")
    monkeypatch.setattr(benchmark, "make_workers", None)  # would fail if it were called
    again = run_benchmark(trial(), SONGS, tmp_path / "whole")
    assert again == records
    assert (tmp_path / "whole" / CELLS).read_bytes() == whole


def test_more_methods_and_data_are_added_to_what_is_there(tmp_path, workers):
    first = run_benchmark(trial(), SONGS, tmp_path, methods=("BR",))
    second = run_benchmark(trial(), SONGS, tmp_path, methods=("CC", "BR"))
    assert {record.method for record in second} == {"BR", "CC"}
    assert [record for record in second if record.method == "BR"] == first
    assert n_lines(tmp_path) == 6
    assert len(run_benchmark(trial(), {**SONGS, "b": songs()}, tmp_path, methods=("BR",))) == 6
    assert n_lines(tmp_path) == 9


def test_other_protocols_and_seeds_live_in_the_same_file(tmp_path, workers):
    run_benchmark(trial(), SONGS, tmp_path, methods=("MLKNN",))
    run_benchmark(trial(seed=1), SONGS, tmp_path, methods=("MLKNN",))
    assert n_lines(tmp_path) == 6
    assert len(run_benchmark(trial(), SONGS, tmp_path, methods=("MLKNN",))) == 3
    assert n_lines(tmp_path) == 6


def test_run_goes_on_from_any_number_of_lines(tmp_path, whole, workers):
    lines = whole.splitlines(keepends=True)
    for kept in (0, 1, 5, len(lines)):
        (tmp_path / CELLS).write_bytes(b"".join(lines[:kept]))
        n_before = len(workers.submitted)
        run_benchmark(trial(), SONGS, tmp_path)
        assert written(tmp_path) == written(tmp_path / "whole")
        assert len(workers.submitted) - n_before == len(lines) - kept


# Refusals


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parameters": {"MLKNN": {"k": 3}}}, r"MLKNN on songs.*MLkNN\(\).*MLkNN\(k=3\)"),
        ({"base": "platt-svc"}, "BR on songs.*LogisticRegression.*PlattSVC"),
        ({"folds": 4}, "BR on songs.*40 training and 20 test rows.*45 training and 15"),
        ({"split_from": 60, "test_share": 0.5}, "songs.*40 training.*30 training"),
    ],
    ids=["parameter", "base", "folds", "split"],
)
def test_changed_settings_are_refused_before_anything_is_run(tmp_path, workers, change, message):
    run_benchmark(trial(), SONGS, tmp_path)
    before = (tmp_path / CELLS).read_bytes()
    n_submitted = len(workers.submitted)
    with pytest.raises(InputError, match=rf"'trial'.*{message}.*another folder with --out"):
        run_benchmark(trial(**change), SONGS, tmp_path)
    assert (tmp_path / CELLS).read_bytes() == before
    assert len(workers.submitted) == n_submitted
    run_benchmark(trial(), SONGS, tmp_path)


@pytest.mark.parametrize(
    "other",
    [
        Dataset(2 * songs().X, songs().Y, songs().label_names),
        Dataset(songs().X, 1 - songs().Y, songs().label_names),
        Dataset(songs().X, songs().Y[:, :3], songs().label_names[:3]),
    ],
    ids=["features", "labels", "fewer labels"],
)
def test_other_data_of_the_same_name_are_refused(tmp_path, workers, other):
    run_benchmark(trial(), SONGS, tmp_path, methods=("MLKNN",))
    with pytest.raises(InputError, match="songs"):
        run_benchmark(trial(), {"songs": other}, tmp_path, methods=("MLKNN",))


def test_settings_that_failed_may_be_mended(tmp_path, workers):
    """A parameter that no cell could be run with is put right: nothing of it is in the file."""
    wrong = trial(parameters={"MLKNN": {"k": -1}})
    records = run_benchmark(wrong, SONGS, tmp_path, methods=("MLKNN",))
    assert all(record.error for record in records)
    right = trial(parameters={"MLKNN": {"k": 3}})
    records = run_benchmark(right, SONGS, tmp_path, methods=("MLKNN",))
    assert [record.error for record in records] == [None] * 3


def test_data_with_fewer_rows_than_folds_are_refused(tmp_path, workers):
    few = Dataset(songs().X[:4], songs().Y[:4], songs().label_names)
    with pytest.raises(InputError, match=r"songs.*4 rows"):
        run_benchmark(trial(folds=10), {"songs": few}, tmp_path)


# What a person sees


def test_states_tell_how_far_the_run_is(tmp_path, workers):
    states = []
    run_benchmark(trial(), SONGS, tmp_path, watch=states.append)
    assert [state.done for state in states] == list(range(10))
    assert {state.total for state in states} == {9}
    assert {state.n_failed for state in states} == {0}
    assert [len(state.running) for state in states] == [1] * 9 + [0]
    assert states[0].seconds_left is None
    # After the first cell BR is known, and the others by its time.
    assert all(state.seconds_left > 0 for state in states[1:-1])
    assert states[-1].seconds_left == 0
    assert [state.running[0].expected_seconds is None for state in states[:-1]] == [
        True,
        *[False] * 8,
    ]


def test_time_left_by_hand(tmp_path, monkeypatch):
    """Cells of 6 seconds; two wait, one has run for 2 seconds of its 6."""
    replace_method(monkeypatch, "MLKNN", Stub)
    work_at_home(monkeypatch, HomeWorkers())
    run_benchmark(trial(folds=4), SONGS, tmp_path, methods=("MLKNN",))
    line = json.loads((tmp_path / CELLS).read_text().splitlines()[0])
    line |= {"fit_seconds": 5.0, "predict_seconds": 1.0}
    (tmp_path / CELLS).write_text(json.dumps(line) + "\n")
    clock = iter([100.0, *[102.0] * 50])
    monkeypatch.setattr(benchmark.time, "monotonic", lambda: next(clock))
    states = []

    def once(state):
        states.append(state)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_benchmark(trial(folds=4), SONGS, tmp_path, methods=("MLKNN",), watch=once)
    assert states[0].running[0].expected_seconds == pytest.approx(6)
    # Two cells of 6 and what is left of the third, 4.
    assert states[0].seconds_left == pytest.approx(16)


# Failures, deaths and interruptions


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


def test_worker_that_dies_is_replaced_and_its_cell_tried_once_more(tmp_path, monkeypatch):
    workers = work_at_home(monkeypatch, HomeWorkers(deaths={1}))
    records = run_benchmark(trial(), SONGS, tmp_path)
    assert [record.error for record in records] == [None] * 9
    assert workers.n_restarts == 1
    assert workers.submitted[1] == workers.submitted[2]


def test_cell_that_kills_two_workers_is_written_down_and_the_others_go_on(tmp_path, monkeypatch):
    workers = work_at_home(monkeypatch, HomeWorkers(deaths={1, 2}))
    records = run_benchmark(trial(), SONGS, tmp_path)
    failed = [record for record in records if record.error]
    assert [cell_of(record) for record in failed] == [("songs", "SMBR", 0)]
    assert {record.error for record in failed} == {WORKER_DIED}
    assert workers.n_restarts == 2
    assert n_lines(tmp_path) == 9


class Slots(HomeWorkers):
    """Two at a time: a cell ends when the next but one begins; MLKNN of fold 1 is deadly.

    When a worker dies all cells that run are lost, as with a pool of processes.
    """

    def __init__(self):
        super().__init__(n_workers=2)
        self.open = []
        self.most = 0

    def submit(self, dataset, cell):
        self.submitted.append(cell.key)
        self.open = [(future, done) for future, done in self.open if not future.done()]
        future = Future()
        self.open.append((future, lambda: future.set_result(run_cell(dataset, cell))))
        self.most = max(self.most, len(self.open))
        if cell.key[2:4] == ("MLKNN", 1):
            for other, _ in self.open:
                other.set_exception(BrokenProcessPool("a worker died"))
            self.open = []
        return future

    def look(self, state):
        """What happens while the runner waits: the oldest cell ends."""
        if self.open:
            self.open.pop(0)[1]()


def test_cells_beside_a_deadly_one_are_not_blamed(tmp_path, monkeypatch):
    workers = work_at_home(monkeypatch, Slots())
    records = run_benchmark(trial(), SONGS, tmp_path, watch=workers.look)
    failed = [record for record in records if record.error]
    assert [cell_of(record) for record in failed] == [("songs", "MLKNN", 1)]
    assert workers.most == 2  # two at a time where nothing has died
    assert workers.n_restarts == 2
    assert [key[2:4] for key in workers.submitted].count(("MLKNN", 1)) == 2


def test_worker_that_dies_between_two_cells_is_replaced(tmp_path, monkeypatch):
    """Then not a future tells of it, but the call that hands over the next cell."""

    class Broken(HomeWorkers):
        def submit(self, dataset, cell):
            if len(self.submitted) == 2 and not self.n_restarts:
                raise BrokenProcessPool("a worker died")
            return super().submit(dataset, cell)

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
    assert [state.n_failed for state in states] == [0] * 6 + [1] * 4
    run_benchmark(failing, SONGS, tmp_path / "out", watch=states.append)
    assert [(state.done, state.n_failed) for state in states[10:]] == [(8, 0), (9, 1)]
