"""Rounds of suggestions: the first, with which a review begins, and later ones that learn from it.

A round is what a model suggests for answers of a review, as the store keeps it. For a later one the
model is fitted anew to its own answers and to what people have decided so far, by another process,
and codes all answers that nobody has decided. The file of the model stays as it is; only
``nldd update`` changes that. Whatever ends the process leaves the store as it was: a round counts
once it is finished.
"""

import json
import math
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any
from warnings import simplefilter

import numpy as np

from nldd import __version__
from nldd._files import file_sha256
from nldd.coding import coded_answers as coding
from nldd.coding.automation import apply_guarantee
from nldd.coding.codebook import CodebookEntry
from nldd.coding.coded_table import check_paths_differ, read_given
from nldd.coding.columns import AUTO, BY_PEOPLE
from nldd.coding.guarantee import USUAL, GuaranteeTarget, level_share
from nldd.coding.model import CodingModel
from nldd.coding.model_file import load_coding_model
from nldd.coding.predictions import PER_CODE, Watch, no_progress
from nldd.coding.review.decisions import read_review, stored_table
from nldd.coding.review.records import WRITTEN, Item, Study, Suggestion, outcomes
from nldd.coding.review.store import Store
from nldd.coding.rows import read_answers
from nldd.coding.tables.reading import TableOptions, read_table
from nldd.coding.tables.spreadsheet import Spreadsheet
from nldd.coding.training import refit_model
from nldd.coding.wording import failed_refit_words, fill_words
from nldd.exceptions import InputError, NLDDError
from nldd.present.text import count_noun

# So many times the answers to check are drawn at most, where few of them are automatic.
MOST_TIMES = 4
N_NEAREST = 3
# Letters of a coded answer that the page shows beside another one.
MOST_SHOWN = 500


@dataclass(frozen=True)
class PreparedReview:
    """A review that is ready; made by :func:`prepare_review`.

    Attributes
    ----------
    counts : nldd.coding.coded_answers.CodingSummary
        How many answers got which status.
    notes : list of str
        What a person should know.

    Examples
    --------
    >>> from nldd.coding.coded_answers import CodingSummary
    >>> from nldd.coding.review.rounds import PreparedReview
    >>> prepared = PreparedReview(CodingSummary(n_rows=100, n_auto=70, n_review=30), notes=[])
    >>> prepared.counts.n_review
    30
    """

    counts: coding.CodingSummary
    notes: list[str]

    def __str__(self) -> str:
        counts = self.counts
        parts = [f"{counts.n_auto:,} coded automatically", f"{counts.n_people:,} sent to review"]
        parts += [f"{counts.n_coded:,} had codes"] if counts.n_coded else []
        parts += [f"{counts.n_drawn:,} drawn at random to check"] if counts.n_drawn else []
        return f"{count_noun(counts.n_rows, 'answer')}: {', '.join(parts)}."


