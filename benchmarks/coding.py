"""One million new answers through ``nldd predict``: rows a second, and memory.

A model of 1,200 synthetic answers codes a CSV file in one run, in a process of its own.
The peer is the same file read and written again by Python's csv module, which does nothing else.
"""

import argparse
import csv
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from make_survey import survey_rows
from measure import Answers, seconds

from nldd.cli import run
from nldd.coding.tables.spreadsheet import frame_of_rows
from nldd.coding.tables.writing import write_table
from nldd.datasets import load_survey

N_CODED = 1200


def write(path: Path, header, rows) -> None:
    """A table of survey answers."""
    write_table(path, frame_of_rows(list(rows), len(header)), header=header, raw=True)


def copy(path: Path, out: Path) -> None:
    """The peer: every cell read and written, and nothing else."""
    with path.open(newline="") as reader, out.open("w", newline="") as writer:
        csv.writer(writer).writerows(csv.reader(reader))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    n_rows = parser.parse_args().rows
    answers = Answers("coding" if n_rows == 1_000_000 else "coding-trial")
    survey = load_survey()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "answers.csv", survey.header, survey.rows[:N_CODED])
        new = (row[:-1] for row in survey_rows(n_rows, random_state=1))
        write(folder / "new.csv", survey.header[:-1], new)
        model = str(folder / "model.nldd")
        columns = ["--text", "answer", "--labels", "codes", "--features", "age,region"]
        assert run(["fit", str(folder / "answers.csv"), *columns, "--no-report", "-o", model]) == 0
        places = [str(folder / place) for place in ("new.csv", "coded.csv")]
        command = [
            sys.executable,
            "-c",
            "import sys; from nldd.cli import main; main(sys.argv[1:])",
        ]
        command += ["predict", model, places[0], "-o", places[1]]
        taken = seconds(lambda: subprocess.run(command, check=True))
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        plain = seconds(lambda: copy(folder / "new.csv", folder / "copy.csv"))
        with (folder / "coded.csv").open(newline="") as stream:
            assert sum(1 for _ in csv.reader(stream)) == n_rows + 1
    rows = f"{n_rows:,} answers"
    cpu = used.ru_utime + used.ru_stime
    answers.add(f"{rows}, coded a second of processor time", f"{n_rows / cpu:,.0f}")
    answers.add(f"{rows}, time against a copy by the csv module", f"{taken / plain:.0f}x")
    answers.add(
        f"{rows}, peak memory of nldd predict", f"{used.ru_maxrss / 2**20:.2f} GB", "< 2 GB"
    )


if __name__ == "__main__":
    main()
