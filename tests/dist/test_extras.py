"""Each extra does what it is for, and without it nldd says which one is missing."""

import csv

import pyarrow
import pyarrow.parquet
import pytest

from dist.environments import once
from nldd import load_survey

# Tables are part of coding: for a format of theirs, coding is installed too.
EXTRAS = ["bench", "coding", "coding,parquet", "coding,spss", "dask", "gee", "all"]
WITHOUT = [("bench", ""), ("coding", ""), ("gee", ""), ("parquet", "coding"), ("spss", "coding")]


@pytest.fixture(scope="module")
def given(shared):
    """A folder with coded answers as text and as Parquet, and new ones."""
    folder, survey = shared / "given", load_survey()

    def make():
        folder.mkdir(parents=True)
        for name, rows in (("answers", survey.rows[:150]), ("new", survey.rows[150:170])):
            with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as stream:
                csv.writer(stream).writerows([survey.header, *rows])
        columns = zip(*survey.rows[:150], strict=True)
        table = pyarrow.table(dict(zip(survey.header, columns, strict=True)))
        pyarrow.parquet.write_table(table, folder / "answers.parquet")

    once(folder, make)
    return folder


@pytest.mark.parametrize("extra", EXTRAS)
def test_extra_is_enough_for_what_it_is_for(extra, with_extra, given):
    done = with_extra(extra).script("uses", extra.rpartition(",")[2], given)
    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr


@pytest.mark.parametrize(("extra", "others"), WITHOUT)
def test_without_it_the_extra_is_named_with_the_command(extra, others, plain, with_extra, given):
    environment = with_extra(others) if others else plain("newest")
    done = environment.script("uses", extra, given)
    assert done.returncode == 1
    assert f'pip install "nldd[{extra}]"' in done.stderr
    assert "this is a mistake in nldd" not in done.stderr


def test_without_dask_a_benchmark_on_it_names_the_extra(with_extra):
    words = ("--protocol", "quick", "--datasets", "yeast", "--backend", "dask")
    done = with_extra("bench").run("-I", "-m", "nldd", "benchmark", *words)
    assert done.returncode == 1
    assert 'pip install "nldd[dask]"' in done.stderr
