"""Tables of a run: its facts, data sets, splits, what went wrong, settings and warnings."""

import pytest

from bench.report.records import VERSIONS, folds, record, texts
from nldd.bench.report import run_tables as runs
from nldd.bench.report.results import results
from nldd.present.table import to_csv

FACTS = {"n_samples": 1240, "n_features": 12, "n_labels": 5, "cardinality": 1.5, "density": 0.3}
FACTS |= {"n_labelsets": 31, "mean_ir": 2.0, "scumble": 0.1, "tcs": None}
ALPHA = {"facts": FACTS, "notes": ["Column id counts the rows and was left out."]}
ABOUT = {"alpha": ALPHA, "beta": {"facts": {"text": True}}, "unknown": {"facts": {}, "notes": []}}


def test_facts_of_a_run_name_all_versions_and_machines():
    cells = [
        *folds("yeast", "NLDD", [0.1, 0.2], fit_seconds=1.5, title="My run"),
        record("yeast", "NLDD", share=0.5, fit_seconds=1.5, versions=VERSIONS | {"nldd": "0.2.0"}),
        record("emotions", "NLDD", error="no", machine={"system": "Darwin", "processor": "arm"}),
    ]
    told = dict(runs.run_facts(results(cells)))
    assert (told["title"], told["finished cells"], told["failed cells"]) == ("My run", "3", "1")
    assert told["processor time"] == "6 s"  # 3 x (1.5 + 0.5) s
    assert "nldd 0.1.0, scikit-learn 1.6.1, Python 3.11.7; nldd 0.2.0" in told["versions"]
    assert told["machine"].startswith("Linux x86_64, 2 cores; Darwin arm")


@pytest.mark.parametrize(("seconds", "said"), [(598.5, "599 s"), (599.5, "0.17 h")])
def test_long_times_are_in_hours(seconds, said):
    # Half a second of prediction comes on top.
    assert dict(runs.run_facts(results([record(fit_seconds=seconds)])))["processor time"] == said


def test_data_sets_have_a_table_of_facts_with_their_notes():
    found = results([record("alpha", data="0123"), record("beta")])
    table = runs.dataset_table(found, ABOUT | {"alpha": ALPHA | {"data": "0123"}})
    assert texts(table.rows[0]) == [
        *("alpha", "1,240", "12", "5", "1.500", "0.3000", "31", "2.00", "0.100", "-")
    ]
    assert texts(table.rows[1]) == ["beta", *["-"] * 9]
    assert table.notes[1].endswith("no TCS: beta.")
    assert table.notes[-1] == "alpha: Column id counts the rows and was left out."
    assert table.data[0][:4] == ("alpha", 1240, 12, 5)
    lacking = {"alpha": {"facts": {"n_missing": 1200}}}
    missing = runs.dataset_table(results([record("alpha")]), lacking)
    assert missing.notes[1].endswith("alpha 1,200.")
    # Facts of other data of the same name are left out.
    assert [row[1] for row in runs.dataset_table(found, ABOUT).rows] == ["-", "-"]
    assert runs.dataset_table(found, {}) is None


def test_splits_are_told_in_words_with_their_sizes():
    cells = folds("alpha", "BR", [0.1, 0.2], split="2 random splits, 75/25", n_train=3000)
    cells[1].details["n_train"] = 3001
    cells += [*folds("beta", "BR", [0.1] * 5), record("gamma", "BR")]
    table = runs.split_table(results(cells))
    assert [texts(row) for row in table.rows] == [
        ["alpha", "3,010", "10", "2 random splits, 75/25", "3,000 to 3,001", "10"],
        ["beta", "50", "10", "5-fold cross-validation", "40", "10"],
        ["gamma", "100", "10", "one split", "75", "25"],
    ]
    assert len(table.data) == 8


def test_problems_are_missing_folds_then_failures():
    cells = [
        *folds("yeast", "BR", [0.1, 0.2, 0.3]),
        *folds("yeast", "NLDD", [0.1, 0.2, 0.3])[:2],
        record("yeast", "NLDD", fold=2, n_folds=3, error="ValueError: <b>no</b>"),
        *(record("yeast", "CBM", k, error="no", n_folds=3) for k in (0, 2)),
        *folds("emotions", "BR", [0.1] * 10)[:8],
        record("yeast", "BR", share=0.5, error="no"),
    ]
    table = runs.problems_table(results(cells))
    assert table.rows == (
        ("yeast", "NLDD", "2 of 3 folds are there"),
        ("yeast", "CBM", "0 of 3 folds are there"),
        ("emotions", "BR", "8 of 10 folds are there"),
        ("yeast", "BR", "share 50% failed: no"),
        ("yeast", "NLDD", "fold 3 failed: ValueError: <b>no</b>"),
        ("yeast", "CBM", "folds 1, 3 failed: no"),
    )
    assert to_csv(table).splitlines()[0] == "dataset,method,what"
    assert runs.problems_table(results(cells[:3])) is None


