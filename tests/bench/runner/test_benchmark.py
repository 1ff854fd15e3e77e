"""The loop of a benchmark: what is run, kept, tried again and refused, and when workers die."""

import json
from concurrent.futures import BrokenExecutor, Future
from dataclasses import fields, replace

import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

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
from nldd.bench.runner.cell import empty_record, run_cell
from nldd.bench.runner.protocol import DatasetRules, Protocol, Shares
from nldd.bench.runner.records import CELLS, read_records
from nldd.bench.runner.splits import Split
from nldd.datasets import Dataset
from nldd.estimators._registry import Method
from nldd.exceptions import InputError

SONGS = {"songs": songs()}


@pytest.fixture
def workers(monkeypatch):
    return work_at_home(monkeypatch)


def cell_of(record):
    return record.dataset, record.method, record.fold


# What is run and kept


def test_every_cell_is_run_returned_in_order_and_never_again(tmp_path, workers, monkeypatch):
    records = run_benchmark(trial(), SONGS, tmp_path)
    assert [cell_of(record) for record in records] == [
        ("songs", method, fold) for fold in range(3) for method in ("BR", "SMBR", "MLKNN")
    ]
    assert all(record.error is None for record in records)
    assert sorted(read_records(tmp_path / CELLS), key=cell_of) == sorted(records, key=cell_of)
    assert workers.closed
    before = (tmp_path / CELLS).read_bytes()
    monkeypatch.setattr(benchmark, "make_workers", None)  # would fail if it were called
    assert run_benchmark(trial(), SONGS, tmp_path) == records
    assert (tmp_path / CELLS).read_bytes() == before


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


def test_more_methods_and_data_are_added_to_what_is_there(tmp_path, workers):
    first = run_benchmark(trial(), SONGS, tmp_path, methods=("BR",))
    second = run_benchmark(trial(), SONGS, tmp_path, methods=("CC", "BR"))
    assert [record for record in second if record.method == "BR"] == first
    assert n_lines(tmp_path) == 6
    assert len(run_benchmark(trial(), {**SONGS, "b": songs()}, tmp_path, methods=("BR",))) == 6
    assert n_lines(tmp_path) == 9


def test_run_goes_on_from_any_number_of_lines(tmp_path, workers):
    run_benchmark(trial(), SONGS, tmp_path / "whole")
    lines = (tmp_path / "whole" / CELLS).read_bytes().splitlines(keepends=True)
    for kept in (0, 1, 5, len(lines)):
        (tmp_path / CELLS).write_bytes(b"".join(lines[:kept]))
        n_before = len(workers.submitted)
        run_benchmark(trial(), SONGS, tmp_path)
        assert written(tmp_path) == written(tmp_path / "whole")
        assert len(workers.submitted) - n_before == len(lines) - kept


# What goes on with the cells of a folder


class Idle(HomeWorkers):
    """Writes down cells that nobody ran."""

    def submit(self, dataset, cell):
        self.submitted.append(cell.key)
        future, sizes = Future(), {"n_train": len(cell.train), "n_test": len(cell.test)}
        future.set_result(replace(empty_record(cell), details=cell.about | sizes))
        return future


def own(factory):
    return {"own": {"Mine": Method("Mine", "mine:Model", factory)}, "methods": ("Mine",)}


