"""``nldd datasets``: list, describe, compare, convert, fetch and verify data sets."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nldd.exceptions import InputError
from nldd.present.console import (
    Command,
    file_option,
    folder_option,
    force_option,
    json_option,
    print_notes,
    print_result,
    say,
    show,
)
from nldd.present.text import align, count_noun

if TYPE_CHECKING:
    from nldd.bench.datasets.catalogue import CatalogueEntry
    from nldd.datasets import Dataset

_FORMATS = {"mulan": "Mulan (ARFF, and XML that names the labels)", "meka": "MEKA (ARFF)"}

data_dir_option = folder_option(
    "--data-dir", help="Folder of the data sets; else NLDD_DATA, else the user's cache folder."
)


@click.group()
def datasets() -> None:
    """List, describe, fetch and verify the data sets of the paper, and describe your own.

    The files are not part of nldd, but for yeast. They are fetched once into a folder of yours
    and checked against the checksums that nldd knows.

    \b
    Example:
      nldd datasets list
      nldd datasets fetch emotions
    """


def _check_names(context: Any, parameter: Any, names: tuple[str, ...]) -> tuple[str, ...]:
    from nldd.bench.datasets.catalogue import select_entries

    try:
        select_entries(names)
    except InputError as error:
        raise click.BadParameter(str(error)) from None
    return names


_names_argument = partial(click.argument, "names", nargs=-1, callback=_check_names)


@datasets.command("list")
@data_dir_option
@json_option
def list_(data_dir: Path | None, as_json: bool) -> None:
    """List the data sets, and which of them are here.

    \b
    Example:
      nldd datasets list
      nldd datasets list --data-dir /data/multilabel --json
    """
    from nldd.bench.datasets.catalogue import CATALOGUE, data_folder, is_here

    folder = data_folder(data_dir)
    here = {name: is_here(entry, data_dir) for name, entry in CATALOGUE.items()}
    records = [_record(entry, here[entry.name]) for entry in CATALOGUE.values()]
    head = ("name", "domain", "rows", "features", "labels", "cardinality", "labelsets", "here")
    rows = [
        (
            *(e.name, e.domain, str(e.n_samples), str(e.n_features), str(e.n_labels)),
            *(f"{e.cardinality:.2f}", str(e.n_labelsets), _where(e, here[e.name])),
        )
        for e in CATALOGUE.values()
    ]
    missing = "" if all(here.values()) else " Get them by: nldd datasets fetch NAME"
    text, advice = align([head, *rows], right=range(2, 7)), f"Files are kept in {folder}."
    print_result(as_json, {"folder": folder, "datasets": records}, text, advice + missing)


def _record(entry: "CatalogueEntry", here: bool) -> dict[str, Any]:
    from nldd.bench.datasets.catalogue import EMBEDDED

    return asdict(entry) | {"here": here, "embedded": entry.name == EMBEDDED}


def _where(entry: "CatalogueEntry", here: bool) -> str:
    return "yes" if here else "with nldd" if _record(entry, here)["embedded"] else "no"


def _column_options(command: Command) -> Command:
    """Options that say what columns of a file of one's own are for."""
    for option in (
        click.option(
            "--groups",
            metavar="COLUMN",
            help="Column of your own file that says which rows belong together, and is no feature.",
        ),
        click.option(
            "--text",
            metavar="COLUMN",
            help="Column of your own file that is the text, and the features.",
        ),
        click.option(
            "--labels",
            help="Label columns of your own file: how many (12: the first twelve, -12: the last), "
            "their names with commas between, a pattern such as 'label_*', or an XML file of "
            "Mulan.",
        ),
    ):
        command = option(command)
    return command


