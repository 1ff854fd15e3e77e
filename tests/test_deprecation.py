"""What was public in an older version still works, and tells the user's own line what to use."""

import warnings

import pytest

from nldd import EnsembleOfChains, coding, displays, tables

X, Y = [[0.0], [1.0], [2.0], [3.0]], [[1, 0], [1, 0], [0, 1], [0, 1]]
MOVED = {
    "CalibrationDisplay": displays.CalibrationDisplay,
    "RiskCoverageDisplay": displays.RiskCoverageDisplay,
    "TableOptions": tables.TableOptions,
}


@pytest.mark.parametrize("name", MOVED)
def test_moved_name_is_found_with_a_warning(name):
    with pytest.warns(FutureWarning) as told:
        found = getattr(coding, name)
    assert found is MOVED[name]
    where = f"{found.__module__.rpartition('.')[0]}.{name}"
    assert str(told[0].message) == (
        f"nldd.coding.{name} is deprecated since nldd 0.2.0 and will be removed; use {where}."
    )
    assert told[0].filename == __file__
    assert name not in coding.__all__
    assert name not in dir(coding)


def test_import_statement_names_the_line_of_the_user():
    code = compile("from nldd.coding import TableOptions", "mine.py", "exec")
    with pytest.warns(FutureWarning, match=r"use nldd\.tables\.TableOptions") as told:
        exec(code, {"__name__": "mine"})
    assert {each.filename for each in told} == {"mine.py"}


def test_old_value_of_a_parameter_means_the_new_one():
    model = EnsembleOfChains(n_members=1, bootstrap=False, order="given")
    with pytest.warns(FutureWarning, match='order="given" is deprecated since nldd 0.2.0') as told:
        model.fit(X, Y)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new = EnsembleOfChains(n_members=1, bootstrap=False, order=None).fit(X, Y)
    assert model.estimators_[0].order.tolist() == new.estimators_[0].order.tolist() == [0, 1]
