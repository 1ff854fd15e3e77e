"""Keep a finished run beside this file: its records, and the labelsets it predicted.

    python results/keep.py nldd-results/default

The predicted labelsets of all cells go into one ``predictions.zip``, in which `read_predictions`
finds them. Probabilities would take a hundred times the room: they stay in the folder of the run,
and what was measured on them is in the records.
"""

import argparse
import shutil
from dataclasses import replace
from pathlib import Path
from zipfile import ZipFile

import numpy as np

from nldd.bench.runner.benchmark import FACTS
from nldd.bench.runner.records import (
    CELLS,
    PREDICTIONS,
    predictions_path,
    read_predictions,
    read_records,
)

HERE = Path(__file__).parent


def keep(run: Path) -> Path:
    """Copy what is kept of a run to the folder of its name."""
    records = read_records(run / CELLS)
    folder = HERE / records[0].protocol
    folder.mkdir(exist_ok=True)
    for name in (CELLS, FACTS):
        if (run / name).exists():
            shutil.copyfile(run / name, folder / name)
    n_kept = 0
    with ZipFile(folder / f"{PREDICTIONS}.zip", "w") as archive:
        for record in sorted(
            records, key=lambda record: (*record.key[:4], record.train_share or 0)
        ):
            found = read_predictions(run, record.key)
            if found is not None:
                found = replace(found, rows=found.rows.astype(np.int32), P=None)
                name = predictions_path(Path(), record.key).relative_to(PREDICTIONS).as_posix()
                archive.writestr(name, found.to_bytes())
                n_kept += 1
    print(f"{folder}: {len(records)} records, {n_kept} of them with predictions")
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    for run in parser.parse_args().runs:
        keep(run)
