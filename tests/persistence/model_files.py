"""Small models, and their files taken apart and put together again."""

import hashlib
import io
import json
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from nldd.exceptions import InputError
from nldd.persistence._archive import read_archive


def small_problem(n_rows=60, seed=4):
    """Rows of three clusters with labels that follow them; the last label is constant."""
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, 3, size=n_rows)
    X = (rng.normal(size=(n_rows, 4)) + 2.5 * np.eye(4)[cluster]).round(2)
    Y = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 1, 1, 1]])[cluster]
    Y[:, :3] ^= rng.random((n_rows, 3)) < 0.1
    return X, Y


def assert_same_answers(loaded, model, X):
    """Equal to the last bit in all that a model answers."""
    assert_array_equal(loaded.predict_theta(X), model.predict_theta(X))
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.predict(X).dtype == model.predict(X).dtype
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert_array_equal(loaded.label_probabilities(X), model.label_probabilities(X))
    assert loaded.explain(X) == model.explain(X)
    near, expected = (m.nearest_labelsets(X, k=3) for m in (loaded, model))
    for name in ("labelsets", "theta", "row", "Dx", "Dy"):
        assert_array_equal(getattr(near, name), getattr(expected, name))


def refusal(path, read=read_archive, **options):
    """Why a file is refused: a line with its name, which is left out, and a hint."""
    with pytest.raises(InputError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert caught.value.hint
    return message.removeprefix(f"{path}: ").removesuffix(".")


def members_of(path):
    """Members of a zip file by name, in order."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def put_together(members, path, **changes):
    """A model file of these members, with a manifest that fits them but for the `changes`."""
    manifest = json.loads(members["manifest.json"])
    manifest["members"] = {
        name: {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in members.items()
        if name != "manifest.json"
    }
    manifest.update(changes)
    write_zip({**members, "manifest.json": json.dumps(manifest).encode()}, path)


def write_zip(members, path, compressed=()):
    """A zip file, with some members compressed; fast, and without a look at anything."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            method = zipfile.ZIP_DEFLATED if name in compressed else zipfile.ZIP_STORED
            archive.writestr(zipfile.ZipInfo(name), content, method)


def zip_bytes(members, compressed=()):
    stream = io.BytesIO()
    write_zip(members, stream, compressed)
    return stream.getvalue()


def with_skops(members, change, name="estimators/classifier/models.skops"):
    """Members with those inside of a skops file changed: ``change(inner)`` gives the new ones."""
    inner = change(members_of(io.BytesIO(members[name])))
    return {**members, name: zip_bytes(inner)}


def with_schema(members, change, name="estimators/classifier/models.skops"):
    """Members with the schema of a skops file changed: ``change(schema)`` gives the new one."""

    def changed(inner):
        schema = change(json.loads(inner["schema.json"]))
        text = schema if isinstance(schema, bytes) else json.dumps(schema).encode()
        return {**inner, "schema.json": text}

    return with_skops(members, changed, name)


def npy_bytes(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def npy_claiming(shape, descr="<f8", content=b"", fortran_order=False):
    """An .npy file with a header of our own."""
    head = repr({"descr": descr, "fortran_order": fortran_order, "shape": shape}).encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + content


FALSE_CLAIMS = [
    npy_claiming((2**40,)),
    npy_claiming((2**31, 2**31), "|u1"),
    npy_claiming((10**9,), "<U1000"),
    npy_claiming((10**9, 10**9, 10**9, 10**9), "<c16"),
    npy_claiming((2**63,), "|V0"),
    npy_claiming((0, 2**60)),
    npy_claiming((-(2**40), -1)),
    npy_claiming((2,), content=b"\0" * 8),
    npy_claiming((3,), "|O", b"\0" * 24),
    npy_claiming((1,), ("<f8", (2**20, 2**9)), b""),
    npy_claiming((True,), content=b"\0" * 8),
    npy_claiming((1,), "<f8", b"\0" * 8).replace(b"shape", b"shapo"),
    b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + b"(" * 1000,
    b"\x93NUMPY\x01\x00\xff\xff" + b"(" * 70000,
    b"\x93NUMPY\x01\x00\xf0\x00" + b"[" * 240,
    b"\x93NUMPY\x09\x00\x00\x00",
    b"",
]
"""Arrays that say they are larger than they are, or not what they are."""
