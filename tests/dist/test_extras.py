"""Each extra does what it is for, and without it nldd says which one is missing."""

import csv

import pyarrow
import pyarrow.parquet
import pytest

from dist.environments import once
from nldd import load_survey

# What is done with it, and the extras that are installed for it.
USES = [("bench", "bench"), ("coding", "coding")]
USES += [(use, "all") for use in ("all", "dask", "gee", "parquet", "spss")]
# The extra that is missing, and those that are there.
MISSING = [("bench", ""), ("coding", ""), ("gee", ""), ("parquet", "coding"), ("spss", "coding")]


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


@pytest.mark.parametrize(("use", "extra"), USES)
def test_an_extra_is_enough_for_what_it_is_for(use, extra, with_extra, given):
    done = with_extra(extra).script("uses", use, given)
    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr


@pytest.mark.parametrize(("extra", "others"), MISSING)
def test_a_missing_extra_is_named_with_the_command(extra, others, with_extra, given):
    done = with_extra(others).script("uses", extra, given)
    assert done.returncode == 1
    assert f'pip install "nldd[{extra}]"' in done.stderr
    assert "this is a mistake in nldd" not in done.stderr


def test_a_benchmark_on_dask_names_the_extra_that_is_missing(with_extra):
    words = ("--protocol", "quick", "--datasets", "yeast", "--backend", "dask")
    done = with_extra("bench").run("-I", "-m", "nldd", "benchmark", *words)
    assert done.returncode == 1
    assert 'pip install "nldd[dask]"' in done.stderr
