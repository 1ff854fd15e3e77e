"""Readers of data files, naive and slow, for comparison with the real ones.

They follow the written rules of the formats and share no code with ``nldd.bench.datasets``.
"""

import csv
import math

BLANK = " \t"
ESCAPES = {"'": "'", '"': '"', "\\": "\\", "%": "%", "t": "\t", "n": "\n", "r": "\r"}


class Bad(Exception):
    """The file breaks a rule."""


def require(condition):
    if not condition:
        raise Bad


def lines_of(content):
    require(content[:2] not in (b"\xff\xfe", b"\xfe\xff"))
    try:
        text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError:
        text = content.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def number_of(text):
    require(text and not set(text) - set("0123456789+-.eE"))
    try:
        value = float(text)
    except ValueError:
        raise Bad from None
    require(not math.isinf(value))
    return value


def truth_of(text):
    if text.lower() in ("true", "false"):
        return float(text.lower() == "true")
    try:
        value = number_of(text)
    except Bad:
        return None
    return abs(value) if value in (0, 1) else None


def take_value(text, ends):
    """The value at the beginning, whether it is quoted, and what follows."""
    text = text.lstrip(BLANK)
    if text[:1] not in ("'", '"'):
        length = min([text.index(end) for end in ends if end in text], default=len(text))
        return text[:length].rstrip(BLANK), False, text[length:]
    quote, value, text = text[0], "", text[1:]
    while text[:1] != quote:
        require(text)
        character, text = take_escape(text[1:]) if text[0] == "\\" else (text[0], text[1:])
        value += character
    return value, True, text[1:]


def take_escape(text):
    if text[:1] != "u":
        require(text[:1] in ESCAPES and text)
        return ESCAPES[text[0]], text[1:]
    digits = text[1:5]
    require(len(digits) == 4 and not set(digits) - set("0123456789abcdefABCDEF"))
    require(not 0xD800 <= int(digits, 16) <= 0xDFFF)
    return chr(int(digits, 16)), text[5:]


def require_end(text):
    require(text.strip(BLANK)[:1] in ("", "%"))


def take_attribute(text):
    name, _, text = take_value(text, " \t{")
    text = text.lstrip(BLANK)
    require(name)
    if text[:1] != "{":
        kind, quoted, text = take_value(text, " \t%")
        require(kind.lower() in ("numeric", "real", "integer") and not quoted)
        require_end(text)
        return name, None
    values, end = [], ","
    text = text[1:]
    while end == ",":
        value, quoted, text = take_value(text, ",{}")
        require((value or quoted) and value not in values)
        values.append(value)
        text = text.lstrip(BLANK)
        end, text = text[:1], text[1:]
    require(end == "}")
    require_end(text)
    return name, values


def take_declaration(text):
    """The word behind the ``@``, and what follows."""
    word = ""
    while text[len(word) + 1 :][:1].isascii() and text[len(word) + 1 :][:1].isalpha():
        word += text[len(word) + 1]
    rest = text[len(word) + 1 :]
    require(text[0] == "@" and word.lower() in ("relation", "attribute", "data"))
    require(rest[:1] in ("", " ", "\t", "'", '"', "%"))
    return word.lower(), rest


def code_of(value, quoted, values):
    if not quoted and value == "?":
        return math.nan
    require(value or quoted)
    if values is None:
        return number_of(value)
    require(value in values)
    return float(values.index(value))


def dense_row(text, attributes):
    cells, more = [], True
    while more:
        value, quoted, text = take_value(text, ",\t")
        cells.append((value, quoted))
        rest = text.lstrip(BLANK)
        more = bool(rest)
        require(not rest or rest[0] == "," or "\t" in text[: len(text) - len(rest)])
        text = rest.removeprefix(",")
    require(len(cells) == len(attributes))
    return [code_of(*cell, values) for cell, (_, values) in zip(cells, attributes, strict=True)]


def sparse_row(text, attributes):
    row, seen, end = [0.0] * len(attributes), set(), ","
    text = text[1:].lstrip(BLANK)
    if text == "}":
        return row
    while end == ",":
        text = text.lstrip(BLANK)
        digits = text[: len(text) - len(text.lstrip("0123456789"))]
        text = text[len(digits) :]
        require(digits and text[:1] in (" ", "\t"))
        index = int(digits) if len(digits.lstrip("0")) < 7 else 10**7
        require(index < len(attributes) and index not in seen)
        seen.add(index)
        value, quoted, text = take_value(text, ",{}")
        row[index] = code_of(value, quoted, attributes[index][1])
        text = text.lstrip(BLANK)
        end, text = text[:1], text[1:]
    require(end == "}" and not text)
    return row


def naive_arff(content):
    """Relation, attributes as pairs (name, values), rows of codes, whether any row is sparse."""
    relation, attributes, rows, in_data, sparse = None, [], [], False, False
    for line in lines_of(content):
        text = line.strip(BLANK)
        if text[:1] in ("", "%"):
            continue
        if in_data:
            rows.append((sparse_row if text[0] == "{" else dense_row)(text, attributes))
            sparse |= text[0] == "{"
            continue
        word, rest = take_declaration(text)
        if word == "relation":
            require(relation is None)
            relation, _, rest = take_value(rest, "%")
            require_end(rest)
        elif word == "attribute":
            attributes.append(take_attribute(rest))
            require(len({name for name, _ in attributes}) == len(attributes))
        else:
            require_end(rest)
            require(attributes)
            in_data = True
    require(rows)
    return relation or "", attributes, rows, sparse


def naive_dataset(attributes, rows, labels):
    """X, Y, feature names of rows of codes; `labels` are positions."""
    names, X, Y = [], [[] for _ in rows], [[] for _ in rows]
    for j, (name, values) in enumerate(attributes):
        truths = None if values is None else [truth_of(value) for value in values]
        known = truths is not None and None not in truths
        is_hot = j not in labels and values is not None and len(values) > 2 and not known
        if j not in labels:
            names += [f"{name}={value}" for value in values] if is_hot else [name]
        require(j not in labels or values is None or known)
        for i, row in enumerate(rows):
            value = truths[int(row[j])] if known and not math.isnan(row[j]) else row[j]
            if j in labels:
                require(value in (0, 1))
                Y[i].append(int(value))
            elif is_hot:
                missing = math.isnan(value)
                X[i] += [math.nan if missing else float(value == k) for k in range(len(values))]
            else:
                X[i].append(value)
    require(names and len(set(names)) == len(names))
    return X, Y, names


def naive_csv(content, n_labels, separator):
    """X, Y and names of a table whose first `n_labels` columns are labels."""
    lines = [line for line in lines_of(content) if line]
    try:
        records = list(csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True))
    except csv.Error:
        raise Bad from None
    table = [[cell.strip(BLANK) for cell in record] for record in records]
    require(len(table) > 1 and all(len(row) == len(table[0]) > n_labels for row in table))
    require("" not in table[0] and len(set(table[0])) == len(table[0]))
    Y = [[truth_of(cell) for cell in row[:n_labels]] for row in table[1:]]
    require(not any(None in row for row in Y))
    missing = ("", "NA", "?")
    X = [
        [math.nan if cell in missing else number_of(cell) for cell in row[n_labels:]]
        for row in table[1:]
    ]
    return X, Y, table[0]
