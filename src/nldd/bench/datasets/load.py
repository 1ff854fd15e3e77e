"""A data set by its name in the catalogue, by the file it lies in, or from OpenML."""

import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from nldd._wording import quote, quote_first
from nldd.bench.datasets import catalogue
from nldd.bench.datasets.arff import Attribute, DataTable, read_arff
from nldd.bench.datasets.catalogue import CATALOGUE, EMBEDDED, CatalogueEntry, Folder
from nldd.bench.datasets.columns import FORMS, Labels, as_dataset, parse_labels
from nldd.bench.datasets.source import MAX_BYTES, DataFile
from nldd.bench.datasets.tables import read_csv, read_svmlight
from nldd.datasets import Dataset, load_yeast
from nldd.exceptions import InputError, NLDDError

OPENML = "openml:"
_NUMBER = re.compile(r"[1-9][0-9]{0,11}")
_TABLES = (".arff", ".csv", ".tsv")
_SPARSE = (".svm", ".libsvm", ".svmlight", ".txt")
_ENDINGS = (*_TABLES, *_SPARSE)
# Names of the training and test files of a data set: birds-train, cal500Train-4, train.
_PART = re.compile(
    r"(?P<start>(?:.*[-_. ]|.*[a-z0-9](?=T[a-z]))?)"
    r"(?P<word>(?i:train(?:ing)?|tra|trn|test(?:ing)?|tst))(?P<end>(?:[-_. ].*)?)"
)
_TEST_WORDS = ("test", "testing", "tst")
_SPARSE_WORD = re.compile(r"(?i)[-_. ]sparse(?![^-_. ])")
_FACTS = ("n_samples", "n_features", "n_labels", "n_labelsets", "cardinality")


