"""Coverage-guided fuzzing of all readers of files: an InputError or a good read, nothing else.

``make fuzz SECONDS=60`` runs each target so long, each in a process of its own that may take a
gigabyte. An input that reaches a new step between two lines of nldd is kept and changed further.
The fewest of them that reach all steps are in ``fuzz_corpus``, and are read again by the tests.
"""

import contextlib
import hashlib
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from itertools import chain
from pathlib import Path
from warnings import catch_warnings, simplefilter

from nldd.bench.datasets.load import load_dataset
from nldd.bench.datasets.source import read_label_names
from nldd.bench.runner.protocol_file import load_protocol
from nldd.coding.model_file import load_coding_model
from nldd.coding.tables.reading import read_table
from nldd.coding.tables.spreadsheet import cell_number, cell_text
from nldd.exceptions import InputError
from nldd.persistence._archive import read_archive
from nldd.present.text import escape_formula, unescape_formula

CORPUS = Path(__file__).parent / "fuzz_corpus"
SOURCE = str(Path(sys.modules["nldd"].__file__).parent)
MOST_BYTES, HANG_SECONDS, LONGEST = 2**30, 5.0, 60_000
CORPUS_BYTES = 40_000  # of a target
MARK = b"\n%%%% "  # between the members of an archive, as one text that can be changed
TOKENS = [b"9" * 5000, b"9" * 400, b"-1", b"1e999", b"nan", b"\x00", b"\xff", b"\xef\xbb\xbf", b""]
TOKENS += [b'"', b"'", b",", b";", b"\t", b"\n", b"\r", b"{", b"}", b"[", b"]", b"\\ud800", b"="]
TOKENS += [b"[" * 5000, b"{" * 300, b"true", b"null", b"0", b"1", b"2147483648", b" ", b"<", b">"]


def read_cells(path):
    table = read_table(path)
    assert len(table.names) == len(table.header)
    for cell in chain.from_iterable(table.cells(name) for name in table.names):
        text = cell_text(cell)
        assert escape_formula(unescape_formula(escape_formula(text))) == escape_formula(text)
        with contextlib.suppress(ValueError):
            cell_number(cell)
    assert all(map(str.isprintable, table.notes))


def read_model(path):
    read_archive(path)
    load_coding_model(path)


def as_workbook(data):
    return _zipped(_members(data))


def as_model(data):
    """An archive whose checksums are right, so that what comes behind them is reached."""
    members = _members(data)
    with contextlib.suppress(ValueError, TypeError, AttributeError, KeyError, RecursionError):
        manifest = json.loads(members["manifest.json"])
        for name in manifest["members"]:
            found = hashlib.sha256(members.get(name, b"")).hexdigest()
            manifest["members"][name]["sha256"] = found
            manifest["members"][name]["size"] = len(members.get(name, b""))
        members["manifest.json"] = json.dumps(manifest).encode()
    return _zipped(members, zipfile.ZIP_STORED)


def _members(data):
    parts = (part.partition(b"\n") for part in data.split(MARK)[1:])
    return {name.decode("latin-1"): content for name, _, content in parts}


def _bundle(members):
    return b"".join(MARK + name.encode() + b"\n" + content for name, content in members.items())


def _zipped(members, method=zipfile.ZIP_DEFLATED):
    with tempfile.TemporaryFile() as stream:
        with zipfile.ZipFile(stream, "w", method) as archive:
            for name, content in members.items():
                archive.writestr(zipfile.ZipInfo(name.replace("\0", " ") or "x"), content, method)
        stream.seek(0)
        return stream.read()


# How a file is read, its ending, and what its bytes are made of.
TARGETS = {
    "csv": (read_cells, ".csv", bytes),
    "jsonl": (read_cells, ".jsonl", bytes),
    "workbook": (read_cells, ".xlsx", as_workbook),
    "arff": (load_dataset, ".arff", bytes),
    "labels": (read_label_names, ".xml", bytes),
    "protocol": (load_protocol, ".toml", bytes),
    "model": (read_model, ".nldd", as_model),
}


class Hang(BaseException):
    """An input takes too long."""


def outcome(target, data, path):
    """Whether an input is read or refused in time; anything else is raised."""
    read, _, made = TARGETS[target]
    path.write_bytes(made(data))
    signal.setitimer(signal.ITIMER_REAL, HANG_SECONDS)
    try:
        with catch_warnings():
            simplefilter("ignore")
            read(path)
        return "read"
    except InputError:
        return "refused"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _hang(*_):
    raise Hang


def traced(call, steps):
    """Call with each step from line to line within nldd noted in a set."""

    def trace(frame, event, _):
        if not frame.f_code.co_filename.startswith(SOURCE):
            return None
        code, last = hash(frame.f_code.co_code) ^ frame.f_code.co_firstlineno, 0

        def step(frame, event, _):
            nonlocal last
            steps.add((code, last, frame.f_lineno))
            last = frame.f_lineno
            return step

        return step(frame, event, _)

    sys.settrace(trace)
    try:
        return call()
    finally:
        sys.settrace(None)


