"""Tables beside the scores: times, weights, theta, subsets, and shares."""

from dataclasses import replace

import numpy as np
import pytest

from bench.report.records import folds, published_records, record, texts, unders
from bench.runner.trials import songs, trial
from nldd.bench.report import benchmark_tables as tables
from nldd.bench.report.published import printed_table
from nldd.bench.report.results import results
from nldd.bench.runner.cell import cells, run_cell
from nldd.metrics import MEASURES, PAPER_MEASURES
from nldd.present.table import to_csv

HAMMING = PAPER_MEASURES[0]


# Times


def test_ratios_are_of_all_folds_together():
    # BR 2 x 1.5 s; NLDD 2 x (2.0 + 0.5) s: 5 / 3; ECC 2 x 13.5 s: 9.
    cells = [
        *folds("mine", "BR", [0.1, 0.2]),
        *folds("mine", "NLDD", [0.1, 0.2], fit_seconds=2.0, searched={"best": {}}),
        *folds("mine", "ECC", [0.1, 0.2], fit_seconds=13.0),
        record("songs", "CC", fit_seconds=0.0, predict_seconds=0.0126),
    ]
    table = tables.time_table(results(cells))
    assert table.head == ("data set", "BR, seconds", "BR", "NLDD", "CC", "ECC")
    assert [texts(row) for row in table.rows] == [
        ["mine", "3.0 s", "1.00", "1.67", "-", "9.00"],
        ["songs", "-", "-", "-", "-", "-"],
    ]
    assert "mine,NLDD,5.0,1.6666666666666667" in to_csv(table).splitlines()
    assert table.notes[0].endswith("search for parameters in each fold: NLDD.")
    alone = tables.time_table(results(cells[4:]))
    assert "seconds" in alone.title
    assert texts(alone.rows[0]) == ["mine", "-", "27.0 s"]
    assert texts(alone.rows[1]) == ["songs", "0.013 s", "-"]
    assert alone.data_head == ("dataset", "method", "seconds")


@pytest.mark.parametrize(
    ("reference", "seconds", "said"),
    [(10.0, 0.14, "0.01"), (10.0, 99.9, "9.99"), (10.0, 1234, "123"), (0.0, 1.0, "-")],
)
def test_ratios_have_two_decimals_below_ten_and_none_above(reference, seconds, said):
    quick = record("mine", "BR", fit_seconds=reference, predict_seconds=0.0)
    other = record("mine", "ECC", fit_seconds=seconds, predict_seconds=0.0)
    assert texts(tables.time_table(results([quick, other])).rows[0])[3] == said


def test_published_times_give_the_published_ratios():
    table = tables.time_table(results([*published_records(), record("ohsumed", "CC")]))
    seconds = printed_table("running_time_seconds")
    row = next(row for row in table.rows if row[0] == "ohsumed")
    ratio = 12152 / seconds.value("ohsumed", "BR")
    assert unders(row)[table.head.index("NLDD")] == f"paper {ratio:.2f}"
    assert unders(row)[table.head.index("CC")] == ""
    assert all(ratio == told for _, method, _, ratio, told in table.data if method != "CC")
    pairs = (("yeast", "BR"), ("yeast", "CC"), ("mine", "BR"))
    assert [tables.published_ratio(*pair) for pair in pairs] == [1, None, None]


# Weights


def fits(dataset, betas, **changes):
    made = folds(dataset, "NLDD", [0.5] * len(betas), **changes)
    for cell, beta in zip(made, betas, strict=True):
        cell.details["coefficients"] = beta
    return made


def test_mean_and_standard_deviation_over_folds_by_hand():
    # Means -4, 0.155, 0.9; deviations from them -1, 0, 1 and so on, over n - 1 = 2.
    betas = [[-5.0, 0.15, 0.8], [-4.0, 0.155, 0.9], [-3.0, 0.16, 1.0]]
    cells = [*fits("yeast", betas), *fits("emotions", betas)[:2], record("scene", "BR")]
    table = tables.coefficient_table(results(cells))
    assert table.head == ("data set", "b0", "b1 (Dx)", "b2 (Dy)", "b1 = 0", "b2 = 0")
    assert [texts(row) for row in table.rows] == [
        ["yeast", "-4.0000 ± 1.0000", "0.1550 ± 0.0050", "0.9000 ± 0.1000", "0/3", "0/3"]
    ]
    # 0.155 / 0.1409 = 1.10, 0.9 / 0.8546 = 1.053.
    assert unders(table.rows[0])[1:4] == [
        *("paper -3.9053", "paper 0.1409, +10%", "paper 0.8546, +5%")
    ]
    assert [row[:2] for row in table.data] == [("yeast", "b0"), ("yeast", "b1"), ("yeast", "b2")]
    numbers = np.array([row[2:] for row in table.data], dtype=float)
    expected = [[-4, 1, 0, -3.9053], [0.155, 0.005, 0, 0.1409], [0.9, 0.1, 0, 0.8546]]
    np.testing.assert_allclose(numbers, expected, rtol=1e-12)
    assert tables.coefficient_table(results([record("scene", "BR")])) is None


