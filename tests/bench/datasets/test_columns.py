"""What columns become: numbers, texts, groups of rows, or nothing if they only name the rows."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import issparse

from nldd import BinaryRelevance
from nldd.exceptions import InputError

NAN = np.nan
RNG = np.random.default_rng(0)


@pytest.fixture
def encode(load):
    def encode(attributes, rows, labels=1):
        """The first attribute is a label {0,1}, and 0 in all rows."""
        header = "".join(f"@attribute {attribute}\n" for attribute in attributes)
        return load(f"@attribute y {{0,1}}\n{header}@data\n{rows}\n", labels=labels)

    return encode


@pytest.mark.parametrize(
    ("attribute", "names", "expected"),
    [
        ("{0,1}", ["f"], {"0": [0], "1": [1], "?": [NAN]}),
        ("{1.0,0.0}", ["f"], {"0.0": [0], "1.0": [1], "?": [NAN]}),
        ("{TRUE,FALSE}", ["f"], {"TRUE": [1], "FALSE": [0], "?": [NAN]}),
        ("{0,1,1.0}", ["f"], {"0": [0], "1": [1], "1.0": [1], "?": [NAN]}),
        ("{no,yes}", ["f"], {"no": [0], "yes": [1], "?": [NAN]}),
        ("{2,1}", ["f"], {"2": [0], "1": [1], "?": [NAN]}),
        ("{1}", ["f"], {"1": [1], "?": [NAN]}),
        ("{a}", ["f"], {"a": [0], "?": [NAN]}),
        (
            "{a,'b c',2}",
            ["f=a", "f=b c", "f=2"],
            {"a": [1, 0, 0], "'b c'": [0, 1, 0], "2": [0, 0, 1], "?": [NAN, NAN, NAN]},
        ),
        ("numeric", ["f"], {"0": [0], "-2.5": [-2.5], "?": [NAN]}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_values_become_numbers(encode, attribute, names, expected, sparse):
    # Columns on both sides show that nothing is shifted.
    row = "{{1 7,2 {},3 9}}" if sparse else "0,7,{},9"
    rows = "\n".join(row.format(cell) for cell in expected)
    dataset = encode(["before real", f"f {attribute}", "after real"], rows)
    assert issparse(dataset.X) == sparse
    assert dataset.feature_names == ["before", *names, "after"]
    X = dataset.X.toarray() if sparse else dataset.X
    assert_array_equal(X, [[7, *cells, 9] for cells in expected.values()])


@pytest.mark.parametrize(
    ("attributes", "rows", "message"),
    [
        (["z {a,b}"], "0,a", r"line 2: label 'z' must take .* 'a', 'b'"),
        (["z {0,1,2}"], "0,1", "line 2: label 'z' must take"),
        (["z {0,1}"], "0,1\n\n0,?", "line 6: label 'z' .* missing"),
        (["z {1,0}"], "{}\n{1 ?}", "line 5: label 'z' .* missing"),
        (["z real"], "0,0\n0,2\n0,3", "line 5: label 'z' .* is 2"),
        (["z real"], "{1 0.5}", "line 4: label 'z' .* is 0.5"),
        (["z real", "f {a,b,c}", "f=a real"], "0,0,a,1", "line 5: .* 'f=a'"),
    ],
)
def test_columns_that_are_refused(encode, attributes, rows, message):
    with pytest.raises(InputError, match=rf"toy\.arff, {message}"):
        encode(attributes, rows, labels=["z"])


ANSWERS = 'age,answer,code_pay,code_time\n30,"More pay, now",1,0\n41,,0,0\n28,NA,1,1\n'
TOLD = """@relation 'answers: -C 2'
@attribute pay {0,1}
@attribute time {0,1}
@attribute answer string
@attribute age real
@data
1,0,'More pay, now',30
{3 41}
1,1,?,28
"""


def test_texts(load):
    dataset = load(ANSWERS, "answers.csv", labels="code_*", text="answer")
    assert dataset.is_text
    assert dataset.X.tolist() == ["More pay, now", "", "NA"]
    assert_array_equal(dataset.Y, [[1, 0], [0, 0], [1, 1]])
    assert dataset.feature_names == ["answer"]
    assert "'age'" in dataset.notes[0]
    for texts in (dataset.X, dataset.X.tolist(), dataset.X.astype(str)):
        with pytest.raises(InputError, match="got texts"):
            BinaryRelevance().fit(texts, dataset.Y)
    # A sparse row leaves an empty text out, and a missing one is empty as well.
    assert load(TOLD, text="answer").X.tolist() == ["More pay, now", "", ""]
    for part in ("test", "train"):
        dataset = load(TOLD.replace("now", part), f"said-{part}.arff", text="answer")
    assert dataset.X.tolist() == ["More pay, train", "", "", "More pay, test", "", ""]
    # Texts that look like numbers stay as they are written.
    assert load("a,y\n007,1\n", "odd.csv", labels=-1, text="a").X.tolist() == ["007"]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (ANSWERS, {"labels": -2, "text": "anser"}, "the text. Did you mean 'answer'"),
        (ANSWERS, {"labels": -2, "text": "code_pay"}, "'code_pay' is a label"),
        (ANSWERS, {"labels": -2, "groups": "agee"}, "the groups. Did you mean 'age'"),
        (ANSWERS, {"labels": -2, "groups": "code_pay"}, "'code_pay' is a label"),
        (ANSWERS, {"labels": -2, "groups": "answer"}, "line 3: there is no 'answer'"),
        (TOLD, {"text": "age"}, "'age' is a number, and no text"),
        (TOLD, {"groups": "answer"}, "line 9: there is no 'answer'"),
        (TOLD.replace("28", "?"), {"groups": "age", "text": "answer"}, "line 9: there is no 'age'"),
        (TOLD, {}, "line 4: attribute 'answer' is of type 'string'.* name it by text"),
    ],
)
def test_roles_that_columns_cannot_have(load, content, options, message):
    with pytest.raises(InputError, match=message):
        load(content, "toy.arff" if content.startswith("@") else "toy.csv", **options)


TABLE = "speaker,tempo,label_sad\nAnn,90,1\n02,80,0\nAnn,70,1\n"
SONGS = """@relation 'songs: -C 1'
@attribute sad {0,1}
@attribute speaker {Ann,02,Eve}
@attribute day numeric
@attribute tempo numeric
@data
1,Ann,3,90
0,02,4,80
1,Ann,3,70
"""


@pytest.mark.parametrize(
    ("file", "text", "column", "groups"),
    [
        ("songs.csv", TABLE, "speaker", ["Ann", "02", "Ann"]),
        ("songs.csv", TABLE.replace("Ann", "1"), "speaker", ["1", "02", "1"]),
        ("songs.arff", SONGS, "speaker", ["Ann", "02", "Ann"]),
        ("songs.arff", SONGS, "day", [3, 4, 3]),
    ],
)
def test_groups(load, file, text, column, groups):
    dataset = load(text, file, labels=["label_sad" if "csv" in file else "sad"], groups=column)
    assert dataset.groups.tolist() == groups
    assert not [feature for feature in dataset.feature_names if feature.startswith(column)]
    assert dataset.X[:, -1].tolist() == [90, 80, 70]


def test_groups_of_training_and_test_files_follow_each_other(load):
    options = {"labels": "label_*", "groups": "speaker"}
    load(TABLE.replace("Ann", "Eve"), "songs-test.csv", **options)
    dataset = load(TABLE, "songs-train.csv", **options)
    assert dataset.groups.tolist() == ["Ann", "02", "Ann", "Eve", "02", "Eve"]


def arff_of(kind, cells, name="protein"):
    """A file with a label, a column in question, and a number."""
    head = f"@relation 'genes: -C 1'\n@attribute a {{0,1}}\n@attribute {name} {kind}\n"
    rows = [f"{i % 2},{cell},{i / 7}" for i, cell in enumerate(cells)]
    return "\n".join([head + "@attribute x real\n@data", *rows])


@pytest.mark.parametrize("kind", ["nominal", "string"])
@pytest.mark.parametrize("n_values", [40, 39], ids=["all", "nearly"])
def test_a_column_that_names_the_rows_is_left_out(load, kind, n_values):
    names = [f"PS{i % n_values:05}" for i in RNG.permutation(40)]
    values = "string" if kind == "string" else f"{{{','.join(sorted({*names}))}}}"
    dataset = load(arff_of(values, names))
    assert dataset.feature_names == ["x"]
    assert_array_equal(dataset.X[:, 0], np.arange(40) / 7)
    assert "'protein' was left out of the features: it tells the 40 rows" in dataset.notes[0]
    if kind == "nominal":
        assert load(arff_of(values, names), keep_ids=True).n_features == n_values + 1


def test_a_name_in_two_files_is_judged_on_all_rows(load):
    # Each value occurs once in either file: it says something about the row after all.
    names = [f"p{i}" for i in range(25)]
    content = arff_of(f"{{{','.join(names)}}}", names)
    load(content, "genes-test.arff")
    assert load(content, "genes-train.arff").n_features == 26
    assert load(content, "genes-train.arff", test=False).feature_names == ["x"]


@pytest.mark.parametrize(
    "cells",
    [["some words"] * 30, [f"w{i}" for i in range(15)] * 2, [f"answer {i}" for i in range(30)]],
    ids=["one", "twice", "sentences"],
)
def test_other_texts_are_refused(load, cells):
    with pytest.raises(InputError, match=r"line 3: attribute 'protein' is of type 'string'"):
        load(arff_of("string", [f"'{cell}'" for cell in cells]))


def test_few_rows_may_differ_by_chance(load):
    assert load(arff_of("{r,g,b,y}", ["b", "g", "r"])).n_features == 5


@pytest.mark.parametrize(
    ("name", "cells", "is_left_out"),
    [
        ("id", range(1, 31), True),
        ("row_id", range(30), True),
        ("CaseNo", RNG.permutation(30), True),
        ("id", range(5, 35), False),
        ("id", [*range(29), 40], False),
        ("id", [*range(29), 0], False),
        ("tempo", range(30), False),
        ("idle", range(30), False),
        ("id", range(19), False),
        ("index", RNG.normal(size=30), False),
    ],
)
@pytest.mark.parametrize("format", ["arff", "csv"])
def test_a_column_that_numbers_the_rows_is_left_out(load, name, cells, is_left_out, format):
    content = arff_of("numeric", cells, name)
    if format == "csv":
        content = f"a,{name},x\n" + content.partition("@data\n")[2]
    dataset = load(content, f"rows.{format}", labels=1)
    assert dataset.feature_names == (["x"] if is_left_out else [name, "x"])
    assert bool(dataset.notes) == is_left_out


def test_numbers_may_begin_anew_in_the_test_file(load):
    load(arff_of("numeric", range(1, 13), "id"), "rows-test.arff")
    dataset = load(arff_of("numeric", range(1, 13), "id"), "rows-train.arff")
    assert dataset.feature_names == ["x"]
    assert "'id' was left out of the features: it tells the 24 rows" in dataset.notes[0]
    with pytest.raises(InputError, match=r"line 4: .* row ids, no column"):
        load(
            "@attribute y {0,1}\n@attribute id real\n\n@data\n"
            + "".join(f"0,{i}\n" for i in range(20)),
            labels=1,
        )
