"""A small survey of a staff that nobody asked, as files, and commands run on them."""

import csv
import json
import random
from collections import Counter
from dataclasses import dataclass
from warnings import catch_warnings, simplefilter

from nldd import cli
from nldd.exceptions import NLDDWarning

HEADER = ("id", "answer", "age", "region", "codes")
ADDED = ("nldd_codes", "nldd_status", "nldd_chance", "nldd_theta", "nldd_nearest", "nldd_why")
COLUMNS = ("--text", "answer", "--labels", "codes")
QUICK = ("--folds", "2", "--jobs", "1", "--no-report")

PHRASES = {
    "food": ("the canteen serves cold meals", "lunch costs too much", "more vegetarian dishes"),
    "pay": ("salaries are too low", "overtime should be paid", "no raise for four years"),
    "managers": ("my boss never listens", "superiors should say thanks", "clear goals from above"),
    "rooms": ("the open office is loud", "the heating is broken", "chairs hurt my back"),
    "home office": ("let us work from home", "two remote days a week", "remote work for parents"),
}


def answers(n, seed=0):
    """Rows of HEADER, all of them coded; as many topics in an answer as its codes."""
    rng = random.Random(seed)
    rows = []
    for number in range(1, n + 1):
        codes = sorted(rng.sample(sorted(PHRASES), rng.choice((1, 1, 1, 2))))
        text = rng.choice((" and ", ". ", ", ")).join(rng.choice(PHRASES[code]) for code in codes)
        if rng.random() < 0.3:
            text = text.replace("e", "", 1)
        age = rng.choice((str(rng.randint(18, 66)), ""))
        region = rng.choice(("Bonn", "Leeds", "Lyon"))
        rows.append((f"p{seed or ''}{number:03}", text, age, region, ";".join(codes)))
    return rows


def without_codes(rows, every=10):
    """Rows of which every so many-th was not coded."""
    return [(*row[:-1], "") if i % every == 0 else row for i, row in enumerate(rows)]


# Of `make_study`.
ROWS, NEW = without_codes(answers(120)), answers(40, seed=1)


def counts_of(rows, separator=";", place=-1):
    """How many rows carry each code."""
    listed = (str(row[place]).split(separator) for row in rows if row[place])
    return Counter(code.strip() for codes in listed for code in codes)


def make_study(folder):
    """120 coded answers, 40 new ones with and without codes, and a model."""
    write_csv(folder / "answers.csv", ROWS)
    write_csv(folder / "truth.csv", NEW)
    write_csv(folder / "new.csv", [row[:-1] for row in NEW], HEADER[:-1])
    words = (*COLUMNS, "--features", "age,region", *QUICK, "-o", folder / "model.nldd")
    assert call("fit", folder / "answers.csv", *words) == 0
    return folder


def write_csv(path, rows, header=HEADER, *, encoding="utf-8", first="", newline="\n", **dialect):
    """A file as some other program might write it; `newline` ends its rows."""
    with path.open("w", encoding=encoding, newline="") as stream:
        stream.write(first)
        writer = csv.writer(stream, lineterminator=newline, **dialect)
        writer.writerows([header, *rows])
    return path


def read_csv(path, **dialect):
    """Header and rows, as Python's own reader has them."""
    with path.open(encoding="utf-8-sig", newline="") as stream:
        header, *rows = csv.reader(stream, **dialect)
    return tuple(header), [tuple(row) for row in rows]


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        """Standard output, which must be one JSON value and nothing else."""
        return json.loads(self.out, parse_constant=_no_json)


def _no_json(constant):
    raise ValueError(f"{constant} is not JSON")


def call(*arguments):
    """Exit code of a command."""
    with catch_warnings():
        # As people run it: nldd's own warnings are notes. All others stay errors.
        simplefilter("default", NLDDWarning)
        return cli.run([str(argument) for argument in arguments])


def as_json(value):
    """A value as it comes back from JSON."""
    return json.loads(json.dumps(value, default=lambda array: array.tolist()))


def nldd(capsys, *arguments):
    """A command, run in this process."""
    capsys.readouterr()
    code = call(*arguments)
    return Done(code, *capsys.readouterr())


def succeed(capsys, *arguments):
    """A command that must do its work."""
    done = nldd(capsys, *arguments)
    assert done.code == 0, done.err
    assert "\x1b" not in done.out + done.err
    return done


def refuse(capsys, *arguments, code=1):
    """Both lines of the error of a command that must not do its work."""
    done = nldd(capsys, *arguments)
    assert (done.code, done.out) == (code, ""), done.err
    notes = ("Note: ", "testing: ", "choosing ")
    lines = [line for line in done.err.splitlines() if not line.startswith(notes)]
    assert len(lines) == 2, done.err
    assert lines[0].startswith("Error: ")
    assert lines[1].startswith("Try: ")
    assert "Traceback" not in done.err
    assert "mistake in nldd" not in done.err  # a crash is no refusal
    return lines[0].removeprefix("Error: "), lines[1].removeprefix("Try: ")
