"""Readers of data files, naive and slow, for comparison with the real ones.

They follow the written rules of the formats and share no code with ``nldd.datasets``.
"""

import csv
import math
from xml.etree import ElementTree


class Bad(Exception):
    """The file breaks a rule."""


BLANK = " \t"
ESCAPES = {"'": "'", '"': '"', "\\": "\\", "%": "%", "t": "\t", "n": "\n", "r": "\r"}


def text_of(content):
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise Bad("UTF-16")
    if content[:3] == b"\xef\xbb\xbf":
        content = content[3:]
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            return (b"\xef\xbb\xbf" + content).decode("latin-1")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def lines_of(text):
    lines, line, i = [], "", 0
    while i < len(text):
        if text[i] in "\r\n":
            i += text[i : i + 2] == "\r\n"
            lines.append(line)
            line = ""
        else:
            line += text[i]
        i += 1
    return [*lines, line]


def number_of(text):
    if not text or any(character not in "0123456789+-.eE" for character in text):
        raise Bad("no number")
    try:
        value = float(text)
    except ValueError:
        raise Bad("no number") from None
    if math.isinf(value):
        raise Bad("too large")
    return value


def truth_of(text):
    if text.lower() in ("true", "false"):
        return float(text.lower() == "true")
    try:
        value = number_of(text)
    except Bad:
        return None
    return abs(value) if value in (0, 1) else None


class Cursor:
    """A line that is eaten from the left."""

    def __init__(self, text):
        self.text, self.i = text, 0

    def peek(self):
        return self.text[self.i : self.i + 1]

    def skip_blanks(self):
        start = self.i
        while self.peek() and self.peek() in BLANK:
            self.i += 1
        return self.text[start : self.i]

    def rest(self):
        return self.text[self.i :]

    def quoted(self):
        quote, value = self.peek(), ""
        self.i += 1
        while self.peek() != quote:
            if not self.peek():
                raise Bad("unclosed")
            character = self.peek()
            self.i += 1
            if character == "\\":
                character = self.escape()
            value += character
        self.i += 1
        return value

    def escape(self):
        code = self.peek()
        self.i += 1
        if code == "u":
            digits = self.text[self.i : self.i + 4]
            hexadecimal = len(digits) == 4 and all(d in "0123456789abcdefABCDEF" for d in digits)
            if not hexadecimal or 0xD800 <= int(digits, 16) <= 0xDFFF:
                raise Bad("escape")
            self.i += 4
            return chr(int(digits, 16))
        if code not in ESCAPES or code == "":
            raise Bad("escape")
        return ESCAPES[code]

    def bare(self, ends):
        start = self.i
        while self.peek() and self.peek() not in ends:
            self.i += 1
        return self.text[start : self.i]

    def value(self, ends):
        """Text up to one of `ends`, and whether it was quoted."""
        if self.peek() and self.peek() in "'\"":
            return self.quoted(), True
        return self.bare(ends).rstrip(BLANK), False


def nothing_more(text):
    text = text.strip(BLANK)
    if text and text[0] != "%":
        raise Bad("more text")


def nominal_values(cursor):
    values = []
    cursor.i += 1
    while True:
        cursor.skip_blanks()
        value, quoted = cursor.value(",{}")
        if not value and not quoted:
            raise Bad("empty value")
        if value in values:
            raise Bad("twice")
        values.append(value)
        cursor.skip_blanks()
        end = cursor.peek()
        cursor.i += 1
        if end == "}":
            nothing_more(cursor.rest())
            return values
        if end != ",":
            raise Bad("no comma")


def attribute_of(text):
    cursor = Cursor(text)
    cursor.skip_blanks()
    name, _ = cursor.value(" \t{")
    cursor.skip_blanks()
    if not name:
        raise Bad("no name")
    if cursor.peek() == "{":
        return name, nominal_values(cursor)
    kind = cursor.bare(" \t%")
    nothing_more(cursor.rest())
    if kind.lower() not in ("numeric", "real", "integer"):
        raise Bad("type")
    return name, None


def relation_of(text):
    cursor = Cursor(text)
    cursor.skip_blanks()
    if cursor.peek() and cursor.peek() in "'\"":
        name = cursor.quoted()
        nothing_more(cursor.rest())
        return name
    return cursor.bare("%").rstrip(BLANK)


def header_of(lines):
    relation, attributes = None, []
    for i, line in enumerate(lines):
        text = line.strip(BLANK)
        if not text or text[0] == "%":
            continue
        if text[0] != "@":
            raise Bad("no declaration")
        cursor = Cursor(text[1:])
        word = ""
        while cursor.peek().isascii() and cursor.peek().isalpha():
            word += cursor.peek()
            cursor.i += 1
        if cursor.peek() and cursor.peek() not in " \t'\"%":
            raise Bad("no space")
        if word.lower() == "relation":
            if relation is not None:
                raise Bad("second relation")
            relation = relation_of(cursor.rest())
        elif word.lower() == "attribute":
            attributes.append(attribute_of(cursor.rest()))
            if len({name for name, _ in attributes}) < len(attributes):
                raise Bad("twice")
        elif word.lower() == "data":
            nothing_more(cursor.rest())
            if not attributes:
                raise Bad("no attributes")
            return relation or "", attributes, lines[i + 1 :]
        else:
            raise Bad("unknown declaration")
    raise Bad("no data")


