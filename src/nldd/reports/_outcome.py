"""How a benchmark ended, in a few lines or as JSON."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from nldd.experiments import CELLS, Record


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is in the folder of a benchmark after a run."""

    folder: Path
    n_cells: int
    failed: list[Record]


def outcome(records: Iterable[Record], folder: Path) -> Outcome:
    """Count the finished and the failed cells."""
    records = list(records)
    return Outcome(folder, len(records), [record for record in records if record.error])


def render_outcome(result: Outcome, *, as_json: bool) -> str:
    """The outcome as text, or as one JSON object."""
    file = result.folder / CELLS
    if as_json:
        failed = [{**record.key._asdict(), "error": record.error} for record in result.failed]
        return json.dumps({"file": str(file), "cells": result.n_cells, "failed": failed})
    lines = [f"{result.n_cells - len(result.failed)} of {result.n_cells} cells are in {file}."]
    for record in result.failed:
        lines.append(
            f"Failed: {record.method} on {record.dataset}, fold {record.fold + 1}: {record.error}"
        )
    if result.failed:
        lines.append("Try: the same command again, which runs the failed cells once more.")
    else:
        lines.append(f"Next: nldd report {quote(str(result.folder))}")
    return "\n".join(lines)
