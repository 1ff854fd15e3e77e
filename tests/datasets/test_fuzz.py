"""Ten thousand damaged files: each is read as the naive readers do, or refused with its line."""

import random
import re
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest
from arff_text import NAMES, arff_bytes, random_spelling, random_table, rewritten
from mutations import mutated
from naive_csv import naive_csv
from naive_readers import (
    Bad,
    naive_arff,
    naive_dataset,
    naive_label_names,
    text_of,
)
from numpy.testing import assert_array_equal
from scipy.sparse import issparse

from nldd.datasets import load_dataset, read_csv, read_label_names
from nldd.exceptions import InputError

N_FILES = {"arff": 5000, "xml": 2500, "csv": 2500}
N_PARTS = 5


def compare(path, content, read, read_naively):
    """Both readers refuse, or both give the same; returns whether the file was read."""
    try:
        expected = read_naively(content)
    except Bad:
        expected = None
    try:
        found = read(path)
    except InputError as error:
        assert re.match(rf"{re.escape(str(path))}, line \d+: ", str(error)), content
        assert len(str(error)) < 1000, str(error)
        assert expected is None, (str(error), content)
        return False
    assert expected is not None, content
    check_equal(found, expected, content)
    return True


def check_equal(found, expected, content):
    if isinstance(found, list):
        assert found == expected, content
        return
    X, Y, feature_names = expected
    assert found.feature_names == feature_names, content
    assert_array_equal(found.X.toarray() if issparse(found.X) else found.X, X, repr(content))
    assert_array_equal(found.Y, Y, repr(content))
    assert found.X.dtype == np.float64
    assert found.Y.dtype == np.int64


