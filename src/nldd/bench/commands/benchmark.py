"""``nldd benchmark``: methods on data sets, cell by cell, resumable."""

import shutil
import sys
import time
from pathlib import Path
from typing import Any, TextIO

import click

from nldd.bench.commands.datasets import data_dir_option
from nldd.present.console import (
    clock,
    default_option,
    folder_option,
    jobs_option,
    names_option,
    print_notes,
    show,
)
from nldd.present.text import printable

LOG_SECONDS = 60.0


@click.command()
@default_option(
    "--protocol", default="default", help="default, best, paper, quick, or a TOML file of your own."
)
@names_option(
    "--datasets", help="Names from `nldd datasets list`, or files, with commas; all if left out."
)
@click.option(
    "--labels", help="Which columns of your own files are labels, where the files do not say."
)
@click.option("--text", metavar="COLUMN", help="Column of your own files with texts to learn from.")
@names_option(
    "--methods",
    help="Methods with commas between, such as BR,NLDD, or my_module:MyClassifier for one of your "
    "own; all of the protocol if left out.",
)
@jobs_option("n_jobs", help="Cells at a time; -1 is one per core.")
@folder_option("--out", help="Folder for the results.  [default: nldd-results/PROTOCOL]")
@data_dir_option
@default_option(
    "--backend",
    type=click.Choice(["processes", "dask"]),
    default="processes",
    help="Where the cells are run.",
)
@click.option(
    "--scheduler", "address", metavar="ADDRESS", help="Dask cluster to use, instead of a new one."
)
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def benchmark(
    protocol: str,
    datasets: list[str],
    labels: str | None,
    text: str | None,
    methods: list[str],
    out: Path | None,
    data_dir: Path | None,
    as_json: bool,
    **workers: Any,
) -> None:
    """Run methods on data sets and keep the results, one finished cell at a time.

    A cell is one method on one fold of one data set. Stop the run whenever you like: the same
    command goes on where it was. Then `nldd report` makes tables and figures.

    \b
    Examples:
      nldd benchmark --datasets yeast --methods BR,NLDD --out yeast
      nldd benchmark --protocol paper --datasets emotions,yeast
      nldd benchmark --datasets my-data.arff --out mine
    """
    from nldd.bench.report.results import render_outcome
    from nldd.bench.runner.benchmark import choose_datasets, run_benchmark, run_notes
    from nldd.bench.runner.protocol_file import choose_methods, load_protocol

    if workers["address"] and workers["backend"] != "dask":
        raise click.UsageError("--scheduler goes with --backend dask.")
    plan = choose_methods(methods, load_protocol(protocol))
    folder = out or Path("nldd-results") / plan.name
    data = choose_datasets(datasets, labels, data_dir, text=text, columns_of=plan.columns_of)
    print_notes(run_notes(plan, data))
    watch = Watch(f"{plan.name}:")
    records = run_benchmark(plan, data, folder, watch=watch, **workers)
    show(render_outcome(records, folder, as_json=as_json))
    if any(record.error for record in records):
        raise click.exceptions.Exit(1)


class Watch:
    """Draws the state of a benchmark on standard error.

    In place on a terminal; anywhere else a line once a minute and at the end, for a log file.

    Parameters
    ----------
    title : str
    stream : text file, default=None
        None is standard error.

    Examples
    --------
    >>> import sys
    >>> from nldd.bench.runner.benchmark import State
    >>> from nldd.bench.commands.benchmark import Watch
    >>> watch = Watch("mine", sys.stdout)
    >>> watch(State(total=20, done=20, n_failed=1, running=[], seconds_left=0.0))
    mine [##############################] 20/20 cells, 1 failed
    """

    def __init__(self, title: str, stream: TextIO | None = None) -> None:
        self.title, self.out = title, stream or sys.stderr
        self._n_drawn, self._last = 0, time.monotonic()

    def __call__(self, state: Any) -> None:
        now = time.monotonic()
        drawn = progress_lines(self.title, state, now)
        if self.out.isatty():
            width = shutil.get_terminal_size().columns - 1
            up = f"\x1b[{self._n_drawn}A" if self._n_drawn else ""
            self.out.write(up + "\r\x1b[J" + "".join(f"{line[:width]}\n" for line in drawn))
            self._n_drawn = len(drawn)
        elif now - self._last >= LOG_SECONDS or state.done == state.total:
            self.out.write(drawn[0] + "\n")
            self._last = now
        self.out.flush()


def progress_lines(title: str, state: Any, now: float) -> list[str]:
    """The overall bar, and below it one line for each cell that is running."""
    share = int(30 * state.done / (state.total or 1))
    whole = f"{title} [{'#' * share:.<30}] {state.done}/{state.total} cells"
    if state.seconds_left is not None and state.done < state.total:
        whole += f", about {clock(state.seconds_left)} left"
    if state.n_failed:
        whole += f", {state.n_failed} failed"
    lines = [whole]
    for task in state.running:
        key, expected = task.cell.key, task.expected_seconds
        part = "" if key.train_share is None else f" on {key.train_share:.0%}"
        about = "" if expected is None else f" of about {clock(expected)}"
        took = clock(now - task.since)
        lines.append(f"  {key.dataset} {key.method}{part}, fold {key.fold + 1}: {took}{about}")
    return [printable(line) for line in lines]
