"""Made-up answers for the tests of coding, models fitted to them, and tables of them."""

import csv
from itertools import count

import numpy as np

import coding_tables
from nldd.coding.answers import Answers, Decisions
from nldd.coding.columns import CodeColumns, Columns, ColumnSpec
from nldd.coding.model import Settings, fit_coding_model
from nldd.coding.rows import looked_at_codes
from nldd.coding.tables.reading import read_table

PHRASES = {
    "bus": ["more buses", "the bus is late", "buses at night", "a bus to the station"],
    "park": ["greener parks", "trees in the park", "a park with benches", "clean park"],
    "rent": ["cheaper rent", "rents are too high", "lower the rent", "rent eats my money"],
}
COLUMNS = Columns(("answer",), CodeColumns(("codes",)))
REQUEST = ColumnSpec(("answer",), "codes")
SETTINGS = Settings(n_folds=2)
# Columns that a review has behind those of its table and the codes.
REVIEWED = ["ok", "why", "next_1", "next_2", "next_3", "nearest", "codes", "status"]
REVIEWED += ["chance", "theta", "guarantee", "drawn"]
REVIEWED = [f"nldd_{name}" for name in REVIEWED]


def made_up(n, seed=0):
    """Texts of one or two phrases and their codes; a tenth is vague, with one code by chance."""
    rng = np.random.default_rng(seed)
    texts, codes = [], []
    for _ in range(n):
        vague = rng.random() < 0.1
        size = 3 if vague else rng.integers(1, 3)
        names = rng.choice(list(PHRASES), size=size, replace=False).tolist()
        texts.append(", ".join(str(rng.choice(PHRASES[name])) for name in names))
        codes.append({names[0]} if vague else set(names))
    return texts, codes


NUMBERS = count(1)


def answers_of(texts, numbers=None, categories=None):
    """Answers with or without features beside the text, each of another respondent."""
    n = len(texts)
    numbers = np.empty((n, 0)) if numbers is None else np.array(numbers, dtype=float)
    categories = [()] * n if categories is None else list(categories)
    return Answers(list(texts), numbers, categories, ids=[f"r{next(NUMBERS)}" for _ in texts])


def decided(codes, agreed=()):
    """Decisions on answers drawn at random, on which coders may not agree."""
    given = [frozenset(names) for names in codes]
    return Decisions(given, drawn=[True] * len(given), agreed=list(agreed))


def fitted(texts, codes, columns=COLUMNS, settings=SETTINGS):
    """A model of texts alone."""
    return fit_coding_model(answers_of(texts), codes, columns, settings)


def write_csv(path, header, rows):
    return coding_tables.write_csv(path, rows, header)


def read_csv(path):
    """Header and rows as lists, read by nothing of nldd."""
    with path.open(newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    return header, rows


def take_codes(model, path):
    """The codes that people have decided in a review, and how many rows nobody has."""
    codes, _ = looked_at_codes(read_table(path), model.columns.codes)
    return codes, sum(found is None for found in codes)


def write_coded(path, texts, codes):
    """A table with the columns ``answer`` and ``codes``; None is an answer without codes."""
    cells = ["" if names is None else ";".join(sorted(names)) for names in codes]
    return write_csv(path, ["answer", "codes"], zip(texts, cells, strict=True))


def assert_same(found, expected):
    """All fields, to the last bit."""
    for name in ("Y", "theta", "row", "probability", "Dx", "chance", "P"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