def changed(rng, data, others):
    """One to four accidents, some of them meant badly."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        i = rng.randrange(len(data) + 1)
        j = min(len(data), i + rng.choice((0, 1, 1, 4, 20, 200)))
        piece, (other, _) = data[i:j], rng.choice(others)
        k = rng.randrange(len(other) + 1)
        digits = list(re.finditer(rb"\d+", data))
        if digits and rng.random() < 0.2:
            i, j = rng.choice(digits).span()
        new = rng.choice((b"", piece * 2, piece * rng.choice((3, 50)), bytes([rng.randrange(256)])))
        new = rng.choice((new, rng.choice(TOKENS), other[k : k + rng.choice((1, 8, 60))]))
        data = (data[:i] + new + data[j:])[:LONGEST]
    return data


def fuzz(target, seconds, seed):
    """Change inputs for some time; keep those that reach new steps, report what breaks."""
    import resource

    signal.signal(signal.SIGALRM, _hang)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, 2 * (used + MOST_BYTES,))
    rng, path = random.Random(seed), Path(tempfile.mkdtemp()) / f"input{TARGETS[target][1]}"
    latest = Path(tempfile.gettempdir()) / f"nldd-fuzz-{target}"  # what it died of, if it does
    known, corpus, good, broken = set(), [], [], {}
    waiting = corpus_of(target) + seeds(target)
    counts = {"read": 0, "refused": 0, "broken": 0}
    end = time.monotonic() + seconds
    while waiting or time.monotonic() < end:
        # What was read gets further than what was refused.
        some = good if good and rng.random() < 0.5 else corpus
        data = waiting.pop() if waiting else changed(rng, rng.choice(some)[0], corpus)
        latest.write_bytes(data)
        steps, found = set(), "broken"
        try:
            found = traced(lambda data=data: outcome(target, data, path), steps)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            place = error.__traceback__
            while place.tb_next:
                place = place.tb_next
            where = f"{type(error).__name__} {place.tb_frame.f_code.co_filename}:{place.tb_lineno}"
            if where not in broken:
                broken[where] = data
                Path(f"{latest}-{len(broken)}").write_bytes(data)
                print(f"{target}: {where}: {error!s:.200} in {latest}-{len(broken)}", flush=True)
        counts[found] += 1
        if steps - known:
            known |= steps
            corpus.append((data, steps))
            good += [(data, steps)] * (found == "read")
    latest.unlink()
    print(f"{target}: {counts}, {len(known)} steps, {len(corpus)} kept, {len(broken)} kinds broken")
    save(target, corpus)
    return not broken


def save(target, corpus):
    """The fewest and shortest inputs that reach all steps, within their bytes."""
    covered, size, kept = set(), 0, []
    for data, steps in sorted(corpus, key=lambda pair: len(zlib.compress(pair[0])) / len(pair[1])):
        packed = len(zlib.compress(data, 9)) + 120
        if steps - covered and size + packed < CORPUS_BYTES:
            covered |= steps
            size += packed
            kept.append(data)
    with zipfile.ZipFile(CORPUS / f"{target}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as f:
        for data in sorted(kept):
            f.writestr(zipfile.ZipInfo(hashlib.sha256(data).hexdigest()[:12]), data, 8)


def corpus_of(target):
    path = CORPUS / f"{target}.zip"
    if not path.exists():
        return []
    with zipfile.ZipFile(path) as archive:
        return [archive.read(name) for name in archive.namelist()]


def seeds(target):
    """Good files of the forms that change; of the others the corpus has some."""
    if target == "protocol":
        return [path.read_bytes() for path in Path(SOURCE).glob("bench/protocols/*.toml")]
    return [_model_seed()] if target == "model" else []


def _model_seed():
    import numpy as np

    from coding.made_up import SETTINGS, answers_of, made_up
    from nldd.coding.columns import CodeColumns, Columns
    from nldd.coding.model import fit_coding_model
    from nldd.coding.model_file import save_coding_model

    texts, codes = made_up(16, 0)
    answers = answers_of(texts, np.arange(16.0)[:, np.newaxis], [("N",)] * 16)
    columns = Columns(("answer",), CodeColumns(("codes",), "|", "-"), ("age",), ("region",))
    path = Path(tempfile.mkdtemp()) / "m.nldd"
    with catch_warnings():
        simplefilter("ignore")
        save_coding_model(fit_coding_model(answers, codes, columns, SETTINGS), path)
    with zipfile.ZipFile(path) as archive:
        return _bundle({name: archive.read(name) for name in archive.namelist()})


def main(seconds="60", *targets):
    """Fuzz targets one after the other, each in a process that it may bring down."""
    if len(targets) == 1:
        return 0 if fuzz(targets[0], float(seconds), time.time_ns()) else 1
    words = [sys.executable, __file__, seconds]
    codes = [subprocess.run([*words, target]).returncode for target in targets or TARGETS]
    return max(map(abs, codes))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
