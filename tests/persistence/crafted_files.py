"""Crafted model files, each with one thing that no nldd writes, and a process that uses them.

Run as a program: ``python crafted_files.py FOLDER STEP``, for every so many of the files. They are
made by kind, not at random: for every attribute of every type the values, shapes and types that it
must not have; sizes that are claimed and not there; parts of another model; deep and repeated
parts; members and directories that are not ours. Each file is loaded, and asked to predict if it
loads. A line of JSON says what became of it; the process has a gigabyte to spare, and ends if a
file takes too long.
"""

import copy
import faulthandler
import json
import sys
import warnings
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
from hostile_files import ANSWERS, NASTY, limit_memory, mazes, odd_files, places, records
from model_files import METHODS, members_of, put_together, small_problem
from scipy.sparse import csr_matrix, issparse
from sklearn.base import clone

from nldd.estimators._random_forest_pct import RandomForestPCT
from nldd.exceptions import InputError
from nldd.persistence import load_model, save_model

MAX_SECONDS = 20
FLOATS = (np.nan, np.inf, -np.inf, 1e160, -1e160)
INTS = (-1, 2**31 - 1, 2**62, -(2**63))
SCALARS = (-1, 2**31, 2**62, 10**30, 1e160, -1e160, np.nan, np.inf, True, "x", None, [], {})
PARAMETERS = (-1, 0, 2**62, 1e160, np.nan, "x", None, [], [2**62], {"tuple": [-1]}, {"dict": []})


def arrays_of(document, within=None):
    """All arrays of a document, or those within a part of it: name, claim, and place in bytes."""
    found, start, is_inside = [], 0, within is None

    def visit(value, name):
        nonlocal start, is_inside
        if isinstance(value, dict) and list(value) == ["array"]:
            kind, shape = value["array"]
            end = start + int(np.prod(shape)) * np.dtype(kind).itemsize
            if is_inside or value is within:
                found.append((name, value["array"], start, end))
            start = end
            return
        entered, is_inside = is_inside, is_inside or value is within
        if isinstance(value, dict) and "type" in value:
            for part in (value.get("parameters", {}), value["learned"]):
                for each, inner in part.items():
                    visit(inner, f"{value['type']}.{each}")
        elif isinstance(value, dict | list):
            for item in value.values() if isinstance(value, dict) else value:
                visit(item, name)
        is_inside = entered

    visit(document["models"], "")
    return found


def bytes_before(document, place):
    """How many bytes of arrays come before an attribute of a record: ``(number, part, name)``."""
    number, part, name = place
    mark = {"array": ["|u1", [0]]}
    copied = copy.deepcopy(document)
    records(copied["models"])[number][part][name] = mark
    return arrays_of(copied, mark)[0][2]