@datasets.command()
@click.argument("name")
@_column_options
@data_dir_option
@json_option
def info(name: str, data_dir: Path | None, as_json: bool, **columns: Any) -> None:
    """Describe a data set of the catalogue, or one in a file of yours.

    NAME is a name that `nldd datasets list` shows, the path of an ARFF, CSV, TSV or sparse text
    file, or openml: with a number. A test file beside a training file
    (birds-test.arff, birds-train.arff) is read with it.

    \b
    Example:
      nldd datasets info enron
      nldd datasets info answers.csv --labels 'label_*'
    """
    from nldd.bench.datasets.catalogue import CATALOGUE, EMBEDDED, data_folder, is_here

    _check_columns(name, columns)
    entry = CATALOGUE.get(name)
    here = entry is not None and is_here(entry, data_dir)
    facts: Any = None
    notes: tuple[str, ...] = ()
    if entry is None or here or name == EMBEDDED:
        # Not above: it loads numpy.
        from nldd.bench.datasets.facts import describe

        dataset = _load(name, data_dir, **columns)
        facts, notes = describe(dataset), dataset.notes
    record: dict[str, Any] = {"path": name}
    text, advice = f"{name}\n{facts}", ""
    if entry is not None:
        folder = data_folder(data_dir)
        record = _record(entry, here) | {"folder": folder}
        text = _entry_text(entry, folder, here, facts)
    if facts is None:
        advice = f"Not here yet. Get it by: nldd datasets fetch {name}"
    record |= {"measured": facts and asdict(facts), "notes": notes}
    print_result(as_json, record, text, advice)
    print_notes(() if as_json else notes)


def _entry_text(entry: "CatalogueEntry", folder: Path, here: bool, facts: Any) -> str:
    """All that is known about a data set of the catalogue."""
    from nldd.bench.datasets.catalogue import align_facts, counts

    known = {
        "domain": entry.domain,
        "format": _FORMATS[entry.format],
        **({} if facts else counts(entry)),
        "here": _where(entry, here),
        "folder": str(folder),
        "in Python": f"nldd.bench.load_dataset({entry.name!r})",
    }
    measured = f"\n\nMeasured on the data\n{facts}" if facts else ""
    return f"{entry.name}\n{align_facts(known)}\n\n{entry}{measured}"


def _check_columns(name: str, columns: Mapping[str, str | None]) -> None:
    """Refuse options for files of one's own with a data set of the catalogue."""
    from nldd.bench.datasets.catalogue import CATALOGUE

    given = [option for option, column in columns.items() if column is not None]
    if given and name in CATALOGUE:
        raise click.UsageError(f"--{given[0]} is for files of your own; {name} knows its labels.")


def _load(
    name: str, data_dir: Path | None, *, among_others: bool = False, **columns: Any
) -> "Dataset":
    """A data set of the catalogue, a file or one of OpenML, with the options' own words.

    `among_others`, files that say which columns are labels do without the option.
    """
    from nldd.bench.datasets.catalogue import CATALOGUE, find_entry
    from nldd.bench.datasets.columns import FORMS
    from nldd.bench.datasets.load import OPENML, load_named

    told = {option: column for option, column in columns.items() if column is not None}
    words: dict[str, Any] = {}
    if among_others:
        words = {option: told.pop(option, None) for option in ("labels", "text")}
    try:
        if not name.startswith(OPENML) and not Path(name).exists():
            find_entry(name)
    except InputError as error:
        raise click.BadParameter(f"{error} Nor is there a file of that name.") from None
    try:
        return load_named(name, **words, data_dir=data_dir, columns_of=lambda _: told)
    except InputError as error:
        hint = " On the command line: --labels." if FORMS in str(error) else ""
        if name in CATALOGUE:
            hint = f" To compare the files: nldd datasets verify {name}"
        raise InputError(f"{error}{hint}") from error


@datasets.command()
@click.argument("names", nargs=-1, metavar="[NAME...]")
@_column_options
@click.option(
    "--format",
    "kind",
    type=click.Choice(["text", "csv", "tex"]),
    default="text",
    show_default=True,
    help="For people, a spreadsheet (all facts in full) or LaTeX.",
)
@data_dir_option
@json_option
def table(
    names: tuple[str, ...], kind: str, data_dir: Path | None, as_json: bool, **columns: Any
) -> None:
    """Compare data sets: sizes, labels, imbalance and complexity, as papers print them.

    Names are those that `nldd datasets info` takes; without any, all data sets of the catalogue
    that are here. --labels is for files that do not say which columns are labels.

    \b
    Example:
      nldd datasets table yeast my-data.arff
      nldd datasets table yeast --format tex
    """
    from nldd.bench.datasets.catalogue import CATALOGUE, EMBEDDED, is_here
    from nldd.bench.datasets.facts import datasets_table, describe
    from nldd.present.latex import RENDERERS
    from nldd.present.table import to_text

    catalogue, described = CATALOGUE.items(), {}
    here = [name for name, entry in catalogue if is_here(entry, data_dir) or name == EMBEDDED]
    for name in names or here:
        dataset = _load(name, data_dir, among_others=True, **columns)
        if dataset.name in described:
            raise InputError(f"Two data sets are called {dataset.name!r}: leave one of them out.")
        described[dataset.name] = (describe(dataset), dataset.notes)
    made = datasets_table(described)
    if as_json:
        facts = [asdict(of) | {"notes": notes} for of, notes in described.values()]
        print_result(True, facts, "")
    elif kind != "text":
        show(RENDERERS[kind](made).rstrip("\n"))
    else:
        show(to_text(made))
        say("")
        print_notes(made.notes)


