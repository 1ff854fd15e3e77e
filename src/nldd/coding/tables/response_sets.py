"""Multiple-response sets of SPSS: variables that are one question, and their place in files.

The library that writes SPSS files has none for them, so they are put in behind it.
"""

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ResponseSet:
    """A multiple-response set: marks of a `counted` value in several variables, or codes in them.

    `kind` is that of SPSS: D and E for marks, C for codes.
    """

    name: str
    kind: str
    variables: tuple[str, ...]
    label: str = ""
    counted: int | None = None

    @property
    def is_marked(self) -> bool:
        """Whether each variable is one code, marked or not."""
        return self.kind != "C"

    @property
    def is_writable(self) -> bool:
        """Whether all is known that a file needs; the library tells no counted text."""
        return self.kind == "C" or self.counted is not None


def add_response_sets(content: bytes, sets: Sequence[ResponseSet]) -> bytes:
    """An SPSS file with multiple-response sets, for which the library has no place.

    They are one record more before the end of the dictionary (kind 7, subtype 7), a line for each
    set, in which variables have their short names.
    """
    short: dict[str, str] = {}
    for kind, start, end in _dictionary_records(content):
        if kind == (7, 13):
            text = content[start + 16 : end].decode()
            short = {long: name for name, long in (part.split("=") for part in text.split("\t"))}
        if kind == (999, 0):
            lines = "".join(_line(s, [short[name].lower() for name in s.variables]) for s in sets)
            record = struct.pack("<4i", 7, 7, 1, len(lines.encode())) + lines.encode()
            return content[:start] + record + content[start:]
    raise ValueError("the dictionary has no end")


def _line(one: ResponseSet, names: Sequence[str]) -> str:
    counted = str(one.counted)
    way = {"C": "C", "D": f"D{len(counted)} {counted}", "E": f"E 1 {len(counted)} {counted}"}
    return f"${one.name}={way[one.kind]} {len(one.label.encode())} {one.label} {' '.join(names)}\n"


def _dictionary_records(content: bytes) -> Iterator[tuple[tuple[int, int], int, int]]:
    """Kind, subtype, beginning and end of the records before the data of an SPSS file."""
    at, kind = 176, 0
    while kind != 999:
        start, subtype = at, 0
        kind, a, b, c = struct.unpack("<4i", content[at : at + 16].ljust(16, b"\0"))
        if kind == 2:  # a variable: type, whether it has a label, missing values
            at += 32 + 8 * abs(c)
            if b:
                at += 4 + -(-struct.unpack_from("<i", content, start + 32)[0] // 4) * 4
        elif kind == 3:  # labels of values
            at += 8
            for _ in range(a):
                at += 8 + (content[at + 8] + 8) // 8 * 8
        elif kind == 4:  # the variables that have them
            at += 8 + 4 * a
        elif kind == 6:  # notes
            at += 8 + 80 * a
        elif kind == 7:
            subtype, at = a, at + 16 + b * c
        elif kind != 999:
            raise ValueError(f"a record of kind {kind} is unknown")
        yield (kind, subtype), start, at
