"""ARFF files: what rows and headers mean, what is said about errors, and files for MEKA."""

import random

import numpy as np
import pytest
from arff_text import NAMES, arff_bytes, doses, random_spelling, random_table, rewritten
from naive_readers import Bad, naive_arff
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, issparse

from nldd.bench.datasets import arff as arff_module
from nldd.bench.datasets.arff import export_dataset, read_arff
from nldd.bench.datasets.load import load_dataset
from nldd.bench.datasets.source import MAX_BYTES
from nldd.datasets import Dataset
from nldd.exceptions import InputError

HEADER = """@relation test
@attribute y {0,1}
@attribute 'my x' numeric
@attribute colour {red, 'light blue', "green"}
@data
"""
NAN = np.nan


@pytest.fixture
def read(write):
    return lambda content: read_arff(write(content, "file.arff"))


def dense(table):
    return table.toarray() if issparse(table) else table


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("1,-2.5,'light blue'\n0,1e3,red\n", [[1, -2.5, 1], [0, 1000, 0]]),
        ("1 ,\t2, light blue", [[1, 2, 1]]),
        ("'1',\"2\",'red'", [[1, 2, 0]]),
        (r"0,1e-400,'\u0072ed'", [[0, 0, 0]]),
        # The empty rows and the last attribute stay; zeros may be spelt, indices in any order.
        ("{1 2.5}\n{}\n{0 1, 1 -1}\n{ }\n", [[0, 2.5, 0], [0, 0, 0], [1, -1, 0], [0, 0, 0]]),
        ("{2 green,0 1,1 0}\n{2 red}\n", [[1, 0, 2], [0, 0, 0]]),
        ("{1 ?,2 ?}", [[0, NAN, NAN]]),
        ("1,2,green\n{1 3}\n", [[1, 2, 2], [0, 3, 0]]),
    ],
)
def test_rows(read, rows, expected):
    arff = read(HEADER + rows)
    assert (arff.relation, arff.header_line, arff.row_lines[0]) == ("test", 5, 6)
    assert [attribute.name for attribute in arff.attributes] == ["y", "my x", "colour"]
    assert list(arff.attributes[2].codes) == ["red", "light blue", "green"]
    assert_array_equal(dense(arff.cells), expected)
    assert isinstance(arff.cells, csr_array if "{" in rows else np.ndarray)
    if "{" in rows:
        assert arff.cells.has_canonical_format
        assert arff.cells.nnz == np.count_nonzero(expected)


@pytest.mark.parametrize(
    ("spelt", "name"),
    [
        ("bare-1/2", "bare-1/2"),
        ("don't", "don't"),
        ("%", "%"),
        (r'"\"x\""', '"x"'),
        (r"'it\'s a\\b\%\t\n'", "it's a\\b%\t\n"),
        (r"'\u0041\u00e9'", "Aé"),
        ("' padded '", " padded "),
        (r"back\slash", r"back\slash"),
        ("\xa0a\x0cb\x1c\x85\u2028", "\xa0a\x0cb\x1c\x85\u2028"),
    ],
)
def test_names(read, spelt, name):
    assert read(f"@attribute {spelt} numeric\n@data\n1\n").attributes[0].name == name


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "mark"])
def test_line_ends_comments_and_keywords(read, end, mark):
    head = "% comment||@RELATION\t'a b' % comment|\t@Attribute\tx\tREAL % comment|@attribute y{1,0}"
    lines = f"{head}| % comment|@DATA  % rows follow|| % 1,1|5,0 ||% end".split("|")
    arff = read(mark + end.join(lines))
    assert arff.relation == "a b"
    assert [attribute.name for attribute in arff.attributes] == ["x", "y"]
    assert_array_equal(arff.cells, [[5, 1]])
    assert_array_equal(arff.row_lines, [10])