def prepare_review(
    model_path: Path,
    table_path: Path,
    store_path: Path,
    promise: GuaranteeTarget = USUAL,
    n_audit: int = 0,
    blind: bool = True,
    seed: int = 0,
    options: TableOptions = TableOptions(),
    watch: Watch = no_progress,
) -> PreparedReview:
    r"""Begin a review: code a table by a model into a new store.

    ``nldd review`` opens the store on a page in the browser.

    Parameters
    ----------
    model_path : Path
        The model file.
    table_path : Path
        The answers.
    store_path : Path
        File for the review, ``new.review.db`` for instance; it is there once it is complete.
    promise : GuaranteeTarget, optional
        Target, confidence, measure and ranking, see :func:`nldd.coding.triage`.
    n_audit : int
        So many answers are drawn at random from all without codes that about this number of
        automatic ones are among them, to check the machine.
    blind : bool
        Whether people code these without a suggestion.
    seed : int
        Of the draw.
    options : TableOptions, optional
        How the table is opened.
    watch : callable, optional
        ``watch(steps, total, title)`` passes steps through, for a progress bar.

    Returns
    -------
    PreparedReview
        How many answers got which status.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from nldd.coding import Answers, Settings, fit_coding_model, save_coding_model
    >>> from nldd import load_survey
    >>> from nldd.coding import GuaranteeTarget, prepare_review
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers, codes = [row[1] for row in rows], [set(row[4].split(";")) for row in rows]
    >>> folder = TemporaryDirectory()
    >>> names = ("model.nldd", "new.csv", "new.review.db")
    >>> model, new, store = (Path(folder.name, name) for name in names)
    >>> fitted = fit_coding_model(Answers(answers), codes, settings=Settings(n_folds=2))
    >>> save_coding_model(fitted, model)
    >>> _ = new.write_text("answer\ncheaper rents\nsafe cycle paths\nstreet lights\n")
    >>> goal = GuaranteeTarget(0.8, rank_by="theta")
    >>> prepared = prepare_review(model, new, store, goal, n_audit=3)
    >>> prepared.counts.n_rows, prepared.counts.n_auto
    (3, 3)
    >>> folder.cleanup()
    """
    check_paths_differ(model_path, table_path, store_path, hint="--store new.review.db")
    digest = file_sha256(model_path) if model_path.is_file() else ""
    model = load_coding_model(model_path)
    policy, notes = apply_guarantee(model, promise, coding.CodingOptions(None))
    table, used = read_table(table_path, options), policy.model_in_use(model)
    if not len(table):
        hint = "put the answers below the header, one a row; or use another file"
        raise InputError(f"{table_path.name} has no rows below its header.", hint=hint)
    answers, given = read_answers(table, model.columns), read_given(table, model)
    coded = coding.code_answers(model, answers, given, policy, watch=watch)
    without = [item for item, codes in enumerate(coded.given, 1) if codes is None]
    drawn = {*draw_to_check(without, coded.summary().n_auto, n_audit, seed)}
    coded = replace(coded, drawn=[item in drawn for item in answers.rows])
    counts = coded.summary()
    asked = {**promise._asdict(), "n_audit": n_audit, "blind": blind, "seed": seed}
    named = {"table": table_path.name, "model": model_path.name, "model_sha256": digest}
    study = _describe_study(model, table, **asked, **named)
    facts = {"n_decided": 0, "n_tests": len(model.earlier) + 1}
    facts |= round_facts(used, policy, counts)
    with Store.create(store_path, study) as store:
        rows = table.frame.itertuples(index=False, name=None)
        store.add_items(map(Item, answers.rows, rows, answers.texts, coded.drawn, coded.given))
        store.add_suggestions(0, make_suggestions(used, coded, answers.rows))
        store.finish_round(0, digest, facts)
    notes = [*table.notes, *notes, *_notes_on_draw(counts, n_audit, len(without))]
    return PreparedReview(counts, notes)


def draw_to_check(numbers: Sequence[int], n_auto: int, n_audit: int, seed: int) -> list[int]:
    """Some of the answers without codes, of which each set is equally likely, in rising order.

    About `n_audit` of those that the machine codes alone are among them. As they are a sample of
    all, a threshold may be found on them, too.

    >>> draw_to_check(range(1, 11), n_auto=5, n_audit=2, seed=0)
    [1, 3, 7, 10]
    """
    if not n_audit or not numbers:
        return []
    wanted = math.ceil(n_audit * len(numbers) / n_auto) if n_auto else n_audit
    size = min(wanted, MOST_TIMES * n_audit, len(numbers))
    return sorted(random.Random(seed).sample(numbers, size))


def _describe_study(model: CodingModel, table: Spreadsheet, /, **asked: Any) -> Study:
    """A study with the columns and codes of a model, and how its table is written."""
    columns, by_code = model.columns, model.codebook.by_code
    entries = [by_code.get(code, CodebookEntry(code)) for code in model.codes_in_order]
    written = {name: getattr(table.format, name) for name in WRITTEN}
    return Study(
        table_sha256=table.sha256,
        header=table.header,
        text=columns.text,
        codes=tuple((entry.code, entry.name, entry.description) for entry in entries),
        separator=columns.codes.separator or ";",
        none=columns.codes.none,
        table_format={**written, "codes": {"columns": _code_columns(model)}},
        version=__version__,
        **asked,
    )


def _code_columns(model: CodingModel) -> dict[str, str]:
    """The column of 0 and 1 of each code; there is none where codes are listed."""
    codes = model.columns.codes
    # Of columns that were merged into one code, the first has the mark.
    names = () if codes.listed else reversed(codes.names)
    return {model.codebook.current(name): name for name in names}


def _notes_on_draw(counts: coding.CodingSummary, n_audit: int, n_all: int) -> Iterator[str]:
    """What rows that were coded before, or a small table, mean for the answers drawn."""
    yield from fill_words("draw_notes", found=counts, n_asked=n_audit)
    n_expected = round(counts.n_drawn * counts.n_auto / max(n_all, 1))
    if n_expected < n_audit <= counts.n_drawn:
        found = f"Among the {counts.n_drawn:,} answers drawn are about {n_expected:,} of the"
        found += f" {counts.n_auto:,} automatic codes, fewer than the {n_audit:,} asked for."
        more = "To check more, begin with a larger --audit, or a lower target."
        yield f"{found} {more} All those drawn keep the promise exact after nldd update."


