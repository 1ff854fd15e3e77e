"""The machine learns while people work: a new round of suggestions, made by another process.

The model is fitted anew to its own answers and to what people have decided so far, and codes all
answers that nobody has decided. The file of the model stays as it is; only ``nldd update`` changes
that. Whatever ends the process leaves the store as it was: a round counts once it is finished.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any
from warnings import simplefilter

from nldd._files import file_sha256
from nldd.coding.automation import apply_guarantee
from nldd.coding.coded_answers import CodingOptions, CodingSummary, code_answers
from nldd.coding.columns import AUTO
from nldd.coding.guarantee import GuaranteeTarget, level_share
from nldd.coding.model import CodingModel
from nldd.coding.model_file import load_coding_model
from nldd.coding.predictions import PER_CODE
from nldd.coding.review.decisions import read_review, stored_table
from nldd.coding.review.prepare import make_suggestions, round_facts
from nldd.coding.review.records import Suggestion, outcomes
from nldd.coding.review.store import Store
from nldd.coding.rows import read_answers
from nldd.coding.tables.reading import TableOptions
from nldd.coding.training import refit_model
from nldd.coding.wording import failed_refit_words
from nldd.exceptions import NLDDError
from nldd.present.text import count_noun

IDLE, RUNNING, FAILED = "idle", "running", "failed"
# A decision waits for no more than the writing of so many suggestions, and comes next.
N_WRITTEN, PAUSE = 500, 0.01
NICENESS = 10
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
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
            policy, n_tests = CodingOptions(None).apply(test), last.facts["n_tests"] + 1
            failed = "" if test.automates else failed_refit_words(test)
        else:
            policy, _ = apply_guarantee(model, goal, CodingOptions(None))
            model = policy.model_in_use(model)
        # What is coded automatically stays so until a refit passes its test.
        before = list(store.suggestions(last.round)) if failed else []
        kept = {said.item: said for said in before if said.status == AUTO}
        decided = {item for item, outcome in found.items() if outcome.by}
        left = [item for item, _, coded, _ in store.outlines() if not coded and item not in decided]
        number = store.begin_round(digest)
        counts = _write_round(store, number, model, policy, left, options, kept)
        facts = round_facts(model, policy, counts, n_tests, n_decided)
        facts |= {"guarantee": last.facts.get("guarantee")} if kept else {}
        store.finish_round(number, digest, facts)
        # Only the first round and the last one count.
        for old in range(1, number):
            while store.drop_suggestions(old, N_WRITTEN):
                time.sleep(PAUSE)
    learned = f"Learned from {count_noun(n_decided, 'decision')}. {failed * bool(kept)}".strip()
    return Learning(IDLE, learned if n_decided else "Suggestions renewed by the model.", number)


def _write_round(
    store: Store,
    number: int,
    model: CodingModel,
    policy: CodingOptions,
    items: Sequence[int],
    options: TableOptions,
    kept: Mapping[int, Suggestion],
) -> CodingSummary:
    """Code the items that are left and write what the model says, little by little.

    Those that are `kept` stay as they were said before, with likely codes of the new model.
    """
    table = stored_table(store, list(store.items(items)), options)
    coded = code_answers(model, read_answers(table, model.columns), [None] * len(items), policy)
    new = make_suggestions(model, coded, items)
    said = (kept.get(s.item, s)._replace(likely=s.likely) for s in new)
    # A list: nothing is worked out while others wait to write.
    while some := list(islice(said, N_WRITTEN)):
        store.add_suggestions(number, some)
        time.sleep(PAUSE)
    counts, n_kept = coded.summary(), len(kept.keys() & set(items))
    return replace(counts, n_auto=counts.n_auto + n_kept, n_review=counts.n_review - n_kept)
