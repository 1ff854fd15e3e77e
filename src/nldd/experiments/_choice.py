"""Data sets and methods that a person chose by name."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from nldd.datasets import CATALOGUE, Dataset, load_dataset
from nldd.estimators import METHODS
from nldd.exceptions import InputError
from nldd.experiments._protocol import Protocol


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
    return load_dataset(path, labels=read_labels(labels))


def read_labels(text: str | None) -> str | int | list[str] | None:
    """Label columns as given on the command line: a count, names with commas, a pattern or a file.

    Examples
    --------
    >>> read_labels("-6"), read_labels("happy,sad"), read_labels("label_*")
    (-6, ['happy', 'sad'], 'label_*')
    """
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        return text.split(",") if "," in text else text


def choose_methods(names: Sequence[str], protocol: Protocol) -> tuple[str, ...]:
    """Methods by short name, in any case; those of the protocol if none is named."""
    wanted = [name.upper() for name in names]
    for name in wanted:
        if name not in METHODS:
            close = get_close_matches(name, METHODS, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise InputError(f"There is no method {name!r}.{hint} There are {', '.join(METHODS)}.")
    if not wanted:
        return protocol.methods
    return tuple(method for method in METHODS if method in wanted)