def test_weights_held_at_zero_are_counted_and_have_no_error():
    table = tables.coefficient_table(results(fits("mine", [[-3.0, 0.0, 1.0], [-3.2, 0.0, 0.0]])))
    assert texts(table.rows[0]) == [
        *("mine", "-3.1000 ± 0.1414", "0", "0.5000 ± 0.7071", "2/2", "1/2")
    ]
    assert to_csv(table).splitlines() == [
        "dataset,coefficient,mean,spread,folds_at_0",
        "mine,b0,-3.1,0.14142135623730964,0",
        "mine,b1,0.0,,2",
        "mine,b2,0.5,0.7071067811865476,1",
    ]
    # One split has the errors of the regression, which has none of what was not free.
    errors = [0.1, None, 0.1]
    cell = record("ohsumed", "NLDD", coefficients=[-3.0, 0.0, 1.0], coefficient_errors=errors)
    table = tables.coefficient_table(results([cell]))
    assert texts(table.rows[0])[1:] == [*("-3.0000 ± 0.1000", "0", "1.0000 ± 0.1000", "1/1", "0/1")]
    assert unders(table.rows[0])[2] == "paper 0.0022"


# Theta


def test_theta_is_set_beside_the_errors_in_fifths_by_the_rows_of_folds():
    cells = folds("mine", "NLDD", [0.1, 0.2])
    cells[0].details["theta_bins"] = [[5, 0.1, 0.2], [2, 0.2, 0.2], *([2, 0.5, 0.5],) * 3]
    cells[1].details["theta_bins"] = [[1, 0.3, 0.6], [2, 0.4, 0.6], *([2, 0.5, 0.5],) * 3]
    table = tables.theta_table(results(cells))
    # (5 x 0.1 + 0.3) / 6 and (5 x 0.2 + 0.6) / 6; all: (0.8 + 1.2 + 6) / 22, (1.6 + 1.6 + 6) / 22.
    half = ["0.5000"] * 3
    assert texts(table.rows[0]) == ["mine", "0.2667", "0.4000", *half, "0.4182"]
    assert unders(table.rows[0])[1:3] == ["theta 0.1333", "theta 0.3000"]
    assert unders(table.rows[0])[-1] == "theta 0.3636"
    assert table.data[0][:3] == ("mine", "lowest theta", 6)
    assert table.data[0][3:] == pytest.approx((0.8 / 6, 1.6 / 6))
    assert [row[2] for row in table.data] == [6, 4, 4, 4, 4, 22]
    assert list(tables.about_theta(results(cells))) == []


def test_a_cell_records_theta_in_fifths_of_its_test_rows():
    dataset = songs()
    cell, *_ = cells(trial(), "songs", dataset, ("NLDD",))
    record = run_cell(dataset, cell)
    model = cell.estimator.fit(dataset.X[cell.train], dataset.Y[cell.train])
    theta = model.predict_theta(dataset.X[cell.test])
    wrong = (model.predict(dataset.X[cell.test]) != dataset.Y[cell.test]).mean(axis=1)
    n, thetas, errors = np.transpose(record.details["theta_bins"])
    assert n.tolist() == [4] * 5
    np.testing.assert_allclose(thetas, np.sort(theta).reshape(5, 4).mean(axis=1))
    assert errors.mean() == pytest.approx(wrong.mean())
    assert errors[0] == pytest.approx(wrong[np.argsort(theta, kind="stable")[:4]].mean())


def test_records_without_theta_are_said_to_have_none():
    old = folds("old", "NLDD", [0.1, 0.2])
    del old[1].details["theta_bins"]
    few = record("few", "NLDD", theta_bins=[])
    found = results([*old, few, record("new", "NLDD"), record("other", "BR")])
    assert [row[0] for row in tables.theta_table(found).rows] == ["new"]
    (told,) = tables.about_theta(found)
    assert told.endswith(": few, old.")
    assert tables.theta_table(results(old)) is None
    assert list(tables.about_theta(results([record("other", "BR")]))) == []


# The posterior


def test_weights_and_calibration_of_the_posterior_by_hand():
    cells = folds("mine", "NLDD-P", [0.1, 0.2])
    for k, cell in enumerate(cells):
        weights = {"distance": 0.1 + k, "probabilities": 0.6, "frequency": 0.4, "size": -0.5 * k}
        cell.details.update(weights=weights, unseen_share=0.1 * k)
    cells[0].details["exact_match_bins"] = [[5, 0.1, 0.2], *([1, 0.5, 0.5],) * 9]
    cells[1].details["exact_match_bins"] = [[3, 0.3, 0.6], *([1, 0.5, 0.25],) * 9]
    table = tables.posterior_table(results([*cells, record("old", "NLDD-P"), record("mine")]))
    # Bins of 8 and 9 x 2 rows: 1.4 / 8 and 2.8 / 8, .5 and .375; so 8 x .175 and 18 x .125 of 26.
    expected = {"distance": 0.6, "probabilities": 0.6, "frequency": 0.4, "size": -0.25, "e": 0.05}
    expected |= {"probability": (1.4 + 9) / 26, "right": (2.8 + 6.75) / 26}
    expected["calibration error"] = (8 * 0.175 + 18 * 0.125) / 26
    assert table.head == ("data set", *expected)
    assert [row[:2] for row in table.data] == [("mine", name) for name in expected]
    assert [row[2] for row in table.data] == pytest.approx(list(expected.values()))
    assert texts(table.rows[0])[1:5] == ["0.600", "0.600", "0.400", "-0.250"]
    assert tables.posterior_table(results([record("mine")])) is None


