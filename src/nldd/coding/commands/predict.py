"""``nldd predict``: code new answers."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nldd._files import refuse_existing
from nldd.coding.commands.options import (
    answer_options,
    guarantee_options,
    model_argument,
    raw_option,
)
from nldd.present.console import print_json, print_notes, show
from nldd.present.options import (
    FILE,
    default_option,
    file_option,
    force_option,
    json_option,
    seed_option,
)
from nldd.present.progress import progress

if TYPE_CHECKING:
    from nldd.coding.guarantee import GuaranteeTarget
    from nldd.coding.tables.reading import TableOptions

    to_stdout = str(out) == "-"
    if as_json and to_stdout:
        raise click.UsageError("--json and -o - would both write to standard output.")
    sources = map(context.get_parameter_source, promise._fields)
    if max_theta is not None and click.core.ParameterSource.COMMANDLINE in sources:
        raise click.UsageError("--max-theta goes without --target-accuracy and its options.")
    if n_random and review is None:
        raise click.UsageError("--random puts answers into a review; name one with --review.")
    check_paths_differ(table, out, review, hint="-o coded.csv --review review.csv")
    refuse_existing(out, review, force=force)
    loaded = load_coding_model(model)
    coding = CodingOptions(max_theta, explain, raw, n_random=n_random, seed=seed)
    if max_theta is None:
        from nldd.coding.triage import apply_guarantee

        coding, notes = apply_guarantee(loaded, promise, coding)
        print_notes(notes)
    counts = code_table(loaded, table, out, coding, review, options, progress)
    print_notes(counts.notes)
    if as_json:
        print_json({"out": out, "review": review, **counts.to_dict()})
        return
    show(str(counts), err=to_stdout)
    if not to_stdout:
        show(f"Coded answers: {out}")
    if review is not None:
        show(f"For review: {review}", err=to_stdout)
