"""ARFF files: what rows and headers mean, in every spelling, and what is said about errors."""

import random

import numpy as np
import pytest
from arff_text import Spelling, arff_bytes, doses, random_spelling, random_table, rewritten
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, issparse

from nldd.bench.datasets import arff as arff_module
from nldd.bench.datasets.arff import read_arff
from nldd.bench.datasets.source import MAX_BYTES
from nldd.exceptions import InputError

HEADER = """@relation test
@attribute y {0,1}
@attribute 'my x' numeric
@attribute colour {red, 'light blue', "green"}
@data
"""
NAN = np.nan


@pytest.fixture
def read(tmp_path):
    def read(content, **options):
        path = tmp_path / "file.arff"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_arff(path, **options)

    return read


def dense(table):
    return table.toarray() if issparse(table) else table


def test_dense_rows(read):
    arff = read(HEADER + "1,-2.5,'light blue'\n0,1e3,red\n")
    assert arff.relation == "test"
    assert [attribute.name for attribute in arff.attributes] == ["y", "my x", "colour"]
    assert [attribute.codes and list(attribute.codes) for attribute in arff.attributes] == [
        ["0", "1"],
        None,
        ["red", "light blue", "green"],
    ]
    assert isinstance(arff.cells, np.ndarray)
    assert_array_equal(arff.cells, [[1, -2.5, 1], [0, 1000, 0]])
    assert_array_equal(arff.row_lines, [6, 7])
    assert arff.header_line == 5


def test_sparse_rows_keep_their_empty_ends(read):
    # The last row is empty and the last attribute is never used: both stay.
    arff = read(HEADER + "{1 2.5}\n{}\n{0 1, 1 -1}\n{ }\n")
    assert isinstance(arff.cells, csr_array)
    assert_array_equal(arff.cells.toarray(), [[0, 2.5, 0], [0, 0, 0], [1, -1, 0], [0, 0, 0]])
    assert arff.cells.nnz == 3


def test_sparse_rows_may_be_unordered_and_spell_zeros(read):
    arff = read(HEADER + "{2 green,0 1,1 0}\n{2 red}\n")
    assert_array_equal(arff.cells.toarray(), [[1, 0, 2], [0, 0, 0]])
    assert arff.cells.has_canonical_format
    assert arff.cells.nnz == 2


def test_dense_and_sparse_rows_in_one_file(read):
    arff = read(HEADER + "1,2,green\n{1 3}\n")
    assert isinstance(arff.cells, csr_array)
    assert_array_equal(arff.cells.toarray(), [[1, 2, 2], [0, 3, 0]])


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("?,?,?", [NAN, NAN, NAN]),
        ("{1 ?,2 ?}", [0, NAN, NAN]),
        ("1\t2\tgreen", [1, 2, 2]),
        ("1 ,\t2, light blue", [1, 2, 1]),
        ("'1',\"2\",'red'", [1, 2, 0]),
        ("0,.5,red", [0, 0.5, 0]),
        ("0,+5.,red", [0, 5, 0]),
        ("0,1e-400,red", [0, 0, 0]),
        (r"0,1,'\u0072ed'", [0, 1, 0]),
    ],
)
def test_cells(read, row, expected):
    assert_array_equal(dense(read(HEADER + row).cells), [expected])


def test_blanks_around_a_bare_value_are_no_part_of_it(read):
    arff = read("@attribute x real\n@attribute a {' b', 'b ', b}\n@data\n1,  b\n1,b \n1,b\n")
    assert_array_equal(arff.cells[:, 1], [2, 2, 2])
    arff = read("@attribute a {' b', 'b ', b}\n@attribute x real\n@data\nb ,1\n")
    assert_array_equal(arff.cells, [[2, 1]])


def test_quoted_question_mark_is_a_value(read):
    arff = read("@attribute a {'?', b}\n@data\n'?'\n?\nb\n")
    assert_array_equal(arff.cells, [[0], [NAN], [1]])


