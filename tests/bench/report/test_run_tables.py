"""Tables of a run: its facts, what went wrong, settings and warnings."""

import pytest

from bench.report.records import VERSIONS, folds, record, texts
from nldd.bench.report.results import results
from nldd.bench.report.run_tables import problems_table, run_facts, settings_table, warnings_table
from nldd.present.table import to_csv


def test_facts_of_a_run():
    cells = [
        *folds("yeast", "NLDD", [0.1, 0.2], fit_seconds=1.5),
        record("yeast", "NLDD", share=0.5, fit_seconds=1.5),
        record("emotions", "NLDD", error="no"),
    ]
    assert run_facts(results(cells)) == (
        ("protocol", "default"),
        ("finished cells", "3"),
        ("failed cells", "1"),
        ("processor time", "6 s"),  # 3 x (1.5 + 0.5) s
        ("versions", "nldd 0.1.0, scikit-learn 1.6.1, Python 3.11.7"),
        ("machine", "Linux x86_64, 2 cores"),
    )


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(598.5, "599 s"), (599.5, "0.17 h"), (3599.5, "1.00 h"), (90000.0, "25.00 h")],
)
def test_long_times_are_in_hours(seconds, said):
    # Half a second of prediction comes on top.
    found = results([record(fit_seconds=seconds)])
    assert dict(run_facts(found))["processor time"] == said


def test_versions_and_machines_that_differ_are_all_named():
    cells = folds("yeast", "BR", [0.1, 0.2, 0.3])
    other = record("yeast", "NLDD", versions=VERSIONS | {"nldd": "0.2.0"}, machine={})
    told = dict(run_facts(results([*folds("emotions", "BR", [0.1]), other])))
    assert told["versions"] == (
        "nldd 0.1.0, scikit-learn 1.6.1, Python 3.11.7; "
        "nldd 0.2.0, scikit-learn 1.6.1, Python 3.11.7"
    )
    assert told["machine"].startswith("Linux x86_64, 2 cores; ")
    assert dict(run_facts(results(cells)))["machine"] == "Linux x86_64, 2 cores"


def test_failures_tell_where_they_ran_too():
    failed = record("yeast", "CBM", error="no", machine={"system": "Darwin", "processor": "arm"})
    told = dict(run_facts(results([record(), failed])))
    assert told["versions"] == "nldd 0.1.0, scikit-learn 1.6.1, Python 3.11.7"
    assert told["machine"].startswith("Linux x86_64, 2 cores; Darwin arm")


def test_problems_are_missing_folds_then_failures():
    failed = [
        record("yeast", "NLDD", fold=2, n_folds=3, error="ValueError: <b>no</b>"),
        record("yeast", "CBM", n_folds=3, error="MemoryError"),
    ]
    cells = [
        *folds("yeast", "BR", [0.1, 0.2, 0.3]),
        *folds("yeast", "NLDD", [0.1, 0.2, 0.3])[:2],
        *failed,
        *folds("emotions", "BR", [0.1] * 10)[:8],
    ]
    table = problems_table(results(cells))
    assert (table.key, table.head) == ("problems", ("data set", "method", "what"))
    assert table.rows == (
        ("yeast", "NLDD", "2 of 3 folds are there"),
        ("yeast", "CBM", "0 of 3 folds are there"),
        ("emotions", "BR", "8 of 10 folds are there"),
        ("yeast", "NLDD", "fold 3 failed: ValueError: <b>no</b>"),
        ("yeast", "CBM", "fold 1 failed: MemoryError"),
    )
    assert table.notes == ("The same `nldd benchmark` command runs them.",)


def test_folds_that_failed_alike_are_one_problem():
    cells = [
        record("mine", "BR"),
        *(record("mine", "CC", k, error="no", n_folds=3) for k in (0, 2)),
    ]
    table = problems_table(results(cells))
    assert table.rows[-1] == ("mine", "CC", "folds 1, 3 failed: no")
    assert to_csv(table).splitlines()[0] == "dataset,method,what"


