"""A reader of CSV files that goes character by character, for comparison with the real one."""

import math

from naive_readers import BLANK, Bad, Cursor, number_of, text_of, truth_of


def csv_records(text, separator):
    """Cells of all records that are not blank lines."""
    records = []
    cursor = Cursor(text.replace("\r\n", "\n").replace("\r", "\n"))
    while cursor.peek():
        if cursor.peek() == "\n":
            cursor.i += 1
            continue
        records.append(csv_record(cursor, separator))
    return records


def csv_record(cursor, separator):
    cells = []
    while True:
        while cursor.peek() == " ":
            cursor.i += 1
        if cursor.peek() == '"':
            cells.append(csv_quoted(cursor))
            if cursor.peek() not in ("", "\n", separator):
                raise Bad("text after a quote")
        else:
            cells.append(cursor.bare(separator + "\n"))
        end = cursor.peek()
        cursor.i += 1
        if end != separator:
            return cells


def csv_quoted(cursor):
    value = ""
    cursor.i += 1
    while True:
        value += cursor.bare('"')
        if not cursor.peek():
            raise Bad("unclosed")
        cursor.i += 1
        if cursor.peek() != '"':
            return value
        value += '"'
        cursor.i += 1


def naive_csv(content, n_labels, separator):
    """X, Y and names of a table whose first `n_labels` columns are labels."""
    records = csv_records(text_of(content), separator)
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