BIG = {"split_from": 60}  # then the songs are a large data set
GROUPS = Split("leave-one-group-out", groups="speaker")
K3, GRID = {"MLKNN": {"k": 3}}, {"MLKNN": {"k": (1, 3)}}
SHARES = Shares("songs", "BR", (0.5,))
OTHER_SHARES = replace(SHARES, parameters={"decision": "probability"})
# Each field of a protocol: what it was and is; what the refusal names, or None and why it is none.
CHANGES = [
    ("name", {}, {"name": "other"}, None),  # cells of other protocols are never compared
    ("title", {}, {"title": "other"}, None),  # words for people
    ("seed", {}, {"seed": 1}, "the seed 0, now it has the seed 1"),
    ("folds", {}, {"folds": 4}, "3-fold.*4-fold"),
    ("split_from", {}, BIG, "3-fold.*1 random split"),
    ("splits", BIG, {"splits": 2}, "1 random split.*2 random splits"),
    ("test_share", BIG, {"test_share": 0.5}, "75/25.*50/50"),
    ("test_share", BIG, {"test_share": 0.254}, "15 test rows.*16 test rows"),
    ("split", {}, {"split": Split("stratified", folds=3)}, "stratified by labels"),
    ("split", {"split": GROUPS}, {"split": replace(GROUPS, kind="given", groups=None)}, "given"),
    ("settings", {"methods": ("ECC",)}, {"settings": "paper"}, "threshold='cardinality'"),
    ("base", {}, {"base": "platt-svc"}, "LogisticRegression.*PlattSVC"),
    ("methods", {}, {"methods": ("BR", "CC")}, None),  # their cells have the same folds and data
    ("own", own(KNeighborsClassifier), own(DecisionTreeClassifier), "DecisionTreeClassifier"),
    ("parameters", {}, {"parameters": K3}, r"MLkNN\(k=3\)"),
    ("large", BIG, {"large": DatasetRules(parameters=K3)}, r"MLkNN\(k=3\)"),
    ("large", BIG, {"large": DatasetRules(base="platt-svc")}, "PlattSVC"),
    ("datasets", {}, {"datasets": {"songs": DatasetRules(parameters=K3)}}, r"MLkNN\(k=3\)"),
    ("datasets", {}, {"datasets": {"songs": DatasetRules(base="platt-svc")}}, "PlattSVC"),
    ("datasets", {}, {"datasets": {"songs": DatasetRules(Split(folds=2))}}, "3-fold.*2-fold"),
    # Other columns are other data, which their fingerprint tells.
    ("datasets", {}, {"datasets": {"songs": DatasetRules(labels="a", text="b")}}, None),
    ("prepare", {}, {"prepare": (StandardScaler(),)}, "StandardScaler"),
    ("prepare", {"prepare": (SelectKBest(k=1),)}, {"prepare": (SelectKBest(k=2),)}, "k=2"),
    ("search", {}, {"search": GRID}, "GridSearchCV"),
    ("scoring", {"search": GRID}, {"scoring": "log_loss"}, "f_measure.*log_loss"),
    ("inner_folds", {"search": GRID}, {"inner_folds": 2}, "n_splits=3.*n_splits=2"),
    # Other shares are other cells; those that are there are as true as before.
    ("shares", {"shares": SHARES}, {"shares": replace(SHARES, steps=(0.5, 0.7))}, None),
    ("shares", {"shares": SHARES}, {"shares": OTHER_SHARES}, "decision='probability'"),
]


def test_changes_are_of_every_field():
    assert {name for name, *_ in CHANGES} == {field.name for field in fields(Protocol)}


@pytest.mark.parametrize(("name", "before", "after", "refused"), CHANGES)
def test_changed_protocol_is_refused_before_anything_is_run(
    tmp_path, monkeypatch, name, before, after, refused
):
    workers = work_at_home(monkeypatch, Idle())
    speakers = [f"{i % 3}" for i in range(60)]
    data = {"songs": replace(songs(), n_train=45, groups=speakers)}
    run_benchmark(trial(**before), data, tmp_path)
    written, n_submitted = (tmp_path / CELLS).read_bytes(), len(workers.submitted)
    changed = replace(trial(**before), **after)
    if refused is None:
        run_benchmark(changed, data, tmp_path)
    else:
        with pytest.raises(InputError, match=rf"'trial'.*{refused}.*--out"):
            run_benchmark(changed, data, tmp_path)
        assert len(workers.submitted) == n_submitted
        assert (tmp_path / CELLS).read_bytes() == written
    run_benchmark(trial(**before), data, tmp_path)


def test_folds_and_seed_are_those_of_methods_that_are_not_in_the_run(tmp_path, workers):
    run_benchmark(trial(), SONGS, tmp_path, methods=("MLKNN",))
    for change in ({"folds": 4}, {"seed": 1}):
        with pytest.raises(InputError, match="MLKNN on songs had"):
            run_benchmark(trial(**change), SONGS, tmp_path, methods=("BR",))
    assert n_lines(tmp_path) == 3


X, Y, NAMES = songs()
OTHERS = [Dataset(2 * X, Y, NAMES), Dataset(X, 1 - Y, NAMES), Dataset(X, Y[:, :3], NAMES[:3])]


@pytest.mark.parametrize("other", OTHERS, ids=["features", "labels", "fewer labels"])
def test_other_data_of_the_same_name_are_refused(tmp_path, workers, other):
    run_benchmark(trial(), SONGS, tmp_path, methods=("MLKNN",))
    with pytest.raises(InputError, match="songs had data with the fingerprint"):
        run_benchmark(trial(), {"songs": other}, tmp_path, methods=("MLKNN",))


def test_settings_that_failed_may_be_mended(tmp_path, workers):
    """A parameter that no cell could be run with is put right: nothing of it is in the file."""
    for k, is_wrong in ((-1, True), (3, False)):
        protocol = trial(parameters={"MLKNN": {"k": k}}, methods=("MLKNN",))
        records = run_benchmark(protocol, SONGS, tmp_path)
        assert [record.error is not None for record in records] == [is_wrong] * 3


# What a person sees