class Workshop:
    """Makes files of the members of good ones.

    `files` has the good model and a function that makes the file, by what is wrong with it.
    """

    def __init__(self, models):
        self.files, self._models = {}, models

    def add(self, kind, model, change):
        """Let ``change(document)`` change a copy, in place; it may return other content."""

        def make():
            members = self._models[model]
            document = json.loads(members["document.json"])
            content = change(document)
            changed = {**members, "document.json": json.dumps(document).encode()}
            return changed if content is None else {**changed, "content.bin": bytes(content)}

        self.files.setdefault(kind, (model, make))

    def put(self, kind, file):
        """Members, or a whole file, without a function that makes it."""
        self.files[kind] = ("nldd", lambda: file)

    def change_arrays(self):
        """Numbers out of range, other shapes, and claims of what is not there."""
        for model, members in self._models.items():
            content = members["content.bin"]
            arrays = arrays_of(json.loads(members["document.json"]))
            assert arrays[-1][3] == len(content)
            for number, (name, (kind, shape), start, end) in enumerate(arrays):
                size = np.dtype(kind).itemsize
                values = FLOATS if "f" in kind else (n for n in INTS if fits(n, kind))
                for value in values if end > start else ():
                    new = set_ends(content, start, end, np.array(value, kind).tobytes())
                    self.add(f"{value} in {name}", model, lambda _, new=new: new)
                less = content[: end - size] + content[end:]
                for shape_name, other, new in (
                    ("flat", [int(np.prod(shape))], None),
                    ("turned", shape[::-1], None),
                    ("one more dimension", [*shape, 1], None),
                    ("one row", [1, int(np.prod(shape))], None),
                    ("shorter", [max(int(np.prod(shape)) - 1, 0)], less),
                    ("empty", [0] * len(shape), content[:start] + content[end:]),
                    ("huge", [2**40, *shape[1:]], None),
                    ("beyond 64 bits", [2**62, 2**62], None),
                    ("huge and empty", [0, 2**40], content[:start] + content[end:]),
                    ("empty and huge", [2**40, 0], content[:start] + content[end:]),
                    ("negative", [-1, *shape[1:]], None),
                ):
                    if other == shape:
                        continue

                    def claim(document, number=number, other=other, new=new):
                        arrays_of(document)[number][1][1] = other
                        return new

                    self.add(f"{shape_name} {name}", model, claim)
                for other in ("|O", "<U8", ">f8", "<c16", "<M8[s]", "<i8", "<f8"):

                    def retype(document, number=number, other=other):
                        arrays_of(document)[number][1][0] = other

                    if other != kind:
                        self.add(f"{name} of type {other}", model, retype)

    def change_values(self):
        """Attributes and parameters that are something else, or missing."""
        for model, members in self._models.items():
            found = records(json.loads(members["document.json"])["models"])
            for number, record in enumerate(found):
                for part, values in (("learned", SCALARS), ("parameters", PARAMETERS)):
                    for name in record.get(part, {}):
                        for value in (*values, *NASTY[-12:], "missing", "of another type"):
                            self.add(
                                f"{value!s:.60} as {record['type']}.{name}",
                                model,
                                lambda d, n=number, p=part, a=name, v=value: set_value(
                                    d, n, p, a, v
                                ),
                            )

    def exchange(self, others):
        """Attributes of a model of the same method that has learned from a table of other sizes."""
        for model, theirs in others.items():
            mine, other = (
                records(json.loads(members["document.json"])["models"])
                for members in (self._models[model], theirs)
            )
            for number, record in enumerate(mine):
                same = [n for n, r in enumerate(other) if r["type"] == record["type"]]
                for part, name in [(p, n) for p in record.keys() - {"type"} for n in record[p]]:
                    if same and name in other[same[0]][part]:
                        places_of_both = (number, part, name), (same[0], part, name)
                        make = partial(self._exchange_one, model, theirs, *places_of_both)
                        kind = f"{record['type']}.{name} of another {model}"
                        self.files.setdefault(kind, (model, make))

    def _exchange_one(self, model, theirs, place, source):
        pieces = []
        for members, where in ((self._models[model], place), (theirs, source)):
            document, (number, part, name) = json.loads(members["document.json"]), where
            holder = records(document["models"])[number][part]
            start = bytes_before(document, where)
            end = start + sum(end - start for *_, start, end in arrays_of({"models": holder[name]}))
            pieces.append((document, holder, members["content.bin"], start, end))
        (document, holder, ours, start, end), (_, other, content, first, last) = pieces
        holder[place[2]] = other[source[2]]
        return {
            **self._models[model],
            "document.json": json.dumps(document).encode(),
            "content.bin": ours[:start] + content[first:last] + ours[end:],
        }

    def empty_records(self):
        """Objects whose arrays have no rows, or no columns, all of them."""
        for model, members in self._models.items():
            for number, record in enumerate(
                records(json.loads(members["document.json"])["models"])
            ):
                for axis, size in ((0, 0), (-1, 0), (0, 2**20), (0, 2**40)):

                    def change(
                        document, number=number, axis=axis, size=size, old=members["content.bin"]
                    ):
                        inside = arrays_of(document, records(document["models"])[number])
                        for _, claim, start, end in reversed(inside):
                            if claim[1]:
                                old = old[:start] + old[end:]
                                claim[1][axis] = size
                                if size and len(claim[1]) > 1:
                                    claim[1][-1] = 0
                        return old

                    self.add(f"{record['type']} of {size} along {axis} in {model}", model, change)

    def nest_and_repeat(self):
        """Deep parts, and little that would become much."""
        members = self._models["binary relevance"]
        document = json.loads(members["document.json"])
        document["models"]["model"]["parameters"]["estimator"] = "DEEP"
        text = json.dumps(document).encode()
        record = b'{"type":"BinaryRelevance","learned":{},"parameters":{"estimator":'
        for name, opening, closing in (
            ("lists", b"[", b"]"),
            ("tuples", b'{"tuple":[', b"]}"),
            ("estimators", record, b"}}"),
        ):
            for depth in (50, 300, 5000):
                deep = opening * depth + b"1" + closing * depth
                changed = {**members, "document.json": text.replace(b'"DEEP"', deep)}
                self.put(f"{depth} levels of {name}", changed)
        many = {
            "names": {"names": ["a"] * 200_000},
            "empty arrays": [{"array": ["<f8", [0]]}] * 20_000,
            "tuples": [{"tuple": []}] * 100_000,
            "estimators": [{"type": "ConstantLabel", "learned": {"value": 1}}] * 20_000,
            "skops": [{"skops": 0}] * 1000,
            "pipelines": {
                "type": "Pipeline",
                "parameters": {"steps": [{"tuple": ["a", "passthrough"]}] * 20_000},
                "learned": {},
            },
        }
        for name, value in many.items():
            for place in ("label_names_", "estimators_", "order_"):
                self.add(
                    f"many {name} as {place}",
                    "chain",
                    lambda d, v=value, p=place: d["models"]["model"]["learned"].update({p: v}),
                )
        for width in (2**24, 2**30, 2**62, -1):

            def widen(document, width=width):
                for holder, key in places(document):
                    if key == "sparse":
                        holder[key][0] = width
                for record in records(document["models"]):
                    if "n_features_in_" in record["learned"]:
                        record["learned"]["n_features_in_"] = width

            for model in ("nldd, sparse", "ml-knn, sparse", "powerset, sparse"):
                self.add(f"{width} columns in {model}", model, widen)

        def no_labels(document):
            learned = document["models"]["model"]["learned"]
            learned["label_names_"] = {"names": []}

        for model in self._models:
            self.add(f"no labels in {model}", model, no_labels)

    def change_members(self, canary):
        """Files whose members or directory are not ours."""
        members = self._models["nldd"]
        for number, file in enumerate(odd_files(members, canary)):
            self.put(f"odd file {number}", file)
        for number, document in enumerate(mazes()):
            self.put(f"maze {number}", {**members, "document.json": document})

    def name_no_types(self, forest):
        """Estimators of other libraries whose types nobody has named."""
        types = json.loads(forest["manifest.json"])["types"]
        for name, claimed in (
            ("as it is", types),
            ("none", []),
            ("another", ["builtins.dict"]),
            ("some", types[:1]),
            ("many", [f"a.B{i}" for i in range(100_000)]),
        ):
            manifest = {**json.loads(forest["manifest.json"]), "types": claimed}
            changed = {**forest, "manifest.json": json.dumps(manifest).encode()}
            self.put(f"forest, types named: {name}", changed)
            for content in (b"", b"nonsense", forest["content.bin"]):
                garbled = {**changed, "estimators.skops": content}
                self.put(f"skops of {len(content)} bytes, types named: {name}", garbled)


