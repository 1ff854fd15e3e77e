"""Comparisons of methods on data sets: cross-validation, published values, figures."""

from nldd.experiments._cross_validation import Cell, cross_validate, mean_scores
from nldd.experiments._demo import Demo, run_demo
from nldd.experiments._demo_text import render_demo
from nldd.experiments._pairs_display import PairsDisplay

__all__ = [
    "Cell",
    "Demo",
    "PairsDisplay",
    "cross_validate",
    "mean_scores",
    "render_demo",
    "run_demo",
]
