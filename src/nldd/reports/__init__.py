"""Reports of experiments: tables beside the paper's, tests, figures, one page."""

from nldd.reports._demo_text import render_demo
from nldd.reports._outcome import Outcome, outcome, render_outcome
from nldd.reports._published import (
    PUBLISHED_COEFFICIENTS,
    PUBLISHED_MEASURES,
    PublishedTable,
    doubtful,
    published,
    published_average_ranks,
    published_ranks,
    published_seconds,
    published_significance,
    published_subsets,
)
from nldd.reports._report import Report, make_report
from nldd.reports._report_files import report, write_report
from nldd.reports._summary import Results, results

__all__ = [
    "PUBLISHED_COEFFICIENTS",
    "PUBLISHED_MEASURES",
    "Outcome",
    "PublishedTable",
    "Report",
    "Results",
    "doubtful",
    "make_report",
    "outcome",
    "published",
    "published_average_ranks",
    "published_ranks",
    "published_seconds",
    "published_significance",
    "published_subsets",
    "render_demo",
    "render_outcome",
    "report",
    "results",
    "write_report",
]