def set_ends(content, start, end, value):
    """Content with the first and the last number of an array set to a value."""
    between = content[start + len(value) : end - len(value)]
    return content[:start] + value + between + value * (end - start > len(value)) + content[end:]


def fits(number, kind):
    limits = np.iinfo(kind) if kind != "|b1" else np.iinfo(np.uint8)
    return limits.min <= number <= limits.max


def set_value(document, number, part, name, value):
    found = records(document["models"])
    holder = found[number][part]
    if value == "missing":
        del holder[name]
    elif value == "of another type":
        others = [r for r in found if r["type"] != found[number]["type"]]
        holder[name] = copy.deepcopy(others[0] if others else {"type": "Normalised", "learned": {}})
    else:
        holder[name] = copy.deepcopy(value)


def rows_for(model, rows):
    """The rows, or such as have the number of features that a model asks for."""
    n_features = getattr(model, "n_features_in_", rows.shape[1])
    if n_features == rows.shape[1] or n_features > 2**31 - 1:
        return rows
    made = csr_matrix((len(rows) if not issparse(rows) else rows.shape[0], n_features))
    return made if issparse(rows) or n_features > 1000 else made.toarray()


def outcome(path, rows):
    """What became of a file: refused, or finite answers; anything else is a failure."""
    try:
        model = load_model(path)
    except InputError as error:
        return "out of memory" if "memory" in str(error) else "refused"
    rows = rows_for(model, rows)
    for name in (name for name in ANSWERS if name != "explain" and hasattr(model, name)):
        try:
            if not np.isfinite(getattr(model, name)(rows)).all():
                return f"{name} is not finite"
        except InputError:
            return "refused"
    return "finite"


def good_files(folder, X, Y):
    """Members of the files of good models, dense and sparse, and of a forest; rows to ask about."""
    path, models, rows = folder / "model.nldd", {}, {}
    for method, model in METHODS.items():
        for name, given in (
            (method, X),
            (f"{method}, sparse", csr_matrix(np.where(X > 0.5, X, 0))),
        ):
            with suppress(InputError):  # of parameters that name four labels
                save_model(clone(model).fit(given, Y), path)
                models[name], rows[name] = members_of(path), given[:6]
    save_model(RandomForestPCT(n_estimators=2, random_state=0).fit(X, Y), path)
    return models, rows, members_of(path)


def main(folder, step):
    """Make the files, use every so many of them, and print what became of each."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    X, Y = small_problem(24)
    models, rows, forest = good_files(folder, X, Y)
    others, _, _ = good_files(folder, np.hstack([X, X[:, :1]]), np.hstack([Y[:, [0, 2]], 1 - Y]))
    workshop = Workshop(models)
    workshop.exchange(others)
    workshop.empty_records()
    workshop.change_members(folder / "canary")
    workshop.nest_and_repeat()
    workshop.change_arrays()
    workshop.change_values()
    workshop.name_no_types(forest)
    path, peak = folder / "model.nldd", limit_memory()
    before = peak()
    for kind, (model, make) in islice(workshop.files.items(), 0, None, step):
        if isinstance(file := make(), bytes):
            path.write_bytes(file)
        else:
            put_together(file, path)
        print(json.dumps({"file": kind}), flush=True)  # before it can end the process
        faulthandler.dump_traceback_later(MAX_SECONDS, exit=True)
        try:
            found = outcome(path, rows[model])
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        faulthandler.cancel_dump_traceback_later()
        print(json.dumps({"file": kind, "found": found, "bytes": peak() - before}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