def test_times_are_said_to_be_of_one_decision():
    cells = [record(), record(method="NLDD"), record(method="NLDD-P", decisions={"recall": "f1"})]
    assert tables.time_table(results(cells)).notes[0].endswith(": NLDD-P.")
    assert "NLDD-P" not in tables.time_table(results(cells[:2])).notes[0]


# Subsets


def fold(method, number, observed, unobserved, total, dataset="mine", **details):
    """A cell with (rows, Hamming loss) of both subsets."""
    for name, (n, value) in {"observed": observed, "unobserved": unobserved}.items():
        details[name] = {"n": n, "hamming_loss": value} if n else {"n": n}
    n_test = observed[0] + unobserved[0]
    return record(dataset, method, number, total, n_test=n_test, **details)


def test_subsets_weigh_folds_by_their_rows():
    # BR, A: (8 x 0.1 + 6 x 0.24) / 14 = 0.16; B: (2 x 0.5 + 4 x 0.2) / 6 = 0.3.
    cells = [
        fold("BR", 0, (8, 0.1), (2, 0.5), 0.18, n_folds=2),
        fold("BR", 1, (6, 0.24), (4, 0.2), 0.224, n_folds=2),
        fold("NLDD", 0, (8, 0.1), (2, 0.4), 0.16, n_folds=2),
        fold("NLDD", 1, (6, 0.1), (4, 0.4), 0.22, n_folds=2),
        fold("CC", 0, (3, 0.25), (1, 0.5), 0.3125, "zoo"),
        record("zoo", "BR", score=0.3),
    ]
    table = tables.subset_table(results(cells), HAMMING)
    assert table.head == (
        *("data set", "share of B", "A BR", "A NLDD", "B BR", "B NLDD", "total BR", "total NLDD"),
    )
    assert [texts(row) for row in table.rows] == [
        ["mine", "30.0%", "0.1600", "0.1000", "0.3000", "0.4000", "0.2020", "0.1900"],
        ["zoo", "0.0%", "0.3000", "-", "-", "-", "0.3000", "-"],
    ]
    assert "zoo,CC,B,0.5" in to_csv(table).splitlines()
    assert table.notes == ()
    jaccard = PAPER_MEASURES[2]
    assert "Mulan" in tables.subset_table(results(cells[-1:]), jaccard).notes[0]
    assert tables.subset_table(results(cells), MEASURES["precision"]) is None


def test_folds_without_rows_of_a_subset_do_not_count_for_it():
    cells = [fold("BR", 0, (2, 0.5), (0, None), 0.5), fold("BR", 1, (0, None), (8, 0.1), 0.1)]
    means = [tables.subset_mean(cells, "hamming_loss", subset) for subset in ("A", "B", "total")]
    # All rows together: (2 x 0.5 + 8 x 0.1) / 10 = 0.18.
    assert means == pytest.approx([0.5, 0.1, 0.18], rel=1e-15)
    none = [tables.subset_mean([], "hamming_loss", subset) for subset in ("A", "total")]
    assert np.isnan(none).all()


@pytest.mark.parametrize("measure", PAPER_MEASURES, ids=lambda m: m.key)
def test_published_bibtex_stands_below_itself(measure):
    table = tables.subset_table(results(published_records()), measure)
    row = next(row for row in table.rows if row[0] == "bibtex")
    assert texts(row)[1] == "32.4%"  # 599 of 1849, as the paper's totals have it
    printed = printed_table("bibtex_subsets")
    told = [f"{printed.value(measure.key, '_'.join(h.split())):.4f}" for h in table.head[2:]]
    assert unders(row)[2:] == [f"paper {value}" for value in told]
    assert texts(row)[2:6] == told[:4]
    assert {under for other in table.rows if other is not row for under in unders(other)} == {""}


# Shares


def test_shares_are_told_by_rows_seconds_and_wrong_labels():
    cells = [
        record("mine", "NLDD", share=share, score=0.02, n_train=int(100 * share), fit_seconds=share)
        for share in (1.0, 0.25)
    ]
    found = results([record("mine", "BR"), *cells, replace(cells[0], train_share=0.5, error="no")])
    table = tables.share_table(found.shares)
    assert "NLDD" in table.title and "mine" in table.title
    assert table.rows == (("25%", "25", "0.8", "0.2000"), ("100%", "100", "1.5", "0.2000"))
    assert table.data[0] == (0.25, 25, 0.75, 0.2)
    assert tables.share_table([]) is None
