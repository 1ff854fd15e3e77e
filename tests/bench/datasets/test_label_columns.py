"""Which columns are labels: as asked for, by MEKA's relation, or by Mulan's XML file."""

import pytest
from numpy.testing import assert_array_equal

from nldd.bench.datasets.columns import meka_columns
from nldd.bench.datasets.source import DataError, read_label_names
from nldd.exceptions import InputError

XML = "<labels><label name='calm'/><label name=\"it's sad\"/></labels>"
ARFF = """@relation 'songs: -C 1'
@attribute 'it\\'s sad' {0,1}
@attribute tempo real
@attribute "calm" {0,1}
@data
1,90.5,0
0,120,1
"""


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["b", "a", "b"], ["a", "b"]),
        (iter(["c"]), ["c"]),
        ("a", ["a"]),
        ("[ab]", ["a", "b"]),
        ("x[1]", ["x[1]"]),
        (2, ["a", "b"]),
        (-2, ["c", "x[1]"]),
    ],
)
def test_labels_that_are_asked_for(load, labels, names):
    dataset = load("a,b,c,x[1]\n0,1,1,0\n", "file.csv", labels=labels)
    values = {"a": 0, "b": 1, "c": 1, "x[1]": 0}
    assert dataset.label_names == names
    assert_array_equal(dataset.Y, [[values[name] for name in names]])
    assert dataset.feature_names == [name for name in values if name not in names]


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, r"Say which columns of .*file\.csv are labels"),
        (["hapy", "z"], "csv, line 1: none .* 'hapy', 'z'.* Did you mean 'happy'"),
        (["z"], "Names must agree exactly"),
        ("z*", r"csv, line 1: no column matches 'z\*'; .* 'age', 'happy', 'sad'"),
        (4, "csv, line 1: 4 label columns were asked for"),
        (0, "csv, line 1: 0 label columns were asked for"),
        ("*", "csv, line 1: .* no column is left as a feature"),
        ([], "labels is a list of names, a pattern"),
        ([1], r"labels is a list .* got \[1\]"),
        (True, "labels is a list .* got True"),
    ],
)
def test_labels_that_are_refused(load, labels, message):
    with pytest.raises(InputError, match=message):
        load("age,happy,sad\n1,0,1\n", "file.csv", labels=labels)


def test_xml_beside_an_arff_file_goes_before_its_relation(load):
    assert load(ARFF).label_names == ["it's sad"]
    (load.folder / "toy.xml").write_text(XML)
    # The relation says one label, the XML two, in another order than the file's.
    dataset = load(ARFF)
    assert dataset.label_names == ["it's sad", "calm"]
    assert_array_equal(dataset.Y, [[1, 0], [0, 1]])
    assert_array_equal(dataset.X, [[90.5], [120]])
    assert load(ARFF, labels=-1).label_names == ["calm"]
    (load.folder / "toy.xml").write_text(XML.replace("calm", "clam"))
    with pytest.raises(InputError, match=r"toy\.arff, line 5: .*'clam', .*toy\.xml .*mean 'calm'"):
        load(ARFF)


@pytest.mark.parametrize("words", [str, lambda path: path], ids=["text", "path"])
def test_another_xml_file_can_be_named(load, words):
    other = load.folder / "other.xml"
    other.write_text(XML)
    assert load(ARFF, labels=words(other)).n_labels == 2


@pytest.mark.parametrize(
    ("stem", "xml"),
    [
        # As Mulan calls the files of Corel5k, and a fold of cal500.
        ("Corel5k-sparse", "Corel5k"),
        ("Corel5k-train", "Corel5k"),
        ("Corel5k-sparse-train", "Corel5k"),
        ("Corel5k-train-sparse", "Corel5k"),
        ("Corel5k-test-sparse", "Corel5k-sparse"),
        ("cal500Train-4", "cal500"),
        ("birds_Sparse", "birds"),
    ],
)
def test_xml_is_found_by_the_names_of_mulan(load, stem, xml):
    (load.folder / f"{xml}.xml").write_text(XML)
    assert load(ARFF, f"{stem}.arff").label_names == ["it's sad", "calm"]


@pytest.mark.parametrize("stem", ["Corel5k-sparser", "Corel5ksparse", "Corel5k-2"])
def test_xml_of_another_data_set_is_not_taken(load, stem):
    (load.folder / "Corel5k.xml").write_text(XML)
    assert load(ARFF, f"{stem}.arff").label_names == ["it's sad"]


