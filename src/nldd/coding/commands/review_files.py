"""``nldd review merge``, ``export`` and ``import``: reviews as files, without the page."""

from pathlib import Path

import click

from nldd._files import refuse_existing, write_atomically
from nldd.coding.commands.options import raw_option
from nldd.present.console import print_notes, print_result
from nldd.present.options import FILE, file_option, force_option, json_option
from nldd.present.text import count_noun

store_argument = click.argument("store", type=FILE, metavar="REVIEW")


@click.command("merge")
@click.argument("stores", nargs=-1, required=True, type=FILE, metavar="REVIEW...")
@file_option("-o", "--out", required=True, help="File for the review with all decisions.")
@json_option
def merge(stores: tuple[Path, ...], out: Path, as_json: bool) -> None:
    """Put reviews of the same answers into one, and tell how far their coders agree.

    Each REVIEW is a file that `nldd review` made of the same table with the same answers drawn, as
    when each coder works on a copy. All decisions are kept, in their order. What several people
    have coded is compared; answers on which they disagree can be settled on the page.

    \b
    Example:
      nldd review merge ann.review.db bob.review.db -o both.review.db
    """
    from nldd.coding.review.merge import agreement_of, merge_stores
    from nldd.coding.review.store import Store

    merged = merge_stores(stores, out)
    with Store.open(out, write=False) as store:
        agreement = agreement_of(store)
    print_notes(merged.notes)
    who = " and ".join(filter(None, (", ".join(merged.coders[:-1]), *merged.coders[-1:])))
    items = f"{count_noun(merged.n_items, 'answer')} decided by {who or 'nobody'}"
    text = f"{items}; the log has {merged.n_entries:,} entries."
    if agreement is not None and agreement.n_answers:
        text += f"\n\n{agreement}"
    compared = None if agreement is None else agreement.to_dict()
    record = {**merged._asdict(), "agreement": compared}
    print_result(as_json, record, text, review=out)


@click.command("export")
@store_argument
@file_option(
    "-o", "--out", required=True, help="File for the answers (CSV, XLSX, JSONL; JSON: tasks)."
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["csv", "xlsx", "jsonl", "label-studio"]),
    help="Kind of the file; by its ending if left out.",
)
@file_option("--config", help="File for the labeling configuration of Label Studio (XML).")
@raw_option
@force_option
@json_option
def export(
    store: Path,
    out: Path,
    kind: str | None,
    config: Path | None,
    raw: bool,
    force: bool,
    as_json: bool,
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
    from nldd.coding.review.export import check_kind, write_export
    from nldd.coding.review.label_studio import labeling_config
    from nldd.coding.review.store import Store

    if as_json and str(out) == "-":
        raise click.UsageError("--json and -o - would both write to standard output.")
    check_kind(out, kind or "")
    with Store.open(store, write=False) as opened:
        # Not even by --force: the review, and the answers that it goes on with.
        answers = store.resolve().with_name(opened.study.table)
        check_paths_differ(store, answers, out, config, hint="-o coded.csv")
        refuse_existing(out, config, force=force)
        n = write_export(opened, out, kind or "", raw)
        if config is not None:
            text = labeling_config(opened.study, opened.setting("codes") or ())
            write_atomically(config, text.encode())
    if str(out) != "-":  # else the answers stand on standard output
        text = f"{count_noun(n, 'answer')}."
        print_result(as_json, {"n_answers": n}, text, out=out, config=config)


@click.command("import")
@store_argument
@click.argument("tasks", type=FILE, metavar="TASKS")
@click.option(
    "--coder", default="", metavar="NAME", help="Who made the annotations; as they say if left out."
)
@click.option(
    "--force", is_flag=True, help="Take annotations of answers that were changed since, too."
)
@json_option
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
    from nldd.coding.review.label_studio import read_tasks
    from nldd.coding.review.store import Store

    with Store.open(store) as opened:
        found = read_tasks(opened, tasks, coder, force)
    by = f" by {', '.join(found.coders)}" if found.coders else ""
    text = f"{count_noun(found.n_added, 'new decision')}{by}."
    if found.n_known:
        text += f" {count_noun(found.n_known, 'annotation')} had come before."
    if found.n_left:
        text += f" {count_noun(found.n_left, 'task')} without annotation."
    if found.n_since:
        which = count_noun(found.n_since, "annotation")
        why = "their coders have changed these answers on the page since"
        print_notes([f"{which} left out, as {why}. --force takes them all the same."])
    print_result(as_json, found._asdict(), text)