def test_latin_1_where_utf_8_fails(read):
    assert read("@attribute é numeric\n@data\n1".encode("latin-1")).attributes[0].name == "é"
    with pytest.raises(InputError, match=r"line 1: .* UTF-16"):
        read(HEADER.encode("utf-16"))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,2", "3 values, got 2"),
        ("1,2,red,{5}", "instance weight"),
        ("{0 1},{5}", "instance weight"),
        ("{0 1} x", "' x'"),
        ("1,nan,red", "'nan'"),
        ("1,1e999,red", "below 1.8e308; got '1e999'"),
        ("1,,red", "'my x': no value"),
        ("1,2,pink", "'colour': .* 'light blue', 'green'; got 'pink'"),
        ("1,2,red\x00", "'red.x00'"),
        ("1,2,'red", "not closed"),
        ("1,'2'3,red", "a comma after .* '3,red'"),
        (r"1,2,'\red'", r"'\\red'"),  # an escape: carriage return
        (r"1,2,'\ud800'", "unknown escape"),
        ("{3 1}", "index 3 .* 3 attributes"),
        ("{1 1, 1 2}", "index 1 occurs twice"),
        ("{-1 1}", "pairs"),
        ("{0 1 1 2}", "'1 1 2'"),
        ("{0 1", "does not end with }"),
        ("{0 2}", "'0', '1'; got '2'"),
    ],
)  # fmt: skip
def test_rows_that_are_refused(read, row, message):
    # Blank lines and comments count as lines.
    with pytest.raises(InputError, match=rf"file\.arff, line 8: .*{message}"):
        read(HEADER + "1,2,red\n\n" + row + "\n1,2,red\n")


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", 1, "without a line @data"),
        ("@attribute x real\n@data\n% none\n", 2, "no rows"),
        ("@relation a\n@data\n1\n", 2, "before any @attribute"),
        ("@inputs a", 1, "'@inputs a'"),
        ("@relation a\n@relation b", 2, "second @relation"),
        ("@relation 'a' b", 1, "'b'"),
        ("@attribute x", 1, "a name and a type"),
        ("@attribute x nummeric", 1, "'nummeric'; expected numeric"),
        ("@attribute x real [0,1]", 1, r"'\[0,1\]' after the type"),
        ("@attribute x DATE 'yyyy'", 1, "'x' is of type 'DATE'"),
        ("@attribute x {0,1", 1, "do not end with }"),
        ("@attribute x {0,,1}", 1, "should read like"),
        ("@attribute x {0,1} 2", 1, "'2' after the values"),
        ("@attribute x {0,1,'0'}", 1, "'0' twice"),
        ("@attribute x real\n\n@attribute 'x' {0,1}", 3, "'x' was declared before, in line 1"),
        ("@attribute x real\n@data 1,2\n", 2, "'1,2' after @data"),
        ("@attributex real", 1, "'@attributex real'"),
    ],
)
def test_headers_that_are_refused(read, content, line, message):
    with pytest.raises(InputError, match=rf"file\.arff, line {line}: .*({message})"):
        read(content)


def test_files_that_cannot_be_read(tmp_path):
    large = tmp_path / "large.arff"
    with open(large, "wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    for path, message in (
        (tmp_path / "none.arff", "none.arff cannot be read: No such file"),
        (tmp_path, "is not a file"),
        (large, f"at most {MAX_BYTES} are read"),
    ):
        with pytest.raises(InputError, match=message):
            read_arff(path)


@doses(150, 500)
@pytest.mark.parametrize("rows", ["dense", "sparse", "mixed"])
def test_random_tables_are_read_back_exactly(tmp_path, rows, monkeypatch, n):
    monkeypatch.setattr(arff_module, "BLOCK_LENGTH", 60)
    rng = random.Random(f"tables {rows}")
    with rewritten(tmp_path / "file.arff") as write:
        for _ in range(n):
            table = random_table(rng, simple=rng.random() < 0.3)
            content = arff_bytes(rng, table, random_spelling(rng, rows))
            arff = read_arff(write(content))
            found = [(a.name, a.codes and list(a.codes)) for a in arff.attributes]
            assert found == table.attributes, content
            assert_array_equal(dense(arff.cells), table.rows, repr(content))
            assert rows == "mixed" or issparse(arff.cells) == (rows == "sparse")


@doses(400, 2000)
@pytest.mark.parametrize("kind", ["real", "{0,1}", "{'',1,'1 2',\"'\"}"])
@pytest.mark.parametrize("form", ["{}", "{{{}}}"], ids=["dense", "sparse"])
def test_rows_of_any_few_characters_equal_a_naive_reading(tmp_path, kind, form, n):
    rng = random.Random(f"{kind} {form}")
    n_read = 0
    with rewritten(tmp_path / "file.arff") as write:
        for _ in range(n):
            characters = rng.choices("  ,00112", k=rng.randint(1, 9))
            if rng.random() < 0.5:
                odd = rng.choice("?.e-+_'\"\t{}%ax\x0c\xa0\u0663")
                characters[rng.randrange(len(characters))] = odd
            row = form.format("".join(characters))
            content = f"@attribute a real\n@attribute b {kind}\n@data\n{row}".encode()
            try:
                expected = naive_arff(content)[2]
            except Bad:
                with pytest.raises(InputError, match="line "):
                    read_arff(write(content))
                continue
            assert_array_equal(dense(read_arff(write(content)).cells), expected, row)
            n_read += 1
    assert n_read > n / 200


