"""A data set by its name in the catalogue, or by the file it lies in."""

import os
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from nldd.datasets._arff import Arff, read_arff, stack
from nldd.datasets._catalogue import EMBEDDED, Entry, data_folder, find_entry, require_files
from nldd.datasets._csv import read_csv
from nldd.datasets._dataset import Dataset
from nldd.datasets._embedded import load_yeast
from nldd.datasets._features import as_dataset
from nldd.datasets._label_columns import FORMS, Labels, label_columns, meka_columns, xml_columns
from nldd.datasets._source import Refusal
from nldd.exceptions import InputError

_TABLES = (".csv", ".tsv")
_FACTS = {
    "n_samples": "samples",
    "n_features": "features",
    "n_labels": "labels",
    "n_labelsets": "distinct labelsets",
    "cardinality": "labels a row",
}


def load_dataset(
    name: str | os.PathLike[str],
    *,
    labels: Labels | os.PathLike[str] | None = None,
    data_dir: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Load a data set of the catalogue, or a file of one's own.

    Parameters
    ----------
    name : str or path
        Name in the catalogue, such as ``"yeast"``, or path of an ``.arff``, ``.csv`` or ``.tsv``
        file.
    labels : list of str, str, int or path, optional
        Which columns of a file are labels, see :func:`read_csv`. For ARFF also the path of an
        ``.xml`` file of Mulan; by default the one beside the file and of the same name, or else
        the number that MEKA keeps in the relation (``-C 3``).
    data_dir : path, optional
        Folder with the files of the catalogue; see :func:`nldd.datasets.data_folder`. Yeast
        comes with the package and needs none.

    Returns
    -------
    dataset : Dataset
        Columns keep the order of the file. `X` is a CSR array if the file is sparse. Nominal
        attributes with the values 0 and 1 are that number, others with two values are 0 and 1 in
        the order of the header, and those with more become one column a value, named
        ``attribute=value``. NaN is a missing value.

    Examples
    --------
    >>> load_dataset("yeast").label_names[:3]
    ['Class1', 'Class2', 'Class3']
    """
    if not isinstance(name, str | os.PathLike):
        raise InputError(f"name must be a name of the catalogue or a path; got {name!r}.")
    suffix = Path(name).suffix.lower()
    if suffix == ".arff":
        return _load_arff(Path(name), labels)
    if suffix in _TABLES:
        if labels is None or isinstance(labels, os.PathLike):
            raise InputError(f"Say which columns of {name} are labels: {FORMS}.")
        return read_csv(name, labels)
    if suffix or isinstance(name, os.PathLike) or os.sep in name:
        raise InputError(
            f"{name} is neither a data set of the catalogue nor an .arff, .csv or .tsv file."
        )
    if labels is not None:
        raise InputError(f"The labels of {name!r} are known: leave labels out, or name a file.")
    return _load_entry(find_entry(str(name)), data_dir)


def _load_arff(path: Path, labels: Labels | os.PathLike[str] | None) -> Dataset:
    arff = read_arff(path)
    beside = path.with_suffix(".xml")
    if labels is None and beside.is_file():
        labels = beside
    return as_dataset(arff, _label_columns(arff, labels), path.stem)


def _label_columns(arff: Arff, labels: Labels | os.PathLike[str] | None) -> list[int]:
    names = [attribute.name for attribute in arff.attributes]
    try:
        if isinstance(labels, os.PathLike) or (
            isinstance(labels, str) and labels.lower().endswith(".xml")
        ):
            return xml_columns(labels, names)
        if labels is not None:
            return label_columns(labels, names)
        columns = meka_columns(arff.relation, len(names))
        if columns is None:
            raise Refusal(
                "the header does not say which attributes are labels: no "
                f"{arff.source.path.stem}.xml lies beside the file, and its relation has no -C. "
                f"Name an .xml file by labels, or: {FORMS}."
            )
    except Refusal as refusal:
        raise arff.source.error(arff.data_line, refusal) from None
    return columns


def _load_entry(entry: Entry, data_dir: str | os.PathLike[str] | None) -> Dataset:
    folder = data_folder(data_dir)
    if entry.name == EMBEDDED and not all((folder / file.file).exists() for file in entry.files):
        return load_yeast()
    paths = require_files(entry, data_dir)
    arffs = [read_arff(path) for path in paths if path.suffix == ".arff"]
    xml = next((path for path in paths if path.suffix == ".xml"), None)
    _check_headers(arffs)
    parts = [as_dataset(arff, _label_columns(arff, xml), entry.name) for arff in arffs]
    X, Y = stack([part.X for part in parts]), stack([part.Y for part in parts])
    dataset = replace(parts[0], X=X, Y=Y)
    _check_counts(dataset, entry, folder)
    return dataset


def _check_headers(arffs: Sequence[Arff]) -> None:
    """Rows of several files may follow each other only if their columns are the same."""
    first = arffs[0]
    for other in arffs[1:]:
        for mine, theirs in zip_longest(first.attributes, other.attributes):
            if not mine or not theirs or (mine.name, mine.values) != (theirs.name, theirs.values):
                raise other.source.error(
                    theirs.line if theirs else other.data_line,
                    f"the header differs from that of {first.source.path}, so that their rows "
                    "cannot follow each other. Declare the same attributes in both.",
                )


def _check_counts(dataset: Dataset, entry: Entry, folder: Path) -> None:
    for fact, what in _FACTS.items():
        found, expected = getattr(dataset, fact), getattr(entry, fact)
        # Counts agree exactly; the paper has cut some of its two decimals rather than rounded.
        if abs(found - expected) >= 0.01:
            raise InputError(
                f"The files of {entry.name} in {folder} are not those of the catalogue: {found:g} "
                f"{what} instead of {expected:g}. Run: nldd datasets fetch {entry.name}"
            )
