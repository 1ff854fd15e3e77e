"""Random tables, and ARFF text that spells them in one of many ways."""

import math
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

NAMES = [
    "age", "x1", "TAG_2005", "5%", "1-1/2", "don't", "A.A1", "with space", "quo'te", 'dou"ble',
    "back\\slash", "comma,name", "br{ace}", "tab\tname", "new\nline", "ümlaut", "日本", "%start",
    "?", "0", " padded ", "@data", "=",
]  # fmt: skip
WORDS = [
    "a", "b", "red", "light blue", "0", "1", "2", "0.0", "1.0", "true", "False", "?", "'", '"',
    "\\", "a,b", "{x}", "%", "", " ", "é", "\t", "-1", "nan",
]  # fmt: skip
LISTS = [["0", "1"], ["1", "0"], ["0.0", "1.0"], ["TRUE", "FALSE"], ["yes", "no"], ["1"], ["x"]]


@dataclass
class Table:
    """Attributes as pairs (name, values or None) and rows of codes, NaN where missing."""

    attributes: list
    rows: list


@dataclass
class Spelling:
    """How a table is written."""

    rows: str = "dense"  # or sparse, mixed
    end: str = "\n"
    mark: bool = False
    plain: bool = True  # no needless quotes, blanks and comments
    relation: str = "test"
    unordered: bool = False


def random_table(rng, n_rows=None, simple=False):
    names = rng.sample(NAMES, rng.randint(2, 7))
    attributes = [(name, None if rng.random() < 0.5 else random_values(rng)) for name in names]
    if simple:
        attributes = [(f"x{j}", None if j % 2 else ["0", "1"]) for j in range(len(names))]
    n_rows = n_rows or rng.randint(1, 8)
    rows = [[random_code(rng, values) for _, values in attributes] for _ in range(n_rows)]
    return Table(attributes, rows)


def random_values(rng):
    if rng.random() < 0.6:
        return list(rng.choice(LISTS))
    return rng.sample(WORDS, rng.randint(1, 5))


def random_code(rng, values):
    if rng.random() < 0.05:
        return math.nan
    if values is not None:
        return float(rng.randrange(len(values)))
    far = rng.uniform(-1, 1) * 10 ** rng.randint(-300, 300)
    return rng.choice([0.0, 1.0, -3.0, rng.random(), rng.gauss(0, 1e6), far])


def random_spelling(rng, rows=None):
    return Spelling(
        rows=rows or rng.choice(["dense", "sparse", "mixed"]),
        end=rng.choice(["\n", "\r\n", "\r"]),
        mark=rng.random() < 0.2,
        plain=rng.random() < 0.5,
        unordered=rng.random() < 0.2,
    )


def arff_bytes(rng, table, spelling):
    """The file, encoded as UTF-8."""
    plain = spelling.plain
    lines = [f"{keyword(rng, '@relation', plain)} '{spelling.relation}'"]
    for name, values in table.attributes:
        kind = rng.choice(["numeric", "real", "integer", "REAL"])
        if values is not None:
            comma = "," if plain else rng.choice([",", ", ", " ,\t"])
            kind = "{" + comma.join(word(rng, value, plain) for value in values) + "}"
        gap = " " if plain else rng.choice([" ", "\t", "  "])
        lines.append(f"{keyword(rng, '@attribute', plain)}{gap}{word(rng, name, plain)}{gap}{kind}")
    lines.append(keyword(rng, "@data", plain))
    for row in table.rows:
        sparse = spelling.rows == "sparse" or (spelling.rows == "mixed" and rng.random() < 0.5)
        lines.append((sparse_row if sparse else dense_row)(rng, row, table.attributes, spelling))
    if not plain:
        lines = [noisy for line in lines for noisy in with_noise(rng, line)]
    text = spelling.end.join(lines) + rng.choice(["", spelling.end])
    return text.encode("utf-8-sig" if spelling.mark else "utf-8")


def keyword(rng, text, plain):
    return text if plain else rng.choice([text, text.upper(), text.title()])


def with_noise(rng, line):
    comment = "% a comment, with 'quotes' and {braces}"
    extra = rng.choice([[], [], [comment], [""], [" \t"], ["\t%"]])
    return [*extra, rng.choice(["", "", " ", "\t"]) + line + rng.choice(["", "", " ", " \t"])]


def word(rng, text, plain):
    """A name or a nominal value, bare where that is possible."""
    special = not text or any(c in " \t\n\r,{}'\"%\\?@" for c in text)
    if not special and (plain or rng.random() < 0.5):
        return text
    quote = rng.choice("'\"")
    return quote + "".join(escaped(rng, c, quote) for c in text) + quote


def escaped(rng, character, quote):
    known = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\", quote: f"\\{quote}"}
    if character in known:
        return known[character]
    if character == "%" and rng.random() < 0.5:
        return "\\%"
    return f"\\u{ord(character):04x}" if rng.random() < 0.05 else character


def cell(rng, code, values, plain):
    if math.isnan(code):
        return "?"
    if values is not None:
        return word(rng, values[int(code)], plain)
    text = repr(code)
    if not plain and code == int(code) and abs(code) < 1e6:
        text = rng.choice([f"{code:g}", f"{code:.0f}.", f"{code:+.1f}", f"{code:e}", f"'{code:g}'"])
    return text


def dense_row(rng, row, attributes, spelling):
    cells = [
        cell(rng, code, values, spelling.plain)
        for code, (_, values) in zip(row, attributes, strict=True)
    ]
    comma = "," if spelling.plain else rng.choice([",", ", ", " , ", "\t", ",\t"])
    return comma.join(cells)


def sparse_row(rng, row, attributes, spelling):
    """Zeros are left out, but for some that are spelt out all the same."""
    gap = " " if spelling.plain else rng.choice([" ", "\t", "  "])
    pairs = [
        f"{j}{gap}{cell(rng, code, values, spelling.plain)}"
        for j, (code, (_, values)) in enumerate(zip(row, attributes, strict=True))
        if code != 0 or rng.random() < 0.1
    ]
    if spelling.unordered:
        rng.shuffle(pairs)
    comma = "," if spelling.plain else rng.choice([",", ", ", " , "])
    blank = "" if spelling.plain else rng.choice(["", " "])
    return "{" + blank + comma.join(pairs) + blank + "}"


def doses(few, many):
    """Run a test with `n` random cases: few in every run, many with the slow ones."""
    return pytest.mark.parametrize(
        "n", [pytest.param(few, id="few"), pytest.param(many, id="many", marks=pytest.mark.slow)]
    )


@contextmanager
def rewritten(path):
    """A function that writes the file anew, thousands of times.

    The file stays open: to open it each time makes some file systems write to the disk.
    """
    with open(path, "wb") as handle:

        def write(content):
            handle.seek(0)
            handle.write(content)
            handle.truncate()
            handle.flush()
            return path

        yield write
