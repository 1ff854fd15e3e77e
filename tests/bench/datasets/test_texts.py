"""Data sets whose rows are texts, from tables and ARFF files."""

import pytest
from numpy.testing import assert_array_equal
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from nldd.bench.datasets.facts import describe
from nldd.bench.datasets.load import load_dataset
from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.exceptions import InputError

CSV = 'age,answer,code_pay,code_time\n30,"More pay, now",1,0\n41,,0,0\n28,Time,1,1\n'
ARFF = """@relation 'answers: -C 2'
@attribute pay {0,1}
@attribute time {0,1}
@attribute answer string
@attribute age real
@data
1,0,'More pay, now',30
{3 41}
1,1,?,28
"""


@pytest.fixture
def answers(tmp_path):
    (tmp_path / "answers.csv").write_text(CSV)
    (tmp_path / "answers.arff").write_text(ARFF)
    return tmp_path


def test_a_column_of_texts_of_a_table(answers):
    dataset = load_dataset(answers / "answers.csv", labels="code_*", text="answer")
    assert dataset.is_text
    assert dataset.X.tolist() == ["More pay, now", "", "Time"]
    assert_array_equal(dataset.Y, [[1, 0], [0, 0], [1, 1]])
    assert dataset.feature_names == ["answer"]
    assert dataset.notes == ("Left out beside the text: 'age'.",)


def test_a_string_attribute(answers):
    dataset = load_dataset(answers / "answers.arff", text="answer")
    # A sparse row leaves an empty text out, and a missing one is empty as well.
    assert dataset.X.tolist() == ["More pay, now", "", ""]
    assert_array_equal(dataset.Y, [[1, 0], [0, 0], [1, 1]])
    assert dataset.label_names == ["pay", "time"]


def test_texts_of_a_training_and_a_test_file(answers):
    for part in ("train", "test"):
        (answers / f"said-{part}.arff").write_text(ARFF.replace("now", part))
    dataset = load_dataset(answers / "said-train.arff", text="answer")
    assert dataset.X.tolist() == ["More pay, train", "", "", "More pay, test", "", ""]
    assert dataset.n_train == 3


def test_facts_of_texts(answers):
    facts = describe(load_dataset(answers / "answers.csv", labels="code_*", text="answer"))
    assert (facts.text, facts.sparse, facts.n_features, facts.n_binary) == (True, False, 1, 0)
    assert facts.n_missing == 1
    assert facts.tcs != facts.tcs  # there are no features to count
    assert facts.mean_ir == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("file", "options", "message"),
    [
        ("answers.csv", {"labels": -2, "text": "anser"}, "Did you mean 'answer'"),
        ("answers.csv", {"labels": -2, "text": "code_pay"}, "'code_pay' is a label"),
        ("answers.arff", {"text": "pay"}, "line 6: 'pay' is a label, and cannot be the text too"),
        ("answers.arff", {"text": "age"}, "line 5: attribute 'age' is a number, and no text"),
        ("answers.arff", {}, "line 4: attribute 'answer' is of type 'string'.* or name it by text"),
    ],
)
def test_columns_that_are_no_texts(answers, file, options, message):
    with pytest.raises(InputError, match=message):
        load_dataset(answers / file, **options)


def test_methods_say_that_texts_are_no_numbers(answers):
    X, Y, _ = load_dataset(answers / "answers.csv", labels="code_*", text="answer")
    for texts in (X, X.tolist(), X.astype(str)):
        with pytest.raises(InputError, match=r"got texts\. Turn them into numbers first"):
            BinaryRelevance().fit(texts, Y)
    pipeline = make_pipeline(TfidfVectorizer(), BinaryRelevance()).fit(X, Y)
    with pytest.raises(InputError, match="got texts"):
        pipeline[-1].predict(X)
    # Of three rows two have the first label, and one the second.
    assert_array_equal(pipeline.predict(["Time"]), [[1, 0]])
