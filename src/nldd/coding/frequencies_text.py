"""Shares of codes for people: corrected ones with their intervals, and the bias of raw ones."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from nldd import __version__
from nldd._files import write_atomically
from nldd.coding.codebook import Codebook
from nldd.coding.frequencies import Basis, Frequencies
from nldd.coding.frequency_estimates import CodeBias
from nldd.coding.tables.writer import create_table
from nldd.coding.wording import percent_range
from nldd.present.page import Page, Section, render_page
from nldd.present.table import Table, TableEntry, tabulate, to_text
from nldd.present.text import count_noun, percent, visible, wrap

HEAD = ("code", "name", "share", "low", "high", "raw", "bias", "people", "machine", "basis")
PARTS = {
    "auto": "coded automatically",
    "review": "left to people, which nobody has coded yet",
    "part": "coded in part, which nobody has completed yet",
}
MOST_CODES = 60
CITED = (
    "The share of each code is that in all answers of the table, had people coded them. It was "
    "estimated by double sampling (Tenenbein, 1970), separately for answers with and without the "
    "machine's code; the 95 % intervals are exact (mid-P) for the sample that people checked, and "
    "hold for each code by itself."
)
ASSUMED = (
    "Where no answer drawn at random was checked, coded answers that the model learned from stood "
    "in for it, each predicted without itself: it was assumed that the new ones are like these."
)


def frequencies_table(found: Frequencies) -> Table:
    """The share of each code, the most frequent first."""
    return tabulate(
        "frequencies",
        f"Shares of the codes in all {found.n_answers:,} answers",
        found.codes,
        {
            "code": lambda f: visible(f.code),
            "corrected": lambda f: TableEntry(
                percent(f.share, 1), under=percent_range(f.low, f.high)
            ),
            "raw": lambda f: percent(f.raw, 1),
            "bias": lambda f: points(f.bias),
            "people": lambda f: f"{f.n_people:,}",
            "machine": lambda f: f"{f.n_machine:,}",
        },
        "Corrected: what people would have found, had they coded all answers of this table; its "
        "95 % interval holds that in 95 of 100 such cases, for each code by itself.",
        "Raw: codes of people and machine counted together. Bias: how many percentage points that "
        "is too much. People, machine: answers that got the code from people, and from the machine "
        "alone.",
    )


def points(difference: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    text = f"{100 * difference:+.1f}"
    return "0.0" if float(text) == 0 else text


def render_frequencies(found: Frequencies) -> str:
    """The table, and what its corrections rest on."""
    table = frequencies_table(found)
    parts = (
        to_text(table, most=MOST_CODES),
        wrap(table.notes),
        wrap(basis_paragraphs(found)),
    )
    return "\n\n".join(parts)


def basis_paragraphs(found: Frequencies) -> Iterator[str]:
    """Whom the codes come from, and how the errors of the machine are known."""
    n_machine = found.n_answers - found.n_people
    yield (
        f"Of {count_noun(found.n_answers, 'answer')}, people coded {found.n_people:,}, which count "
        f"as they are; {n_machine:,} have codes of the machine alone."
    )
    if found.n_empty:
        yield f"{count_noun(found.n_empty, 'row')} without an answer: left out."
    for basis in found.basis:
        what = f"{count_noun(basis.n_rest, 'answer')} {PARTS.get(basis.part, basis.part)}"
        if basis.source == "checked":
            like = count_noun(basis.n_checked, "answer")
            yield f"{what}: corrected by {like} of that kind, drawn at random and coded by people."
        else:
            yield f"{what}: {_stand_ins(basis)}"
        if basis.n_open:
            yield (
                f"Of these, {basis.n_open:,} were drawn at random and are not coded yet. Code them "
                "all: those left for last may be the hard ones."
            )
        if basis.n_chosen:
            yield (
                f"People coded {basis.n_chosen:,} more of that kind, not drawn at random. If they "
                "took easy ones first, the rest is harder than the correction knows: code all."
            )
    if any(basis.source == "model" for basis in found.basis):
        yield (
            "For shares to publish, let people code answers that are drawn at random: nldd predict "
            "--random puts some into a review, nldd audit draws automatic ones. Give the tables "
            "that come back with --checked."
        )


def _stand_ins(basis: Basis) -> str:
    """What a correction is worth that nobody checked."""
    if not basis.n_checked:
        return (
            "none drawn at random was checked, and answers of the model cannot stand in for "
            "these. Nothing is corrected, and all that is not known is in the interval: let people "
            "check some first."
        )
    return (
        f"none drawn at random was checked. Corrected as if they were like "
        f"{count_noun(basis.n_checked, 'coded answer')} of the model about which it was as sure, "
        "each predicted without itself. That is an assumption."
    )


def frequencies_record(found: Frequencies) -> dict[str, Any]:
    """What :func:`render_frequencies` says, for JSON."""
    record = {name: value for name, value in asdict(found).items() if name != "format"}
    return {**record, "codes": [{**asdict(f), "bias": f.bias} for f in found.codes]}


def name_codes(found: Frequencies, book: Codebook) -> Frequencies:
    """The same with the names of the codes, as reports show them."""
    return replace(found, codes=tuple(replace(f, code=book.shown(f.code)) for f in found.codes))


def write_frequencies_report(found: Frequencies, coded: str, path: Path) -> Path:
    """Write the shares as one HTML file, whole or as it was before."""
    people = percent(found.n_people / found.n_answers, 1) if found.n_answers else "-"
    assumed = (ASSUMED,) if any(basis.source == "model" for basis in found.basis) else ()
    page = Page(
        f"Shares of the codes: {visible(coded)}",
        "How many of all answers carry each code, machine and people together, corrected for the "
        "errors of the machine.",
        (("answers", f"{found.n_answers:,}"), ("coded by people", people)),
        (
            Section("Shares", tuple(basis_paragraphs(found)), (frequencies_table(found),)),
            Section("For the methods section of a paper", (CITED, *assumed)),
        ),
        f"Made by nldd {__version__}.",
    )
    write_atomically(path, render_page(page).encode("utf-8"))
    return path


def write_frequencies(found: Frequencies, out: Path | str, book: Codebook) -> None:
    """The shares as a table for other programs, which reads like the one they come from."""
    names = {code: entry.name for code, entry in book.by_code.items()}
    basis = "; ".join(f"{b.part}: {b.n_rest} by {b.n_checked} {b.source}" for b in found.basis)
    with create_table(out, HEAD, like=found.format) as writer:
        for f in found.codes:
            shares = (round(x, 6) for x in (f.share, f.low, f.high, f.raw, f.bias))
            name = names.get(f.code, "")
            writer.write([(f.code, name, *shares, f.n_people, f.n_machine, basis or "people")])


def bias_table(found: Iterable[CodeBias]) -> Table:
    """What coding by machine alone would do to the shares of the codes, the worst first."""
    return tabulate(
        "bias",
        "Shares of the codes by people and by the machine alone",
        found,
        {
            "code": lambda b: visible(b.code),
            "people": lambda b: percent(b.people, 1),
            "machine": lambda b: percent(b.machine, 1),
            "difference": lambda b: TableEntry(
                points(b.difference), under=f"{points(b.low)} to {points(b.high)}"
            ),
        },
        "Each answer was coded by a model that had not seen it. Difference: percentage points that "
        "the machine gives too many, with a 95 % interval. Shares that are to be published need "
        "correction: nldd frequencies.",
    )
