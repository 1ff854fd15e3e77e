"""The report of a benchmark: tables beside the paper's, tests, figures, and what was run."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from nldd.metrics import PAPER_MEASURES
from nldd.reports import Figure, Page, Section, Table
from nldd.reports._coefficient_table import coefficient_table
from nldd.reports._differences import about_differences, difference_diagrams
from nldd.reports._illustrations import illustrations
from nldd.reports._picture import Picture
from nldd.reports._provenance import facts, problems_table, settings_table, warnings_table
from nldd.reports._score_table import score_table
from nldd.reports._share_table import share_pictures, share_table
from nldd.reports._subset_table import subset_tables
from nldd.reports._summary import Results
from nldd.reports._time_table import time_table
from nldd.statistics import WILCOXON_RULE

PAPER = (
    "H. Gweon, M. Schonlau and S. H. Steiner: Nearest labelset using double distances for "
    "multi-label classification (arXiv 1702.04684; PeerJ Computer Science 5:e242)"
)
ABOUT_SCORES = (
    "Means over the folds; the best of a row is bold. In the second line of a cell is the paper's "
    "value and, in parentheses, how far ours is from it in standard errors of ours. These come "
    "from the spread between test rows; the paper's value has an error of about the same size.",
    WILCOXON_RULE,
)
ABOUT_SUBSETS = (
    "NLDD, SMBR and LP can only predict labelsets of the training rows. Subset A has the test rows "
    "whose labelset occurs there, B the others.",
)


@dataclass
class Report:
    """Everything that a report consists of, before it is written."""

    title: str
    subtitle: str
    facts: tuple[tuple[str, str], ...]
    sections: list[Section] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)

    def add(
        self,
        id: str,
        title: str,
        paragraphs: Iterable[str] = (),
        tables: Iterable[Table | None] = (),
        pictures: Iterable[Picture] = (),
    ) -> None:
        """One more section, unless there is nothing in it."""
        drawn = list(pictures)
        found = tuple(table for table in tables if table is not None)
        figures: tuple[Figure, ...] = tuple(picture.on_page() for picture in drawn)
        if paragraphs or found or figures:
            self.sections.append(Section(title, tuple(paragraphs), found, figures, id))
            self.pictures += drawn

    @property
    def tables(self) -> list[Table]:
        """The tables of all sections."""
        return [table for section in self.sections for table in section.tables]

    @property
    def page(self) -> Page:
        """The report as a page."""
        foot = f"Made by nldd from the records of finished cells. The paper: {PAPER}."
        return Page(self.title, self.subtitle, self.facts, tuple(self.sections), foot)


def make_report(results: Results) -> Report:
    """Put the report together."""
    report = Report(
        title=f"Benchmark of multi-label methods: {results.protocol}",
        subtitle=f"{_count(results.methods, 'method')} on {_count(results.datasets, 'data set')}",
        facts=facts(results),
    )
    scores = [score_table(results, measure) for measure in PAPER_MEASURES]
    report.add("scores", "Scores", ABOUT_SCORES, scores)
    report.add(
        "differences",
        "Critical differences",
        list(about_differences(results)),
        pictures=difference_diagrams(results),
    )
    report.add("times", "Running times", tables=[time_table(results)])
    report.add("weights", "Weights of the distances", tables=[coefficient_table(results)])
    report.add(
        "subsets", "Labelsets that training has not seen", ABOUT_SUBSETS, subset_tables(results)
    )
    report.add(
        "shares",
        "Shares of the training data",
        tables=[share_table(results.shares)],
        pictures=share_pictures(results.shares),
    )
    report.add("illustrations", "How NLDD works", pictures=illustrations())
    run = [problems_table(results), settings_table(results), warnings_table(results)]
    report.add("run", "What was run", tables=run)
    return report


def _count(names: tuple[str, ...], noun: str) -> str:
    return f"{len(names)} {noun}{'' if len(names) == 1 else 's'}"
