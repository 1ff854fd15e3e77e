"""Damaged files: each is read as the naive readers do, or refused with its place."""

import random
import re
from xml.sax.saxutils import quoteattr

import numpy as np
from arff_text import NAMES, arff_bytes, doses, random_spelling, random_table, rewritten
from mutations import mutated
from naive_readers import Bad, naive_arff, naive_csv, naive_dataset, naive_label_names, text_of
from numpy.testing import assert_array_equal
from scipy.sparse import issparse

from nldd.bench.datasets.load import load_dataset
from nldd.bench.datasets.source import read_label_names
from nldd.exceptions import InputError


def compare(path, content, read, read_naively):
    """Both readers refuse, or both give the same; returns whether the file was read."""
    expected = outcome_of(Bad, read_naively, content)
    found = outcome_of(InputError, read, path)
    if isinstance(found, InputError):
        assert re.match(rf"{re.escape(str(path))}, line \d+: ", str(found)), content
        assert len(str(found)) < 1000, str(found)
        assert isinstance(expected, Bad), (str(found), content)
        return False
    assert not isinstance(expected, Bad), content
    check_equal(found, expected, content)
    return True


def outcome_of(refusal, call, *arguments, **options):
    try:
        return call(*arguments, **options)
    except refusal as error:
        return error


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


@doses(800, 5000)
def test_damaged_arff_files(tmp_path, n):
    rng = random.Random("arff")
    n_read = 0
    with rewritten(tmp_path / "file.arff") as write:
        for _ in range(n):
            table = label_first(rng, random_table(rng, simple=rng.random() < 0.4))
            spelling = random_spelling(rng)
            spelling.relation = f"test: -C {rng.choice([1, 1, -1])}"
            content = mutated(rng, arff_bytes(rng, table, spelling))
            n_read += compare(write(content), content, load_dataset, read_meka_naively)
    assert n // 10 < n_read < n // 1.2


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


@doses(500, 2500)
def test_damaged_xml_files(tmp_path, n):
    rng = random.Random("xml")
    n_read = 0
    with rewritten(tmp_path / "file.xml") as write:
        for _ in range(n):
            # ElementTree, the naive reader's base, refuses a brace in the address of a namespace.
            content = mutated(rng, random_xml(rng)).replace(b"}", b")")
            n_read += compare(write(content), content, read_label_names, naive_label_names)
    assert n // 10 < n_read < n // 1.2


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


@doses(500, 2500)
def test_damaged_csv_files(tmp_path, n):
    rng = random.Random("csv")
    n_read = 0
    with rewritten(tmp_path / "file.csv") as write:
        for _ in range(n):
            separator = rng.choice(",;\t")
            n_labels = rng.randint(1, 3)
            content = mutated(rng, random_csv(rng, n_labels, separator))
            path = write(content)
            found = outcome_of(InputError, load_dataset, path, labels=n_labels, keep_ids=True)
            expected = outcome_of(Bad, naive_csv, content, n_labels, separator)
            if isinstance(found, InputError):
                assert path.name in str(found), content
                assert len(str(found)) < 1000, str(found)
            elif not isinstance(expected, Bad):
                # More is forgiven than by the naive reader, such as a line of blanks.
                assert_array_equal(found.X, expected[0], repr(content))
                assert_array_equal(found.Y, expected[1], repr(content))
                n_read += 1
    assert n // 10 < n_read < n // 1.2


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
