"""A data set by its name in the catalogue, by the file it lies in, or from OpenML."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nldd.bench.datasets.arff import read_arff
from nldd.bench.datasets.arff_dataset import as_dataset
from nldd.bench.datasets.catalogue import (
    CATALOGUE,
    EMBEDDED,
    CatalogueEntry,
    data_folder,
    find_entry,
    require_files,
)
from nldd.bench.datasets.csv_dataset import read_csv
from nldd.bench.datasets.joined import join
from nldd.bench.datasets.label_columns import FORMS, Labels, parse_labels
from nldd.bench.datasets.openml import OPENML, load_openml
from nldd.bench.datasets.row_ids import note_on_numbers, sounds_like_a_row_id
from nldd.bench.datasets.svmlight import read_svmlight
from nldd.datasets import Dataset, load_yeast
from nldd.exceptions import InputError

_TABLES = (".csv", ".tsv")
_SPARSE = (".svm", ".libsvm", ".svmlight", ".txt")
# Names of the training and test files of a data set: birds-train, cal500Train-4, train.
_PART = re.compile(
    r"(?P<start>(?:.*[-_. ]|.*[a-z0-9](?=T[a-z]))?)"
    r"(?P<word>(?i:train(?:ing)?|tra|trn|test(?:ing)?|tst))(?P<end>(?:[-_. ].*)?)"
)
# What the test file is called, by the word in the name of the training file.
_PARTNERS = {
    "train": ("test",),
    "training": ("testing", "test"),
    "trn": ("tst", "test"),
    "tra": ("tst", "test"),
}
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
    text: str | None = None,
    groups: str | None = None,
    test: str | os.PathLike[str] | bool | None = None,
    keep_ids: bool = False,
    data_dir: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Load a data set of the catalogue, a file of one's own, or one of OpenML.

    Parameters
    ----------
    name : str or path
        Name in the catalogue, such as ``"yeast"``, or path of an ``.arff``, ``.csv`` or ``.tsv``
        file, or of an ``.svm``, ``.libsvm``, ``.svmlight`` or ``.txt`` file with sparse lines such
        as ``3,17 0:1.5 8:0.25``, or ``"openml:41473"`` for a data set of OpenML.
    labels : list of str, str, int or path, optional
        Which columns of a file are labels, see :func:`read_csv`. For ARFF also the path of an
        ``.xml`` file of Mulan; by default the one beside the file and of the same name, with or
        without ``-train`` or ``-test`` at its end, or else the number that MEKA keeps in the
        relation (``-C 3``).
    text : str, optional
        Name of the one column that is a text; `X` is then the texts, and other columns that are no
        labels are left out.
    groups : str, optional
        Name of a column of an ARFF, CSV or TSV file that says which rows belong together, such as
        those of one speaker. It is no feature; its values are in `groups`.
    test : path or bool, optional
        File with rows to test on, which follow those of `name`; the split is kept in `n_train`. By
        default it is looked for beside a file whose name ends in ``train``: ``birds-test.arff`` for
        ``birds-train.arff``. With ``False`` the file is loaded alone, with ``True`` it must be
        there.
    keep_ids : bool, default=False
        Whether columns that name or number the rows stay among the features.
    data_dir : path, optional
        Folder with the files of the catalogue; by default the environment variable ``NLDD_DATA``,
        or else ``nldd`` in the user's cache folder. Yeast comes with the package and needs none.

    Returns
    -------
    dataset : Dataset
        Columns keep the order of the file. `X` is a CSR array if the file is sparse. Nominal
        attributes with the values 0 and 1 are that number, others with two values are 0 and 1 in
        the order of the header, and those with more become one column a value, named
        ``attribute=value``. NaN is a missing value. What was left out is told in `notes`.

    Examples
    --------
    >>> from nldd.bench import load_dataset
    >>> load_dataset("yeast").label_names[:3]
    ['Class1', 'Class2', 'Class3']
    """
    if not isinstance(name, str | os.PathLike):
        raise InputError(f"name must be a name of the catalogue or a path; got {name!r}.")
    suffix = Path(name).suffix.lower()
    if groups is not None and suffix not in (".arff", *_TABLES):
        raise InputError(f"{name} has no column of groups: they are for ARFF, CSV and TSV files.")
    if isinstance(name, str) and name.startswith(OPENML):
        if test is not None:
            raise InputError(f"{name} is one table: leave test out.")
        return load_openml(name, labels, text=text, keep_ids=keep_ids, data_dir=data_dir)
    if suffix in _READERS:
        files = _find_files(Path(name), test)
        options = {"text": text, "keep_ids": keep_ids}
        options |= {} if groups is None else {"groups": groups}
        return _note_split(_READERS[suffix](files, _name_of(files), labels, **options), files)
    if suffix or isinstance(name, os.PathLike) or os.sep in name:
        known = f"a data set of the catalogue nor a file that ends in {', '.join(_READERS)}"
        raise InputError(f"{name} is neither {known}.")
    if labels is not None or text is not None or test is not None:
        raise InputError(f"The labels of {name!r} are known: leave labels out, or name a file.")
    return _load_entry(find_entry(str(name)), data_dir)


