"""More than a thousand damaged and hostile model files, and a process that loads them all.

Run as a program: ``python hostile_files.py FOLDER STEP``. It limits its own memory to what it has
after loading one good model of each sort, and a bit, loads every STEP-th of the files, and prints
what became of them as JSON. The canary: everything in the files that could run writes to
``FOLDER/canary``.
"""

import json
import pickle
import random
import shutil
import sys
import time
import warnings
import zipfile
from io import BytesIO
from itertools import islice
from pathlib import Path

import numpy as np
from hostile_nodes import CANARY_MODULE, MODELS, foreign_nodes, junk_in_arrays, junk_in_json, mazes
from model_files import (
    FALSE_CLAIMS,
    members_of,
    npy_bytes,
    npy_claiming,
    put_together,
    small_problem,
    with_skops,
    zip_bytes,
)
from scipy.sparse import csr_matrix, save_npz
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from nldd.estimators._nldd import NLDDClassifier
from nldd.exceptions import InputError
from nldd.persistence._models import load_model, save_model

# A model of 0.1.0 without a parameter that is gone: its base classifiers are in skops.
FILES = Path(__file__).parent / "files"
SPARE_BYTES = 2**30
STRAY = [
    *("../up.json", "documents/../../up.json", "/etc/passwd", "//server/share", "a//b.json"),
    *("C:\\up.json", "C:up.json", "documents\\a.json", "..\\up.json", "documents/..", "a/"),
    *(".hidden", "documents/.a.json", "documents/a\0.json", "documents/ä.json", "a b.json"),
    *("documents/" + "a" * 250 + ".json", "arrays/x.py", "run.sh", "a" * 65000),
]


