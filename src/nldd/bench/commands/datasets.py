"""``nldd datasets``: list, describe, compare, convert, fetch and verify data sets."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nldd._files import refuse_existing
from nldd.exceptions import InputError
from nldd.present.console import (
    file_option,
    folder_option,
    force_option,
    json_option,
    print_notes,
    print_result,
    say,
    show,
)

if TYPE_CHECKING:
    from nldd.bench.datasets.catalogue import FileState
    from nldd.datasets import Dataset


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
    from nldd.bench.datasets.texts import as_record, render_list

    catalogue, folder = CATALOGUE, data_folder(data_dir)
    here = {name: is_here(entry, data_dir) for name, entry in catalogue.items()}
    records = [as_record(entry, here[name]) for name, entry in catalogue.items()]
    missing = "" if all(here.values()) else " Get them by: nldd datasets fetch NAME"
    text, advice = render_list(catalogue.values(), here), f"Files are kept in {folder}."
    print_result(as_json, {"folder": folder, "datasets": records}, text, advice + missing)


_labels_option = click.option(
    "--labels",
    help="Label columns of your own file: how many (12: the first twelve, -12: the last), their "
    "names with commas between, a pattern such as 'label_*', or an XML file of Mulan.",
)
_text_option = click.option(
    "--text", metavar="COLUMN", help="Column of your own file that is the text, and the features."
)
_groups_option = click.option(
    "--groups",
    metavar="COLUMN",
    help="Column of your own file that says which rows belong together, and is no feature.",
)


@datasets.command()
@click.argument("name")
@_labels_option
@_text_option
@_groups_option
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
    from nldd.bench.datasets.catalogue import CATALOGUE

    given = next((option for option, column in columns.items() if column is not None), None)
    if name not in CATALOGUE:
        _info_of_file(name, columns, data_dir, as_json)
    elif given is None:
        _info_of_entry(name, data_dir, as_json)
    else:
        raise click.UsageError(f"--{given} is for files of your own; {name} knows its labels.")


def _info_of_entry(name: str, data_dir: Path | None, as_json: bool) -> None:
    from nldd.bench.datasets.catalogue import CATALOGUE, EMBEDDED, data_folder, is_here
    from nldd.bench.datasets.texts import as_record, render_entry, render_facts

    entry, folder = CATALOGUE[name], data_folder(data_dir)
    here = is_here(entry, data_dir)
    facts: Any = None
    notes: tuple[str, ...] = ()
    try:
        if here or name == EMBEDDED:
            # Not above: they load numpy.
            from nldd.bench.datasets.facts import describe
            from nldd.bench.datasets.load import load_dataset

            dataset = load_dataset(name, data_dir=data_dir)
            facts, notes = describe(dataset), dataset.notes
    except InputError as error:
        raise InputError(f"{error} To compare the files: nldd datasets verify {name}") from error
    found = {"folder": folder, "measured": facts and asdict(facts), "notes": notes}
    text, advice = render_entry(entry, folder, here), ""
    if facts is None:
        advice = f"Not here yet. Get it by: nldd datasets fetch {name}"
    else:
        text += f"\n\nMeasured on the data\n{render_facts(facts, counts=False)}"
    print_result(as_json, as_record(entry, here) | found, text, advice)
    print_notes(() if as_json else notes)


def _info_of_file(
    path: str, columns: Mapping[str, Any], data_dir: Path | None, as_json: bool
) -> None:
    from nldd.bench.datasets.facts import describe
    from nldd.bench.datasets.texts import render_facts

    dataset = _load(path, data_dir, **columns)
    facts = describe(dataset)
    record = {"path": path, "measured": asdict(facts), "notes": dataset.notes}
    print_result(as_json, record, f"{path}\n{render_facts(facts)}")
    print_notes(() if as_json else dataset.notes)


def _load(
    name: str, data_dir: Path | None, *, among_others: bool = False, **columns: Any
) -> "Dataset":
    """A data set of the catalogue, a file or one of OpenML, with the options' own words.

    `among_others`, files that say which columns are labels do without the option.
    """
    from nldd.bench.datasets.catalogue import CATALOGUE, find_entry
    from nldd.bench.datasets.label_columns import FORMS, parse_labels
    from nldd.bench.datasets.load import load_dataset, load_named
    from nldd.bench.datasets.openml import OPENML

    known = name in CATALOGUE or name.startswith(OPENML)
    try:
        if not known and not Path(name).exists():
            find_entry(name)
    except InputError as error:
        raise click.BadParameter(f"{error} Nor is there a file of that name.") from None
    try:
        if among_others:
            labels, text, groups = (columns[option] for option in ("labels", "text", "groups"))
            own = {} if groups is None else {"groups": groups}
            words = labels, text, data_dir
            return load_named(name, *words, columns_of=lambda _: own)
        labels = parse_labels(columns.pop("labels"))
        return load_dataset(name, labels=labels, data_dir=data_dir, **columns)
    except InputError as error:
        hint = " On the command line: --labels." if FORMS in str(error) else ""
        raise InputError(f"{error}{hint}") from error


@datasets.command()
@click.argument("names", nargs=-1, metavar="[NAME...]")
@_labels_option
@_text_option
@_groups_option
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
    from nldd.bench.datasets.facts import describe
    from nldd.bench.datasets.texts import datasets_table
    from nldd.present.latex import RENDERERS
    from nldd.present.table import to_text

    catalogue, described = CATALOGUE.items(), {}
    here = [name for name, entry in catalogue if is_here(entry, data_dir) or name == EMBEDDED]
    for name in names or here:
        dataset = _load(name, data_dir, among_others=True, **columns)
        if dataset.name in described:
            raise InputError(f"Two data sets are called {dataset.name!r}: leave one of them out.")
        described[dataset.name] = (describe(dataset), dataset.notes)
    if as_json:
        facts = [asdict(of) | {"notes": notes} for of, notes in described.values()]
        print_result(True, facts, "")
        return
    made = datasets_table(described)
    if kind != "text":
        show(RENDERERS[kind](made).rstrip("\n"))
        return
    show(to_text(made))
    say("")
    print_notes(made.notes)


@datasets.command()
@click.argument("name")
@file_option("--meka", metavar="FILE.arff", required=True, help="File to write, for MEKA.")
@_labels_option
@_text_option
@_groups_option
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
    from nldd.bench.datasets.export import export_dataset, export_paths

    dataset = _load(name, data_dir, **columns)
    refuse_existing(*export_paths(dataset, meka), force=force)
    written = export_dataset(dataset, meka)
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
    from nldd.bench.datasets.fetch import fetch
    from nldd.bench.datasets.texts import render_fetched

    if not names:
        raise click.UsageError("Name one data set or more, or say: nldd datasets fetch all")
    states = fetch(names, data_dir, mirror=mirror, verbose=True)
    folder = "" if data_dir is None else f", data_dir={str(data_dir)!r}"
    advice = f"In Python: nldd.bench.load_dataset({states[0].dataset!r}{folder})"
    print_result(as_json, _records(states), render_fetched(states), advice)


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
    from nldd.bench.datasets.texts import render_states

    states, folder = verify(names or None, data_dir), data_folder(data_dir)
    if not names:
        begun = {state.dataset for state in states if state.state != "missing"}
        states = [state for state in states if state.dataset in begun]
    if as_json or states:
        print_result(as_json, _records(states), render_states(states))
    if not states:
        hint = "nldd datasets fetch all; or --data-dir (or NLDD_DATA) with the folder that has them"
        raise InputError(f"No file of the catalogue is in {folder}.", hint=hint)
    if wrong := [state.dataset for state in states if state.state != "ok"]:
        damaged = f"Missing or damaged in {folder}: {len(wrong)} of {len(states)} files."
        raise InputError(damaged, hint=f"nldd datasets fetch {' '.join(dict.fromkeys(wrong))}")


def _records(states: Sequence["FileState"]) -> list[dict[str, Any]]:
    return [
        {
            "dataset": state.dataset,
            "file": state.file.file,
            "path": state.path,
            "state": state.state,
            "expected": {"n_bytes": state.file.n_bytes, "sha256": state.file.sha256},
            "found": {"n_bytes": state.n_bytes, "sha256": state.sha256},
        }
        for state in states
    ]
