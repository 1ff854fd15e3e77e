"""What an experiment does: folds, seeds, methods and settings, as people name them."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.resources import files
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, ShuffleSplit

from nldd._wording import count_noun, escaped
from nldd.datasets import CATALOGUE, Dataset, load_dataset, parse_labels
from nldd.estimators import METHODS, PlattSVC, linear_machine
from nldd.exceptions import InputError
from nldd.linear import MultiLabelLogisticRegression

Rows = NDArray[np.intp]
PROTOCOLS = ("default", "best", "paper", "quick")
SETTINGS = ("default", "paper")
MAX_BYTES, MAX_LINE = 2**16, 1000
BASES = ("logistic", "auto", "platt-svc", "platt-linear-svc")
# What methods ask of a base classifier: probabilities or decisions of a label, or classes.
SHAPES = {
    **dict.fromkeys(("BR", "SMBR", "NLDD"), "probabilities"),
    **dict.fromkeys(("CC", "ECC"), "decisions"),
    **dict.fromkeys(("LP", "RAKEL"), "classes"),
}


def base_classifier(base: str, shape: str, seed: int) -> Any:
    """One of the `BASES` in one of the `SHAPES`."""
    if base == "auto":  # each method chooses, and shapes what it has chosen
        return base
    if base == "logistic":
        # One class against the rest, as for labels; chains as their default has it.
        return MultiLabelLogisticRegression(
            intercept="penalised" if shape == "decisions" else "free"
        )
    solver = "libsvm" if base == "platt-svc" else "liblinear"
    machine = PlattSVC if shape == "probabilities" else linear_machine
    return machine(solver=solver, random_state=seed)


@dataclass(frozen=True)
class Shares:
    """The study of one method on growing shares of the training rows of one data set."""

    dataset: str
    method: str
    steps: tuple[float, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Protocol:
    """An experiment, as a TOML file says it.

    Attributes
    ----------
    name, title : str
    seed : int
        Decides the folds; fold number k of every method draws from `seed` + k.
    folds, split_from, splits, test_share : int, int, int, float
        Data sets with fewer than `split_from` rows are cross-validated; others are split at
        random so many times, each time with that share of the rows to test on.
    settings : {"default", "paper"}
        Which settings of :data:`nldd.METHODS` the methods have.
    base, large_base : str
        Base classifier below `split_from` rows, and from there on.
    methods : tuple of str
    parameters, large_parameters : dict of dict
        Parameters by method that differ from the settings.
    dataset_parameters : dict of dict of dict
        The same by data set, which come first.
    shares : Shares or None
    """

    name: str
    title: str
    seed: int = 0
    folds: int = 10
    split_from: int = 5000
    splits: int = 1
    test_share: float = 0.25
    settings: str = "default"
    base: str = "logistic"
    large_base: str = "logistic"
    methods: tuple[str, ...] = tuple(METHODS)
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    large_parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    dataset_parameters: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    shares: Shares | None = None

    def is_large(self, n_samples: int) -> bool:
        """Whether a data set of so many rows is split at random instead of cross-validated."""
        return n_samples >= self.split_from

    def n_folds(self, n_samples: int) -> int:
        """How many pairs of training and test rows there are."""
        return self.splits if self.is_large(n_samples) else self.folds

    def cut(self, n_samples: int) -> dict[str, Any]:
        """How the folds are cut: their number, in words, and whether each row is tested once."""
        n, test = self.n_folds(n_samples), round(100 * self.test_share)
        text = f"{n}-fold cross-validation"
        if self.is_large(n_samples):
            text = f"{count_noun(n, 'random split')}, {100 - test}/{test}"
        disjoint = n == 1 or not self.is_large(n_samples)
        return {"n_folds": n, "split": text, "disjoint": disjoint}

    def split(self, n_samples: int) -> list[tuple[Rows, Rows]]:
        """Training and test rows of every fold, the same for all methods."""
        if self.is_large(n_samples):
            cut: Any = ShuffleSplit(self.splits, test_size=self.test_share, random_state=self.seed)
        else:
            cut = KFold(self.folds, shuffle=True, random_state=self.seed)
        return list(cut.split(np.empty((n_samples, 0))))

    def estimator(
        self, method: str, dataset: str, n_samples: int, fold: int, **parameters: Any
    ) -> Any:
        """The estimator of a cell; `parameters` come before those of the protocol."""
        record, large, seed = METHODS[method], self.is_large(n_samples), self.seed + fold
        chosen: dict[str, Any] = {}
        if method in SHAPES:
            base = self.large_base if large else self.base
            chosen["estimator"] = base_classifier(base, SHAPES[method], seed)
        if "random_state" in signature(record.factory).parameters:
            chosen["random_state"] = seed
        chosen |= self.parameters.get(method, {})
        if large:
            chosen |= self.large_parameters.get(method, {})
        chosen |= self.dataset_parameters.get(dataset, {}).get(method, {})
        chosen |= parameters
        if self.settings == "paper":
            return record.as_in_paper(large=large, **chosen)
        return record.default(**chosen)


def load_protocol(name: str | Path) -> Protocol:
    """A protocol that comes with nldd, by name, or one of your own, from a TOML file.

    Examples
    --------
    >>> protocol = load_protocol("paper")
    >>> protocol.n_folds(2417), protocol.n_folds(28596)
    (10, 1)
    >>> protocol.estimator("NLDD", "bibtex", 7395, fold=0).train_fraction
    0.7
    """
    path: Any = Path(name)
    stem, where = path.stem, str(path)
    if str(name) in PROTOCOLS:
        path, where = files("nldd.experiments") / "protocols" / f"{name}.toml", f"{name}.toml"
    elif path.suffix.lower() != ".toml":
        raise InputError(
            f"There is no protocol {str(name)!r}{_hint(str(name), PROTOCOLS, 'there are')}. "
            "For one of your own give the path of a file that ends in .toml."
        )
    try:
        return _read_protocol(stem, _read_toml(path))
    except UnicodeDecodeError as error:
        raise InputError(f"{where} is not UTF-8 text, as TOML files are: {error}.") from error
    except InputError as error:
        raise InputError(f"{where}: {escaped(str(error))}.") from error
    except RecursionError as error:
        raise InputError(f"{where}: its values are nested too deeply.") from error
    except ValueError as error:
        raise InputError(f"{where} is not a TOML file: {escaped(str(error))}.") from error


def _read_toml(path: Any) -> dict[str, Any]:
    """The content of a file that is small, also line by line: long keys take long to read."""
    with path.open("rb") as stream:
        content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise InputError(f"a protocol has at most {MAX_BYTES:,} bytes")
    for number, line in enumerate(content.splitlines(), start=1):
        if len(line) > MAX_LINE:
            raise InputError(f"line {number} has {len(line):,} bytes; at most {MAX_LINE} are read")
    return tomllib.loads(content.decode("utf-8"))


# What the value of a key must be: its type, a further check, and both in words.
_VALUES: dict[str, tuple[Any, Any, str]] = {
    "name": (str, re.compile(r"[\w-][\w.-]*").fullmatch, "a name of letters, digits, '-' and '_'"),
    "title": (str, bool, "a text"),
    "seed": (int, lambda seed: 0 <= seed < 2**31, "a whole number from 0 to 2147483647"),
    "folds": (int, lambda folds: folds >= 2, "a whole number from 2 on"),
    "split_from": (int, lambda rows: rows >= 2, "a whole number from 2 on"),
    "splits": (int, lambda splits: splits >= 1, "a whole number from 1 on"),
    "test_share": (float, lambda share: 0 < share < 1, "a number between 0 and 1"),
    "methods": (list, bool, "a list of methods"),
}


def _read_protocol(name: str, found: dict[str, Any]) -> Protocol:
    """Check key by key, so that a misspelt one is refused and not ignored."""
    for key in found:
        _choose(
            "", key, (*_VALUES, "settings", "base", "parameters", "large", "datasets", "shares")
        )
    values: dict[str, Any] = {"name": name, "title": name}
    values |= {key: _read_value(key, found[key]) for key in found if key in _VALUES}
    base = _choose("base", found.get("base", BASES[0]), BASES)
    large = _read_table(found, "large", ("base", "parameters"))
    datasets = _read_table(found, "datasets")
    tables = {name: _read_table(datasets, name, ("parameters",)) for name in datasets}
    return Protocol(
        **values,
        settings=_choose("settings", found.get("settings", SETTINGS[0]), SETTINGS),
        base=base,
        large_base=_choose("large.base", large.get("base", base), BASES),
        parameters=_read_parameters(found, "parameters"),
        large_parameters=_read_parameters(large, "large.parameters"),
        dataset_parameters={
            name: _read_parameters(table, f"datasets.{name}.parameters")
            for name, table in tables.items()
        },
        shares=_read_shares(found) if "shares" in found else None,
    )


def _read_value(key: str, value: Any) -> Any:
    kind, within, expected = _VALUES[key]
    _require(type(value) is kind and within(value), key, expected, value)
    return tuple(_choose(key, name, METHODS) for name in value) if kind is list else value


def _read_shares(found: dict[str, Any]) -> Shares:
    table = _read_table(found, "shares", ("dataset", "method", "steps", "parameters"))
    if missing := {"dataset", "method", "steps"} - set(table):
        raise InputError(f"[shares] needs {', '.join(sorted(missing))}")
    steps, dataset = table["steps"], table["dataset"]
    _require(isinstance(dataset, str), "shares.dataset", "the name of a data set", dataset)
    shares = type(steps) is list and [type(s) in (int, float) and 0 < s <= 1 for s in steps]
    _require(shares and all(shares), "shares.steps", "a list of numbers in (0, 1]", steps)
    method = _choose("shares.method", table["method"], METHODS)
    own = {"parameters": {method: table.get("parameters", {})}}
    parameters = _read_parameters(own, "shares.parameters")[method]
    return Shares(dataset, method, tuple(map(float, steps)), parameters)


def _read_parameters(table: dict[str, Any], where: str) -> dict[str, dict[str, Any]]:
    """Parameters by method, each known to it and of a value that it can take."""
    found = table.get("parameters", {})
    _require(isinstance(found, dict), where, "a table", found)
    for method, values in found.items():
        factory = METHODS[_choose(where, method, METHODS)].factory
        key = f"{where}.{method}"
        _require(isinstance(values, dict), key, f"a table of parameters, [{key}]", values)
        for name in values:
            _choose(key, name, signature(factory).parameters)
        try:
            factory(**values)._validate_params()
        except (ValueError, TypeError) as error:
            raise InputError(f"{key}: {error}") from error
    return found


def _require(fine: Any, key: str, expected: str, value: Any) -> None:
    if not fine:
        raise InputError(f"{key} must be {expected}; got {value!r:.80}")


def _read_table(found: dict[str, Any], key: str, keys: Sequence[str] = ()) -> Any:
    table = found.get(key, {})
    _require(isinstance(table, dict), key, f"a table, [{key}]", table)
    for name in table:
        _choose(key, name, keys or table)
    return table


def _choose(key: str, value: Any, known: Iterable[str]) -> str:
    known = tuple(known)
    if value not in known:
        what = f"{key}: there is no" if key else "unknown key"
        raise InputError(f"{what} {value!r:.80}{_hint(str(value), known)}")
    return str(value)


def _hint(found: str, known: Iterable[str], intro: str = "known are") -> str:
    close = get_close_matches(found, known, n=1) or get_close_matches(found.upper(), known, n=1)
    meant = f" (did you mean {close[0]!r}?)" if close else ""
    return f"{meant}; {intro} {', '.join(known)}"


def choose_datasets(
    names: Sequence[str], labels: str | None = None, data_dir: Path | None = None
) -> dict[str, Dataset]:
    """Load data sets by catalogue name or path; all of the catalogue if there are no `names`.

    A file goes by its name without the ending.
    """
    chosen: dict[str, Dataset] = {}
    for name in names or CATALOGUE:
        known = name in CATALOGUE
        key = name if known else Path(name).stem
        if key in chosen:
            raise InputError(
                f"Two data sets are called {key!r}: rename one file, or leave one of them out."
            )
        chosen[key] = load_dataset(name, data_dir=data_dir) if known else _load(name, labels)
    return chosen


def _load(path: str, labels: str | None) -> Dataset:
    """A file; `labels` are for those that do not say themselves which columns are labels."""
    if labels is not None and Path(path).suffix.lower() == ".arff":
        try:
            return load_dataset(path)
        except InputError:
            pass  # it does not say, or is wrong in another way, which the second try tells
    return load_dataset(path, labels=parse_labels(labels))


def choose_methods(names: Sequence[str], protocol: Protocol) -> tuple[str, ...]:
    """Methods by short name, in any case; those of the protocol if none is named."""
    wanted = [name.upper() for name in names]
    for name in wanted:
        if name not in METHODS:
            close = get_close_matches(name, METHODS, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise InputError(f"There is no method {name!r}.{hint} There are {', '.join(METHODS)}.")
    return tuple(method for method in METHODS if method in wanted) or protocol.methods