def test_file_that_does_not_say_its_labels(load):
    with pytest.raises(InputError, match=r"line 5: .*no toy\.xml .* no -C"):
        load(ARFF.replace("-C 1", ""))


@pytest.mark.parametrize(
    ("relation", "columns"),
    [
        ("Slashdot: -C 2 -split-number 1891", [0, 1]),
        ("name:-C 1", [0]),
        ("-C 4", [0, 1, 2, 3]),
        ("name: -split 3 -C -3", [1, 2, 3]),
        ("name: -C   02", [0, 1]),
        ("name", None),
        ("Vitamin-C 3", None),
        ("name: -c 3", None),
        ("name: -CC 3", None),
    ],
)
def test_number_of_labels_in_a_relation_of_meka(relation, columns):
    assert meka_columns(relation, 4) == columns


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        ("name: -C -5", "-C -5: 5 label columns .* 4"),
        ("name: -C " + "9" * 5000, "expected the number of labels"),
        ("name: -C 0", "0 label columns"),
        ("name: -C", "expected the number of labels"),
        ("name: -C 1.5", "-C 1.5.*; expected the number of labels"),
        ("name: -C \u0663", "expected the number of labels"),
        ("a: -C 2-weka.filters.Remove-R1_a: -C 2", "a filter has moved"),
    ],
)
def test_relations_that_are_refused(relation, message):
    with pytest.raises(DataError, match=message):
        meka_columns(relation, 4)


@pytest.fixture
def read(write):
    return lambda content: read_label_names(write(content, "file.xml"))


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("<labels><label name='b'><label name='a'/></label><label name='c'/></labels>", [*"bac"]),
        ('<labels xmlns="http://mulan.sourceforge.net/labels"><label name="a"/></labels>', ["a"]),
        ("<m:labels xmlns:m='u'><m:label name='a'/></m:labels>", ["a"]),
        ("<labels><!-- x --><label name=' a &amp; &#39;&#10;' id='1'/>text</labels>", [" a & '\n"]),
        ("\ufeff<?xml version='1.0'?>\r\n<labels><g><label name='é'/></g></labels>", ["é"]),
    ],
    ids=["hierarchy", "namespace", "prefix", "exact", "mark"],
)  # fmt: skip
def test_names_in_an_xml_file(read, content, names):
    assert read(content) == names


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "windows-1252"])
def test_encodings_of_an_xml_file(read, encoding):
    text = f"<?xml version='1.0' encoding='{encoding}'?><labels><label name='é'/></labels>"
    assert read(text.encode(encoding)) == ["é"]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", 1, "not well-formed XML: no element found"),
        ("<labels>\n<label name='a'>\n</labels>", 3, "mismatched tag"),
        ("<labels><label name='&x;'/></labels>", 1, "undefined entity"),
        ("<html>\n<label name='a'/></html>", 1, "<labels> .* <html>"),
        ("<labels>\n\n</labels>", 3, "holds no label"),
        ("<labels>\n<label/></labels>", 2, "no name"),
        ("<labels>\n<label name=''/></labels>", 2, "no name"),
        ("<labels>\n<label name='a'/>\n<label name='a'/></labels>", 3, "'a' .* in line 2"),
        ("<?xml version='1.0' encoding='none'?><labels/>", 1, "unknown encoding: none"),
        ("<?xml version='1.0' encoding='shift_jis'?><labels/>", 1, "multi-byte encodings"),
    ],
)
def test_xml_files_that_are_refused(read, content, line, message):
    with pytest.raises(InputError, match=rf"file\.xml, line {line}: .*{message}"):
        read(content)


LAUGHS = "".join(f"<!ENTITY a{i + 1} '{f'&a{i};' * 10}'>" for i in range(12))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
@pytest.mark.parametrize(
    "doctype",
    [
        "<!DOCTYPE labels>",
        '<!DOCTYPE labels SYSTEM "file:///etc/passwd">',
        "<!DOCTYPE labels [<!ENTITY % a 'b'> %a;]>",
        f"<!DOCTYPE labels [<!ENTITY a0 'ha'>{LAUGHS}]>",
    ],
    ids=["plain", "external", "parameter", "laughs"],
)
def test_document_types_are_refused_in_every_encoding(read, doctype, encoding):
    head = f"<?xml version='1.0' encoding='{encoding}'?>\n{doctype}"
    with pytest.raises(InputError, match="line 2: document types are not allowed"):
        read(f"{head}<labels><label name='&a12;'/></labels>".encode(encoding))