def test_settings_are_grouped_by_method_and_estimator_of_the_first_fold():
    model = "NLDDClassifier(k={})".format
    cells = [
        *(record("emotions", "NLDD", k, n_folds=2, settings=model(k)) for k in (1, 0)),
        *folds("yeast", "NLDD", [0.1, 0.2], settings="NLDDClassifier(k=0)"),
        record("ohsumed", "NLDD", settings="NLDDClassifier(train_fraction=0.7)"),
        record("yeast", "OLD", settings="Old()"),
        *folds("scene", "NLDD", [0.1, 0.2], settings="unfinished")[:1],
    ]
    table = runs.settings_table(results(cells))
    name = "Nearest labelset using double distances"
    assert [texts(row) for row in table.rows] == [
        ["NLDD", name, "NLDD(k=0)", "emotions, yeast"],
        ["NLDD", name, "NLDD(train_fraction=0.7)", "ohsumed"],
        ["OLD", "", "Old", "yeast"],
    ]
    assert table.data[0][2] == "NLDDClassifier(k=0)"
    assert texts(runs.settings_table(results(cells[2:4])).rows[0])[3] == "all"


PIPELINE = (
    "Pipeline(steps=[('simpleimputer', SimpleImputer(strategy='median')), ('standardscaler', "
    "StandardScaler()), ('method', NLDDClassifier(estimator=PlattSVC(random_state=3), "
    "random_state=0))])"
)


@pytest.mark.parametrize(
    ("settings", "short"),
    [
        (PIPELINE, "SimpleImputer(strategy='median') → StandardScaler → NLDD(estimator=PlattSVC)"),
        (
            f"GridSearchCV(cv=KFold(n_splits=3), error_score='raise', estimator={PIPELINE}, "
            "param_grid={'method__k': [1, 2]}, scoring=Scorer(key='f_measure'))",
            "SimpleImputer(strategy='median') → StandardScaler → NLDD(estimator=PlattSVC), "
            "searched: {'k': [1, 2]}",
        ),
        ("EnsembleOfChains(estimator='auto', random_state=0)", "ECC(estimator='auto')"),
        ("MyClassifier(MyBase(3), random_state=0)", "MyClassifier(MyBase(3))"),
        ("<my classifier> (", "<my classifier> ("),
        ("", ""),
    ],
)
def test_settings_are_told_by_short_names_without_seeds(settings, short):
    assert runs.short_settings(settings) == short


def test_searches_and_choices_are_counted_by_what_they_chose():
    cells = folds("alpha", "BR", [0.1] * 3)
    for cell, k in zip(cells, (5, 9, 5), strict=True):
        best = {"estimator__C": 0.5, "select__k": k}
        cell.details["searched"] = {"best": best, "scoring": "f_measure", "score": 0.4}
        cell.details["chosen"] = {"name": f"features {k}"}
    table = runs.search_table(results([*cells, *folds("beta", "BR", [0.1] * 3)]))
    assert [texts(row) for row in table.rows] == [
        ["BR", "alpha", "estimator__C = 0.5, select__k = 5", "2"],
        ["BR", "alpha", "estimator__C = 0.5, select__k = 9", "1"],
    ]
    assert "f_measure" in table.notes[0]
    assert runs.choice_table(results(cells)).rows == (("alpha", "features 5 67%, features 9 33%"),)
    assert runs.search_table(results([record()])) is runs.choice_table(results([record()])) is None


def test_warnings_that_differ_in_numbers_are_one_and_added_up():
    late, other = "ConvergenceWarning: late", "UserWarning: <i>"
    cells = [
        *folds("yeast", "BR", [0.1, 0.2], warnings={late: 3, other: 1}),
        *folds("bibtex", "BR", [0.1, 0.2], warnings={late: 4})[:1],
        record("tmc2007", "NLDD", share=0.5, warnings={other: 1}),
        *folds("mine", "BR", [0.1, 0.2, 0.3]),
    ]
    for cell, n in zip(cells[-2:], (40, 60), strict=True):
        cell.details["warnings"] = {f"Late: {n} pairs, 1.5e-{n}": 1, f"Late: {n + 1} pairs, 2": 2}
    assert [texts(row) for row in runs.warnings_table(results(cells)).rows] == [
        ["BR", "bibtex", late, "1 of 1", "4"],
        ["BR", "mine", "Late: 40 pairs, 1.5e-40", "2 of 3", "6"],
        ["BR", "yeast", late, "2 of 2", "6"],
        ["BR", "yeast", other, "2 of 2", "2"],
        ["NLDD", "tmc2007", other, "1 of 1", "1"],
    ]
    assert runs.warnings_table(results([record()])) is None
