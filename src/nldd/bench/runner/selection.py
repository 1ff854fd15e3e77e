"""What a person chooses for a run: data sets by name or file, and methods."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np
from scipy.sparse import issparse

from nldd.bench.datasets.catalogue import CATALOGUE
from nldd.bench.datasets.load import load_named
from nldd.bench.protocols.methods import check_classifier, is_own, own_method
from nldd.bench.protocols.protocol import Protocol
from nldd.bench.protocols.protocol_file import hint
from nldd.datasets import Dataset
from nldd.estimators._registry import METHODS, Method
from nldd.exceptions import InputError
from nldd.present.text import printable


def choose_datasets(
    names: Sequence[str],
    labels: str | None = None,
    data_dir: Path | None = None,
    *,
    text: str | None = None,
    columns_of: Callable[[str], Mapping[str, str]] = lambda name: {},
) -> dict[str, Dataset]:
    """Load data sets by catalogue name or path.

    A file goes by its name without the ending, and a training and a test file by what their names
    have in common.

    Parameters
    ----------
    names : sequence of str
        All of the catalogue if there are none.
    labels : str, default=None
        Label columns of files, in the words of the command: a pattern, names with commas, a count.
    data_dir : path, default=None
        See :func:`nldd.bench.datasets.catalogue.data_folder`.
    text : str, default=None
        The column of text of files.
    columns_of : callable
        Tells `labels` and `text` of a data set by its name, which come first; see
        :meth:`Protocol.columns_of`.

    Returns
    -------
    dict of Dataset by name

    Examples
    --------
    >>> from nldd.bench.runner.selection import choose_datasets
    >>> choose_datasets(["yeast"])
    {'yeast': Dataset('yeast', 2417 samples, 103 features, 14 labels)}
    """
    chosen: dict[str, Dataset] = {}
    for name in names or CATALOGUE:
        dataset = load_named(name, labels, text, data_dir, columns_of=columns_of)
        if dataset.name in chosen:
            raise InputError(
                f"Two data sets are called {dataset.name!r}: rename one file, or leave one of "
                "them out."
            )
        chosen[dataset.name] = dataset
    return chosen


def run_notes(protocol: Protocol, datasets: Mapping[str, Dataset]) -> Iterator[str]:
    """What a person should know about the data sets of a run before it starts."""
    for name in sorted(protocol.named_datasets - {*datasets, *CATALOGUE}):
        yield f"The protocol names a data set {printable(repr(name))}, which is not in this run."
    is_imputed = any("Imputer" in type(each).__name__ for each in protocol.prepare)
    for name, dataset in datasets.items():
        yield from (f"{name}: {note}" for note in dataset.notes)
        split = protocol.split_of(name, dataset.n_samples)
        if dataset.n_train is not None and split.kind != "given" and name not in CATALOGUE:
            yield (
                f"{name}: all its rows are split anew, {split.cut(dataset)['split']}. The split of "
                'its files is used by a protocol with split = "given".'
            )
        values = dataset.X.data if issparse(dataset.X) else dataset.X
        if not (is_imputed or dataset.is_text) and np.isnan(values).any():
            yield (
                f"{name}: some values are missing, which most methods refuse. To fill them in, put "
                'prepare = ["sklearn.impute:SimpleImputer"] into a protocol of your own.'
            )


def check_datasets(protocol: Protocol, names: Iterable[str]) -> None:
    """Refuse a protocol that speaks of a data set by a misspelt name."""
    known = [*names, *(name for name in CATALOGUE if name not in names)]
    for name in sorted(protocol.named_datasets.difference(known)):
        if close := get_close_matches(name, known, n=1):
            raise InputError(
                f"The protocol names a data set {printable(repr(name))}, which is neither among "
                f"those of this run nor in the catalogue. Did you mean {close[0]!r}? There are "
                f"{', '.join(known)}."
            )


def check_capitals(what: str, names: Iterable[str]) -> None:
    """Refuse names that differ in capitals only: many systems take their files for the same."""
    known: dict[str, str] = {}
    for name in names:
        other = known.setdefault(name.casefold(), name)
        if other != name:
            raise InputError(
                f"The {what} {printable(repr(other))} and {printable(repr(name))} differ in "
                "capitals only, and their files could be taken for the same. Rename one."
            )


def choose_methods(names: Sequence[str], protocol: Protocol) -> Protocol:
    """The protocol with these methods only; with its own ones if none is named.

    Parameters
    ----------
    names : sequence of str
        Short names, in any case, or ``module:Class`` or ``Name=module:Class``.
    protocol : Protocol

    Returns
    -------
    Protocol

    Examples
    --------
    >>> from nldd.bench import load_protocol
    >>> from nldd.bench.runner.selection import choose_methods
    >>> mine = ["nldd", "br", "Forest=sklearn.ensemble:RandomForestClassifier"]
    >>> choose_methods(mine, load_protocol("quick")).methods
    ('BR', 'NLDD', 'Forest')
    """
    if not names:
        return protocol
    found: dict[str, Method] = {}
    for name in names:
        method = _find_method(name, protocol)
        if found.setdefault(method.key, method) != method:
            raise InputError(f"Two methods are called {method.key!r}: write Name={method.name}.")
    own = {key: method for key, method in found.items() if key not in METHODS}
    order = [key for key in METHODS if key in found]
    return replace(protocol, methods=(*order, *own), own={**protocol.own, **own})


def _find_method(name: str, protocol: Protocol) -> Method:
    if name in protocol.own:
        return protocol.own[name]
    if is_own(name):
        try:
            method = own_method(name)
            check_classifier(method, protocol.parameters.get(method.key, {}))
            return method
        except InputError as error:
            raise InputError(f"{error}.") from error
    key = name.upper()
    if key not in METHODS:
        known = hint(name, (*METHODS, *protocol.own), "there are")
        how = "is named by its module and class, such as my_module:MyClassifier"
        raise InputError(f"There is no method {name!r}{known}; one of your own {how}.")
    return METHODS[key]
