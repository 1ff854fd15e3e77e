"""The coefficients of NLDD over the folds, beside the paper's."""

import numpy as np

from nldd.reports import PUBLISHED_COEFFICIENTS, published, results, to_csv
from nldd.reports._coefficient_table import coefficient_table
from reports.records import folds, published_records, record, texts, unders


def cells(dataset, betas, **changes):
    made = folds(dataset, "NLDD", [0.5] * len(betas), **changes)
    for cell, beta in zip(made, betas, strict=True):
        cell.details["coefficients"] = beta
    return made


def test_mean_and_standard_deviation_over_folds_by_hand():
    # Means -4, 0.155, 0.9; deviations from them -1, 0, 1 and so on, over n - 1 = 2.
    table = coefficient_table(
        results(cells("yeast", [[-5.0, 0.15, 0.8], [-4.0, 0.155, 0.9], [-3.0, 0.16, 1.0]]))
    )
    assert table.head == ("data set", "b0", "b1 (Dx)", "b2 (Dy)")
    assert [texts(row) for row in table.rows] == [
        ["yeast", "-4.0000 ± 1.0000", "0.1550 ± 0.0050", "0.9000 ± 0.1000"]
    ]
    # 0.155 / 0.1409 = 1.10, 0.9 / 0.8546 = 1.053.
    assert unders(table.rows[0]) == ["", "paper -3.9053", "paper 0.1409, +10%", "paper 0.8546, +5%"]
    assert [row[:2] for row in table.data] == [("yeast", "b0"), ("yeast", "b1"), ("yeast", "b2")]
    numbers = np.array([row[2:] for row in table.data], dtype=float)
    expected = [[-4, 1, -3.9053], [0.155, 0.005, 0.1409], [0.9, 0.1, 0.8546]]
    np.testing.assert_allclose(numbers, expected, rtol=1e-12)


def test_one_split_has_the_errors_of_the_regression():
    table = coefficient_table(results([record("mine", "NLDD", n_pairs=9)]))
    assert [texts(row) for row in table.rows] == [
        ["mine", "-4.0000 ± 0.3000", "0.1000 ± 0.2000", "0.8000 ± 0.1000"]
    ]
    assert unders(table.rows[0]) == [""] * 4
    assert to_csv(table).splitlines() == [
        "dataset,coefficient,mean,spread,published",
        "mine,b0,-4.0,0.3,",
        "mine,b1,0.1,0.2,",
        "mine,b2,0.8,0.1,",
    ]


def test_published_coefficients_are_no_percent_from_themselves():
    table = coefficient_table(results(published_records()))
    assert [row[0] for row in table.rows] == list(published("f_measure").datasets)
    for row in table.rows:
        b0, b1, b2 = PUBLISHED_COEFFICIENTS[row[0]]
        assert [text.split(" ±")[0] for text in texts(row)[1:]] == [
            f"{b:.4f}" for b in (b0, b1, b2)
        ]
        assert unders(row)[1:] == [
            f"paper {b0:.4f}",
            f"paper {b1:.4f}, +0%",
            f"paper {b2:.4f}, +0%",
        ]


def test_without_cells_of_NLDD_there_is_no_table():
    assert coefficient_table(results([record("yeast", "BR")])) is None
    failed = record("yeast", "NLDD", error="no")
    assert coefficient_table(results([record("yeast", "BR"), failed])) is None


def test_data_sets_without_NLDD_or_with_some_folds_have_no_row():
    found = results(
        [
            *folds("emotions", "BR", [0.1, 0.2]),
            *cells("emotions", [[-4.0, 0.1, 0.8]] * 2)[:1],
            record("scene", "BR"),
            record("yeast", "NLDD"),
        ]
    )
    assert [row[0] for row in coefficient_table(found).rows] == ["yeast"]


def test_a_weight_held_at_zero_in_one_split_has_no_error():
    # The regression has no standard error of a coefficient that was not free.
    cell = record(
        "ohsumed", "NLDD", coefficients=[-3.0, 0.0, 1.0], coefficient_errors=[0.1, None, 0.1]
    )
    table = coefficient_table(results([cell]))
    assert texts(table.rows[0]) == ["ohsumed", "-3.0000 ± 0.1000", "0.0000", "1.0000 ± 0.1000"]
    assert unders(table.rows[0])[2] == "paper 0.0022, -100%"
    assert to_csv(table).splitlines()[1:] == [
        "ohsumed,b0,-3.0,0.1,-3.1341",
        "ohsumed,b1,0.0,,0.0022",
        "ohsumed,b2,1.0,0.1,0.9855",
    ]
    assert "a weight that was held at 0 has none" in table.notes[0]


def test_a_weight_held_at_zero_in_some_folds_has_their_spread():
    # Mean (0 + 0.1 + 0.2) / 3 = 0.1, standard deviation 0.1.
    made = cells("mine", [[-3.0, 0.0, 1.0], [-3.0, 0.1, 1.0], [-3.0, 0.2, 1.0]])
    made[0].details["coefficient_errors"] = [0.1, None, 0.1]
    table = coefficient_table(results(made))
    assert texts(table.rows[0]) == [
        "mine",
        "-3.0000 ± 0.0000",
        "0.1000 ± 0.1000",
        "1.0000 ± 0.0000",
    ]
