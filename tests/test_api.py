"""Every public name: where it comes from, what its page says, and an example that runs.

pytest runs the examples in docstrings by itself; those of constants are run here.
"""

import ast
import builtins
import dataclasses
import doctest
import importlib
import inspect
import re

import pytest
from sklearn.base import BaseEstimator

from api_reference import home, members, public_names, public_packages

# Packages whose pages are held to these rules.
PACKAGES = (
    "nldd",
    "nldd.coding",
    "nldd.datasets",
    "nldd.displays",
    "nldd.estimators",
    "nldd.exceptions",
    "nldd.experiments",
    "nldd.io",
    "nldd.linear",
    "nldd.metrics",
    "nldd.regression",
    "nldd.reports",
    "nldd.review",
    "nldd.search",
    "nldd.statistics",
    "nldd.tables",
)
PUBLIC = [each for each in public_names() if each.package in PACKAGES]
# One page serves both packages that share a name.
PAGES = list({(each.module, each.name): each for each in PUBLIC}.values())
FLAGS = doctest.NORMALIZE_WHITESPACE
OUTSIDE = {"__name__", "__file__", *dir(builtins)}


def each_of(records):
    return pytest.mark.parametrize("each", records, ids=lambda r: f"{r.package}.{r.name}")


def of_kind(*kinds):
    return each_of([each for each in PAGES if each.kind in kinds])


def thing(each):
    return getattr(importlib.import_module(each.package), each.name)


def sections(doc):
    """The text of each section of a docstring by its title; what comes before is under ''."""
    found, title, lines = {}, "", doc.splitlines()
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if line and re.fullmatch(r"-{3,}", after) and len(after) == len(line):
            title = line
        elif not re.fullmatch(r"-{3,}", line):
            found.setdefault(title, []).append(line)
    return found


def documented(doc, *titles):
    """Names that sections such as Parameters describe."""
    entries = [line for title in titles for line in sections(doc).get(title, [])]
    names = [line.split(" : ")[0].split(", ") for line in entries if line[:1].strip()]
    return [name.lstrip("*") for group in names for name in group]


def parameters(function):
    named = inspect.signature(function).parameters
    return [name for name in named if name != "self" and not name.startswith("_")]


def is_record(kind):
    return dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")


def code_of(doc):
    return "".join(example.source for example in doctest.DocTestParser().get_examples(doc))


def test_every_package_with_public_names_is_held_to_the_rules():
    assert set(PACKAGES) <= set(public_packages())
    assert {each.package for each in PUBLIC} == set(PACKAGES)


@each_of(PUBLIC)
def test_name_is_found_where_its_package_says(each):
    assert home(each.package, each.name) == each.module
    there = getattr(importlib.import_module(each.module), each.name)
    assert thing(each) is there
    if each.kind != "data":
        assert (there.__module__, there.__qualname__) == (each.module, each.name)


@each_of(PAGES)
def test_page_begins_with_one_sentence_and_has_an_example(each):
    assert not re.search(r"\w -{3,} \w", each.doc)  # a title that was wrapped into its text
    summary, *rest = each.doc.split("\n\n")
    assert re.fullmatch(r"[^\n]+\.", summary), "one line that ends with a full stop"
    assert not re.search(r"[.!?] [A-Z]", summary), "one sentence"
    assert rest, "an example follows"
    where = sections(each.doc)["Examples"] if each.kind != "data" else each.doc.splitlines()
    examples = doctest.DocTestParser().get_examples("\n".join(where))
    assert any(example.want or example.exc_msg for example in examples), "with something to see"
    assert not any("SKIP" in example.source for example in examples)


@each_of(PAGES)
def test_example_stands_alone(each):
    tree = ast.parse(code_of(each.doc))
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    used = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    made = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    made |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    made |= {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)}
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    made |= {alias.asname or alias.name for node in imports for alias in node.names}
    assert used <= made | OUTSIDE


@of_kind("data")
def test_example_of_a_constant_runs(each):
    test = doctest.DocTestParser().get_doctest(each.doc, {}, each.name, each.module, 0)
    report = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append)
    assert not report, "".join(report)


@of_kind("function", "class")
def test_parameters_are_those_of_the_signature(each):
    kind = thing(each)
    if each.kind == "class" and is_record(kind) and not documented(each.doc, "Parameters"):
        fields, named = parameters(kind), documented(each.doc, "Attributes")
        assert sorted(fields) == sorted(set(fields) & set(named))
        assert all(hasattr(kind, name) for name in set(named) - set(fields))
    else:
        assert documented(each.doc, "Parameters") == parameters(kind)


@of_kind("function")
def test_function_says_what_it_returns(each):
    returns_nothing = inspect.signature(thing(each)).return_annotation in (None, "None")
    assert ("Returns" in sections(each.doc)) != returns_nothing


METHODS = {
    f"{method.__module__}.{method.__qualname__}": method
    for each in PAGES
    if each.kind == "class" and issubclass(thing(each), BaseEstimator)
    for method in (getattr(thing(each), name) for name in members(thing(each)))
}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_method_of_an_estimator_says_what_it_takes_and_returns(method):
    doc = inspect.getdoc(method)
    assert documented(doc, "Parameters") == parameters(method)
    assert "Returns" in sections(doc)


@of_kind("class")
def test_every_method_and_property_has_a_text(each):
    silent = [name for name in members(thing(each)) if not getattr(thing(each), name).__doc__]
    assert silent == []
