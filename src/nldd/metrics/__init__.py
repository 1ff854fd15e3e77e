"""Measures of multi-label predictions, each a record: name, direction, function."""

from nldd.metrics import _measures, _probability_measures
from nldd.metrics._measures import *  # noqa: F403
from nldd.metrics._probability_measures import *  # noqa: F403

__all__ = [*_measures.__all__, *_probability_measures.__all__]
