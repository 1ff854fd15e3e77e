"""Hostile and damaged model files, and a process that loads and uses them.

Run as a program: ``python hostile_files.py FOLDER STEP``, for every so many of the files. Of each
attribute of each type there are files with the values, shapes and types that it must not have, and
with those of a model of another size. Others are odd zip files, pickles, or little that would
become much; and some are drawn at random, changed in a value, in numbers or bit by bit. Checksums
fit but in the last case. The process limits its memory and the time of each file, watches by an
audit hook what it opens and runs, and prints what became of the files as JSON. A crash, or a file
that takes too long, ends it.
"""

import copy
import faulthandler
import json
import pickle
import random
import sys
import warnings
import zipfile
from collections import Counter
from contextlib import suppress
from io import BytesIO
from itertools import chain, islice
from pathlib import Path

import numpy as np
from model_files import METHODS, members_of, put_together, small_problem, zip_bytes
from scipy.sparse import csr_matrix
from sklearn.base import clone

from nldd import InputError, load_model, save_model

MAX_SECONDS, N_DRAWN = 20, 2000
SPARE_BYTES = 2**30
ANSWERS = ("predict", "predict_proba", "decision_function", "predict_theta", "explain")
NASTY = [
    *(None, True, False, 0, 1, -1, 2, 2**31, 2**62, 2**63, -(2**63), 10**30, 0.5, -1.5, 1e308),
    *(1e-320, float("nan"), float("inf"), "", "predict", "__class__", "os.system", "x" * 20_000),
    *([], [[]], [1, 2, 3], {}, {"tuple": []}, {"dict": []}, {"dict": [[[], 1]]}, {"names": ["a"]}),
    *({"array": ["<f8", [0]]}, {"array": ["<i8", [0, 0]]}, {"array": ["|O", [1]]}, {"skops": 0}),
    *({"array": ["<f8", [2**40]]}, {"array": ["<f8", [-1]]}, {"array": ["<U4", [2]]}),
    *({"sparse": []}, {"sparse": [4, 1, 2, 3]}, {"type": "os.system", "learned": {}}),
    {"type": "Pipeline", "parameters": {"steps": [], "memory": "/tmp/x"}, "learned": {}},
]
NASTY_VALUES = (1e160, -1e160, float("-inf"), "x", [2**62], {"tuple": [-1]})
FLOATS, INTS = (np.nan, np.inf, -np.inf, 1e160, -1e160), (-1, 2**31 - 1, 2**62, -(2**63))
OTHER_TYPES = ("|O", "<U8", ">f8", "<c16", "<M8[s]", "<i8", "<f8")
# Events of Python that no prediction has a reason for, and those that only look around.
EVENTS = ("os.", "subprocess.", "socket.", "shutil.", "pickle.", "ctypes.", "tempfile.", "sqlite3.")
HARMLESS = ("os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.path", "os.stat")


class Watch:
    """An audit hook, on while a file is loaded and used; `events` are what it saw."""

    def __init__(self, folder):
        self.is_on, self.events, self._folder = False, Counter(), str(folder)
        sys.addaudithook(self)

    def __call__(self, event, args):
        if not self.is_on:
            return
        if event == "open":
            path, mode, flags = (*args, None, None)[:3]
            writes = any(c in str(mode) for c in "wax+") or (isinstance(flags, int) and flags & 3)
            if writes and not str(path).startswith(self._folder):
                self.events[f"open {path}"] += 1
        elif event.startswith(EVENTS) and not event.startswith(HARMLESS):
            self.events[event] += 1


# One thing changed, and checksums that fit


def places(value):
    """All lists and dicts within a value, each with its keys."""
    to_visit = [value]
    while to_visit:
        holder = to_visit.pop()
        if isinstance(holder, dict | list):
            keys = list(holder) if isinstance(holder, dict) else range(len(holder))
            yield from ((holder, key) for key in keys)
            to_visit += [holder[key] for key in keys]


def records(value):
    """All records within a value."""
    return [h[k] for h, k in places([value]) if isinstance(h[k], dict) and "type" in h[k]]