@datasets.command()
@click.argument("name")
@file_option("--meka", metavar="FILE.arff", required=True, help="File to write, for MEKA.")
@_column_options
@force_option
@data_dir_option
@json_option
def export(
    name: str, meka: Path, force: bool, data_dir: Path | None, as_json: bool, **columns: Any
) -> None:
    """Write a data set in the format of MEKA, to run it on the very same rows.

    A data set that comes with a training and a test file is written as two files, and sparse
    data stay sparse. How to run MEKA on them is in docs/datasets.md.

    \b
    Example:
      nldd datasets export yeast --meka yeast.arff
      nldd datasets export my-data.arff --meka mine.arff
    """
    from nldd.bench.datasets.export import export_dataset

    _check_columns(name, columns)
    dataset = _load(name, data_dir, **columns)
    written = export_dataset(dataset, meka, force=force)
    record = {"dataset": dataset.name, "files": written, "notes": dataset.notes}
    print_result(as_json, record, "\n".join(map(str, written)))
    print_notes(() if as_json else dataset.notes)


@datasets.command()
@_names_argument(metavar="NAME... | all")
@click.option(
    "--mirror",
    metavar="URL",
    help="Fetch from this address, under which the files lie by their names, or from several with "
    "spaces between; else NLDD_MIRROR.",
)
@data_dir_option
@json_option
def fetch(names: tuple[str, ...], mirror: str | None, data_dir: Path | None, as_json: bool) -> None:
    """Fetch data sets, and check every byte of them.

    Files that are there already are left alone. After a failure, run the same again: files
    that came are kept.

    \b
    Example:
      nldd datasets fetch emotions scene
      nldd datasets fetch all --data-dir /data/multilabel
    """
    from nldd.bench.datasets.catalogue import fetch

    if not names:
        raise click.UsageError("Name one data set or more, or say: nldd datasets fetch all")
    states = fetch(names, data_dir, mirror=mirror, verbose=True)
    rows = []
    for name in dict.fromkeys(state.dataset for state in states):
        files = [state.file for state in states if state.dataset == name and state.state != "ok"]
        n_kib = sum(file.n_bytes for file in files) / 1024
        news = f"fetched {count_noun(len(files), 'file')}, {n_kib:.0f} KiB"
        rows.append((name, news if files else "was there already"))
    folder = "" if data_dir is None else f", data_dir={str(data_dir)!r}"
    advice = f"In Python: nldd.bench.load_dataset({states[0].dataset!r}{folder})"
    print_result(as_json, [state.to_dict() for state in states], align(rows), advice)


@datasets.command()
@_names_argument(metavar="[NAME...]")
@data_dir_option
@json_option
def verify(names: tuple[str, ...], data_dir: Path | None, as_json: bool) -> None:
    """Compare files with the checksums of the catalogue.

    Without names, all data sets of which a file is here.

    \b
    Example:
      nldd datasets verify
      nldd datasets verify emotions scene
    """
    from nldd.bench.datasets.catalogue import data_folder, verify

    states, folder = verify(names or "all", data_dir), data_folder(data_dir)
    if not names:
        begun = {state.dataset for state in states if state.state != "missing"}
        states = [state for state in states if state.dataset in begun]
    if as_json or states:
        rows = [(state.dataset, state.path.name, str(state)) for state in states]
        print_result(as_json, [state.to_dict() for state in states], align(rows))
    if not states:
        hint = "nldd datasets fetch all; or --data-dir (or NLDD_DATA) with the folder that has them"
        raise InputError(f"No file of the catalogue is in {folder}.", hint=hint)
    if wrong := [state.dataset for state in states if state.state != "ok"]:
        damaged = f"Missing or damaged in {folder}: {len(wrong)} of {len(states)} files."
        raise InputError(damaged, hint=f"nldd datasets fetch {' '.join(dict.fromkeys(wrong))}")