@pytest.mark.parametrize("part", range(N_PARTS))
def test_damaged_arff_files(tmp_path, part):
    rng = random.Random(f"arff {part}")
    n_read = 0
    with rewritten(tmp_path / "file.arff") as write:
        for _ in range(N_FILES["arff"] // N_PARTS):
            table = label_first(rng, random_table(rng, simple=rng.random() < 0.4))
            spelling = random_spelling(rng)
            spelling.relation = f"test: -C {rng.choice([1, 1, -1])}"
            content = mutated(rng, arff_bytes(rng, table, spelling))
            n_read += compare(write(content), content, load_dataset, read_meka_naively)
    assert N_FILES["arff"] // N_PARTS // 10 < n_read < N_FILES["arff"] // N_PARTS // 1.2


def label_first(rng, table):
    """A label at either end."""
    for j in (0, -1):
        table.attributes[j] = (table.attributes[j][0], rng.choice([["0", "1"], ["1", "0"], None]))
        for row in table.rows:
            row[j] = float(rng.random() < 0.5)
    return table


def read_meka_naively(content):
    relation, attributes, rows, _ = naive_arff(content)
    starts = [i for i in range(len(relation)) if relation[i : i + 2] == "-C"]
    counts = [
        relation[i + 2 :].split()[:1]
        for i in starts
        if (i == 0 or relation[i - 1].isspace() or relation[i - 1] == ":")
        and (i + 2 == len(relation) or relation[i + 2].isspace())
    ]
    if len(counts) != 1 or not counts[0]:
        raise Bad("no single -C")
    digits = counts[0][0].removeprefix("-")
    if not digits.isascii() or not digits.isdigit() or not 0 < int(digits) <= len(attributes):
        raise Bad("no number of labels")
    columns = list(range(len(attributes)))
    first = not counts[0][0].startswith("-")
    labels = columns[: int(digits)] if first else columns[-int(digits) :]
    return naive_dataset(attributes, rows, labels)


@pytest.mark.parametrize("part", range(N_PARTS))
def test_damaged_xml_files(tmp_path, part):
    rng = random.Random(f"xml {part}")
    n_read = 0
    with rewritten(tmp_path / "file.xml") as write:
        for _ in range(N_FILES["xml"] // N_PARTS):
            # ElementTree, the naive reader's base, refuses a brace in the address of a namespace.
            content = mutated(rng, random_xml(rng)).replace(b"}", b")")
            n_read += compare(write(content), content, read_label_names, naive_label_names)
    assert N_FILES["xml"] // N_PARTS // 10 < n_read < N_FILES["xml"] // N_PARTS // 1.2


def random_xml(rng):
    names = rng.sample(NAMES, rng.randint(1, 6))
    space = rng.choice(["", "", ' xmlns="http://mulan.sourceforge.net/labels"', ' xmlns:m="m"'])
    parts, depth = [], 0
    for name in names:
        # Line ends and tabs would become spaces in an attribute; they are written as references.
        parts.append(f"<label name={quoteattr(name)}>")
        depth += 1
        while depth and rng.random() < 0.7:
            parts.append("</label>")
            depth -= 1
    parts += ["</label>"] * depth
    gap = rng.choice(["", "\n", "\r\n", "\n<!-- label -->\n", " text "])
    text = gap.join([f"<labels{space}>", *parts, "</labels>"])
    encoding = rng.choice(["", "", "utf-8", "utf-16"])
    declaration = f'<?xml version="1.0" encoding="{encoding}"?>\n' if encoding else ""
    return (declaration + text).encode(encoding or "utf-8")


@pytest.mark.parametrize("part", range(N_PARTS))
def test_damaged_csv_files(tmp_path, part):
    rng = random.Random(f"csv {part}")
    n_read = 0
    with rewritten(tmp_path / "file.csv") as write:
        for _ in range(N_FILES["csv"] // N_PARTS):
            separator = rng.choice(",;\t")
            n_labels = rng.randint(1, 3)
            content = mutated(rng, random_csv(rng, n_labels, separator))
            n_read += compare(
                write(content),
                content,
                lambda path, n=n_labels, sep=separator: read_csv(path, n, sep=sep),
                lambda content, n=n_labels, sep=separator: without_labels(
                    naive_csv(content, n, sep), n
                ),
            )
    assert N_FILES["csv"] // N_PARTS // 10 < n_read < N_FILES["csv"] // N_PARTS // 1.2


def without_labels(result, n_labels):
    X, Y, names = result
    return X, Y, names[n_labels:]


def random_csv(rng, n_labels, separator):
    names = [f"column {j}" for j in range(n_labels + rng.randint(1, 4))]
    rows = [names]
    for _ in range(rng.randint(1, 6)):
        labels = [
            rng.choice(["0", "1", "0", "1", "0.0", "1.0", "TRUE", "false"]) for _ in range(n_labels)
        ]
        features = [
            rng.choice(["0", "1.5", "-2e3", "", "NA", "?", repr(rng.random())])
            for _ in names[n_labels:]
        ]
        rows.append(labels + features)
    text = rng.choice(["\n", "\r\n", "\r"]).join(
        separator.join(f'"{cell}"' if rng.random() < 0.1 else cell for cell in row) for row in rows
    )
    return (text + rng.choice(["", "\n"])).encode(rng.choice(["utf-8", "utf-8-sig"]))


def test_naive_readers_by_hand():
    # The naive readers decide what is right above, so they need a check of their own.
    assert text_of(b"\xef\xbb\xbf\xc3\xa9") == text_of(b"\xe9") == "é"
    relation, attributes, rows, sparse = naive_arff(
        b"@relation 'r'\n@attribute a {1,0}\n@attribute 'b c' real\n@data\n{1 2}\n0,?\n"
    )
    assert (relation, attributes, sparse) == ("r", [("a", ["1", "0"]), ("b c", None)], True)
    assert_array_equal(rows, [[0, 2], [1, np.nan]])
    assert naive_dataset(attributes, [[0.0, 2.0]], [0]) == ([[2.0]], [[1]], ["b c"])
    assert naive_csv(b'y;x\n1;"2"\n', 1, ";") == ([[2.0]], [[1.0]], ["y", "x"])
    assert naive_label_names(b"<labels><label name='a'/></labels>") == ["a"]
