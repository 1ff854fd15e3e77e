"""JSON and arrays as bytes, whose claims are checked before memory is taken."""

import json
from io import BytesIO
from math import prod
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from nldd.persistence._refusal import Refusal, damaged, quote

MAX_JSON = 2**27
MAX_DEPTH = 64
# Empty lists and dicts take twenty times the memory of their text; so many are always allowed, and
# one more for each so many bytes.
FREE_CONTAINERS = 250_000
BYTES_PER_CONTAINER = 16

# Numbers, booleans, dates and text. Objects would need pickle.
PLAIN_KINDS = "biufcmMSU"
MAX_HEADER = 10_000
LEAD = 12  # bytes before the header: magic, version and the length of the header
MAX_LENGTH = 2**40
MAX_DIMENSIONS = 8


def json_bytes(value: Any, name: str) -> bytes:
    """`value` as JSON, always the same bytes for the same value; NaN and infinity are allowed."""
    try:
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        # Halves of surrogate pairs occur in texts of broken origin; json reads them back.
        return text.encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, RecursionError) as error:
        raise Refusal(
            f"document {quote(name)} is no JSON value: {error}",
            "Use dicts with text keys, lists, text, numbers, booleans and None only.",
        ) from error


def read_json(content: bytes | bytearray, name: str) -> Any:
    """The value of a JSON member; its depth and number of containers are limited."""
    n_containers = content.count(b"[") + content.count(b"{")
    if n_containers > FREE_CONTAINERS + len(content) // BYTES_PER_CONTAINER:
        raise Refusal(f"member {quote(name)} holds {n_containers} lists and dicts, too many")
    try:
        value = json.loads(content)
        depth = _depth(value)
    except (ValueError, RecursionError) as error:
        raise damaged(f"member {quote(name)} is no JSON, or nested too deeply") from error
    if depth > MAX_DEPTH:
        raise Refusal(f"member {quote(name)} is nested more than {MAX_DEPTH} levels deep")
    return value


def npy_pieces(array: NDArray[Any], name: str) -> list[Any]:
    """The .npy form of an array, as its header and its bytes in C order."""
    array = np.asarray(array, order="C")
    _check_type(array.dtype, array.shape, name)
    head = BytesIO()
    npy.write_array_header_1_0(head, npy.header_data_from_array_1_0(array))
    return [head.getvalue(), array.reshape(-1).view(np.uint8).data]


def read_npy(content: bytes | bytearray, name: str) -> NDArray[Any]:
    """The array of an .npy file, on the memory of `content` and thus writeable as that is."""
    stream = BytesIO(content[: LEAD + MAX_HEADER])
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    try:
        version = npy.read_magic(stream)
        shape, fortran, dtype = readers[version](stream, max_header_size=MAX_HEADER)
    except Exception as error:  # the header is a Python literal: many things can be wrong with it
        raise damaged(f"member {quote(name)} of {len(content)} bytes is no array") from error
    _check_type(dtype, shape, name)
    claimed, n_bytes = prod(shape) * dtype.itemsize, len(content) - stream.tell()
    if claimed != n_bytes:
        raise damaged(f"member {quote(name)} claims values of {claimed} bytes; {n_bytes} are there")
    if fortran:
        raise Refusal(f"array {quote(name)} is not in C order")
    array: NDArray[Any] = np.ndarray(shape, dtype, content, stream.tell())
    return array if array.flags.aligned else array.copy()


def _depth(value: Any) -> int:
    inner = list(value.values()) if isinstance(value, dict) else value
    return 1 + max(map(_depth, inner), default=0) if isinstance(inner, list) else 0


def _check_type(dtype: np.dtype[Any], shape: tuple[int, ...], name: str) -> None:
    is_plain = dtype.kind in PLAIN_KINDS and dtype.subdtype is None and dtype.itemsize > 0
    if dtype.hasobject or not is_plain:
        raise Refusal(
            f"array {quote(name)} holds values of type {quote(str(dtype))}",
            "Keep numbers, booleans or text in arrays, other values in documents.",
        )
    is_shape = all(type(n) is int and 0 <= n <= MAX_LENGTH for n in shape)
    if not is_shape or len(shape) > MAX_DIMENSIONS:
        raise Refusal(f"array {quote(name)} has the impossible shape {quote(str(shape))}")
