"""Damaged and hostile model files, and a process that loads and uses them.

Run as a program: ``python hostile_files.py FOLDER drawn COUNT SEED``, or ``... FOLDER each STEP``.
Of files that are drawn, most have one thing in a record, a parameter, an array or the manifest
changed, with checksums that fit; others are damaged, odd zip files, pickles, or little that would
become much. Of each attribute of each type there are files, every so many of which are used, with
the values, shapes and types that it must not have, and with those of a model of another size. The
process limits its memory and the time of each file, watches by an audit hook what it opens and
runs, and prints what became of the files as JSON. A crash, or a file that takes too long, ends it.
"""

import copy
import faulthandler
import json
import pickle
import random
import struct
import sys
import warnings
import zipfile
from collections import Counter
from contextlib import suppress
from io import BytesIO
from itertools import islice, repeat
from pathlib import Path

import numpy as np
from model_files import METHODS, members_of, put_together, small_problem, zip_bytes
from scipy.sparse import csr_matrix
from sklearn.base import clone

from nldd.exceptions import InputError
from nldd.persistence import load_model, save_model

MAX_SECONDS = 20
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
NASTY_NUMBERS = [
    *(
        struct.pack("<d", x)
        for x in (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e149, -1.0, 0.0, 2.0)
    ),
    *(struct.pack("<q", n) for n in (-1, 1, 7, 255, 2**15, 2**31 - 1, 2**31, 2**62, -(2**63))),
]
NASTY_VALUES = (1e160, -1e160, float("-inf"), "x", [2**62], {"tuple": [-1]})
FLOATS, INTS = (np.nan, np.inf, -np.inf, 1e160, -1e160), (-1, 2**31 - 1, 2**62, -(2**63))
OTHER_TYPES = ("|O", "<U8", ">f8", "<c16", "<M8[s]", "<i8", "<f8")
NEW_NAMES = [
    *("__class__", "__dict__", "predict", "predict_proba", "transform", "estimators_", "n_jobs"),
    *("verbose", "memory", "_fitted", "classifiers", "classes_", "n_labels_"),
]
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


class Changes:
    """Ways to change the members of a file; `documents` are those of all files."""

    def __init__(self, documents, rng):
        self._rng, every = rng, [r for d in documents for r in records(d)]
        self._records = every
        self._values = [v for r in every for v in r["learned"].values()]
        self._types = sorted({r["type"] for r in every})

    def attribute(self, document):
        """An attribute that is something else, is new or missing; or another type."""
        rng = self._rng
        kind = rng.choice(sorted({r["type"] for r in records(document)}))
        record = rng.choice([r for r in records(document) if r["type"] == kind])
        learned, way = record["learned"], rng.random()
        if way < 0.08:
            record["type"] = rng.choice(self._types)
        elif way < 0.16 or not learned:
            learned[rng.choice(NEW_NAMES)] = copy.deepcopy(rng.choice(NASTY))
        elif way < 0.22:
            del learned[rng.choice(sorted(learned))]
        else:
            pool = (NASTY, self._values, self._records)[rng.choice((0, 0, 0, 1, 1, 2))]
            learned[rng.choice(sorted(learned))] = copy.deepcopy(rng.choice(pool))

    def parameter(self, document):
        """A parameter that is something else."""
        rng = self._rng
        record = rng.choice([r for r in records(document) if "parameters" in r])
        names = [*record["parameters"], rng.choice(NEW_NAMES)]
        pool = NASTY if rng.random() < 0.7 else self._records
        record["parameters"][rng.choice(names)] = copy.deepcopy(rng.choice(pool))

    def claim(self, document):
        """An array of another type or shape, of as many bytes or not."""
        rng, claim = self._rng, self._rng.choice(list(_claims(document)))
        way = rng.randrange(5)
        if way == 0:
            claim[0] = rng.choice(["<f8", "<i8", "<f4", "<i4", "|u1", "|b1", "<u8", "<i2", ">f8"])
        elif way == 1:
            claim[1] = claim[1][::-1]
        elif way == 2 and claim[1]:
            claim[1][rng.randrange(len(claim[1]))] += rng.choice([-1, 1, 2**20, 2**62])
        elif way == 3:
            claim[1] = [int(np.prod(claim[1]))]
        else:
            claim[1] = [*claim[1], 1]

    def anywhere(self, document):
        """Any value that is something else."""
        holder, key = self._rng.choice(list(places(document)))
        holder[key] = copy.deepcopy(self._rng.choice(NASTY))

    def numbers(self, content):
        """Numbers that no model has, in some places or all over."""
        rng, content = self._rng, bytearray(content)
        if rng.random() < 0.1:
            start = rng.randrange(len(content))
            stretch = content[start : start + rng.randrange(1, 400)]
            content[start : start + len(stretch)] = rng.randbytes(len(stretch))
            return bytes(content)
        for _ in range(rng.choice((1, 1, 3, 30))):
            start = rng.randrange(max(1, len(content) - 8)) // 8 * 8 + rng.choice((0, 0, 0, 1, 4))
            number = rng.choice(NASTY_NUMBERS)
            content[start : start + 8] = number[: len(content) - start]
        return bytes(content)


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