def good_models(folder):
    """Files of four sorts of models and one of 0.1.0, and what they predict."""
    X, Y = small_problem(40)
    sparse = csr_matrix(np.where(X > 0.5, X, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = {
            "linear": (NLDDClassifier(random_state=0), X),
            "bayes": (NLDDClassifier(GaussianNB(), random_state=0), X),
            "forest": (NLDDClassifier(RandomForestClassifier(3, random_state=0)), X),
            "machine": (NLDDClassifier(SVC(probability=True, random_state=0)), sparse),
        }
        for name, (model, rows) in models.items():
            save_model(model.fit(rows, Y), folder / f"{name}.nldd")
    rows = {name: rows[:6] for name, (_, rows) in models.items()}
    theta = {name: model.predict_theta(rows[name]) for name, (model, _) in models.items()}
    shutil.copy(FILES / "skops.nldd", folder / "old.nldd")
    rows["old"] = np.array(json.loads((FILES / "v0.1.0" / "expected.json").read_text())["X"])
    theta["old"] = load_model(folder / "old.nldd").predict_theta(rows["old"])
    return rows, theta


def damaged(content, rng):
    """Flipped bits, cut files, and files in which a stretch is something else."""
    for _ in range(350):
        changed = bytearray(content)
        changed[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        yield "flipped bit", bytes(changed)
    for _ in range(150):
        yield "cut", content[: rng.randrange(len(content))]
    for _ in range(40):
        start, length = rng.randrange(len(content)), rng.randrange(1, 200)
        yield "overwritten", content[:start] + rng.randbytes(length) + content[start + length :]
        yield "cut out", content[:start] + content[start + length :]
        yield "put in", content[:start] + rng.randbytes(length) + content[start:]


class Pickled:
    """Writes the canary when it is unpickled."""

    def __init__(self, canary):
        self.code = f"open({str(canary)!r}, 'w').close()"

    def __reduce__(self):
        return exec, (self.code,)


def pickles(canary, members):
    """Pickles under our name, alone and as members."""
    head = npy_claiming((1,), "|O")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        content = pickle.dumps(Pickled(canary), protocol)
        yield "pickle", content
        for name in ("arrays/classifier/Y.npy", "documents/classifier.json", MODELS):
            yield "pickle inside", {**members, name: content}
            yield "pickle inside", {**members, name: head + content}
        inner = {"schema.json": content}
        yield "pickle inside", {**members, MODELS: zip_bytes(inner)}
        yield (
            "pickle inside",
            with_skops(members, lambda inner, c=content: {**inner, "0.npy": head + c}),
        )


def bombs(members):
    """Little that would become much."""
    zeros = npy_bytes(np.zeros(40_000_000, dtype=np.uint8))
    for name in ("arrays/classifier/Y.npy", "documents/classifier.json", MODELS, "manifest.json"):
        big = {**members, name: zeros}
        yield "bomb", zip_bytes(big, compressed=[name])
    yield "bomb", {**members, MODELS: zip_bytes({"schema.json": b" " * 10**8}, ["schema.json"])}
    yield "bomb", {**members, MODELS: zip_bytes({"schema.json": b"{}", "0.npy": zeros}, ["0.npy"])}
    yield "bomb", zip_bytes({"manifest.json": b"[" * 10**7}, ["manifest.json"])
    yield "bomb", _overlapping(members)


def _overlapping(members):
    """A thousand entries of the directory that all stand for the same large member."""
    name, content = "arrays/a.npy", b"0" * 10**6
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("manifest.json", members["manifest.json"])
        archive.writestr(name, content)
        entry = archive.getinfo(name)
        for i in range(1000):
            twin = zipfile.ZipInfo(f"arrays/a{i}.npy")
            for field in ("header_offset", "file_size", "compress_size", "CRC"):
                setattr(twin, field, getattr(entry, field))
            archive.filelist.append(twin)
    return stream.getvalue()


def false_claims(members):
    """Arrays that say they are larger than they are, or not what they are."""
    for claim in FALSE_CLAIMS:
        for name in members:
            if name.endswith(".npy"):
                yield "claim outside", {**members, name: claim}
        yield "claim inside", with_skops(members, lambda inner, c=claim: {**inner, "0.npy": c})


def matrices(members):
    """Sparse matrices in skops files: bombs, and positions outside."""
    schema_of = {"__class__": "csr_matrix", "__module__": "scipy.sparse._csr", "type": "scipy"}
    node = {**schema_of, "__loader__": "SparseMatrixNode", "file": "m.npz"}
    stream = BytesIO()
    save_npz(stream, csr_matrix((10**6, 10**6)))  # compressed
    good = members_of(BytesIO(stream.getvalue()))
    parts = {name: np.load(BytesIO(content)) for name, content in good.items()}
    changes = [
        {"indices.npy": npy_bytes(np.array([7], dtype=np.int32))},
        {"indptr.npy": npy_bytes(parts["indptr.npy"] + 5)},
        {"shape.npy": npy_bytes(np.array([10**12, 10**12]))},
        {"shape.npy": npy_bytes(np.array([-1, 5]))},
        {"format.npy": npy_bytes(np.array(b"dok"))},
        {"format.npy": npy_claiming((), "|O", b"x")},
        {"data.npy": npy_claiming((2**40,))},
        {"extra.npy": npy_bytes(np.zeros(1))},
    ]
    files = [stream.getvalue(), b"", zip_bytes({}), *(zip_bytes({**good, **c}) for c in changes)]
    for file in files:

        def with_matrix(inner, file=file):
            schema = json.loads(inner["schema.json"])
            schema["content"].append(node)
            return {**inner, "schema.json": json.dumps(schema).encode(), "m.npz": file}

        yield "matrix", with_skops(members, with_matrix)


def odd_zips(members):
    """Members that no file of ours has."""
    for name in STRAY:
        yield "stray", zip_bytes({**members, name: b"1"})
        yield "stray", {**members, name: b"1"}
    for name in members:
        stream = BytesIO()
        with warnings.catch_warnings(), zipfile.ZipFile(stream, "w") as archive:
            warnings.simplefilter("ignore")
            for each, content in [*members.items(), (name, members[name])]:
                archive.writestr(each, content)
        yield "twice", stream.getvalue()
        rest = {each: content for each, content in members.items() if each != name}
        yield "missing", zip_bytes(rest)
    for name in ["manifest.json", "documents/classifier.json", "arrays/classifier/Y.npy", MODELS]:
        for mode in (0o120777, 0o060666, 0o010666, 0o040755):  # link, device, pipe, folder
            yield "special", _with_entry(members, name, external_attr=mode << 16)
        for flags in (0x1, 0x8, 0x20, 0x40, 0x2000):  # encrypted and the like
            yield "flags", _with_entry(members, name, flag_bits=flags)
    yield "comment", zip_bytes(members) + b"trailing"
    yield "prefix", b"leading" + zip_bytes(members)


def _with_entry(members, name, **fields):
    """A zip file whose directory says something else about one member."""
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for each, content in members.items():
            archive.writestr(each, content)
        for field, value in fields.items():
            setattr(archive.getinfo(name), field, value)
    return stream.getvalue()


def hostile_files(folder, canary):
    """All of them: family, name of the good model, and a whole file or its members."""
    rng = random.Random(0)
    names = ("linear", "bayes", "forest", "machine", "old")
    contents = {name: (folder / f"{name}.nldd").read_bytes() for name in names}
    members = {name: members_of(BytesIO(content)) for name, content in contents.items()}
    one = members["old"]
    yield from ((family, "linear", file) for family, file in damaged(contents["linear"], rng))
    for families in (
        pickles(canary, one),
        bombs(one),
        false_claims(one),
        matrices(one),
        odd_zips(one),
        foreign_nodes(one),
        mazes(one),
    ):
        yield from ((family, "old", file) for family, file in families)
    for name, parts in members.items():
        yield from ((family, name, file) for family, file in junk_in_json(parts, rng))
        yield from ((family, name, file) for family, file in junk_in_arrays(parts, rng))


def outcome(path, rows, theta):
    """What became of one file: refused, equal predictions, other ones, or an error of Python."""
    try:
        model = load_model(path)
    except InputError as error:
        text = str(error)
        is_clear = text.startswith(f"{path}: ") and "\n" not in text and len(text) < 700
        is_clear &= "what this nldd cannot read" not in text and bool(error.hint)
        return "refused" if is_clear else f"unclear: {text}"
    try:
        same = np.array_equal(model.predict_theta(rows), theta)
    except Exception as error:
        return f"loaded, then {type(error).__name__}"
    return "equal" if same else "other"


def limit_memory():
    """No more address space than there is now, and a bit."""
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + SPARE_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CPU, (600, 600))
    return lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(folder, step):
    """Load all files; print what became of them."""
    warnings.simplefilter("ignore")
    canary = folder / "canary"
    (folder / f"{CANARY_MODULE}.py").write_text(f"open({str(canary)!r}, 'w').close()\n")
    sys.path.insert(0, str(folder))
    rows, theta = good_models(folder)
    for name in rows:
        assert outcome(folder / f"{name}.nldd", rows[name], theta[name]) == "equal"
    peak = limit_memory()
    before, path = peak(), folder / "model.nldd"
    results, slowest = [], ("", 0.0)
    for family, name, file in islice(hostile_files(folder, canary), 0, None, step):
        if isinstance(file, bytes):
            path.write_bytes(file)
        else:
            put_together(file, path)
        print(len(results), family, name, file=sys.stderr, flush=True)
        start = time.perf_counter()
        found = outcome(path, rows[name], theta[name])
        seconds = time.perf_counter() - start
        slowest = max(slowest, (family, seconds), key=lambda pair: pair[1])
        results.append((family, found))
    report = {
        "results": results,
        "slowest": slowest,
        "more_bytes": peak() - before,
        "imported": CANARY_MODULE in sys.modules,
        "canary": canary.exists(),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
