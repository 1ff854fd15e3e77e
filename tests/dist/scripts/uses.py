"""What each extra is for, in a few lines: ``uses.py EXTRA FOLDER``.

The folder has what `nldd demo survey` and a benchmark have left there. Prints what it found.
"""

import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import HTTPCookieProcessor, build_opener

from nldd.bench.displays.pairs import PairsDisplay
from nldd.datasets import load_yeast
from nldd.estimators._nldd import NLDDClassifier
from nldd.coding.tables.opening import open_table
from nldd.coding.tables.writer import create_table

extra, given = sys.argv[1], Path(sys.argv[2])
X, Y, _ = load_yeast()
X, Y, new = X[:300], Y[:300], X[300:310]
NLDD = [sys.executable, "-I", "-m", "nldd"]


def fitted(**parameters):
    return NLDDClassifier(estimator=None, random_state=0, **parameters).fit(X, Y)


def command(*words):
    done = subprocess.run([*NLDD, *map(str, words)], capture_output=True, encoding="utf-8")
    print(done.stdout, done.stderr, file=sys.stderr)
    return done.returncode


def dask(folder):
    words = ["--protocol", "quick", "--datasets", "yeast", "--methods", "MLKNN", "--jobs", "1"]
    if code := command("benchmark", *words, "--backend", "dask", "--out", folder):
        sys.exit(code)
    import dask.array as da

    blocks = [da.from_array(array, chunks=(100, -1)) for array in (X, Y)]
    model = NLDDClassifier(estimator=None, random_state=0).fit(*blocks)
    n_cells = len((folder / "cells.jsonl").read_text(encoding="utf-8").splitlines())
    return (model.predict(new).shape, n_cells) == ((10, 14), 3)


def gee(folder):
    return "exchangeable" in str(fitted(covariance="exchangeable").regression_)


def plot(folder):
    PairsDisplay.from_estimator(fitted()).plot().figure_.savefig(folder / "pairs.png")
    return (folder / "pairs.png").read_bytes().startswith(b"\x89PNG")


def parquet(folder):
    return rows(given / "answers.parquet")


def spss(folder):
    path = folder / "answers.sav"
    with create_table(path, ["id", "answer"]) as writer:
        writer.write([["1", "zu spät"], ["2", "more buses"]])
    return rows(path)


def rows(path):
    with open_table(path) as table:
        return [list(row) for block in table.blocks() for row in block.rows][-1][1] == "more buses"


def report(folder):
    if code := command("report", given / "benchmark", "--out", folder):
        sys.exit(code)
    model, curve = given / "nldd-survey" / "model.nldd", folder / "curve"
    if code := command("triage", model, "--figure", curve):
        sys.exit(code)
    page = (folder / "report.html").read_text(encoding="utf-8")
    return "<table" in page and curve.with_suffix(".png").exists()


def review(folder):
    words = ["review", given / "nldd-survey" / "before.nldd", given / "nldd-survey" / "new.csv"]
    words += ["--store", folder / "new.review.db", "--no-browser"]
    with subprocess.Popen(
        [*NLDD, *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as server:
        said = []
        for line in server.stderr:
            said.append(line)
            if line.startswith("Ctrl-C ends"):
                break
        else:
            print(*said, file=sys.stderr)
            sys.exit(server.wait())
        try:
            address = next(line for line in said if "http://" in line).split()[-1]
            # The address lets a browser in by a cookie, which its page then shows.
            browser = build_opener(HTTPCookieProcessor())
            return "<!doctype html>" in browser.open(address, timeout=30).read().decode().lower()
        finally:
            server.kill()


def survey(folder):
    model = folder / "model.nldd"
    columns = ["--text", "answer", "--labels", "codes", "--folds", "2"]
    if code := command("fit", given / "nldd-survey" / "answers.csv", *columns, "-o", model):
        sys.exit(code)
    if not model.with_name("model.report.html").exists():
        sys.exit("There is no report.")
    return review(folder)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with TemporaryDirectory() as folder:
        print(globals()[extra](Path(folder)))