def arrays_of(value, document=None):
    """Arrays within a value: number in the document, claim, and where their bytes are."""
    inside = {id(h[k]) for h, k in places([value]) if k == "array" and isinstance(h, dict)}
    found, start = [], 0
    for number, claim in enumerate(_claims((document or value)["models"])):
        end = start + int(np.prod(claim[1])) * np.dtype(claim[0]).itemsize
        if id(claim) in inside:
            found.append((number, claim, start, end))
        start = end
    return found


def _claims(value):
    """Claims of arrays in the order of their bytes."""
    if isinstance(value, dict) and list(value) == ["array"]:
        yield value["array"]
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _claims(part)


# Of each attribute


def each_file(models, others):
    """Every kind of wrong attribute or array: the good model and the members of the file."""
    done = set()
    for model, members in models.items():
        document = json.loads(members["document.json"])
        for number, record in enumerate(records(document["models"])):
            for part, name in [(p, n) for p in record.keys() - {"type"} for n in record[p]]:
                value, theirs = record[part][name], others.get(model)
                kind = record["type"], name, isinstance(value, dict) and "sparse" in value
                if kind in done:
                    continue
                done.add(kind)
                for wrong in (*NASTY, *NASTY_VALUES, "missing"):
                    yield model, with_value(members, (number, part, name), wrong)
                with suppress(IndexError, KeyError, TypeError):  # who has no such attribute
                    yield model, exchanged(members, theirs, (number, part, name))
                arrays = [] if records(value) else arrays_of(value, document)
                for array, claim, start, end in arrays:
                    for wrong in wrong_arrays(members["content.bin"], *claim, start, end):
                        yield model, with_array(members, array, *wrong)


def with_value(members, place, value):
    """Members with another value of an attribute or a parameter, or without it."""
    document, (number, part, name) = json.loads(members["document.json"]), place
    holder = records(document["models"])[number][part]
    holder[name] = value
    if value == "missing":
        del holder[name]
    return {**members, "document.json": json.dumps(document).encode()}


def with_array(members, number, kind, shape, content):
    """Members in which an array claims another type or shape, or has other numbers."""
    document = json.loads(members["document.json"])
    arrays_of(document)[number][1][:] = kind, shape
    return {**members, "document.json": json.dumps(document).encode(), "content.bin": content}


def exchanged(members, theirs, place):
    """Members with an attribute of a model of the same method, which learned from other sizes."""
    pieces, (number, part, name) = [], place
    for each in (members, theirs):
        document = json.loads(each["document.json"])
        holder = records(document["models"])[number][part]
        inside = arrays_of(holder[name], document)
        pieces.append((document, holder, each["content.bin"], inside))
    (document, holder, ours, old), (_, other, content, new) = pieces
    holder[name] = other[name]
    if old and new:
        ours = ours[: old[0][2]] + content[new[0][2] : new[-1][3]] + ours[old[-1][3] :]
    return {**members, "document.json": json.dumps(document).encode(), "content.bin": ours}


def wrong_arrays(content, kind, shape, start, end):
    """An array that is out of range, of another shape or type, or claims what is not there."""
    size, n = np.dtype(kind).itemsize, int(np.prod(shape))
    limits = None if "f" in kind else np.iinfo("|u1" if kind == "|b1" else kind)
    for number in FLOATS if limits is None else INTS:
        if end > start and (limits is None or limits.min <= number <= limits.max):
            one = np.array(number, kind).tobytes()
            between = content[start + size : end - size] + one if n > 1 else b""
            yield kind, shape, content[:start] + one + between + content[end:]
    without, less = content[:start] + content[end:], content[: end - size] + content[end:]
    yield from ((kind, other, content) for other in ([n], shape[::-1], [*shape, 1], [1, n]))
    yield from ((kind, other, content) for other in ([2**40, *shape[1:]], [2**62] * 2, [-1]))
    yield from ((kind, other, without) for other in ([0] * len(shape), [0, 2**40], [2**40, 0]))
    yield kind, [max(n - 1, 0)], less
    yield from ((other, shape, content) for other in OTHER_TYPES if other != kind)


