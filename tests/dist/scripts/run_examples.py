"""Run the examples of the installed library's docstrings, by nothing but the standard library.

Prints as JSON how many docstrings and examples ran, and what failed. A docstring is left out if its
first failure is that a library of an extra is missing.
"""

import json
import sys
import warnings
from collections import Counter
from doctest import NORMALIZE_WHITESPACE, DocTestFinder, DocTestRunner
from importlib import import_module
from pkgutil import walk_packages

import nldd
from nldd.exceptions import MissingExtraError


class Runner(DocTestRunner):
    """Keeps the first thing that went wrong in a docstring, and what it printed."""

    def __init__(self):
        super().__init__(verbose=False, optionflags=NORMALIZE_WHITESPACE)
        self.first = None

    def report_unexpected_exception(self, out, test, example, exc_info):
        self.first = self.first or exc_info[1]

    def report_failure(self, out, test, example, got):
        self.first = self.first or f"line {test.lineno}: {example.source!r} printed {got!r}"


def modules():
    """All modules of the library; the applications and what they share need an extra."""
    for found in walk_packages(nldd.__path__, "nldd."):
        if not found.name.startswith(("nldd.bench", "nldd.coding", "nldd.present")):
            yield import_module(found.name)


def main():
    warnings.simplefilter("ignore")
    count, failed = Counter(), []
    for module in modules():
        for test in DocTestFinder(exclude_empty=True).find(module):
            if not test.examples:
                continue
            runner = Runner()
            runner.run(test, out=lambda text: None)
            if runner.first is None:
                count.update(docstrings=1, examples=len(test.examples))
            elif not isinstance(runner.first, MissingExtraError):
                failed.append(f"{test.name}: {runner.first!r}")
    print(json.dumps({**count, "failed": failed, "file": nldd.__file__}))


# Workers that an example starts import this file, and are not to run it.
if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    main()