def make_suggestions(
    model: CodingModel, coded: coding.CodedAnswers, items: Sequence[int]
) -> Iterator[Suggestion]:
    """Suggestions for answers, whose `items` these are, but for those that people have coded."""
    found, why = coded.found, coded.why
    assert found.others_row is not None
    codes, nexts = model.codes(coded.Y), coding.next_labelsets(model, coded)
    likely = np.rint(found.P * 255).astype(np.uint8)
    doubt = np.nan_to_num(coded.doubt, nan=1.0).tolist()
    # The nearest coded answers with the most probable labelsets: each has other codes.
    near = np.column_stack([found.row, found.others_row])[:, :N_NEAREST].tolist()

    @cache
    def example(row: int) -> dict[str, Any]:
        text = model.answers.texts[row]
        shown = text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"
        return {"text": shown, "codes": model.codes(model.Y[row : row + 1])[0]}

    for i, status in enumerate(coded.statuses):
        if status == BY_PEOPLE:
            continue
        empty = bool(coded.empty[i])
        own = () if empty else codes[i]
        others = [labelset for labelset in nexts[i] if labelset != own]
        # The chance speaks of whole labelsets, not of codes that are settled one by one.
        chance = None if found.chance is None or coded.settled[i] else found.chance[i]
        details = {
            "theta": float(f"{found.theta[i]:.6g}"),
            "chance": None if chance is None else float(f"{chance:.6g}"),
            "why": why[i],
            "next": [] if empty else others[: coding.N_NEXT],
            "nearest": [] if empty else list(map(example, near[i])),
            "empty": empty,
        }
        yield Suggestion(items[i], own, status, doubt[i], likely[i].tobytes(), details)


def round_facts(
    model: CodingModel, policy: coding.CodingOptions, counts: coding.CodingSummary
) -> dict[str, Any]:
    """What a round is known by: its codes, its guarantee, and how many the machine codes alone.

    Besides, it has the number `n_tests` of its test, and how many answers people had decided.
    """
    book = model.codebook
    return {
        "codes": list(model.labels),
        "becomes": {e.code: book.current(e.code) for e in book.entries if e.merged_into},
        "columns": _code_columns(model),
        "guarantee": str(policy.guarantee or ""),
        "n_auto": counts.n_auto,
        "n_review": counts.n_people,
    }


IDLE, RUNNING, FAILED = "idle", "running", "failed"
# A decision waits for no more than the writing of so many suggestions, and comes next.
N_WRITTEN, PAUSE = 500, 0.01
NICENESS = 10
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
# Of Windows: the right to wait for the end of a process.
SYNCHRONIZE = 0x0010_0000
ENDED = "Learning ended before it was done; what people have decided is all there."


@dataclass(frozen=True)
class Learning:
    """Where learning stands: a state, a sentence for people, and the last round that it made."""

    state: str = IDLE
    message: str = ""
    round: int = 0


