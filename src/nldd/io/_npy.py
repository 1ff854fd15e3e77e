"""Arrays as .npy members, whose claims are compared with their size before memory is taken."""

from dataclasses import dataclass
from io import BytesIO
from math import prod
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from nldd.io._refusal import Refusal, damaged, quoted
from nldd.io._stored_zip import CHUNK, take

# Numbers, booleans, dates and text. Objects would need pickle.
PLAIN_KINDS = "biufcmMSU"
MAX_HEADER = 10_000
# What stands before the header: magic, version and the length of the header.
LEAD = 12
MAX_LENGTH = 2**40
MAX_DIMENSIONS = 8


@dataclass(frozen=True, slots=True)
class Header:
    """What an .npy file claims to hold, and how many bytes come before that."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]
    size: int


def npy_pieces(array: NDArray[Any], name: str) -> list[Any]:
    """The .npy form of an array, as its header and its bytes in C order."""
    array = np.asarray(array, order="C")
    _check_type(array.dtype, array.shape, name, PLAIN_KINDS)
    head = BytesIO()
    npy.write_array_header_1_0(head, npy.header_data_from_array_1_0(array))
    return [head.getvalue(), as_bytes(array).data]


def as_bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """A contiguous array as its bytes, without a copy."""
    return array.reshape(-1).view(np.uint8)


def check_npy(content: bytes, name: str, kinds: str = PLAIN_KINDS + "V") -> Header:
    """Header of an .npy file that numpy may then load."""
    header = read_header(BytesIO(content), len(content), name)
    _check_header(header, len(content), name, kinds)
    return header


def load_npy(content: bytes, name: str, kinds: str = PLAIN_KINDS) -> NDArray[Any]:
    """The array of a small .npy file."""
    check_npy(content, name, kinds)
    return np.asarray(npy.read_array(BytesIO(content), allow_pickle=False))


def without_gaps(content: bytes) -> bytes:
    """The .npy file with zeros between the fields of its records.

    The nodes of trees have such gaps. What stands there is left over from other uses of the
    memory: it is never the same twice, and nobody's business.
    """
    array = np.asarray(npy.read_array(BytesIO(content), allow_pickle=False))
    if array.dtype.names is None:
        return content
    clean = np.zeros(array.shape, array.dtype)
    for name in array.dtype.names:
        clean[name] = array[name]
    stream = BytesIO()
    npy.write_array(stream, clean, allow_pickle=False)
    return stream.getvalue()


def stream_npy(stream: IO[bytes], n_bytes: int, name: str) -> NDArray[Any]:
    """The array of an .npy member, without a second copy of its bytes."""
    head = take(stream, min(n_bytes, LEAD + MAX_HEADER), name)
    header = read_header(BytesIO(head), n_bytes, name)
    _check_header(header, n_bytes, name, PLAIN_KINDS)
    if header.fortran_order:
        raise Refusal(f"member {quoted(name)} is not in C order")
    array = np.empty(header.shape, header.dtype)
    content = as_bytes(array)
    begun = head[header.size :]
    content[: len(begun)] = np.frombuffer(begun, np.uint8)
    for start in range(len(begun), len(content), CHUNK):
        part = take(stream, min(CHUNK, len(content) - start), name)
        content[start : start + len(part)] = np.frombuffer(part, np.uint8)
    return array


def read_header(stream: BytesIO, n_bytes: int, name: str) -> Header:
    """What stands before the values of an .npy file of so many bytes."""
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    try:
        version = npy.read_magic(stream)
        shape, fortran_order, dtype = readers[version](stream, max_header_size=MAX_HEADER)
    except Exception as error:  # the header is a Python literal: many things can be wrong with it
        raise damaged(f"member {quoted(name)} of {n_bytes} bytes is no array") from error
    return Header(shape, fortran_order, dtype, stream.tell())


def _check_type(dtype: np.dtype[Any], shape: tuple[int, ...], name: str, kinds: str) -> None:
    is_plain = dtype.kind in kinds and dtype.subdtype is None and dtype.itemsize > 0
    if dtype.hasobject or not is_plain:
        raise Refusal(
            f"array {quoted(name)} holds values of type {quoted(str(dtype))}",
            "Keep numbers, booleans or text in arrays, other values in documents.",
        )
    is_shape = all(type(n) is int and 0 <= n <= MAX_LENGTH for n in shape)
    if not is_shape or len(shape) > MAX_DIMENSIONS:
        raise Refusal(f"array {quoted(name)} has the impossible shape {quoted(str(shape))}")


def _check_header(header: Header, n_bytes: int, name: str, kinds: str) -> None:
    _check_type(header.dtype, header.shape, name, kinds)
    claimed = prod(header.shape) * header.dtype.itemsize
    if claimed != n_bytes - header.size:
        raise damaged(
            f"member {quoted(name)} claims values of {claimed} bytes; "
            f"{n_bytes - header.size} are there"
        )