def load_named(
    name: str,
    labels: str | None = None,
    text: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    *,
    columns_of: Callable[[str], Mapping[str, str]] = lambda name: {},
) -> Dataset:
    """Load a data set as a command names it: `labels` in words, for files that do not say theirs.

    Data sets of the catalogue, sparse text files, and ARFF files with their XML file or ``-C`` do
    without `labels`, so that one command can name several kinds. `columns_of` tells by the name of
    the data set what is known of its file alone: `labels`, `text` and `groups`.
    """
    suffix = Path(name).suffix.lower()
    if name in CATALOGUE:
        return load_dataset(name, data_dir=data_dir)
    is_file = suffix in _READERS and not name.startswith(OPENML)
    told = columns_of(_name_of(_find_files(Path(name), None)) if is_file else name)
    text, groups = told.get("text", text), told.get("groups")
    if suffix in _SPARSE and "labels" not in told:
        return load_dataset(name, groups=groups)
    if labels is not None and suffix == ".arff" and "labels" not in told:
        try:
            return load_dataset(name, text=text, groups=groups)
        except InputError:
            pass  # it does not say, or is wrong in another way, which the second try tells
    chosen = parse_labels(told.get("labels", labels))
    return load_dataset(name, labels=chosen, text=text, groups=groups, data_dir=data_dir)


def _find_files(path: Path, test: str | os.PathLike[str] | bool | None) -> list[Path]:
    """The file, and the one with the rows to test on if there is one."""
    if test is not None and not isinstance(test, bool):
        partner = Path(test)
        if partner.suffix.lower() != path.suffix.lower():
            raise InputError(f"{path} and {partner} must be files of one format.")
        return [path, partner]
    found = _PART.fullmatch(path.stem)
    if found and test is not False:
        start, word, end = found["start"], found["word"], found["end"]
        style = str.upper if word.isupper() else str.title if word.istitle() else str.lower
        names = map(style, _PARTNERS.get(word.lower(), ()))
        places = [path.with_name(f"{start}{name}{end}{path.suffix}") for name in names]
        if found_test := next((place for place in places if place.is_file()), None):
            return [path, found_test]
    if test:
        raise InputError(f"No test file lies beside {path}. Name it by test, or leave test out.")
    return [path]


def _name_of(files: Sequence[Path]) -> str:
    """What the rows of a file, or of a training and a test file, are called."""
    path = files[0]
    found = _PART.fullmatch(path.stem) if len(files) > 1 else None
    if not found:
        return path.stem
    # Files that are called train and test have their name from the folder.
    name = found["start"].rstrip("-_. ") or path.resolve().parent.name
    return f"{name}{found['end']}"