# Files that are damaged, odd or large


def damaged(content, rng):
    """A flipped bit, a cut file, or one in which a stretch is something else."""
    start, length = rng.randrange(len(content)), rng.randrange(1, 200)
    flipped = bytearray(content)
    flipped[start] ^= 1 << rng.randrange(8)
    return rng.choice(
        [
            bytes(flipped),
            content[:start],
            content[:start] + rng.randbytes(length) + content[start + length :],
            content[:start] + content[start + length :],
            content[:start] + rng.randbytes(length) + content[start:],
        ]
    )


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


def hostile_files(files, canary, rng):
    """Without end: the family, the name of the good model, and a whole file or its members."""
    members = {name: members_of(BytesIO(content)) for name, content in files.items()}
    documents = {name: json.loads(parts["document.json"]) for name, parts in members.items()}
    changes = Changes(list(documents.values()), rng)
    odd = iter(())
    ways = [*(changes.attribute,) * 5, *(changes.parameter,) * 2, *(changes.claim,) * 2]
    while True:
        name = rng.choice(sorted(files))
        parts, way = members[name], rng.random()
        if way < 0.55:
            document = copy.deepcopy(documents[name])
            rng.choice([*ways, changes.anywhere])(document["models"])
            yield "record", name, {**parts, "document.json": json.dumps(document).encode()}
        elif way < 0.8:
            yield "numbers", name, {**parts, "content.bin": changes.numbers(parts["content.bin"])}
        elif way < 0.84:
            manifest = json.loads(parts["manifest.json"])
            changes.anywhere(manifest)
            changed = {**parts, "manifest.json": json.dumps(manifest).encode()}
            yield "manifest", name, zip_bytes(changed)
        elif way < 0.94:
            yield "damaged", name, damaged(files[name], rng)
        else:
            if (pair := next(odd, None)) is None:
                odd = zip(repeat(name), odd_files(parts, canary), strict=False)
                pair = next(odd)
            yield "odd", *pair


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


def main(folder, how, *numbers):
    """Make, load and use the files; print what became of them."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    path, canary, found = folder / "model.nldd", folder / "canary", Counter()
    X, Y = small_problem(24)
    files, rows = good_files(path, X, Y)
    members = {name: members_of(BytesIO(content)) for name, content in files.items()}
    documents = [json.loads(parts["document.json"]) for parts in members.values()]
    kinds = {record["type"] for document in documents for record in records(document["models"])}
    expected = {}
    for name, content in files.items():
        path.write_bytes(content)
        expected[name] = repr(answer(load_model(path), rows[name]))
    if how == "drawn":
        n_files, seed = numbers
        drawn = hostile_files(files, canary, random.Random(seed))
        made = islice(drawn, n_files)
    else:
        others, _ = good_files(path, np.hstack([X, X[:, :1]]), np.hstack([Y[:, [0, 2]], 1 - Y]))
        others = {name: members_of(BytesIO(content)) for name, content in others.items()}
        every = (("each", *file) for file in each_file(members, others))
        made = islice(every, 0, None, numbers[0])
    watch, peak = Watch(folder), limit_memory()
    before = peak()
    for family, name, file in made:
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
    main(Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:]))
