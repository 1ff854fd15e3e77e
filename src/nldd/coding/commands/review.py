"""``nldd review``: decide on a page what the machine is not sure of; reviews as files."""

import getpass
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nldd._files import refuse_existing, write_atomically
from nldd.coding.commands import options as shared
from nldd.exceptions import InputError
from nldd.present import console as common
from nldd.present.console import print_notes, print_result, progress, say, show
from nldd.present.text import count_noun

if TYPE_CHECKING:
    from nldd.coding.review.records import Study


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
@shared.model_argument
@click.argument("table", type=common.FILE, metavar="ANSWERS")
@shared.guarantee_options
@shared.count_option(
    "--audit",
    "n_audit",
    help="Automatic codes to check: answers are drawn at random until about so many are among "
    "them, four times as many at most.",
)
@click.option(
    "--audit-open",
    "blind",
    flag_value=False,
    default=True,
    help="Show the suggestion for drawn answers before a decision.",
)
@common.seed_option
@common.file_option("--store", help="File of the review.  [default: new.review.db for new.csv]")
@click.option("--coder", metavar="NAME", help="Who decides.  [default: the name of the login]")
@common.names_option(
    "--show", "shown", help="Columns to show beside an answer, such as age,region."
)
@shared.count_option(
    "--every",
    default=50,
    help="Decisions after which the machine learns from them; 0: when asked to.",
)
@click.option("--port", type=click.IntRange(1024, 65535), help="Port of the page; else a free one.")
@click.option("--no-browser", is_flag=True, help="Only print the address of the page.")
@shared.answer_options
@click.pass_context
def review(
    context: click.Context,
    model: Path,
    table: Path,
    promise: "shared.GuaranteeTarget",
    n_audit: int,
    blind: bool,
    seed: int,
    store: Path | None,
    coder: str | None,
    shown: list[str],
    every: int,
    port: int | None,
    no_browser: bool,
    options: "shared.TableOptions",
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
    from nldd.coding.review.app import ReviewApp
    from nldd.coding.review.desk import Desk
    from nldd.coding.review.rounds import Learner, prepare_review
    from nldd.coding.review.server import ReviewServer
    from nldd.coding.review.store import ENDING, Store

    name = _read_coder(coder)
    path, has_changed = store or table.with_name(table.stem + ENDING), False
    if path.exists():
        has_changed = _check_same(context, path, model, table, options)
        show(f"Going on with {path}.")
    else:
        asked = (promise, n_audit, blind, seed, options, progress)
        found = prepare_review(model, table, path, *asked)
        print_notes(found.notes)
        show(str(found))
    learner, opened = Learner(path, model, options), Store.open(path)
    desk = Desk(opened, name, shown or opened.setting("show") or [])
    opened.keep("show", [column for column, _ in desk.show])
    running = ReviewServer(ReviewApp(desk, learner, every), port, _announce)
    if has_changed:
        learner.start()
    _open_page(running.address, no_browser)
    running.run()
    say(
        f"\nAll decisions are in {path}.\nTo go on: the same command."
        f"\nTo learn from them: nldd update {model} {path}"
        f"\nTo get the coded table: nldd review export {path} -o coded.csv"
    )


def _read_coder(given: str | None) -> str:
    name = given or "coder"
    with suppress(OSError, KeyError, ImportError):  # no login, as in a container
        name = getpass.getuser() if given is None else given
    name = " ".join(name.split())
    if not name or not name.isprintable() or len(name) > LONGEST_NAME:
        message = f"A coder needs a name of 1 to {LONGEST_NAME} characters that can be printed."
        raise InputError(message, hint="--coder Ann")
    return name


def _check_same(
    context: click.Context, path: Path, model: Path, table: Path, options: "shared.TableOptions"
) -> bool:
    """Check that a review is of these answers and options; whether the model has changed since."""
    from nldd._files import file_sha256
    from nldd.coding.review.decisions import is_of_table
    from nldd.coding.review.store import Store
    from nldd.coding.tables.reading import read_table
    from nldd.persistence._archive import read_manifest

    with Store.open(path) as store:
        study = store.study
        *_, last = study.model_sha256, *(found.model for found in store.rounds())
        is_same = table.is_file() and file_sha256(table) == study.table_sha256
        if not (is_same or is_of_table(store, read_table(table, options))):
            hint = f"give the file as it was; or --store with another name, to review {table} anew"
            raise InputError(f"{path} was made of other answers than {table} holds now.", hint=hint)
    if differ := list(_differences(context, study)):
        hint = "leave them out to go on, or --store with another name for a new review"
        raise InputError(f"{path} was made {' and '.join(differ)}.", hint=hint)
    read_manifest(model)  # says so if that is no model
    has_changed = file_sha256(model) != last
    if has_changed:
        print_notes([f"{model} has changed since; suggestions are renewed while you work."])
    return has_changed


def _differences(context: click.Context, study: "Study") -> Iterator[str]:
    """What is given otherwise than when the review was made; both have the same names for it."""
    for option in context.command.params:
        key, given = str(option.name), context.params[str(option.name)]
        is_given = context.get_parameter_source(key) is click.core.ParameterSource.COMMANDLINE
        kept = getattr(study, key, given)
        if is_given and isinstance(option, click.Option) and kept != given:
            name = option.opts[0]
            yield f"without {name}" if option.is_flag else f"with {name} {kept} (not {given})"


def _announce(address: str) -> None:
    say(f"The page is open. In another browser: {address}")


def _open_page(address: str, no_browser: bool) -> None:
    """Say where the page is, and open it; a browser within the terminal would take that away."""
    say(f"The page: {address}\nCtrl-C ends the server; decisions are saved one by one.")
    with suppress(webbrowser.Error):
        browser = None if no_browser else webbrowser.get()
        if browser is not None and type(browser) is not webbrowser.GenericBrowser:
            threading.Thread(target=browser.open, args=(address,), daemon=True).start()


store_argument = click.argument("store", type=common.FILE, metavar="REVIEW")


@review.command("merge")
@click.argument("stores", nargs=-1, required=True, type=common.FILE, metavar="REVIEW...")
@common.file_option("-o", "--out", required=True, help="File for the review with all decisions.")
@common.json_option
def merge(stores: tuple[Path, ...], out: Path, as_json: bool) -> None:
    """Put reviews of the same answers into one, and tell how far their coders agree.

    Each REVIEW is a file that `nldd review` made of the same table with the same answers drawn, as
    when each coder works on a copy. All decisions are kept, in their order. What several people
    have coded is compared; answers on which they disagree can be settled on the page.

    \b
    Example:
      nldd review merge ann.review.db bob.review.db -o both.review.db
    """
    from nldd.coding.review.decisions import merge_stores

    merged = merge_stores(stores, out)
    print_notes(merged.notes)
    shared.show_result(merged, as_json, review=out)


@review.command("export")
@store_argument
@common.file_option(
    "-o", "--out", required=True, help="File for the answers (CSV, XLSX, JSONL; JSON: tasks)."
)
@common.file_option("--config", help="File for the labeling configuration of Label Studio (XML).")
@shared.raw_option
@common.force_option
@common.json_option
def export(
    store: Path, out: Path, config: Path | None, raw: bool, force: bool, as_json: bool
) -> None:
    """Write all answers of a review with their codes: those of people, else the machine's.

    All rows and columns of the table are there, in their order, and behind them what became of each
    answer, what the machine had said, who decided and when, flags and notes. A file that ends in
    .json has tasks for Label Studio.

    \b
    Examples:
      nldd review export new.review.db -o coded.xlsx
      nldd review export new.review.db -o tasks.json --config labels.xml
    """
    from nldd.coding.coded_table import check_paths_differ
    from nldd.coding.review.exchange import labeling_config, write_export
    from nldd.coding.review.store import Store

    if as_json and str(out) == "-":
        raise click.UsageError("--json and -o - would both write to standard output.")
    with Store.open(store, write=False) as opened:
        # Not even by --force: the review, and the answers that it goes on with.
        answers = store.resolve().with_name(opened.study.table)
        check_paths_differ(store, answers, out, config, hint="-o coded.csv")
        refuse_existing(out, config, force=force)
        n = write_export(opened, out, raw)
        if config is not None:
            text = labeling_config(opened.study, opened.setting("codes") or ())
            write_atomically(config, text.encode())
    if str(out) != "-":  # else the answers stand on standard output
        text = f"{count_noun(n, 'answer')}."
        print_result(as_json, {"n_answers": n}, text, out=out, config=config)


@review.command("import")
@store_argument
@click.argument("tasks", type=common.FILE, metavar="TASKS")
@click.option(
    "--coder", default="", metavar="NAME", help="Who made the annotations; as they say if left out."
)
@click.option(
    "--force", is_flag=True, help="Take annotations of answers that were changed since, too."
)
@common.json_option
def import_tasks(store: Path, tasks: Path, coder: str, force: bool, as_json: bool) -> None:
    """Let annotations that were made in Label Studio join a review.

    TASKS is a file that Label Studio exported as JSON. A task is known by the number that `nldd
    review export` has given it, or by its text if no other answer has the same. All annotations
    join, or none, if one has a code that the review does not know. Left out are those whose coder
    has changed the answer on the page since the tasks were exported. To import a file twice does no
    harm.

    \b
    Example:
      nldd review import new.review.db annotated.json --coder Ann
    """
    from nldd.coding.review.exchange import read_tasks
    from nldd.coding.review.store import Store

    with Store.open(store) as opened:
        found = read_tasks(opened, tasks, coder, force)
    print_result(as_json, found._asdict(), str(found))
