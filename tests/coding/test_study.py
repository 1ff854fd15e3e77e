"""Fit and update on files: what joins, what is refused, and that nothing is lost."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple
from functools import partial
from hashlib import sha256
from itertools import count
from threading import Event, Thread

import numpy as np
import pytest

from coding.made_up import REQUEST, SETTINGS, assert_same, fitted, made_up, write_coded, write_csv
from nldd import __version__
from nldd.coding.columns import ColumnSpec
from nldd.coding.evaluation import evaluate_evidence
from nldd.coding.guarantee import GuaranteeTarget, selective_threshold
from nldd.coding.model_file import load_coding_model, model_lock
from nldd.coding.training import fit_table, update_model
from nldd.exceptions import InputError

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")

TEXTS, CODES = made_up(80, 0)


@pytest.fixture(scope="module")
def fitted_file(tmp_path_factory):
    """Content of a model file made from the first 50 answers, and of their table."""
    folder = tmp_path_factory.mktemp("study")
    table = write_coded(folder / "answers.csv", TEXTS[:50], CODES[:50])
    fit_table(table, folder / "model.nldd", REQUEST, SETTINGS)
    return (folder / "model.nldd").read_bytes(), table.read_bytes()


@pytest.fixture
def study(tmp_path, fitted_file):
    (tmp_path / "model.nldd").write_bytes(fitted_file[0])
    (tmp_path / "answers.csv").write_bytes(fitted_file[1])
    return tmp_path


def test_fit_takes_the_coded_rows_and_saves_the_model(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1715934600")
    codes = [None if i % 5 == 0 else names for i, names in enumerate(CODES[:50])]
    table = write_coded(tmp_path / "answers.csv", TEXTS[:50], codes)
    step = fit_table(table, tmp_path / "new" / "model.nldd", REQUEST, SETTINGS)
    kept = [i for i in range(50) if i % 5]
    expected = fitted([TEXTS[i] for i in kept], [CODES[i] for i in kept])
    assert step.n_set_aside == 10
    loaded = load_coding_model(tmp_path / "new" / "model.nldd")
    same = (expected.evidence.Y == expected.Y)[step.model.tested]
    sizes = (40, 10, 40, 3, len({frozenset(CODES[i]) for i in kept}))
    accuracies = (pytest.approx(same.all(axis=1).mean()), pytest.approx(same.mean()))
    read = ("answers.csv", sha256(table.read_bytes()).hexdigest())
    for model in (step.model, loaded):
        assert model.answers.texts == expected.answers.texts
        assert_same(model.evidence, expected.evidence)
        (event,) = map(astuple, model.history)
        assert event == ("fit", "2024-05-17T08:30:00Z", *read, *sizes, *accuracies, __version__)


def test_the_same_table_joins_again_if_told_so(tmp_path):
    """Where the table has no ids; they might be other people who say the same."""
    table = write_coded(tmp_path / "a.csv", [*TEXTS[:50], TEXTS[0]], [*CODES[:50], CODES[0]])
    fit_table(table, tmp_path / "model.nldd", REQUEST, SETTINGS)
    step = update_model(tmp_path / "model.nldd", table, again=True)
    assert step.model.answers.texts == 2 * [*TEXTS[:50], TEXTS[0]]
    assert step.model.history[0].sha256 == step.model.history[1].sha256


def test_fit_waits_for_whoever_is_at_work_on_its_model(study):
    """Also where there is no model yet: it may be on its way."""
    model, content = study / "model.nldd", (study / "model.nldd").read_bytes()
    waits, outcome = Event(), []
    model.unlink()

    def fit():
        tell = lambda message: waits.set() or outcome.append(message)  # noqa: E731
        with pytest.raises(InputError) as refused:
            fit_table(study / "answers.csv", model, REQUEST, SETTINGS, tell=tell)
        outcome.append(str(refused.value))

    fitting = Thread(target=fit)
    with model_lock(model):
        fitting.start()
        assert waits.wait(60)
        model.write_bytes(content)
    fitting.join()
    told, error = outcome
    assert "model.nldd" in told
    assert error == f"{model} already exists."
    assert model.read_bytes() == content


def test_updates_at_the_same_time_lose_nothing(study):
    parts = [slice(50 + 5 * i, 55 + 5 * i) for i in range(4)]
    more = [(study / f"more{i}.csv", TEXTS[part], CODES[part]) for i, part in enumerate(parts)]
    tables = [write_coded(*each) for each in more]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(partial(update_model, study / "model.nldd"), tables))
    model = load_coding_model(study / "model.nldd")
    assert [event.n_answers for event in model.history] == [50, 55, 60, 65, 70]
    assert sorted(event.file for event in model.history[1:]) == [f"more{i}.csv" for i in range(4)]
    assert sorted(model.answers.texts[50:]) == sorted(TEXTS[50:70])
    names = {path.name for path in study.iterdir()} - {".model.nldd.lock"}
    assert names == {"answers.csv", "model.nldd", "model.nldd.bak", *(t.name for t in tables)}


def write_codes(path, cells):
    rows = [(f"{TEXTS[i]} number{i}", cell) for i, cell in enumerate(cells)]
    return write_csv(path, ["answer", "codes"], rows)


def test_a_mark_for_no_code_may_be_na(tmp_path):
    cells = ["NA", "n/a", *(";".join(sorted(codes)) for codes in CODES[2:])]
    request = ColumnSpec(("answer",), "codes", none="NA")
    step = fit_table(write_codes(tmp_path / "a.csv", cells), tmp_path / "m.nldd", request, SETTINGS)
    assert (step.model.codes(step.model.Y)[0], step.n_set_aside) == ((), 1)


def test_thresholds_are_found_on_answers_drawn_at_random(tmp_path):
    texts, codes = made_up(120)
    rows = [(i, t, ";".join(c)) for i, t, c in zip(count(), texts, codes, strict=False)]
    table = write_csv(tmp_path / "first.csv", ("id", "answer", "codes"), rows)
    fit_table(table, tmp_path / "model.nldd", REQUEST, SETTINGS)
    more, given = made_up(30, seed=1)
    marks = ["yes"] * 10 + ["no"] * 10 + [""] * 10
    each = zip(count(120), more, given, marks, strict=False)
    rows = [(i, t, ";".join(c), m) for i, t, c, m in each]
    review = write_csv(tmp_path / "review.csv", ("id", "answer", "codes", "nldd_drawn"), rows)
    model = update_model(tmp_path / "model.nldd", review).model
    # The first table was drawn, and of the review what says so.
    assert model.drawn.tolist() == [True] * 130 + [False] * 20
    assert load_coding_model(tmp_path / "model.nldd").drawn.tolist() == model.drawn.tolist()
    found = model.select(GuaranteeTarget(0.6))
    known = model.evidence[np.arange(130)]
    # The first refit has a tenth of the level.
    doubt, right = known.doubt(found.rank_by), known.right(model.Y[:130])
    alone = selective_threshold(doubt, right, 0.6, level_share=0.1)
    assert (found.n_answers, found.threshold) == (130, alone.threshold)
    assert len(evaluate_evidence(model).Y) == 130
    # All were predicted without themselves, and taught.
    assert len(model.evidence) == 150 == len(model.answers)


def test_answers_that_the_model_has_and_that_are_drawn_later_are_tested_from_then_on(tmp_path):
    texts, codes = made_up(60)
    rows = [(f"r{i}", t, ";".join(c)) for i, (t, c) in enumerate(zip(texts, codes, strict=True))]
    head = ("id", "answer", "codes")
    table = write_csv(tmp_path / "a.csv", head, rows[:40])
    fit_table(table, tmp_path / "m.nldd", REQUEST, SETTINGS)
    leftover = write_csv(tmp_path / "review.csv", head, rows[40:50])
    assert update_model(tmp_path / "m.nldd", leftover).model.drawn.sum() == 40
    drawn = [(*row, "yes") for row in rows[45:55]]
    second = write_csv(tmp_path / "second.csv", (*head, "nldd_drawn"), drawn)
    model = update_model(tmp_path / "m.nldd", second).model
    assert model.tested.tolist() == [*range(40), *range(45, 55)]
    assert len(model.answers) == 55
    known = [(*row, "yes") for row in rows[40:45]]  # nothing new but that they were drawn
    third = write_csv(tmp_path / "third.csv", (*head, "nldd_drawn"), known)
    assert update_model(tmp_path / "m.nldd", third).model.drawn.all()


def test_a_table_of_which_nothing_was_drawn_is_not_fitted(tmp_path):
    rows = [(t, ";".join(c), "no") for t, c in zip(TEXTS, CODES, strict=True)]
    table = write_csv(tmp_path / "t.csv", ("answer", "codes", "nldd_drawn"), rows)
    with pytest.raises(InputError, match="None of the coded answers was drawn at random"):
        fit_table(table, tmp_path / "model.nldd", REQUEST, SETTINGS)
    assert not (tmp_path / "model.nldd").exists()
