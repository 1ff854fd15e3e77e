"""Reading a workbook of 100,000 rows and 8 columns: ours against openpyxl, in both of its modes.

Both give every cell of the first sheet, row by row; ours as text or numbers, as a table is read for
coding. Peer time over ours: above 1 we are the faster one.
"""

import argparse
import tempfile
from functools import partial
from pathlib import Path

from measure import Answers, median_ratio

from nldd.coding.tables.reading import read_table
from nldd.coding.tables.spreadsheet import frame_of_rows
from nldd.coding.tables.writing import write_table

N_ROWS, N_COLUMNS = 100_000, 8
WORDS = [
    "the",
    "staff",
    "was",
    "friendly",
    "but",
    "prices",
    "are",
    "too",
    "high",
    "for",
    "what",
    "one",
    "gets",
    "here",
]


def rows(n_rows: int):
    """Answers of several words, most of them different, and numbers."""
    for i in range(n_rows):
        answer = " ".join(WORDS[(i * step) % len(WORDS)] for step in range(1, 9))
        yield [i, f"{answer} {i}", i % 90, i % 7 / 2, "north" if i % 2 else "south", None, "a;b", i]


def ours(path: Path) -> int:
    return read_table(path).frame.size


def peer(path: Path, read_only: bool) -> int:
    import openpyxl

    workbook = openpyxl.load_workbook(path, read_only=read_only, data_only=True)
    table = workbook.worksheets[0].iter_rows(values_only=True)
    next(table)  # the header, which is no row of ours
    n_cells = sum(len(row) for row in table)
    workbook.close()
    return n_cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    answers = Answers("excel" if arguments.rows == N_ROWS else "excel-trial")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.xlsx"
        header = [f"column {j}" for j in range(N_COLUMNS)]
        write_table(path, frame_of_rows(list(rows(arguments.rows)), N_COLUMNS), header=header)
        question = f"reading an .xlsx of {arguments.rows:,} x {N_COLUMNS}"
        for read_only, bar, name in (
            (False, ">= 8x", "openpyxl"),
            (True, "", "openpyxl, read-only"),
        ):
            read = partial(peer, path, read_only)
            assert ours(path) == read() == arguments.rows * N_COLUMNS
            ratio = median_ratio(read, lambda: ours(path), arguments.repeats)
            answers.add(f"{question}, against {name}", f"{ratio:.1f}x", bar)


if __name__ == "__main__":
    main()
