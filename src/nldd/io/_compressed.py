"""Sparse matrices from arrays of a file, with positions checked that compiled code trusts."""

from typing import Any

from numpy.typing import NDArray

from nldd.io._npy import load_npy
from nldd.io._refusal import Refusal, damaged, quoted
from nldd.io._stored_zip import StoredZip, stored_bytes

AXES = {"csr": 0, "csc": 1}
NEEDED = {"data.npy", "indices.npy", "indptr.npy", "format.npy", "shape.npy"}
MEMBERS = NEEDED | {"_is_array.npy"}


def check_compressed(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], n_major: int, n_minor: int
) -> None:
    """Refuse the arrays of a CSR (or CSC) matrix unless all positions are inside of it."""
    is_inside = (
        data.ndim == indices.ndim == indptr.ndim == 1
        and data.dtype.kind in "biufc"
        and indices.dtype.kind == indptr.dtype.kind == "i"
        and len(indptr) == n_major + 1 > 0
        and indptr[0] == 0
        and indptr[-1] == len(indices) == len(data)
        # Compared, not subtracted: differences of huge numbers come round to small ones.
        and bool((indptr[1:] >= indptr[:-1]).all())
        and (not len(indices) or (indices.min() >= 0 and indices.max() < n_minor))
    )
    if not is_inside:
        raise damaged("a sparse matrix has positions outside of it")


def check_npz(content: Any, name: str) -> None:
    """Refuse the .npz form of a sparse matrix unless scipy can load it safely."""
    archive = StoredZip(content, max_members=len(MEMBERS))
    if not NEEDED <= archive.sizes.keys() <= MEMBERS:
        raise Refusal(f"member {quoted(name)} is no sparse matrix")
    parts = {part: load_npy(archive.read(part), part) for part in archive.sizes}
    form = parts["format.npy"]
    kind = (
        form.item().decode("ascii", "replace") if form.dtype.kind == "S" and not form.ndim else ""
    )
    shape = parts["shape.npy"]
    if kind not in AXES or shape.dtype.kind != "i" or shape.shape != (2,):
        raise Refusal(f"member {quoted(name)} is a sparse matrix of a form that nldd never writes")
    major = AXES[kind]
    n_major, n_minor = int(shape[major]), int(shape[1 - major])
    check_compressed(parts["data.npy"], parts["indices.npy"], parts["indptr.npy"], n_major, n_minor)


def stored_npz(members: dict[str, bytes]) -> bytes:
    """The members of an .npz file in the order of their names, not compressed."""
    return stored_bytes({name: [members[name]] for name in sorted(members)})