@pytest.mark.parametrize(
    ("spelt", "name"),
    [
        ("bare-1/2", "bare-1/2"),
        ("don't", "don't"),
        ("5%", "5%"),
        ("%", "%"),
        ("'two words'", "two words"),
        ('"two words"', "two words"),
        (r"'it\'s'", "it's"),
        (r'"\"x\""', '"x"'),
        (r"'a\\b\%\t\n'", "a\\b%\t\n"),
        (r"'\u0041\u00e9'", "Aé"),
        ("' padded '", " padded "),
        (r"back\slash", r"back\slash"),
        ("\xa0", "\xa0"),
        ("a\x0cb\x1c\x85\u2028", "a\x0cb\x1c\x85\u2028"),
    ],
)
def test_names(read, spelt, name):
    assert read(f"@attribute {spelt} numeric\n@data\n1\n").attributes[0].name == name


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "mark"])
def test_line_ends_comments_and_keywords(read, end, mark):
    lines = [
        "% comment",
        "",
        " @RELATION\t'a b' % comment",
        "\t@Attribute\tx\tREAL % comment",
        "@attribute y{1,0}",
        " % comment",
        "@DATA  % rows follow",
        "",
        " % 1,1",
        "5,0 ",
        "",
        "% end",
    ]
    arff = read(mark + end.join(lines))
    assert arff.relation == "a b"
    assert [attribute.name for attribute in arff.attributes] == ["x", "y"]
    assert_array_equal(arff.cells, [[5, 1]])
    assert_array_equal(arff.row_lines, [10])