# Files that are odd or large


class Pickled:
    """Writes the canary when it is unpickled."""

    def __init__(self, canary):
        self.code = f"open({str(canary)!r}, 'w').close()"

    def __reduce__(self):
        return exec, (self.code,)


def odd_files(members, canary):
    """Whole files, or members to be put together, that no nldd has written."""
    zeros = bytes(40_000_000)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        content = pickle.dumps(Pickled(canary), protocol)
        yield content
        for name in ("document.json", "content.bin", "estimators.skops"):
            yield {**members, name: content}
    for name in members:
        yield zip_bytes({**members, name: zeros}, compressed=[name])
        for fields in (
            *({"external_attr": mode << 16} for mode in (0o120777, 0o060666, 0o040755)),
            *({"flag_bits": flags} for flags in (0x1, 0x8, 0x20, 0x40, 0x2000)),
            *({"file_size": n, "compress_size": n} for n in (0, 10**9, 2**40)),
        ):
            yield with_entry(members, name, fields)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            twice = BytesIO(zip_bytes(members))
            with zipfile.ZipFile(twice, "a") as archive:
                archive.writestr(name, members[name])
        yield twice.getvalue()
        yield zip_bytes({each: content for each, content in members.items() if each != name})
    yield zip_bytes({"manifest.json": b"[" * 10**7}, ["manifest.json"])
    yield overlapping(members)
    for name in (
        "../up.json",
        "/etc/passwd",
        "C:\\up.json",
        "a\0.json",
        "a" * 65000,
        "ä",
        "run.sh",
    ):
        yield zip_bytes({**members, name: b"1"})
        yield {**members, name: b"1"}
    for document in mazes():
        yield {**members, "document.json": document}
    yield zip_bytes(members) + b"trailing"
    yield b"leading" + zip_bytes(members)


def with_entry(members, name, fields):
    """A zip file whose directory says something else about one member."""
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for each, content in members.items():
            archive.writestr(each, content)
        for field, value in fields.items():
            setattr(archive.getinfo(name), field, value)
    return stream.getvalue()


def overlapping(members):
    """A thousand entries of the directory that all stand for the same large member."""
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("manifest.json", members["manifest.json"])
        archive.writestr("content.bin", b"0" * 10**6)
        entry = archive.getinfo("content.bin")
        for i in range(1000):
            twin = zipfile.ZipInfo(f"content{i}.bin")
            for field in ("header_offset", "file_size", "compress_size", "CRC"):
                setattr(twin, field, getattr(entry, field))
            archive.filelist.append(twin)
    return stream.getvalue()


def mazes():
    """Documents that are deep, or crowded with what takes more memory than text."""
    yield b"[" * 10**6 + b"]" * 10**6
    yield b"[" + b"{}," * 10**6 + b"1]"
    arrays = b",".join(b'"%d":{"array":["<f8",[0]]}' % i for i in range(80_000))
    yield b'{"documents":{},"models":{},"arrays":{' + arrays + b"}}"
    deep = b'{"type":"BinaryRelevance","parameters":{"estimator":'
    yield b'{"documents":{},"arrays":{},"models":{"model":' + deep * 30 + b"1" + b"}}" * 31
    many = b'{"type":"Normalised","learned":{}},' * 10**5
    yield b'{"documents":{},"arrays":{},"models":{"model":[' + many + b"1]}}"


# At random