def code_of(value, quoted, values):
    if not quoted and value == "?":
        return math.nan
    if not quoted and not value:
        raise Bad("empty")
    if values is None:
        return number_of(value)
    if value not in values:
        raise Bad("not in the list")
    return float(values.index(value))


def dense_row(text, attributes):
    cells = []
    cursor = Cursor(text)
    while True:
        cells.append(cursor.value(",\t"))
        gap = cursor.skip_blanks()
        if not cursor.peek():
            break
        if cursor.peek() == ",":
            cursor.i += 1
            cursor.skip_blanks()
            if not cursor.peek():
                cells.append(("", False))
                break
        elif "\t" not in gap:
            raise Bad("no comma")
    if len(cells) != len(attributes):
        raise Bad("number of values")
    return [code_of(*cell, values) for cell, (_, values) in zip(cells, attributes, strict=True)]


def sparse_row(text, attributes):
    row, seen = [0.0] * len(attributes), set()
    cursor = Cursor(text[1:])
    cursor.skip_blanks()
    if cursor.rest() == "}":
        return row
    while True:
        cursor.skip_blanks()
        digits = cursor.bare(" \t,{}'\"")
        if not digits or any(d not in "0123456789" for d in digits) or not cursor.skip_blanks():
            raise Bad("index")
        digits = digits.lstrip("0") or "0"
        if len(digits) > 6 or int(digits) >= len(attributes) or int(digits) in seen:
            raise Bad("index")
        seen.add(int(digits))
        row[int(digits)] = code_of(*cursor.value(",{}"), attributes[int(digits)][1])
        cursor.skip_blanks()
        end = cursor.peek()
        cursor.i += 1
        if end == "}" and not cursor.rest():
            return row
        if end != ",":
            raise Bad("no comma")


def naive_arff(content):
    """Relation, attributes as pairs (name, values), rows of codes, whether any row is sparse."""
    relation, attributes, lines = header_of(lines_of(text_of(content)))
    rows, sparse = [], False
    for line in lines:
        text = line.strip(BLANK)
        if text and text[0] != "%":
            is_sparse = text[0] == "{"
            rows.append((sparse_row if is_sparse else dense_row)(text, attributes))
            sparse |= is_sparse
    if not rows:
        raise Bad("no rows")
    return relation, attributes, rows, sparse


def naive_dataset(attributes, rows, labels):
    """X, Y, feature names of rows of codes; `labels` are positions."""
    names, X, Y = [], [[] for _ in rows], [[] for _ in rows]
    for j, (name, values) in enumerate(attributes):
        truths = None if values is None else [truth_of(value) for value in values]
        known = truths is not None and None not in truths
        if j not in labels and values and len(values) > 2 and not known:
            names += [f"{name}={value}" for value in values]
        elif j not in labels:
            names.append(name)
        if j in labels and values is not None and not known:
            raise Bad("label values")
        for i, row in enumerate(rows):
            value = truths[int(row[j])] if known and not math.isnan(row[j]) else row[j]
            if j in labels:
                if value not in (0, 1):
                    raise Bad("label")
                Y[i].append(int(value))
            elif values is None or known or len(values) <= 2:
                X[i].append(value)
            else:
                missing = math.isnan(value)
                X[i] += [math.nan if missing else float(value == k) for k in range(len(values))]
    if len(labels) == len(attributes) or len(set(names)) < len(names):
        raise Bad("features")
    return X, Y, names


class WithoutDoctype(ElementTree.TreeBuilder):
    def doctype(self, *_):
        raise Bad("doctype")


def naive_label_names(content):
    """Names of all label elements, by the tree parser of the standard library."""
    try:
        root = ElementTree.fromstring(content, ElementTree.XMLParser(target=WithoutDoctype()))
    except (ElementTree.ParseError, ValueError, LookupError):
        raise Bad("not well-formed") from None
    local = [element.tag.rpartition("}")[2] for element in root.iter()]
    names = [
        element.get("name")
        for element, tag in zip(root.iter(), local, strict=True)
        if tag == "label"
    ]
    if local[0] != "labels" or not names or not all(names) or len(set(names)) < len(names):
        raise Bad("labels")
    return names


def naive_csv(content, n_labels, separator):
    """X, Y and names of a table whose first `n_labels` columns are labels."""
    text = text_of(content).replace("\r\n", "\n").replace("\r", "\n")
    lines = [line for line in text.split("\n") if line]
    try:
        records = list(csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True))
    except csv.Error:
        raise Bad("quotes") from None
    if not records:
        raise Bad("empty")
    names = [name.strip(BLANK) for name in records[0]]
    if "" in names or len(set(names)) < len(names) or len(names) <= n_labels:
        raise Bad("names")
    X, Y = [], []
    for record in records[1:]:
        cells = [cell.strip(BLANK) for cell in record]
        if len(cells) != len(names):
            raise Bad("ragged")
        Y.append([truth_of(cell) for cell in cells[:n_labels]])
        if None in Y[-1]:
            raise Bad("label")
        X.append(
            [math.nan if cell in ("", "NA", "?") else number_of(cell) for cell in cells[n_labels:]]
        )
    if not X:
        raise Bad("no rows")
    return X, Y, names
