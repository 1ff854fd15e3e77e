"""``nldd datasets``: list, describe, compare, convert, fetch and verify data sets."""

from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nldd.bench.datasets import catalogue
from nldd.bench.datasets.catalogue import CATALOGUE, EMBEDDED, CatalogueEntry
from nldd.exceptions import InputError
from nldd.present.console import (
    bundle,
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
    from nldd.bench.datasets.facts import Facts
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
    try:
        catalogue.select_entries(names)
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
    folder = catalogue.data_folder(data_dir)
    places = {name: _place(entry, data_dir) for name, entry in CATALOGUE.items()}
    rows = [("name", "domain", "rows", "features", "labels", "cardinality", "labelsets", "here")]
    for e in CATALOGUE.values():
        sizes = str(e.n_samples), str(e.n_features), str(e.n_labels), f"{e.cardinality:.2f}"
        rows.append((e.name, e.domain, *sizes, str(e.n_labelsets), places[e.name]))
    advice = f"Files are kept in {folder}."
    if {*places.values()} != {"yes"}:
        advice += " Get them by: nldd datasets fetch NAME"
    records = [_record(entry, places[entry.name]) for entry in CATALOGUE.values()]
    text = align(rows, right=range(2, 7))
    print_result(as_json, {"folder": folder, "datasets": records}, text, advice)


def _place(entry: CatalogueEntry, data_dir: Path | None) -> str:
    """Whether a data set is here: yes, no, or as it comes with nldd."""
    if catalogue.is_here(entry, data_dir):
        return "yes"
    return "with nldd" if entry.name == EMBEDDED else "no"


def _record(entry: CatalogueEntry, place: str) -> dict[str, Any]:
    return asdict(entry) | {"here": place == "yes", "embedded": entry.name == EMBEDDED}


# What columns of a file of one's own are for.
_columns_option = bundle(
    "columns",
    dict,
    click.option(
        "--labels",
        help="Label columns of your own file: how many (12: the first twelve, -12: the last), "
        "their names with commas between, a pattern such as 'label_*', or an XML file of Mulan.",
    ),
    click.option(
        "--text",
        metavar="COLUMN",
        help="Column of your own file that is the text, and the features.",
    ),
    click.option(
        "--groups",
        metavar="COLUMN",
        help="Column of your own file that says which rows belong together, and is no feature.",
    ),
)


@datasets.command()
@click.argument("name")
@_columns_option
@data_dir_option
@json_option
def info(name: str, data_dir: Path | None, as_json: bool, columns: dict[str, Any]) -> None:
    """Describe a data set of the catalogue, or one in a file of yours.

    NAME is a name that `nldd datasets list` shows, the path of an ARFF, CSV, TSV or sparse text
    file, or openml: with a number. A test file beside a training file
    (birds-test.arff, birds-train.arff) is read with it.

    \b
    Example:
      nldd datasets info enron
      nldd datasets info answers.csv --labels 'label_*'
    """
    entry = CATALOGUE.get(name)
    place = _place(entry, data_dir) if entry else "yes"
    notes: tuple[str, ...] = ()
    facts, advice = None, f"Not here yet. Get it by: nldd datasets fetch {name}"
    if place != "no" or any(columns.values()):
        # Not above: it loads numpy.
        from nldd.bench.datasets.facts import describe

        dataset = _load(name, data_dir, columns)
        facts, notes, advice = describe(dataset), dataset.notes, ""
    record: dict[str, Any] = {"path": name}
    text = f"{name}\n{facts}"
    if entry:
        folder = catalogue.data_folder(data_dir)
        record = _record(entry, place) | {"folder": folder}
        text = _entry_text(entry, folder, place, facts)
    record |= {"measured": facts and asdict(facts), "notes": notes}
    print_result(as_json, record, text, advice)
    print_notes(() if as_json else notes)


def _entry_text(entry: CatalogueEntry, folder: Path, place: str, facts: "Facts | None") -> str:
    """All that is known about a data set of the catalogue."""
    known = {
        "domain": entry.domain,
        "format": _FORMATS[entry.format],
        **({} if facts else catalogue.counts(entry)),
        "here": place,
        "folder": str(folder),
        "in Python": f"nldd.bench.load_dataset({entry.name!r})",
    }
    measured = f"\n\nMeasured on the data\n{facts}" if facts else ""
    return f"{entry.name}\n{catalogue.align_facts(known)}\n\n{entry}{measured}"


def _load(
    name: str, data_dir: Path | None, columns: Mapping[str, Any], others: bool = False
) -> "Dataset":
    """A data set of the catalogue, a file or one of OpenML, with the options' own words.

    Among `others`, files that say which columns are labels do without the option.
    """
    from nldd.bench.datasets.columns import FORMS
    from nldd.bench.datasets.load import OPENML, load_named

    told = {option: column for option, column in columns.items() if column is not None}
    words = {option: told.pop(option, None) for option in ("labels", "text")} if others else {}
    if name in CATALOGUE and told and not others:
        given = next(iter(told))
        raise click.UsageError(f"--{given} is for files of your own; {name} knows its labels.")
    try:
        if not name.startswith(OPENML) and not Path(name).exists():
            catalogue.find_entry(name)
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
@_columns_option
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
    names: tuple[str, ...], kind: str, data_dir: Path | None, as_json: bool, columns: dict[str, Any]
) -> None:
    """Compare data sets: sizes, labels, imbalance and complexity, as papers print them.

    Names are those that `nldd datasets info` takes; without any, all data sets of the catalogue
    that are here. --labels is for files that do not say which columns are labels.

    \b
    Example:
      nldd datasets table yeast my-data.arff
      nldd datasets table yeast --format tex
    """
    from nldd.bench.datasets.facts import datasets_table, describe
    from nldd.present.table import RENDERERS, to_text

    described: dict[str, Any] = {}
    here = [name for name, entry in CATALOGUE.items() if _place(entry, data_dir) != "no"]
    for name in names or here:
        dataset = _load(name, data_dir, columns, others=True)
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
@_columns_option
@force_option
@data_dir_option
@json_option
def export(name: str, meka: Path, force: bool, as_json: bool, **place: Any) -> None:
    """Write a data set in the format of MEKA, to run it on the very same rows.

    A data set that comes with a training and a test file is written as two files, and sparse
    data stay sparse. How to run MEKA on them is in docs/datasets.md.

    \b
    Example:
      nldd datasets export yeast --meka yeast.arff
      nldd datasets export my-data.arff --meka mine.arff
    """
    from nldd.bench.datasets.arff import export_dataset

    dataset = _load(name, **place)
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
    if not names:
        raise click.UsageError("Name one data set or more, or say: nldd datasets fetch all")
    states = catalogue.fetch(names, data_dir, mirror=mirror, verbose=True)
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
    folder = catalogue.data_folder(data_dir)
    states = catalogue.verify(names or "all", data_dir)
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
