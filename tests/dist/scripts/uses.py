"""What each extra is for, in a few lines: ``uses.py EXTRA FOLDER``.

The folder has coded answers, as text and as Parquet, and new ones. Prints what was found.
"""

import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import HTTPCookieProcessor, build_opener

from nldd import NLDDClassifier, load_yeast

extra, given = sys.argv[1], Path(sys.argv[2])
NLDD = [sys.executable, "-I", "-m", "nldd"]
COLUMNS = ["--text", "answer", "--labels", "codes", "--folds", "2"]
BENCHMARK = ["benchmark", "--protocol", "quick", "--datasets", "yeast", "--methods", "BR,MLKNN"]


def run(*words):
    """Run a command; if it fails, so does this program."""
    done = subprocess.run([*NLDD, *map(str, words)], capture_output=True, encoding="utf-8")
    print(done.stdout, done.stderr, file=sys.stderr)
    if done.returncode:
        sys.exit(done.returncode)


def rows(n):
    X, Y, _ = load_yeast()
    return X[:n], Y[:n]


def bench(folder):
    run("demo", "--folds", "2", "--out", folder / "demo")
    run(*BENCHMARK, "--out", folder)
    run("report", folder)
    return "<table" in (folder / "report.html").read_text("utf-8")


def coding(folder):
    model = folder / "model.nldd"
    run("fit", given / "answers.csv", *COLUMNS, "-o", model)
    run("triage", model, "--figure", folder / "curve")
    has_report = model.with_name("model.report.html").exists() and (folder / "curve.png").exists()
    return has_report and opens_review(model)


def opens_review(model):
    """Whether the review page is served at the address that the command prints."""
    words = ["review", model, given / "new.csv", "--no-browser"]
    words += ["--store", model.with_name("new.review.db")]
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


def parquet(folder):
    run("fit", given / "answers.parquet", *COLUMNS, "--no-report", "-o", folder / "model.nldd")
    return (folder / "model.nldd").exists()


def spss(folder):
    model, coded = folder / "model.nldd", folder / "coded.sav"
    run("fit", given / "answers.csv", *COLUMNS, "--no-report", "-o", model)
    run("predict", model, given / "new.csv", "-o", coded)
    run("predict", model, coded, "-o", folder / "again.csv")
    return len((folder / "again.csv").read_text("utf-8").splitlines()) == 21


def dask(folder):
    import dask.array as da

    X, Y = rows(300)
    blocks = [da.from_array(array, chunks=(100, -1)) for array in (X, Y)]
    model = NLDDClassifier(estimator=None, random_state=0).fit(*blocks)
    return model.predict(X[:10]).shape == (10, 14)


def gee(folder):
    model = NLDDClassifier(None, covariance="exchangeable", random_state=0).fit(*rows(300))
    return "exchangeable" in str(model.regression_)


def all(folder):
    run(*BENCHMARK, "--jobs", "1", "--backend", "dask", "--out", folder)
    n_cells = len((folder / "cells.jsonl").read_text("utf-8").splitlines())
    return n_cells == 6 and parquet(folder)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with TemporaryDirectory() as folder:
        print(globals()[extra](Path(folder)))