def assert_same(found, dataset):
    assert issparse(found.X) == issparse(dataset.X)
    found_X, X = (X.toarray() if issparse(X) else X for X in (found.X, dataset.X))
    assert_array_equal(found_X, X)
    assert_array_equal(found.Y, dataset.Y)
    assert found.label_names == dataset.label_names
    assert found.feature_names == dataset.feature_names
    assert found.n_train == dataset.n_train


def random_dataset(rng, container=np.asarray, n_train=None):
    n_rows, n_labels, n_features = rng.integers(2, 9), rng.integers(1, 4), rng.integers(1, 5)
    X = rng.choice([0, 0, 1, -3, 0.1, 1e-300, 2.0**60, np.nan, 1 / 3], (n_rows, n_features))
    Y = rng.integers(0, 2, (n_rows, n_labels))
    names = random.Random(int(rng.integers(1000))).sample(NAMES, n_labels + n_features)
    return Dataset(container(X), Y, names[:n_labels], names[n_labels:], "a: -C 9", n_train)


@pytest.mark.parametrize("container", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_a_file_that_was_exported_is_the_same_data_set(tmp_path, container):
    rng = np.random.default_rng(0)
    for i in range(5):
        dataset = random_dataset(rng, container)
        (path,) = export_dataset(dataset, tmp_path / str(i) / "toy.arff")
        assert_same(load_dataset(path), dataset)
    ids = Dataset(np.arange(40.0).reshape(2, 20).T, np.ones((20, 1), int), ["a"], ["id", "x"])
    (path,) = export_dataset(ids, tmp_path / "ids.arff")
    assert_same(load_dataset(path, keep_ids=True), ids)


def test_a_given_split_is_two_files(tmp_path):
    dataset = random_dataset(np.random.default_rng(1), n_train=1)
    for name in ("birds", "birds-train"):
        paths = export_dataset(dataset, tmp_path / f"{name}.arff")
        assert [path.name for path in paths] == ["birds-train.arff", "birds-test.arff"]
    found = load_dataset(tmp_path / "birds-train.arff")
    assert_same(found, dataset)
    assert found.name == "birds"


def test_texts_are_strings(tmp_path):
    texts = np.array(["it's 5 %", "", 'two\nlines, "quoted"\\', "?", "\x1bé"], dtype=object)
    dataset = Dataset(texts, np.eye(5, 2, dtype=int), ["a b", "c"], ["the answer"], "said")
    export_dataset(dataset, tmp_path / "said.arff")
    assert_same(load_dataset(tmp_path / "said.arff", text="the answer"), dataset)


def test_what_meka_reads(tmp_path, snapshot):
    X, Y = csr_array([[0, 0.5], [3, 0]]), np.array([[1, 0], [0, 0]])
    dataset = Dataset(X, Y, ["sad", "it's calm"], ["tempo", "x 1"], "my/set")
    (path,) = export_dataset(dataset, tmp_path / "toy.arff")
    snapshot(path.read_text(), "datasets_meka_file")


@pytest.mark.parametrize(
    ("X", "names", "path", "message"),
    [
        ([[1.0]], ["a", "a"], "toy.arff", "a name of its own"),
        ([[1.0]], ["a"], "toy.arff", "a name of its own"),
        ([[1.0]], ["a", ""], "toy.arff", "a name of its own"),
        ([[1.0]], ["a", "b"], "toy.csv", "must end in .arff"),
        ([[-np.inf]], ["a", "b"], "toy.arff", "infinite"),
        (csr_array([[np.inf]]), ["a", "b"], "toy.arff", "infinite"),
    ],
)
def test_what_cannot_be_exported(tmp_path, X, names, path, message):
    X = X if issparse(X) else np.array(X)
    dataset = Dataset(X, np.ones((1, 1), dtype=int), names[:1], names[1:])
    with pytest.raises(InputError, match=message):
        export_dataset(dataset, tmp_path / path)
    assert list(tmp_path.iterdir()) == []