def drawn_files(files, rng):
    """A file with any value, or numbers anywhere, or bytes anywhere that are something else."""
    members = {name: members_of(BytesIO(content)) for name, content in files.items()}
    documents = {name: json.loads(parts["document.json"]) for name, parts in members.items()}
    pool = [*NASTY, *(record for each in documents.values() for record in records(each))]
    for _ in range(N_DRAWN):
        name, way = rng.choice(sorted(files)), rng.choice(("value", "numbers", "damaged"))
        parts, content = members[name], bytearray(files[name])
        if way == "value":
            document = copy.deepcopy(documents[name])
            holder, key = rng.choice(list(places(document["models"])))
            holder[key] = copy.deepcopy(rng.choice(pool))
            yield way, name, {**parts, "document.json": json.dumps(document).encode()}
        elif way == "numbers":
            numbers = bytearray(parts["content.bin"])
            for _ in range(rng.choice((1, 3, 30))):
                start = rng.randrange(max(1, len(numbers) - 8))
                numbers[start : start + 8] = rng.choice((rng.randbytes(8), b"\xff" * 8, bytes(8)))
            size = len(parts["content.bin"])
            yield way, name, {**parts, "content.bin": bytes(numbers[:size])}
        else:
            start, length = rng.randrange(len(content)), rng.randrange(200)
            content[start] ^= 1 << rng.randrange(8)
            content[start + 1 : start + length] = rng.randbytes(rng.choice((0, max(length - 1, 0))))
            yield way, name, bytes(content)


# Loading and using them


def answer(model, rows):
    """All that a model says of rows; an error is an answer, too, because it harms nobody."""
    said = []
    for name in ANSWERS:
        try:
            said.append(getattr(model, name, lambda rows: None)(rows))
        except Exception as error:
            said.append(error)
    return said


def outcome(path, rows, expected):
    """What became of a file."""
    try:
        model = load_model(path)
    except InputError as error:
        text = str(error)
        is_clear = text.startswith(f"{path}: ") and "\n" not in text and len(text) < 1000
        return "refused" if is_clear and error.hint else f"unclear: {text}"
    except Exception as error:
        return f"not refused, but {type(error).__name__}: {error}"
    said = answer(model, rows)
    if repr(said) == expected:
        return "equal"
    arrays = (each for each in said if isinstance(each, np.ndarray))
    is_sound = all(isinstance(each, np.ndarray | list | ValueError | None) for each in said)
    return "other" if is_sound and all(map(all_finite, arrays)) else f"unsound: {said!r:.300}"


def all_finite(array):
    return array.dtype.kind not in "fc" or np.isfinite(array).all()


def limit_memory():
    """No more address space than there is now, and a bit."""
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + SPARE_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def good_files(path, X, Y):
    """Files of good models, dense and sparse, and rows to ask them about."""
    files, rows = {}, {}
    for method, model in METHODS.items():
        for name, given in (
            (method, X),
            (f"{method}, sparse", csr_matrix(np.where(X > 0.5, X, 0))),
        ):
            with suppress(InputError):  # of parameters that name four labels
                save_model(clone(model).fit(given, Y), path)
                files[name], rows[name] = path.read_bytes(), given[:6]
    return files, rows


def main(folder, step):
    """Make, load and use the files; print what became of them."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    path, canary, found = folder / "model.nldd", folder / "canary", Counter()
    X, Y = small_problem(24)
    files, rows = good_files(path, X, Y)
    others, _ = good_files(path, np.hstack([X, X[:, :1]]), np.hstack([Y[:, [0, 2]], 1 - Y]))
    models, others = (
        {name: members_of(BytesIO(content)) for name, content in of_some.items()}
        for of_some in (files, others)
    )
    expected, kinds = {}, set()
    for name, content in files.items():
        path.write_bytes(content)
        expected[name] = repr(answer(load_model(path), rows[name]))
        document = json.loads(models[name]["document.json"])
        kinds |= {record["type"] for record in records(document["models"])}
    made = chain(
        (("each", *file) for file in each_file(models, others)),
        (("odd", "nldd", file) for file in odd_files(models["nldd"], canary)),
        drawn_files(files, random.Random(1)),
    )
    watch, peak = Watch(folder), limit_memory()
    before = peak()
    for family, name, file in islice(made, 0, None, step):
        if isinstance(file, bytes):
            path.write_bytes(file)
        else:
            put_together(file, path)
        faulthandler.dump_traceback_later(MAX_SECONDS, exit=True)
        watch.is_on = True
        found[f"{family}: {outcome(path, rows[name], expected[name])}"] += 1
        watch.is_on = False
        faulthandler.cancel_dump_traceback_later()
    report = {"found": found, "events": watch.events, "kinds": sorted(kinds)}
    print(json.dumps({**report, "bytes": peak() - before, "canary": canary.exists()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