def test_problems_name_the_share_of_a_failed_cell():
    cells = [record("yeast", "NLDD"), record("yeast", "NLDD", share=0.5, error="no")]
    assert problems_table(results(cells)).rows == (("yeast", "NLDD", "share 50% failed: no"),)


def test_settings_are_grouped_by_method_and_estimator():
    cells = [
        record("emotions", "NLDD", settings="NLDDClassifier()"),
        *folds("yeast", "NLDD", [0.1, 0.2], settings="NLDDClassifier()"),
        record("ohsumed", "NLDD", settings="NLDDClassifier(train_fraction=0.7)"),
        *folds("yeast", "BR", [0.1, 0.2], settings="BinaryRelevance(random_state=0)"),
        *folds("scene", "NLDD", [0.1, 0.2], settings="unfinished")[:1],
    ]
    table = settings_table(results(cells))
    name = "Nearest labelset using double distances"
    assert [texts(row) for row in table.rows] == [
        ["BR", "Binary relevance", "BinaryRelevance(random_state=0)", "yeast"],
        ["NLDD", name, "NLDDClassifier()", "emotions, yeast"],
        ["NLDD", name, "NLDDClassifier(train_fraction=0.7)", "ohsumed"],
    ]
    assert table.notes == ("Seeds are those of the first fold; the one of fold k is larger by k.",)


def test_settings_are_those_of_the_first_fold():
    cells = folds("yeast", "BR", [0.1, 0.2])
    seeded = [
        record("yeast", "BR", fold=c.fold, n_folds=2, settings=f"BR(random_state={c.fold})")
        for c in cells
    ]
    assert texts(settings_table(results(reversed(seeded))).rows[0])[2] == "BR(random_state=0)"


def test_settings_of_a_method_that_left_the_registry_have_no_name():
    (row,) = settings_table(results([record("yeast", "OLD", settings="Old()")])).rows
    assert texts(row) == ["OLD", "", "Old()", "all"]


def test_settings_that_are_the_same_everywhere_are_those_of_all_data_sets():
    cells = [record(dataset, "NLDD") for dataset in ("bibtex", "emotions", "mine")]
    cells += [record(dataset, "BR") for dataset in ("emotions", "mine")]
    rows = settings_table(results(cells)).rows
    assert [(row[0], row[3]) for row in rows] == [("BR", "emotions, mine"), ("NLDD", "all")]


def test_warnings_are_added_up_over_folds():
    late, other = "ConvergenceWarning: late", "UserWarning: <i>"
    cells = [
        *folds("yeast", "BR", [0.1, 0.2], warnings={late: 3, other: 1}),
        record("emotions", "CBM", warnings={late: 2}),
        record("scene", "BR"),
        *folds("bibtex", "BR", [0.1, 0.2], warnings={late: 4})[:1],
        record("tmc2007", "NLDD", share=0.5, warnings={other: 1}),
    ]
    table = warnings_table(results(cells))
    assert [texts(row) for row in table.rows] == [
        ["BR", "bibtex", late, "1 of 1", "4"],
        ["BR", "yeast", late, "2 of 2", "6"],
        ["BR", "yeast", other, "2 of 2", "2"],
        ["CBM", "emotions", late, "1 of 1", "2"],
        ["NLDD", "tmc2007", other, "1 of 1", "1"],
    ]


def test_warnings_that_differ_in_numbers_are_one():
    cells = folds("mine", "BR", [0.1, 0.2, 0.3])
    for cell, n in zip(cells[1:], (40, 60), strict=True):
        cell.details["warnings"] = {f"Late: {n} pairs, 1.5e-{n}": 1, f"Late: {n + 1} pairs, 2": 2}
    table = warnings_table(results(cells))
    assert [texts(row) for row in table.rows] == [
        ["BR", "mine", "Late: 40 pairs, 1.5e-40", "2 of 3", "6"],
    ]