class Learner:
    """Starts a process that learns from a store, and tells what has become of it.

    The process has one thread and gives way to others. It ends when this one does, however that
    ends: it reads from a pipe that nobody writes to, which is closed then, or waits for it.
    """

    def __init__(
        self, store_path: Path, model_path: Path, options: TableOptions = TableOptions()
    ) -> None:
        self._words = [str(os.getpid()), *map(str, (store_path, model_path, options.numbers or ""))]
        self._process: subprocess.Popen[bytes] | None = None
        self._last = Learning()

    def start(self) -> bool:
        """Begin to learn; False if that is under way already."""
        if self.poll().state == RUNNING:
            return False
        # Not from the folder of the answers: a file there may be called as a module of Python.
        program = [sys.executable, "-P", "-c", f"from {__name__} import main; main()"]
        self._process = subprocess.Popen(
            [*program, *self._words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **ONE_THREAD},
            # Ctrl-C is for the server, which ends it.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        return True

    def poll(self) -> Learning:
        """Where it stands now."""
        if self._process is None:
            return self._last
        if self._process.poll() is None:
            return replace(self._last, state=RUNNING, message="")
        said, _ = self._process.communicate()
        self._process = None
        found: dict[str, Any] = {"state": FAILED, "message": ENDED}
        with suppress(ValueError):
            found = json.loads(said)
        self._last = replace(self._last, **found)
        return self._last

    def stop(self) -> None:
        """End the process, if there is one; a round that is not finished does not count."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def main() -> None:
    """What the process does: learn once, and say on standard output how that ended."""
    parent, store_path, model_path, numbers = sys.argv[1:]
    threading.Thread(target=_end_with, args=(int(parent),), daemon=True).start()
    simplefilter("ignore")
    with suppress(AttributeError, OSError):
        os.nice(NICENESS)
    try:
        options = TableOptions(numbers=Path(numbers) if numbers else None)
        said: dict[str, Any] = vars(learn(Path(store_path), Path(model_path), options))
    except NLDDError as error:
        said = {"state": FAILED, "message": str(error)}
    except Exception as error:  # whatever it is, people go on with the suggestions that they have
        said = {"state": FAILED, "message": f"{ENDED} ({type(error).__name__}: {error})"}
    print(json.dumps(said), flush=True)


def _end_with(parent: int) -> None:
    """Wait for the end of the process that started this one, and end."""
    if sys.platform == "win32":
        # There a thread that reads standard input can hold up libraries that are being loaded.
        import ctypes

        kernel = ctypes.windll.kernel32
        kernel.WaitForSingleObject(kernel.OpenProcess(SYNCHRONIZE, False, parent), -1)
    else:
        sys.stdin.buffer.read()
    os._exit(1)


def learn(store_path: Path, model_path: Path, options: TableOptions = TableOptions()) -> Learning:
    """Fit the model anew to what people have decided, and write a round of suggestions."""
    with Store.open(store_path) as store:
        study, last, found = store.study, store.rounds()[-1], outcomes(store.entries())
        digest = file_sha256(model_path) if model_path.is_file() else ""
        model = load_coding_model(model_path)
        model = replace(model, settings=replace(model.settings, n_jobs=1))
        n_decided = sum(outcome.codes is not None for outcome in found.values())
        if n_decided:
            given = read_review(store_path, model.columns, options, model.labels)
            model = refit_model(model, *given)
        goal = GuaranteeTarget(study.target, study.confidence, study.measure, study.rank_by)
        n_tests, failed = len(model.earlier) + 1, ""
        if n_decided and study.measure != PER_CODE:
            # Tested with its share of the level that the rounds have together.
            test = model.test.select(goal, level_share(last.facts["n_tests"]))
            policy, n_tests = coding.CodingOptions(None).apply(test), last.facts["n_tests"] + 1
            failed = "" if test.automates else failed_refit_words(test)
        else:
            policy, _ = apply_guarantee(model, goal, coding.CodingOptions(None))
            model = policy.model_in_use(model)
        # What is coded automatically stays so until a refit passes its test.
        before = list(store.suggestions(last.round)) if failed else []
        kept = {said.item: said for said in before if said.status == AUTO}
        decided = {item for item, outcome in found.items() if outcome.by}
        left = [item for item, _, coded, _ in store.outlines() if not coded and item not in decided]
        number = store.begin_round(digest)
        answers = read_answers(stored_table(store, list(store.items(left)), options), model.columns)
        coded = coding.code_answers(model, answers, [None] * len(left), policy)
        # Those that are kept have likely codes of the new model.
        new = make_suggestions(model, coded, left)
        _write_slowly(store, number, (kept.get(s.item, s)._replace(likely=s.likely) for s in new))
        counts, n_kept = coded.summary(), len(kept.keys() & {*left})
        counts = replace(counts, n_auto=counts.n_auto + n_kept, n_review=counts.n_review - n_kept)
        facts = round_facts(model, policy, counts) | {"n_decided": n_decided, "n_tests": n_tests}
        facts |= {"guarantee": last.facts.get("guarantee")} if kept else {}
        store.finish_round(number, digest, facts)
        # Only the first round and the last one count.
        for old in range(1, number):
            while store.drop_suggestions(old, N_WRITTEN):
                time.sleep(PAUSE)
    learned = f"Learned from {count_noun(n_decided, 'decision')}. {failed * bool(kept)}".strip()
    return Learning(IDLE, learned if n_decided else "Suggestions renewed by the model.", number)


def _write_slowly(store: Store, number: int, suggestions: Iterator[Suggestion]) -> None:
    """Write suggestions of a round little by little, for decisions to come between."""
    # A list: nothing is worked out while others wait to write.
    while some := list(islice(suggestions, N_WRITTEN)):
        store.add_suggestions(number, some)
        time.sleep(PAUSE)
