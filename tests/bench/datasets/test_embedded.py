"""The data that come with the package: yeast as published, the survey as its generator made it."""

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from nldd import datasets
from nldd.datasets import Dataset, load_survey, load_yeast
from nldd.exceptions import InputError

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture(scope="module")
def survey():
    return load_survey()


def test_yeast_first_gene(yeast):
    assert_array_equal(yeast.X[0, :3], [0.004168, -0.170975, -0.156748])
    assert_array_equal(np.flatnonzero(yeast.Y[0]) + 1, [7, 8, 12, 13])


def test_a_data_set_can_be_indexed_as_it_unpacks(yeast):
    X, Y, label_names = yeast
    assert X is yeast[0] is yeast.X
    assert Y is yeast[1] is yeast.Y
    assert label_names is yeast[2] is yeast[-1] is yeast.label_names
    assert yeast[:2] == (X, Y)
    with pytest.raises(IndexError):
        yeast[3]


def test_facts_of_a_data_set():
    # Rows that differ in the ninth label only, which is in the second byte.
    Y = np.zeros((3, 9), dtype=np.int64)
    Y[1, 8] = 1
    dataset = Dataset(np.zeros((3, 2)), Y, list("abcdefghi"), ["x", "z"], "tiny")
    assert (dataset.n_samples, dataset.n_features, dataset.n_labels) == (3, 2, 9)
    assert (dataset.cardinality, dataset.n_labelsets) == (1 / 3, 2)
    assert repr(dataset) == "Dataset('tiny', 3 samples, 2 features, 9 labels)"
    with pytest.raises(AttributeError):
        dataset.name = "other"


def test_data_are_loaded_anew_each_time(survey):
    first = load_yeast()
    assert first != load_yeast()  # compared as objects, since arrays have no single answer
    first.X[:] = 0
    assert load_yeast().X.any()
    assert load_survey() == survey
    assert load_survey().rows is not survey.rows


@pytest.mark.parametrize("load", [load_yeast, load_survey])
def test_damaged_files_are_noticed(load, monkeypatch):
    monkeypatch.setattr(datasets, "SHA256", dict.fromkeys(datasets.SHA256, "0" * 64))
    with pytest.raises(InputError, match=r"\.csv\.gz that came with nldd is damaged"):
        load()


def test_survey_is_what_its_generator_makes(survey, monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    import make_survey

    assert list(make_survey.survey_rows(1500)) == survey.rows
    assert survey.header == make_survey.HEADER
    assert survey.codes == make_survey.CODES
    assert repr(survey) == f"Survey({survey.question!r}, 1500 synthetic answers)"
    assert "synthetic" in survey.note
    for name in ("make_survey", "survey_phrases"):
        sys.modules.pop(name)