def load_dataset(
    name: str | os.PathLike[str],
    *,
    labels: Labels | os.PathLike[str] | None = None,
    text: str | None = None,
    groups: str | None = None,
    test: str | os.PathLike[str] | bool | None = None,
    keep_ids: bool = False,
    data_dir: Folder = None,
) -> Dataset:
    """Load a data set of the catalogue, a file of one's own, or one of OpenML.

    Parameters
    ----------
    name : str or path
        Name in the catalogue, such as ``"yeast"``, or path of an ``.arff``, ``.csv`` or ``.tsv``
        file, or of an ``.svm``, ``.libsvm``, ``.svmlight`` or ``.txt`` file with sparse lines such
        as ``3,17 0:1.5 8:0.25``, or ``"openml:41473"`` for a data set of OpenML.
    labels : list of str, str, int or path, optional
        Which columns of a file are labels: names, a pattern such as ``"label_*"``, or a number (3:
        the first three columns; -3: the last three). Also the path of an ``.xml`` file of Mulan;
        for ARFF by default the one beside the file and of the same name, with or without
        ``-train``, ``-test`` or ``-sparse``, or else the number that MEKA keeps in the relation
        (``-C 3``).
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
    if groups is not None and suffix not in _TABLES:
        raise InputError(f"{name} has no column of groups: they are for ARFF, CSV and TSV files.")
    if str(name).startswith(OPENML):
        if test is not None or text is not None:
            raise InputError(f"{name} is one table of numbers: leave test and text out.")
        return _load_openml(str(name), labels, keep_ids, catalogue.data_folder(data_dir))
    if suffix in _ENDINGS:
        files = _find_files(Path(name), test)
        options = {"text": text, "groups": groups, "keep_ids": keep_ids}
        return _load_files(files, labels, _name_of(files), **options)
    if suffix or isinstance(name, os.PathLike) or os.sep in name:
        known = f"a data set of the catalogue nor a file that ends in {', '.join(_ENDINGS)}"
        raise InputError(f"{name} is neither {known}.")
    if labels is not None or text is not None or test is not None:
        raise InputError(f"The labels of {name!r} are known: leave labels out, or name a file.")
    return _load_entry(catalogue.find_entry(name), data_dir)


def load_named(
    name: str,
    labels: str | None = None,
    text: str | None = None,
    data_dir: Folder = None,
    *,
    columns_of: Callable[[str], Mapping[str, str]] = lambda name: {},
) -> Dataset:
    """Load a data set as a command names it: `labels` in words, for files that do not say theirs.

    Data sets of the catalogue, sparse text files, and ARFF files with their XML file or ``-C`` do
    without `labels`, so that one command can name several kinds. `columns_of` tells by the name of
    the data set what is known of its file alone: `labels`, `text` and `groups`.
    """
    if name in CATALOGUE:
        return load_dataset(name, data_dir=data_dir)
    suffix = Path(name).suffix.lower()
    is_file = suffix in _ENDINGS and not name.startswith(OPENML)
    told = columns_of(_name_of(_find_files(Path(name), None)) if is_file else name)
    known = dict(told) if suffix in _SPARSE else {"labels": labels, "text": text, **told}
    options: dict[str, Any] = {option: known.get(option) for option in ("text", "groups")}
    if suffix == ".arff" and labels is not None and "labels" not in told:
        with suppress(InputError):
            # Else it does not say, or is wrong in another way, which the second try tells.
            return load_dataset(name, **options)
    chosen = parse_labels(known.get("labels"))
    return load_dataset(name, labels=chosen, data_dir=data_dir, **options)


def _find_files(path: Path, test: str | os.PathLike[str] | bool | None) -> list[Path]:
    """The file, and the one with the rows to test on if there is one."""
    if test is not None and not isinstance(test, bool):
        if Path(test).suffix.lower() != path.suffix.lower():
            raise InputError(f"{path} and {test} must be files of one format.")
        return [path, Path(test)]
    found = _PART.fullmatch(path.stem)
    if found and found["word"].lower().startswith("tr") and test is not False:
        start, word, end = found["start"], found["word"], found["end"]
        style = str.upper if word.isupper() else str.title if word.istitle() else str.lower
        for other in map(style, _TEST_WORDS):
            place = path.with_name(f"{start}{other}{end}{path.suffix}")
            if place.is_file():
                return [path, place]
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


def _label_file(path: Path) -> Path | None:
    """The XML file beside an ARFF file: of its name, or of that without what Mulan adds to it."""
    stems = [path.stem]
    if found := _PART.fullmatch(path.stem):
        start = found["start"].rstrip("-_. ")
        stems += [f"{start}{found['end']}", start]
    stems += [_SPARSE_WORD.sub("", stem) for stem in stems]
    places = [path.with_name(f"{stem}.xml") for stem in stems if stem]
    return next((place for place in places if place.is_file()), None)


def _load_files(
    files: Sequence[Path], labels: Labels | os.PathLike[str] | None, name: str, **options: Any
) -> Dataset:
    suffix = files[0].suffix.lower()
    if suffix in _SPARSE:
        if labels is not None or options["text"] is not None:
            how = "leave labels and text out"
            raise InputError(f"Every line of {files[0]} says its labels: {how}.")
        dataset = read_svmlight(files, name)
    else:
        is_arff, texts = suffix == ".arff", (options.get("text"), options.get("groups"))
        if is_arff and labels is None:
            labels = _label_file(files[0])
        tables = [read_arff(path) if is_arff else read_csv(path, *texts) for path in files]
        dataset = as_dataset(tables, labels, name, **options)
    if dataset.n_train is None:
        return dataset
    n_train, n_test = dataset.n_train, dataset.n_samples - dataset.n_train
    parts = f"the first {n_train:,} rows are those of {files[0].name}, the other {n_test:,} those"
    note = f"As the files split it, {parts} of {files[1].name}."
    return replace(dataset, notes=(*dataset.notes, note))


def _load_entry(entry: CatalogueEntry, data_dir: Folder) -> Dataset:
    folder = catalogue.data_folder(data_dir)
    if entry.name == EMBEDDED and not all((folder / file.file).exists() for file in entry.files):
        return load_yeast()
    paths = catalogue.require_files(entry, data_dir)
    files = [path for path in paths if path.suffix == ".arff"]
    xml = next((path for path in paths if path.suffix == ".xml"), None)
    dataset = _load_files(files, xml, entry.name)
    for fact in _FACTS:
        found, expected = getattr(dataset, fact), getattr(entry, fact)
        # Counts agree exactly; the paper has cut some of its two decimals rather than rounded.
        if abs(found - expected) >= 0.01:
            wrong = f"{fact} is {found:g} instead of {expected:g}"
            files_of = f"The files of {entry.name} in {folder} are not those of the catalogue"
            raise InputError(f"{files_of}: {wrong}. Run: nldd datasets fetch {entry.name}")
    return dataset


def _load_openml(
    name: str, labels: Labels | os.PathLike[str] | None, keep_ids: bool, folder: Path
) -> Dataset:
    """The data set ``openml:41473``; its labels are the targets that OpenML states.

    Rows and columns are turned into numbers as those of an ARFF file are. The files stay in the
    folder ``openml`` of the data folder, and the same call needs no network afterwards.
    """
    # Not at the top: scikit-learn's collection of data sets takes a while to load.
    from sklearn.datasets import fetch_openml

    number = name.removeprefix(OPENML)
    if not _NUMBER.fullmatch(number):
        why = "since several of OpenML's data sets may have one name, and a number stays"
        raise InputError(f"Say {OPENML} and the number of a data set, {why}; got {quote(name)}.")
    options = {"target_column": None, "as_frame": False, "parser": "liac-arff", "n_retries": 1}
    try:
        with warnings.catch_warnings():
            # Of what is inactive, or fetched once more: who names a number wants that one.
            warnings.simplefilter("ignore")
            found: Any = fetch_openml(data_id=int(number), data_home=str(folder), **options)
    except (OSError, ValueError, KeyError) as error:
        reason = str(getattr(error, "reason", None) or error).rstrip(".")
        copy = f"copy the folder {folder / 'openml'} from a machine that has it"
        what = f"{name} could not be loaded: {reason}"
        raise NLDDError(f"{what}. Check the number and the network, or {copy}.") from error
    names = found.feature_names
    if labels is None:
        stated = (found.details.get("default_target_attribute") or "").split(",")
        labels = [each.strip() for each in stated if each.strip() in names]
        if len(labels) < 2:
            target = f"the target {quote(labels[0])} only" if labels else "no target"
            columns = f"its columns are {quote_first(names)}"
            raise InputError(f"OpenML states {target} for {name}; {columns}. Say which: {FORMS}.")
    attributes = []
    for line, column in enumerate(names, start=1):
        values = found.categories.get(column)
        codes = values and {str(value): float(code) for code, value in enumerate(values)}
        attributes.append(Attribute(column, codes, line))
    cells = csr_array(found.data) if issparse(found.data) else np.asarray(found.data, float)
    lines = np.arange(1, cells.shape[0] + 1)
    table = DataTable(DataFile(Path(name), MAX_BYTES), attributes, cells, 0, lines, relation=name)
    return as_dataset([table], labels, str(found.details["name"]), keep_ids=keep_ids)