def _note_split(dataset: Dataset, files: Sequence[Path]) -> Dataset:
    if dataset.n_train is None:
        return dataset
    n_train, n_test = dataset.n_train, dataset.n_samples - dataset.n_train
    parts = f"the first {n_train:,} rows are those of {files[0].name}, the other {n_test:,} those"
    note = f"As the files split it, {parts} of {files[1].name}."
    return replace(dataset, notes=(*dataset.notes, note))


def _load_arff(
    files: Sequence[Path],
    name: str,
    labels: Labels | os.PathLike[str] | None,
    **options: Any,
) -> Dataset:
    return as_dataset(list(map(read_arff, files)), labels or _label_file(files[0]), name, **options)


def _label_file(path: Path) -> Path | None:
    """The XML file beside an ARFF file: of its name, or of that without ``-train`` or ``-test``."""
    stems = [path.stem]
    if found := _PART.fullmatch(path.stem):
        start = found["start"].rstrip("-_. ")
        stems += [f"{start}{found['end']}", start]
    places = [path.with_name(f"{stem}.xml") for stem in stems if stem]
    return next((place for place in places if place.is_file()), None)


def _load_tables(
    files: Sequence[Path],
    name: str,
    labels: Labels | os.PathLike[str] | None,
    *,
    text: str | None,
    keep_ids: bool,
    groups: str | None = None,
) -> Dataset:
    if labels is None or isinstance(labels, os.PathLike):
        raise InputError(f"Say which columns of {files[0]} are labels: {FORMS}.")
    dataset = join([read_csv(path, labels, text=text, groups=groups) for path in files], name)
    return dataset if keep_ids or text else _without_row_numbers(dataset)


def _without_row_numbers(dataset: Dataset) -> Dataset:
    """The data set without columns of features that number its rows."""
    names, cuts = dataset.feature_names, [] if dataset.n_train is None else [dataset.n_train]
    notes = {
        j: note
        for j, name in enumerate(names)
        if sounds_like_a_row_id(name)
        and (note := note_on_numbers(name, np.split(dataset.X[:, j], cuts)))
    }
    if not notes:
        return dataset
    if len(notes) == len(names):
        raise InputError(f"{dataset.name}: beside the labels there are row ids only, no feature.")
    kept = [j for j in range(len(names)) if j not in notes]
    return replace(
        dataset,
        X=dataset.X[:, kept],
        feature_names=[names[j] for j in kept],
        notes=(*dataset.notes, *notes.values()),
    )


def _load_sparse(
    files: Sequence[Path],
    name: str,
    labels: Labels | os.PathLike[str] | None,
    *,
    text: str | None,
    keep_ids: bool,
) -> Dataset:
    if labels is not None or text is not None:
        raise InputError(f"Every line of {files[0]} says its labels: leave labels and text out.")
    return read_svmlight(files, name)


# By the ending of the name of a file.
_READERS: dict[str, Any] = {
    ".arff": _load_arff,
    **dict.fromkeys(_TABLES, _load_tables),
    **dict.fromkeys(_SPARSE, _load_sparse),
}


def _load_entry(entry: CatalogueEntry, data_dir: str | os.PathLike[str] | None) -> Dataset:
    folder = data_folder(data_dir)
    if entry.name == EMBEDDED and not all((folder / file.file).exists() for file in entry.files):
        return load_yeast()
    paths = require_files(entry, data_dir)
    files = [path for path in paths if path.suffix == ".arff"]
    xml = next((path for path in paths if path.suffix == ".xml"), None)
    dataset = as_dataset(list(map(read_arff, files)), xml, entry.name)
    for fact, what in _FACTS.items():
        found, expected = getattr(dataset, fact), getattr(entry, fact)
        # Counts agree exactly; the paper has cut some of its two decimals rather than rounded.
        if abs(found - expected) >= 0.01:
            wrong = f"{found:g} {what} instead of {expected:g}"
            files_of = f"The files of {entry.name} in {folder} are not those of the catalogue"
            raise InputError(f"{files_of}: {wrong}. Run: nldd datasets fetch {entry.name}")
    return _note_split(dataset, files)
