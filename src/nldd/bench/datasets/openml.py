"""Data sets of OpenML by their numbers, by scikit-learn's fetcher and kept in the data folder."""

import os
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from nldd._wording import quote, quote_first
from nldd.bench.datasets.arff import Arff, Attribute
from nldd.bench.datasets.arff_dataset import as_dataset
from nldd.bench.datasets.catalogue import Folder, data_folder
from nldd.bench.datasets.label_columns import FORMS, Labels
from nldd.bench.datasets.source import MAX_BYTES, DataFile
from nldd.datasets import Dataset
from nldd.exceptions import InputError, NLDDError

OPENML = "openml:"
_NUMBER = re.compile(r"[1-9][0-9]{0,11}")


def load_openml(
    name: str,
    labels: Labels | os.PathLike[str] | None,
    *,
    text: str | None = None,
    keep_ids: bool = False,
    data_dir: Folder = None,
) -> Dataset:
    """The data set ``openml:41473``; its labels are the targets that OpenML states.

    Rows and columns are turned into numbers as those of an ARFF file are. The files stay in the
    folder ``openml`` of the data folder, and the same call needs no network afterwards.
    """
    if text is not None:
        raise InputError(f"scikit-learn fetches no texts from OpenML: leave text out for {name}.")
    number = name.removeprefix(OPENML)
    if not _NUMBER.fullmatch(number):
        why = "since several of OpenML's data sets may have one name, and a number stays"
        raise InputError(f"Say {OPENML} and the number of a data set, {why}; got {quote(name)}.")
    found = _fetch(int(number), data_folder(data_dir))
    targets = _targets(found)
    if labels is None and len(targets) < 2:
        stated = f"the target {quote(targets[0])} only" if targets else "no target"
        columns = f"its columns are {quote_first(found.feature_names)}"
        raise InputError(f"OpenML states {stated} for {name}; {columns}. Say which ones: {FORMS}.")
    chosen = targets if labels is None else labels
    table, called = _as_arff(found, name), str(found.details["name"])
    return as_dataset([table], chosen, called, keep_ids=keep_ids)


def _fetch(number: int, folder: Path) -> Any:
    """All columns of a data set as numbers, with what OpenML says about it."""
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            # Of what is inactive, or fetched once more: who names a number wants that one.
            warnings.simplefilter("ignore")
            return fetch_openml(
                data_id=number,
                data_home=str(folder),
                target_column=None,
                as_frame=False,
                parser="liac-arff",
                n_retries=1,
            )
    except OSError as error:
        reason = getattr(error, "reason", None) or error
        copy = f"copy the folder {folder / 'openml'} from a machine that has it"
        what = f"{OPENML}{number} could not be fetched: {reason}"
        raise NLDDError(f"{what}. Check the number and the network, or {copy}.") from error
    except (ValueError, KeyError) as error:
        reason = str(error).rstrip(".")
        raise InputError(f"{OPENML}{number} cannot be read: {reason}.") from error


def _targets(found: Any) -> list[str]:
    stated = found.details.get("default_target_attribute") or ""
    names = [name.strip() for name in stated.split(",")]
    return [name for name in names if name in found.feature_names]


def _as_arff(found: Any, name: str) -> Arff:
    """What came from OpenML in the form in which an ARFF file is read."""
    attributes = []
    for place, column in enumerate(found.feature_names, start=1):
        values = found.categories.get(column)
        codes = None if values is None else {str(v): float(k) for k, v in enumerate(values)}
        attributes.append(Attribute(column, codes, place))
    table = csr_array(found.data) if issparse(found.data) else np.asarray(found.data, float)
    n_rows = table.shape[0]
    source = DataFile(Path(name), MAX_BYTES)
    return Arff(source, name, tuple(attributes), table, 0, np.arange(1, n_rows + 1))
