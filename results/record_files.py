"""Records of runs, in one compressed file each, and what every study does with its own.

``NAME.jsonl.xz`` has a line of JSON for each cell of a study, or of a benchmark by the protocol
NAME. While a study runs, its new lines are in ``NAME.jsonl``, so that an interrupted one goes on.

    python results/record_files.py nldd-results/default

keeps a finished benchmark here. What its cells predicted stays in its folder: all measures are in
the records, and so are the counts of each label.
"""

import json
import lzma
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from multiprocessing import Pool
from pathlib import Path
from warnings import simplefilter

from nldd.bench.datasets.load import load_dataset
from nldd.bench.runner.records import CELLS, CellRecord, as_line, read_records

HERE = Path(__file__).parent
load = cache(load_dataset)


def read(name: str) -> list[dict]:
    """The records of a study or protocol, those of an interrupted run included."""
    packed, running = HERE / f"{name}.jsonl.xz", HERE / f"{name}.jsonl"
    content = lzma.decompress(packed.read_bytes()) if packed.exists() else b""
    content += running.read_bytes() if running.exists() else b""
    return [json.loads(line) for line in content.splitlines()]


def write(name: str, lines: Iterable[str]) -> None:
    """Pack all lines of a study or protocol."""
    packed = lzma.compress("".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME)
    (HERE / f"{name}.jsonl.xz").write_bytes(packed)
    (HERE / f"{name}.jsonl").unlink(missing_ok=True)


def cells(protocol: str) -> list[CellRecord]:
    """The records of a protocol."""
    return [CellRecord(**record) for record in read(protocol)]


def keep(run: Path) -> None:
    """Pack the records of a benchmark's folder."""
    records = read_records(run / CELLS)
    write(records[0].protocol, map(as_line, records))


def run_missing(
    name: str,
    keys: Sequence[str],
    cells: Iterable[tuple],
    run: Callable[..., dict],
    n_processes: int = 1,
) -> None:
    """Run the cells of a study that have no record: `keys` are the fields that tell them apart."""
    simplefilter("ignore")
    done = {tuple(record[key] for key in keys) for record in read(name)}
    left = [cell for cell in cells if cell not in done]
    with Pool(n_processes) as pool, (HERE / f"{name}.jsonl").open("a", encoding="utf-8") as file:
        for number, found in enumerate(pool.imap(_Run(run), left), start=1):
            record = dict(zip(keys, left[number - 1], strict=True)) | found
            file.write(_line(record))
            file.flush()
            print(f"{name}: {number} of {len(left)}", flush=True)
    write(name, map(_line, read(name)))


class _Run:
    """A study's function, called with the fields of a cell, in another process."""

    def __init__(self, run: Callable[..., dict]) -> None:
        self.run = run

    def __call__(self, cell: tuple) -> dict:
        simplefilter("ignore")
        return self.run(*cell)


def _line(record: dict) -> str:
    return json.dumps(record, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    for folder in sys.argv[1:]:
        keep(Path(folder))