def test_states_tell_how_far_the_run_is(tmp_path, monkeypatch):
    work_at_home(monkeypatch, HomeWorkers())
    states = []
    run_benchmark(trial(), SONGS, tmp_path, watch=states.append)
    assert [state.done for state in states] == list(range(10))
    assert {(state.total, state.n_failed) for state in states} == {(9, 0)}
    assert [len(state.running) for state in states] == [1] * 9 + [0]
    assert states[0].seconds_left is None
    # After the first cell BR is known, and the others by its time.
    assert None not in [state.seconds_left for state in states[1:]]
    assert states[-1].seconds_left == 0


def test_time_left_by_hand(tmp_path, monkeypatch):
    """Cells of 6 seconds; two wait, one has run for 2 seconds of its 6."""
    replace_method(monkeypatch, "MLKNN", Stub)
    work_at_home(monkeypatch)
    protocol = trial(folds=4, methods=("MLKNN",))
    run_benchmark(protocol, SONGS, tmp_path)
    line = json.loads((tmp_path / CELLS).read_text().splitlines()[0])
    line |= {"fit_seconds": 5.0, "predict_seconds": 1.0}
    (tmp_path / CELLS).write_text(json.dumps(line) + "\n")
    clock = iter([100.0, *[102.0] * 50])
    monkeypatch.setattr(benchmark.time, "monotonic", lambda: next(clock))
    states = []

    def look_once(state):
        states.append(state)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_benchmark(protocol, SONGS, tmp_path, watch=look_once)
    assert states[0].running[0].expected_seconds == pytest.approx(6)
    assert states[0].seconds_left == pytest.approx(16)


# Failures, deaths and interruptions


def test_failure_is_kept_and_tried_again(tmp_path, monkeypatch, workers):
    (tmp_path / "fail").touch()
    replace_method(monkeypatch, "MLKNN", Raises)
    failing, out = trial(parameters={"MLKNN": {"place": str(tmp_path)}}), tmp_path / "out"
    states = []
    records = run_benchmark(failing, SONGS, out, watch=states.append)
    failed = [record for record in records if record.error]
    assert [cell_of(record) for record in failed] == [("songs", "MLKNN", 1)]
    assert failed[0].error == "ValueError: this fold is not for me"
    assert [state.n_failed for state in states] == [0] * 6 + [1] * 4
    run_benchmark(failing, SONGS, out)
    assert n_lines(out) == 10  # failed again, and only this one was tried
    (tmp_path / "fail").unlink()
    for _ in range(2):
        records = run_benchmark(failing, SONGS, out)
        assert [record.error for record in records] == [None] * 9
        assert n_lines(out) == 11
    assert [record.error for record in read_records(out / CELLS)] == [None] * 9


@pytest.mark.parametrize(("deaths", "n_failed"), [({1}, 0), ({1, 2}, 1)])
def test_cell_that_a_worker_died_of_is_tried_once_more(tmp_path, monkeypatch, deaths, n_failed):
    workers = work_at_home(monkeypatch, HomeWorkers(deaths=deaths))
    records = run_benchmark(trial(), SONGS, tmp_path)
    failed = [(cell_of(record), record.error) for record in records if record.error]
    assert failed == [(("songs", "SMBR", 0), WORKER_DIED)] * n_failed
    assert workers.submitted[1] == workers.submitted[2]
    assert n_lines(tmp_path) == 9


class Slots(HomeWorkers):
    """Two at a time: a cell ends when the next but one begins; MLKNN of fold 1 is deadly."""

    def __init__(self):
        super().__init__(n_workers=2)
        self.open, self.beside_deadly, self.n_seen = [], [], 0

    def submit(self, dataset, cell):
        self.submitted.append(cell.key)
        future = Future()
        if cell.key[2:4] == ("MLKNN", 1):
            self.beside_deadly.append(len(self.open))
            future.set_exception(BrokenExecutor("a worker died"))
        else:
            self.open.append(lambda: future.set_result(run_cell(dataset, cell)))
        return future

    def look(self, state):
        """What happens while the runner waits: the oldest cell ends, if no worker died."""
        if self.open and self.n_seen == len(self.beside_deadly):
            self.open.pop(0)()
        self.n_seen = len(self.beside_deadly)


def test_deadly_cell_is_tried_alone_and_no_other_is_blamed(tmp_path, monkeypatch):
    workers = work_at_home(monkeypatch, Slots())
    records = run_benchmark(trial(), SONGS, tmp_path, watch=workers.look)
    failed = [record for record in records if record.error]
    assert [cell_of(record) for record in failed] == [("songs", "MLKNN", 1)]
    assert workers.beside_deadly == [1, 0]
    assert len(workers.submitted) == 10


def test_interruption_closes_the_workers_and_keeps_what_is_done(tmp_path, workers):
    def interrupt(state):
        if state.done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_benchmark(trial(), SONGS, tmp_path, watch=interrupt)
    assert workers.closed
    assert n_lines(tmp_path) == 3
    assert len(run_benchmark(trial(), SONGS, tmp_path)) == 9  # the file is free again
