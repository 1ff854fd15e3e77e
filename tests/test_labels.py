"""Labels in the forms people have them, and what is said about those that cannot be read."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import coo_matrix, csr_array, csr_matrix
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nldd import BinaryRelevance, InputError, NLDDWarning
from nldd._labels import as_label_sets, read_labels, read_labels_as

INDICATOR = [[1, 0, 1], [0, 0, 0], [0, 0, 1]]
NAMES = ["sad", "happy", "quiet"]
SETS = [{"sad", "quiet"}, set(), {"quiet"}]
LISTS = [["sad", "quiet"], [], ["quiet"]]


def pandas_frame(dtype=int):
    return pd.DataFrame(INDICATOR, columns=NAMES).astype(dtype)


def assert_table(table, Y, names, single=False):
    assert table.Y.dtype == np.int8
    assert table.Y.tolist() == Y
    assert table.names.dtype == object
    assert table.names.tolist() == names
    assert table.single is single


@pytest.mark.parametrize("through", ["fit", "pipeline", "cross-validation"])
@pytest.mark.parametrize(
    ("y", "category"),
    [(["a,b", "c"] * 6, NLDDWarning), ([[2], [3]] * 6, DataConversionWarning)],
    ids=["text", "column"],
)
def test_warnings_point_at_the_line_of_the_caller(y, category, through):
    X = np.arange(12.0).reshape(-1, 1)
    model = BinaryRelevance()
    with pytest.warns(category) as caught:
        if through == "fit":
            model.fit(X, y)
        elif through == "pipeline":
            make_pipeline(StandardScaler(), model).fit(X, y)
        else:
            cross_val_score(model, X, y, cv=KFold(2), error_score="raise")
    assert {warning.filename for warning in caught if warning.category is category} == {__file__}


@pytest.mark.parametrize(
    "Y",
    [
        pytest.param(INDICATOR, id="list"),
        pytest.param(np.array(INDICATOR), id="int"),
        pytest.param(csr_matrix(INDICATOR), id="csr_matrix"),
        pytest.param(csr_array(np.array(INDICATOR, dtype=bool)), id="csr_array of bool"),
        pytest.param(coo_matrix(np.array(INDICATOR, dtype=float)), id="coo_matrix of float"),
    ],
)
def test_read_labels_indicator_is_named_by_position(Y):
    assert_table(read_labels(Y), INDICATOR, [0, 1, 2])


@pytest.mark.parametrize(
    "dtype",
    [float, bool, object, "boolean", "Int64", {"sad": bool}, {"sad": "boolean", "happy": float}],
    ids=str,
)
def test_read_labels_pandas_frame_is_named_by_its_columns(dtype):
    assert_table(read_labels(pandas_frame(dtype)), INDICATOR, NAMES)


@pytest.mark.parametrize("dtype", [pl.Int64, pl.Float64, pl.Boolean, {"sad": pl.Boolean}], ids=str)
def test_read_labels_polars_frame_is_named_by_its_columns(dtype):
    frame = pl.DataFrame(INDICATOR, schema=NAMES, orient="row").cast(dtype)
    assert_table(read_labels(frame), INDICATOR, NAMES)


def test_read_labels_frame_names_are_python_objects_and_may_be_tuples():
    names = read_labels(pd.DataFrame([[0, 1]], columns=np.array([10, 20]))).names
    assert [(name, type(name)) for name in names] == [(10, int), (20, int)]
    columns = pd.MultiIndex.from_tuples([("mood", "sad"), ("mood", "happy")])
    frame = pd.DataFrame([[0, 1], [1, 1]], columns=columns)
    assert_table(read_labels(frame), [[0, 1], [1, 1]], [("mood", "sad"), ("mood", "happy")])


@pytest.mark.parametrize(
    "Y",
    [
        pytest.param(SETS, id="sets"),
        pytest.param([("sad", "quiet"), (), ("quiet",)], id="tuples"),
        pytest.param([{"sad", "quiet"}, (), ["quiet", "quiet"]], id="mixed, one twice"),
        pytest.param(np.array(SETS, dtype=object), id="object array of sets"),
        pytest.param(pd.Series(LISTS), id="pandas Series of lists"),
        pytest.param(pl.Series(LISTS), id="polars Series of lists"),
    ],
)
def test_read_labels_sets_are_named_in_sorted_order(Y):
    assert_table(read_labels(Y), [[1, 1], [0, 0], [1, 0]], ["quiet", "sad"])


@pytest.mark.parametrize(
    ("Y", "expected", "names"),
    [
        # Equal lengths of strings are label sets as well: no row of 0 and 1 holds text.
        ([["b", "a"], ["a", "c"]], [[1, 1, 0], [1, 0, 1]], ["a", "b", "c"]),
        ([[0, 1], [7]], [[1, 1, 0], [0, 0, 1]], [0, 1, 7]),
        ([[0], [1, 0]], [[1, 0], [1, 1]], [0, 1]),
        ([{0, 1}, {1, 7}], [[1, 1, 0], [0, 1, 1]], [0, 1, 7]),
        (pl.Series([[5, 3], [3, 4]]), [[1, 0, 1], [1, 1, 0]], [3, 4, 5]),
        ([{("a", 2)}, {("a", 1)}], [[0, 1], [1, 0]], [("a", 1), ("a", 2)]),
        # Equal lists of ints are an indicator, one column of 0 and 1 a single label.
        ([[0, 1], [1, 0]], [[0, 1], [1, 0]], [0, 1]),
        ([[1], [0], [1]], [[1], [0], [1]], [0]),
    ],
    ids=str,
)
def test_read_labels_sets_or_indicator_by_hand(Y, expected, names):
    assert_table(read_labels(Y), expected, names)


@pytest.mark.parametrize(
    ("y", "names"),
    [
        pytest.param(np.array(["b", "a", "b"]), ["a", "b"], id="text"),
        pytest.param(pd.Series(["b", "a", "b"], dtype="category"), ["a", "b"], id="category"),
        pytest.param(pl.Series(["b", "a", "b"]), ["a", "b"], id="polars text"),
        pytest.param([9, -3, 9], [-3, 9], id="list of ints"),
        pytest.param(np.array([True, False, True]), [False, True], id="bool"),
        pytest.param(pd.Series([2, 1, 2], dtype="Int64"), [1, 2], id="pandas nullable ints"),
    ],
)
def test_read_labels_classes_become_one_label_each(y, names):
    assert_table(read_labels(y), [[0, 1], [1, 0], [0, 1]], names, single=True)


FORMS = "Give one 0/1 column per label .*or a list with one set of label names per row"
TEXT = f"only 0 and 1, but a label column holds text.*'yes'.*{FORMS}"
NO_VALUE = r"NaN: label column 'happy' has no value in row 2\. Drop"


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        (None, f"requires y to be passed, but the target y is None.*{FORMS}"),
        ([[0, 2], [1, 0]], f"label column 1 holds 0, 2.*{FORMS}"),
        (np.array([[0.5, 1]]), "label column 0 holds 0.5"),
        (pd.DataFrame({"sad": [0, 1], "happy": [0, 5]}), "label column 'happy' holds 0, 5"),
        (np.array([["yes", "no"], ["no", "no"]]), "label column 0 holds 'no', 'yes'"),
        (np.zeros((2, 3, 4)), rf"got shape \(2, 3, 4\).*{FORMS}"),
        (pd.DataFrame([[0, 1, 1]], columns=["a", "b", "a"]), "'a' names several columns"),
        ([{"a", None}], "of one type.*got NoneType, str"),
        (pl.DataFrame({"happy": [0, 1], "sad": ["yes", "no"]}), TEXT),
        (pd.DataFrame({"sad": [0, 1, 1], "happy": [1, 0, np.nan]}), NO_VALUE),
        (pd.DataFrame({"sad": [0, 1, 1], "happy": pd.array([True, False, None])}), NO_VALUE),
        (pl.DataFrame({"sad": [0, 1, 1], "happy": [True, False, None]}), NO_VALUE),
        ([{"a"}, "bc"], f"one set of label names per row; row 1 holds 'bc'.*{FORMS}"),
        (pd.Series([{"a"}, np.nan]), "row 1 holds nan"),
        (pd.DataFrame(index=[0, 1, 2]), rf"no label.*\(3, 0\).*{FORMS}"),
        ([set(), set(), set()], "No row of Y carries any label: all 3 sets are empty"),
        ("abc", "one entry per row"),
        ([[1, 0], [np.nan, 1]], "Input y contains NaN"),
        ([0.5, 1.2], "Unknown label type: continuous"),
    ],
    # By its message: the text of a set is in another order in every process.
    ids=lambda value: value[:40] if isinstance(value, str) else type(value).__name__,
)
def test_read_labels_refuses_and_says_what_came(Y, message):
    with pytest.raises(ValueError, match=message):
        read_labels(Y)


def test_read_labels_as_matches_frames_by_name():
    known = np.array(["sad", "happy"], dtype=object)
    frame = pd.DataFrame({"new": [1, 0], "happy": [0, 1], "sad": [1, 1]})
    table = read_labels_as(frame, known)
    assert table.names.tolist() == ["sad", "happy", "new"]
    assert table.Y.tolist() == [[1, 0, 1], [1, 1, 0]]
    with pytest.raises(InputError, match=r"lacks 1 of the 2 label columns.*happy"):
        read_labels_as(frame[["sad"]], known)


def test_read_labels_as_matches_by_position_where_the_model_has_no_names():
    frame = pd.DataFrame({"b": [1, 0], "a": [0, 1]})
    table = read_labels_as(frame, np.array([0, 1], dtype=object))
    assert table.Y.tolist() == [[1, 0], [0, 1]]
    # Unless the columns of the frame are those numbers.
    table = read_labels_as(frame.set_axis([1, 0], axis=1), np.array([0, 1], dtype=object))
    assert table.Y.tolist() == [[0, 1], [1, 0]]


def test_read_labels_as_puts_known_names_first_and_unknown_after_them():
    known = np.array(["sad", "happy"], dtype=object)
    table = read_labels_as([{"happy"}, {"zeal", "sad"}, {"calm"}, set()], known)
    assert_table(
        table,
        [[0, 1, 0, 0], [1, 0, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]],
        ["sad", "happy", "calm", "zeal"],
    )


@pytest.mark.parametrize(
    "Y",
    [INDICATOR, np.array(INDICATOR, dtype=bool), csr_matrix(INDICATOR), pandas_frame()],
    ids=["list", "bool", "sparse", "frame"],
)
def test_as_label_sets_keeps_the_order_of_columns(Y):
    expected = [("sad", "quiet"), (), ("quiet",)]
    assert as_label_sets(Y, NAMES) == expected
    assert as_label_sets(Y, np.array(NAMES, dtype=object)) == expected
    with pytest.raises(InputError, match=r"one column for each of the 2 label names.*\(3, 3\)"):
        as_label_sets(Y, ["a", "b"])


label_sets = st.one_of(
    st.lists(st.frozensets(st.text(max_size=5), max_size=5), min_size=1),
    st.lists(st.frozensets(st.integers(), max_size=5), min_size=1),
).filter(any)


@settings(max_examples=40, deadline=None)
@given(label_sets)
def test_label_sets_survive_the_round_trip(sets):
    table = read_labels(sets)
    assert [frozenset(labels) for labels in as_label_sets(table.Y, table.names)] == sets
    assert table.names.tolist() == sorted(frozenset().union(*sets))


@pytest.mark.parametrize(
    ("y", "text", "split"),
    [
        (["sad quiet", "sad", "quiet"], "sad quiet", "text.split()"),
        (["quiet happy", "sad quiet", "sad", "happy"], "quiet happy", "text.split()"),
        (np.array(["sad; quiet", "happy"], dtype=object), "sad; quiet", "text.split('; ')"),
        (pd.Series(["sad, quiet", "happy"]), "sad, quiet", "text.split(', ')"),
    ],
    ids=str,
)
def test_read_labels_shows_how_to_split_texts_that_list_labels(y, text, split):
    with pytest.warns(NLDDWarning) as caught:
        table = read_labels(y)
    (warning,) = caught
    assert repr(text) in str(warning.message)
    assert split in str(warning.message)
    assert table.single


@pytest.mark.parametrize(
    "y",
    [
        ["New York", "New Jersey", "York"],
        ["agree", "strongly agree", "disagree", "strongly disagree"],
        ["learning theory", "machine learning", "North Carolina", "Carolina Beach"],
        ["", "sad", "sad "],
    ],
    ids=str,
)
def test_read_labels_leaves_names_of_several_words_alone(y):
    table = read_labels(y)  # warnings are errors here
    assert table.names.tolist() == sorted(y)