def test_latin_1_where_utf_8_fails(read):
    assert read("@attribute é numeric\n@data\n1".encode("latin-1")).attributes[0].name == "é"
    assert read("@attribute é numeric\n@data\n1").attributes[0].name == "é"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,2", "expected 3 values, got 2"),
        ("1,2,red,4", "expected 3 values, got 4"),
        ("1 2 red", "expected 3 values, got 1"),
        ("1,2,red,{5}", "instance weight"),
        ("{0 1},{5}", "instance weight"),
        ("{0 1} x", "unexpected ' x' after the closing }"),
        ("1,abc,red", "attribute 'my x': expected a number .* got 'abc'"),
        ("1,1_000,red", "got '1_000'"),
        ("1,nan,red", "got 'nan'"),
        ("1,-inf,red", "got '-inf'"),
        ("1,-?,red", r"got '-\?'"),
        ("1,1e999,red", "a number below 1.8e308; got '1e999'"),
        ("1,\u0663,red", "got '\u0663'"),
        ("1,\x0c2,red", "got '.x0c2'"),
        ("1,0x10,red", "got '0x10'"),
        ("1,2 3,red", "got '2 3'"),
        ("1,,red", "attribute 'my x' has no value"),
        ("1,2,", "attribute 'colour' has no value"),
        ("1,2,pink", "'colour': expected one of 'red', 'light blue', 'green'; got 'pink'"),
        ("1.0,2,red", "attribute 'y': expected one of '0', '1'; got '1.0'"),
        ("1,2,red\x00", "got 'red.x00'"),
        ("1,2,red % no comment", "got 'red % no comment'"),
        ("1,2,'red", "a quote is not closed"),
        ("1,'2'3,red", "expected a comma after \"'2'\"; got '3,red'"),
        (r"1,2,'\red'", r"got '\\red'"),  # an escape: carriage return
        (r"1,2,'\xred'", "unknown escape"),
        (r"1,2,'\ud800'", "unknown escape"),
        ("{3 1}", "index 3 is out of range: the header has 3 attributes"),
        ("{1 1, 1 2}", "index 1 occurs twice"),
        ("{-1 1}", "pairs of an index and a value"),
        ("{+1 1}", "pairs of an index and a value"),
        ("{1_0 1}", "pairs of an index and a value"),
        ("{1}", "pairs of an index and a value"),
        ("{0 1,}", "pairs of an index and a value"),
        ("{,}", "pairs of an index and a value"),
        ("{0 1 1 2}", "got '1 1 2'"),
        ("{0 1", "does not end with }"),
        ("{2 'red', 1 2", "does not end with }"),
        ("{2 'a}b', 1 2", "pairs of an index and a value"),
        ("{1 nan}", "got 'nan'"),
        ("{0 2}", "expected one of '0', '1'; got '2'"),
        ("@attribute z numeric", "expected 3 values, got 1"),
    ],
)  # fmt: skip
def test_rows_that_are_refused(read, row, message):
    # Blank lines and comments count as lines.
    with pytest.raises(InputError, match=rf"file\.arff, line 8: .*{message}"):
        read(HEADER + "1,2,red\n\n" + row + "\n1,2,red\n")


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", 1, "ends without a line @data"),
        ("@relation a\n@attribute x real\n", 3, "ends without a line @data"),
        ("@attribute x real\n@data\n% none\n", 2, "no rows follow @data"),
        ("@relation a\n@data\n1\n", 2, "@data comes before any @attribute"),
        ("hello", 1, "expected @relation, @attribute, @data"),
        ("@inputs a", 1, "got '@inputs a'"),
        ("@relation a\n@relation b", 2, "a second @relation"),
        ("@relation 'a", 1, "quote is not closed"),
        ("@relation 'a' b", 1, "unexpected 'b' after the name of the relation"),
        ("@attribute x", 1, "needs a name and a type"),
        ("@attribute", 1, "needs a name and a type"),
        ("@attribute '' real", 1, "needs a name and a type"),
        ("@attribute 'x real", 1, "quote is not closed"),
        ("@attribute x nummeric", 1, "is of type 'nummeric'; expected numeric"),
        ("@attribute x real [0,1]", 1, r"unexpected '\[0,1\]' after the type"),
        ("@attribute x string of words", 1, "unexpected 'of words' after the type"),
        ("@attribute x DATE 'yyyy'", 1, "attribute 'x' is of type 'DATE'"),
        ("@attribute x relational", 1, "attribute 'x' is of type 'relational'"),
        ("@attribute x {0,1", 1, "do not end with }"),
        ("@attribute x {}", 1, "should read like"),
        ("@attribute x {0,,1}", 1, "should read like"),
        ("@attribute x {0,1} 2", 1, "unexpected '2' after the values"),
        ("@attribute x {0,1,'0'}", 1, "lists the value '0' twice"),
        ("@attribute x real\n\n@attribute 'x' {0,1}", 3, "was declared before, in line 1"),
        ("@attribute x real\n@data 1,2\n", 2, "unexpected '1,2' after @data"),
    ],
)
def test_headers_that_are_refused(read, content, line, message):
    with pytest.raises(InputError, match=rf"file\.arff, line {line}: .*{message}"):
        read(content)


def test_utf_16_is_named(read):
    with pytest.raises(InputError, match="line 1: the file is in UTF-16"):
        read(HEADER.encode("utf-16"))


