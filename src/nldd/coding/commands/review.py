"""``nldd review``: decide on a page what the machine is not sure of."""

import getpass
import threading
import webbrowser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nldd.coding.commands.options import (
    answer_options,
    guarantee_options,
    model_argument,
)
from nldd.coding.commands.review_files import export, import_tasks, merge
from nldd.exceptions import InputError
from nldd.present.console import print_notes, say, show
from nldd.present.options import FILE, default_option, file_option, names_option, seed_option
from nldd.present.progress import progress
from nldd.present.text import count_noun

if TYPE_CHECKING:
    from nldd.coding.guarantee import GuaranteeTarget
    from nldd.coding.review.records import Study
    from nldd.coding.tables.reading import TableOptions


LONGEST_NAME = 100


class _Review(click.Group):
    """A command of its own arguments that also has commands: the first word tells which it is."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        if args and args[0] in self.commands:
            context.args = args
            return []
        context.allow_interspersed_args, context.allow_extra_args = True, False
        return click.Command.parse_args(self, context, args)

    def invoke(self, context: click.Context) -> Any:
        if not context.args:
            return click.Command.invoke(self, context)
        name, command, rest = self.resolve_command(context, context.args)
        assert command is not None
        # Not below this one, whose arguments its usage would show.
        words = f"{self.name} {name}"
        with context, command.make_context(words, rest, parent=context.parent) as inner:
            return command.invoke(inner)


@click.group(cls=_Review, subcommand_metavar="", invoke_without_command=True)
@model_argument
@click.argument("table", type=FILE, metavar="ANSWERS")
@guarantee_options
@default_option(
    "--audit",
    "n_audit",
    type=click.IntRange(min=0),
    default=0,
    help="Automatic codes to check: answers are drawn at random until about so many are among "
    "them, four times as many at most.",
)
@click.option(
    "--audit-open", is_flag=True, help="Show the suggestion for drawn answers before a decision."
)
@seed_option
@file_option("--store", help="File of the review.  [default: new.review.db for new.csv]")
@click.option("--coder", metavar="NAME", help="Who decides.  [default: the name of the login]")
@names_option("--show", help="Columns to show beside an answer, such as age,region.")
@default_option(
    "--every",
    type=click.IntRange(min=0),
    default=50,
    help="Decisions after which the machine learns from them; 0: when asked to.",
)
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the page; else a free one.")
@click.option("--no-browser", is_flag=True, help="Only print the address of the page.")
@answer_options
@click.pass_context
def review(
    context: click.Context,
    model: Path,
    table: Path,
    promise: "GuaranteeTarget",
    n_audit: int,
    audit_open: bool,
    seed: int,
    store: Path | None,
    coder: str | None,
    show: list[str],
    every: int,
    port: int | None,
    no_browser: bool,
    options: "TableOptions",
) -> None:
    """Decide on a page, one key an answer, what the machine is not sure of.

    ANSWERS are coded as by `nldd predict` into a file beside them, new.review.db, and a page opens
    in the browser. It shows one answer at a time with a suggestion: Enter takes it, ? shows all
    keys. Each decision is on the disk before the page says that it is saved. Ctrl-C ends the
    server; the same command goes on where it stopped.

    Of --audit, answers come first that were drawn at random, without a suggestion: they tell how
    right the automatic codes are, and keep the promise exact after `nldd update`.

    \b
    Examples:
      nldd review model.nldd new.csv --target-accuracy 0.9 --audit 50
      nldd review model.nldd new.csv --show age,region --coder Ann
      nldd review model.nldd new.csv --port 8765 --no-browser
      nldd update model.nldd new.review.db
    """
    from nldd.coding.review.desk import Desk
    from nldd.coding.review.learning import Learner
    from nldd.coding.review.running import ReviewServer
    from nldd.coding.review.server import ReviewApp
    from nldd.coding.review.store import Store
    from nldd.coding.review.store_file import ENDING

    name = _read_coder(coder)
    path = store or table.with_name(table.stem + ENDING)
    asked = dict(promise._asdict(), n_audit=n_audit, blind=not audit_open, seed=seed)
    if path.exists():
        given = [key for key in (*promise._fields, "n_audit", "seed") if _is_given(context, key)]
        given += ["blind"] if audit_open else []
        changed = _resume(path, model, table, {key: asked[key] for key in given}, options)
    else:
        _check_shown(table, show, options)
        _prepare(path, model, table, promise, n_audit, not audit_open, seed, options)
        changed = False
    learner = Learner(path, model, every, options)
    opened = Store.open(path)
    if show:
        opened.keep("show", show)
    desk = Desk(opened, name, show or opened.setting("show") or [])
    running = ReviewServer(ReviewApp(desk, learner, every), port, _announce)
    if changed:
        learner.start()
    _open_page(running.address, no_browser)
    running.run()
    _say_goodbye(path, model)


for _command in (merge, export, import_tasks):
    review.add_command(_command)


def _read_coder(given: str | None) -> str:
    if given is None:
        try:
            given = getpass.getuser()
        except (OSError, KeyError, ImportError):  # no login, as in a container
            given = "coder"
    name = " ".join(given.split())
    if not name or not name.isprintable() or len(name) > LONGEST_NAME:
        message = f"A coder needs a name of 1 to {LONGEST_NAME} characters that can be printed."
        raise InputError(message, hint="--coder Ann")
    return name


def _is_given(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def _check_shown(table: Path, show: list[str], options: "TableOptions") -> None:
    """Refuse a column that is not there, before all answers are coded for the page."""
    from nldd.coding.review.desk import find_shown
    from nldd.coding.tables.reading import read_table

    header = read_table(table, options).header if show else ()
    for name in show:
        find_shown(header, name)


def _prepare(
    path: Path,
    model: Path,
    table: Path,
    promise: "GuaranteeTarget",
    n_audit: int,
    blind: bool,
    seed: int,
    options: "TableOptions",
) -> None:
    """Code the answers into a new store, and tell what became of them."""
    from nldd.coding.review.prepare import prepare_review

    found = prepare_review(model, table, path, promise, n_audit, blind, seed, options, progress)
    print_notes(found.notes)
    counts = found.counts
    parts = [f"{counts.n_auto:,} coded automatically", f"{counts.n_people:,} sent to review"]
    parts += [f"{counts.n_coded:,} had codes"] if counts.n_coded else []
    parts += [f"{counts.n_drawn:,} drawn at random to check"] if counts.n_drawn else []
    show(f"{count_noun(counts.n_rows, 'answer')}: {', '.join(parts)}.")


# How the options are written that a review keeps.
OPTIONS = {
    "target": "--target-accuracy",
    "confidence": "--confidence",
    "measure": "--measure",
    "rank_by": "--rank-by",
    "n_audit": "--audit",
    "blind": "--audit-open",
    "seed": "--seed",
}


def _resume(
    path: Path, model: Path, table: Path, given: Mapping[str, Any], options: "TableOptions"
) -> bool:
    """Check that a store is of these answers and options; whether the model has changed since."""
    from nldd.coding.model import checksum
    from nldd.coding.review.decisions import is_of_table
    from nldd.coding.review.store import Store
    from nldd.coding.tables.reading import read_table
    from nldd.persistence._archive import read_manifest

    with Store.open(path) as store:
        study = store.study
        *_, last = study.model_sha256, *(found.model for found in store.rounds())
        is_same = table.is_file() and checksum(table) == study.table_sha256
        if not (is_same or is_of_table(store, read_table(table, options))):
            hint = f"give the file as it was; or --store with another name, to review {table} anew"
            raise InputError(f"{path} was made of other answers than {table} holds now.", hint=hint)
    differ = list(_differences(study, given))
    if differ:
        hint = "leave them out to go on, or --store with another name for a new review"
        raise InputError(f"{path} was made {' and '.join(differ)}.", hint=hint)
    read_manifest(model)  # says so if that is no model
    changed = checksum(model) != last
    if changed:
        print_notes([f"{model} has changed since; suggestions are renewed while you work."])
    show(f"Going on with {path}.")
    return changed


def _differences(study: "Study", given: Mapping[str, Any]) -> Iterator[str]:
    for key, value in given.items():
        kept = getattr(study, key)
        if kept != value:
            name = OPTIONS[key]
            yield f"without {name}" if key == "blind" else f"with {name} {kept} (not {value})"


def _announce(address: str) -> None:
    say(f"The page is open. In another browser: {address}")


def _open_page(address: str, no_browser: bool) -> None:
    """Say where the page is, and open it; a browser within the terminal would take that away."""
    say(f"The page: {address}\nCtrl-C ends the server; decisions are saved one by one.")
    if no_browser:
        return
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    if type(browser) is not webbrowser.GenericBrowser:
        threading.Thread(target=browser.open, args=(address,), daemon=True).start()


def _say_goodbye(path: Path, model: Path) -> None:
    say(
        f"\nAll decisions are in {path}.\nTo go on: the same command."
        f"\nTo learn from them: nldd update {model} {path}"
        f"\nTo get the coded table: nldd review export {path} -o coded.csv"
    )
