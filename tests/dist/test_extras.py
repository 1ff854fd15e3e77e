"""Each extra by itself does what it is for, and without it nldd says which one is missing."""

import pyarrow
import pyarrow.parquet
import pytest

from dist.environments import once

EXTRAS = ["dask", "gee", "parquet", "plot", "report", "review", "spss", "survey"]


@pytest.fixture(scope="module")
def given(shared, plain, survey):
    """A folder with a coding study, a benchmark and a Parquet table."""
    survey("newest")
    environment = plain("newest")
    words = ["--protocol", "quick", "--datasets", "yeast", "--methods", "BR,MLKNN", "--out"]

    def make():
        done = environment.command("benchmark", *words, "benchmark")
        assert done.returncode == 0, done.stderr
        table = pyarrow.table({"id": ["1"], "answer": ["more buses"]})
        pyarrow.parquet.write_table(table, environment.outside / "answers.parquet")

    once(shared / "given", make)
    return environment.outside


@pytest.mark.parametrize("extra", EXTRAS)
def test_extra_alone_is_enough_for_what_it_is_for(extra, with_extra, given):
    done = with_extra(extra).script("uses", extra, given)
    assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr


@pytest.mark.parametrize("extra", [name for name in EXTRAS if name != "survey"])
def test_without_it_the_extra_is_named_with_the_command_that_installs_it(extra, plain, given):
    done = plain("newest").script("uses", extra, given)
    assert done.returncode == 1
    assert f'pip install "nldd[{extra}]"' in done.stderr
    assert "this is a mistake in nldd" not in done.stderr


def test_without_survey_a_model_is_fitted_all_the_same_and_the_extra_is_named(plain, given):
    done = plain("newest").script("uses", "survey", given)
    assert done.returncode == 1
    assert 'Note: no report: A report needs matplotlib, which is not installed. Run: pip install "nldd[report]"' in done.stderr
    assert "Model: " in done.stderr
    assert done.stderr.strip().endswith("There is no report.")