def test_files_that_cannot_be_read(tmp_path, read):
    with pytest.raises(InputError, match=r"none\.arff cannot be read: No such file"):
        read_arff(tmp_path / "none.arff")
    with pytest.raises(InputError, match="is not a file"):
        read_arff(tmp_path)
    large = tmp_path / "large.arff"
    with open(large, "wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(InputError, match=f"at most {MAX_BYTES} are read"):
        read_arff(large)


@doses(150, 500)
@pytest.mark.parametrize("rows", ["dense", "sparse", "mixed"])
def test_random_tables_are_read_back_exactly(tmp_path, rows, monkeypatch, n):
    monkeypatch.setattr(arff_module, "BLOCK_LENGTH", 60)
    rng = random.Random(f"tables {rows}")
    with rewritten(tmp_path / "file.arff") as write:
        for _ in range(n):
            table = random_table(rng, simple=rng.random() < 0.3)
            spelling = random_spelling(rng, rows)
            content = arff_bytes(rng, table, spelling)
            arff = read_arff(write(content))
            found = [(a.name, a.codes and list(a.codes)) for a in arff.attributes]
            assert found == table.attributes, content
            assert_array_equal(dense(arff.cells), table.rows, repr(content))
            assert rows == "mixed" or issparse(arff.cells) == (rows == "sparse")


@doses(400, 4000)
@pytest.mark.parametrize("kind", ["real", "{0,1}", "{'',1,'1 2',\"'\"}"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_fast_and_strict_reading_agree_on_any_few_characters(
    tmp_path, monkeypatch, kind, sparse, n
):
    rng = random.Random(f"{kind} {sparse}")
    n_valid = 0
    with rewritten(tmp_path / "file.arff") as write:
        for _ in range(n):
            characters = rng.choices("  ,00112", k=rng.randint(1, 9))
            if rng.random() < 0.5:
                characters[rng.randrange(len(characters))] = rng.choice(
                    "?.e-+_'\"\t{}%ax\x0c\xa0\u0663"
                )
            row = "".join(characters)
            header = f"@attribute a real\n@attribute b {kind}\n@data\n"
            write((header + (f"{{{row}}}" if sparse else row)).encode())
            fast = outcome(tmp_path)
            assert fast == strict_outcome(tmp_path, monkeypatch), row
            n_valid += not isinstance(fast, str)
    assert n_valid > n / 200


def test_many_lists_of_values_in_sparse_rows(read):
    # More lists than cells: here row by row is the faster way, with the same result.
    lists = "".join(f"@attribute a{j} {{x,{j}}}\n" for j in range(200))
    arff = read(f"{lists}@data\n{{3 3,199 199}}\n{{}}\n{{0 0}}\n")
    rows, columns = arff.cells.nonzero()
    assert (rows.tolist(), columns.tolist()) == ([0, 0, 2], [3, 199, 0])


def outcome(folder):
    """Everything that was read, comparable; or the place of what was refused."""
    try:
        arff = read_arff(folder / "file.arff")
    except InputError as error:
        return str(error).partition(": ")[0]
    table = arff.cells
    parts = (table.data, table.indices, table.indptr) if issparse(table) else (table,)
    return [repr(part.tolist()) for part in parts], arff.row_lines.tolist()


def strict_outcome(folder, monkeypatch):
    """The same as if all rows had quotes, and with cells read one by one."""

    def strict_cells(row, width):
        cells = arff_module._split_strange_cells(row)
        return cells if len(cells) == width else split_cells(row, width)

    def strict_pairs(row):
        if row.strip("{} \t") == "":
            return split_pairs(row)
        found, rest = arff_module._split_braced(row, arff_module._PAIR, "")
        return split_pairs(row) if rest else [pair[0][:-1] for pair in found]

    split_cells, split_pairs = arff_module._split_cells, arff_module._split_pairs
    with monkeypatch.context() as patch:
        patch.setattr(arff_module, "numbers", lambda *_: None)
        patch.setattr(arff_module, "_split_cells", strict_cells)
        patch.setattr(arff_module, "_split_pairs", strict_pairs)
        return outcome(folder)


@pytest.mark.parametrize("rows", ["dense", "sparse"])
def test_plain_files_take_the_fast_way(read, rows, monkeypatch):
    """So that the speed of large files does not get lost unnoticed."""

    def refuse(*_):
        raise AssertionError("read letter by letter")

    def split_values(text, item, form):
        assert item is not arff_module._PAIR, "read letter by letter"
        return split_braced(text, item, form)

    split_braced = arff_module._split_braced
    monkeypatch.setattr(arff_module, "_split_strange_cells", refuse)
    monkeypatch.setattr(arff_module, "_split_braced", split_values)
    if rows == "dense":
        monkeypatch.setattr(arff_module, "number", refuse)
    rng = random.Random(0)
    for _ in range(50):
        table = random_table(rng, n_rows=30, simple=True)
        arff = read(arff_bytes(rng, table, Spelling(rows=rows)))
        assert_array_equal(dense(arff.cells), table.rows)
