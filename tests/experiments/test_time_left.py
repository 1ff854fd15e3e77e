"""How long the rest will take, by hand."""

import pytest

from nldd.experiments._benchmark import Forecast
from nldd.experiments._record import Key, Record

SIZES = {"songs": 100, "films": 300}


def key(dataset, method, fold=0, train_share=None):
    return Key("trial", dataset, method, fold, 0, train_share)


def record(dataset, method, fit, predict=0.0, *, fold=0, train_share=None, error=None):
    of_cell = key(dataset, method, fold, train_share)
    return Record(*of_cell, "settings", {}, fit, predict, {}, error=error)


def learned(*records):
    forecast = Forecast(SIZES)
    forecast.learn(records)
    return forecast


def test_nothing_is_known_at_first():
    forecast = Forecast(SIZES)
    assert forecast.seconds(key("songs", "BR")) is None
    assert forecast.left([key("songs", "BR")], n_workers=2) is None
    assert forecast.left([], n_workers=2) == 0


def test_same_method_on_same_data_takes_its_mean():
    # (1 + 1) and (2 + 4), the mean of which is 4.
    forecast = learned(
        record("songs", "BR", 1, 1), record("songs", "BR", 2, 4, fold=1), record("films", "BR", 99)
    )
    assert forecast.seconds(key("songs", "BR", fold=2)) == 4


def test_same_method_on_other_data_goes_with_their_sizes():
    # 2 seconds for 100 are 6 for 300.
    forecast = learned(record("songs", "BR", 2), record("songs", "CC", 50))
    assert forecast.seconds(key("films", "BR")) == pytest.approx(6)


def test_other_method_takes_the_mean_of_all_in_proportion():
    # 2 / 100 and 12 / 300 a unit, 0.03 in the mean: 3 seconds for 100, 9 for 300.
    forecast = learned(record("songs", "BR", 2), record("films", "CC", 12))
    assert forecast.seconds(key("songs", "NLDD")) == pytest.approx(3)
    assert forecast.seconds(key("films", "NLDD")) == pytest.approx(9)


def test_failed_cells_and_shares_teach_nothing():
    forecast = learned(
        record("songs", "BR", 5, error="it broke"), record("songs", "BR", 7, train_share=0.1)
    )
    assert forecast.seconds(key("songs", "BR")) is None


def test_left_is_shared_by_the_workers():
    # 4 + 4 on songs and 12 on films, by two workers.
    forecast = learned(record("songs", "BR", 4))
    keys = [key("songs", "BR", 1), key("songs", "BR", 2), key("films", "BR")]
    assert forecast.left(keys, n_workers=2) == pytest.approx(10)
    assert forecast.left(iter(keys), n_workers=1) == pytest.approx(20)
