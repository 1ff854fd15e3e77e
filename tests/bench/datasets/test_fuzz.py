"""Damaged files: each is read as the naive readers do, or refused with its place.

Damaged XML files are among the targets of ``tests/fuzz.py``.
"""

import random
import re
from functools import partial

import numpy as np
import pytest
from arff_text import arff_bytes, doses, random_spelling, random_table, rewritten
from mutations import mutated
from naive_readers import Bad, lines_of, naive_arff, naive_csv, naive_dataset, require
from numpy.testing import assert_array_equal
from scipy.sparse import issparse

from nldd.bench.datasets.load import load_dataset
from nldd.exceptions import InputError


def random_arff(rng):
    """A file with a label at either end, its naive reader, and options to load it."""
    table, spelling = random_table(rng, simple=rng.random() < 0.4), random_spelling(rng)
    spelt = [["0", "1"], ["1", "0"], ["false", "TRUE"], ["0", "1", "1.0"], None]
    for j in (0, -1):
        table.attributes[j] = (table.attributes[j][0], rng.choice(spelt))
        for row in table.rows:
            row[j] = float(rng.random() < 0.5)
    spelling.relation = f"test: -C {rng.choice([1, 1, -1])}"
    return arff_bytes(rng, table, spelling), read_meka_naively, {}


def read_meka_naively(content):
    relation, attributes, rows, _ = naive_arff(content)
    starts = [i for i in range(len(relation)) if relation[i : i + 2] == "-C"]
    counts = [
        relation[i + 2 :].split()[:1]
        for i in starts
        if (i == 0 or relation[i - 1].isspace() or relation[i - 1] == ":")
        and (i + 2 == len(relation) or relation[i + 2].isspace())
    ]
    require(len(counts) == 1 and counts[0])
    digits = counts[0][0]
    require(re.fullmatch("-?[0-9]{1,9}", digits) and 0 < abs(int(digits)) <= len(attributes))
    columns = list(range(len(attributes)))
    labels = columns[: int(digits)] if int(digits) > 0 else columns[int(digits) :]
    return naive_dataset(attributes, rows, labels)


def random_csv(rng):
    """A file whose first columns are labels, its naive reader, and options to load it."""
    separator, n_labels = rng.choice(",;\t|"), rng.randint(1, 3)
    rows = [[f"column {j}" for j in range(n_labels + rng.randint(1, 4))]]
    labels = ["0", "1", "0.0", "1.0", "TRUE", "false"]
    features = ["0", "1.5", "-2e3", "", "NA", "?"]
    for _ in range(rng.randint(1, 6)):
        cells = [rng.choice([*features, repr(rng.random())]) for _ in rows[0][n_labels:]]
        rows.append(rng.choices(labels, k=n_labels) + cells)
    text = rng.choice(["\n", "\r\n", "\r"]).join(
        separator.join(f'"{cell}"' if rng.random() < 0.1 else cell for cell in row) for row in rows
    )
    content = (text + rng.choice(["", "\n"])).encode(rng.choice(["utf-8", "utf-8-sig"]))
    read_naively = partial(naive_csv, n_labels=n_labels, separator=separator)
    return content, read_naively, {"labels": n_labels, "keep_ids": True}


@doses(600, 4000)
@pytest.mark.parametrize("make", [random_arff, random_csv])
def test_damaged_files(tmp_path, make, n):
    rng = random.Random(make.__name__)
    n_read, is_arff = 0, make is random_arff
    with rewritten(tmp_path / ("file.arff" if is_arff else "file.csv")) as write:
        for _ in range(n):
            content, read_naively, options = make(rng)
            content = mutated(rng, content)
            path = write(content)
            try:
                expected = read_naively(content)
            except Bad:
                expected = None
            try:
                found = load_dataset(path, **options)
            except InputError as error:
                # Of a CSV file the separator is not told.
                assert not is_arff or expected is None, (str(error), content)
                place = rf"{re.escape(str(path))}(, line \d+: | is empty)"
                assert re.match(place, str(error)), content
                assert len(str(error)) < 1000, str(error)
                continue
            # Of a CSV file more is forgiven than by the naive reader, such as a line of blanks.
            assert expected or not is_arff, content
            if expected:
                X = found.X
                if issparse(X):
                    assert X.has_canonical_format
                    assert np.all(X.data != 0)
                    assert X.indices.dtype == np.int32
                    X = X.toarray()
                assert (X.dtype, found.Y.dtype) == (np.float64, np.int64)
                assert_array_equal(X, expected[0], repr(content))
                assert_array_equal(found.Y, expected[1], repr(content))
                assert not is_arff or found.feature_names == expected[2], content
                n_read += 1
    assert n // 10 < n_read < n // 1.2


def test_naive_readers_by_hand():
    # The naive readers decide what is right above, so they need a check of their own.
    assert lines_of(b"\xef\xbb\xbf\xc3\xa9\r") == lines_of(b"\xe9\n") == ["é", ""]
    relation, attributes, rows, sparse = naive_arff(
        b"@relation 'r'\n@attribute a {1,0}\n@attribute 'b c' real\n@data\n{1 2}\n0,?\n"
    )
    assert (relation, attributes, sparse) == ("r", [("a", ["1", "0"]), ("b c", None)], True)
    assert_array_equal(rows, [[0, 2], [1, np.nan]])
    assert naive_dataset(attributes, [[0.0, 2.0]], [0]) == ([[2.0]], [[1]], ["b c"])
    assert naive_csv(b'y;x\n1;"2"\n', 1, ";") == ([[2.0]], [[1.0]], ["y", "x"])
