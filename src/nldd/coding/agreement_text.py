"""What people who coded the same answers agree on, and which codes may be wrong, in words."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from nldd.coding.agreement import Agreement, Alpha
from nldd.coding.codebook import Codebook
from nldd.coding.suspects import IDENTICAL, UNLIKE, Suspect
from nldd.coding.tables.writer import create_table
from nldd.present.table import Table, tabulate, to_text
from nldd.present.text import count_noun, percent, visible, wrap

MOST_CODES, MOST_SUSPECTS = 60, 15


def kappas_table(found: Agreement) -> Table:
    """Agreement on each code, the worst first."""
    rows = tuple(
        (
            visible(code.code),
            *(f"{count:,}" for count in code.counts),
            percent(code.agreement, 1),
            "-" if code.kappa is None else f"{code.kappa:.2f}",
        )
        for code in found.codes
    )
    pairs = " Both are means over all pairs of coders." * (len(found.coders) > 2)
    note = (
        "Below the name of a table: answers that got the code there. Agree: answers for which both "
        "say the same of this code. Kappa: the same beyond chance (Cohen), from 0, as good as "
        f"chance, to 1.{pairs}"
    )
    head = ("code", *map(visible, found.coders), "agree", "kappa")
    return Table("kappas", "Agreement on each code, the worst first", head, rows, notes=(note,))


def render_agreement(found: Agreement) -> str:
    """The sentence for a paper, and the table by code."""
    table = kappas_table(found)
    parts = [wrap(agreement_paragraphs(found)), to_text(table, most=MOST_CODES), wrap(table.notes)]
    return "\n\n".join(parts)


def agreement_paragraphs(found: Agreement) -> Iterator[str]:
    """How many answers were compared, and how far they agree as a whole."""
    single = (
        f" {count_noun(found.n_single, 'answer')} more, by one alone." if found.n_single else ""
    )
    matched = f", matched by {found.matched_by}" if found.matched_by else ""
    yield f"{count_noun(found.n_answers, 'answer')} coded by two or more{matched}.{single}"
    same = percent(found.n_same / found.n_answers, 1) if found.n_answers else "-"
    yield f"The same codes from all: {found.n_same:,} answers ({same})."
    yield f"Krippendorff's alpha with MASI distance: {_alpha(found.masi)}."
    yield f"Krippendorff's alpha, combinations the same or not: {_alpha(found.nominal)}."
    yield (
        "Alpha is 1 if all agree and 0 if they agree as by chance. By Krippendorff's custom 0.8 is "
        "reliable, and below 0.667 nothing should be concluded. MASI lets sets of codes agree in "
        "part. Intervals come from drawing the answers again a thousand times."
    )


def _alpha(alpha: Alpha) -> str:
    if alpha.value is None:
        return "cannot be told, as all codes are the same"
    if alpha.low is None or alpha.high is None:
        return f"{alpha.value:.3f} (without an interval: few answers, or nobody disagrees)"
    return f"{alpha.value:.3f} ({alpha.low:.3f} to {alpha.high:.3f}, 95 % interval)"


def agreement_record(found: Agreement) -> dict[str, Any]:
    """What :func:`render_agreement` says, for JSON, with all disagreements."""
    return {
        **asdict(found),
        "masi": found.masi._asdict(),
        "nominal": found.nominal._asdict(),
        "disagreements": [
            {**asdict(d), "codes": [None if c is None else sorted(c) for c in d.codes]}
            for d in found.disagreements
        ],
    }


def write_disagreements(found: Agreement, out: Path | str, separator: str = ";") -> None:
    """Answers that were coded differently, the codes of all side by side, the farthest first."""
    header = ("row" if found.matched_by == "their order" else "id", "answer")
    with create_table(out, (*header, *found.coders, "differ_in", "distance")) as writer:
        for d in found.disagreements:
            given = [c for c in d.codes if c is not None]
            differ = _join(sorted(set().union(*given) - given[0].intersection(*given)), separator)
            cells = ["" if c is None else _join(sorted(c), separator) for c in d.codes]
            writer.write([(d.name, d.text, *cells, differ, round(d.distance, 4))])


def _join(codes: Sequence[str], separator: str) -> str:
    return separator.join(codes) or "(no code)"


def suspects_table(found: Sequence[Suspect], book: Codebook) -> Table:
    """Answers that people may have miscoded, the most suspicious first."""

    def shown(codes: Sequence[str]) -> str:
        return visible("; ".join(map(book.shown, codes)) or "(no code)", 40)

    return tabulate(
        "suspects",
        "Answers that may be miscoded, the most suspicious first",
        found,
        {
            "answer": lambda s: visible(s.text, 50),
            "codes": lambda s: shown(s.codes),
            "likely": lambda s: shown(s.likely),
            "sure": lambda s: percent(s.sure),
            "why": lambda s: "; ".join(s.why),
        },
        "Likely: the codes of most identical answers, or else those that the machine predicts for "
        "the answer without having seen it. Sure: the share of the identical ones that have them, "
        "or how likely the machine takes it to be right. First come those of which most codes are "
        "expected to be wrong. Many of these answers will be coded rightly: look at each.",
    )


def render_suspects(found: Sequence[Suspect], n_answers: int, book: Codebook) -> str:
    """How many there are, and the first of them."""
    of = f"of {count_noun(n_answers, 'coded answer')} of the model"
    if not found:
        return f"No suspicion: none {of} is coded unlike its likes."
    unlike, identical = (sum(why in s.why for s in found) for why in (UNLIKE, IDENTICAL))
    counts = f"{unlike:,} coded unlike their likes, {identical:,} unlike identical answers"
    table = suspects_table(found, book)
    first = f"{len(found):,} {of} may be miscoded: {counts}."
    return "\n\n".join([wrap([first]), to_text(table, most=MOST_SUSPECTS), wrap(table.notes)])


def suspects_record(found: Sequence[Suspect], n_answers: int) -> dict[str, Any]:
    """What :func:`render_suspects` says, for JSON."""
    suspects = [
        {**asdict(s), "differ_in": s.differ_in, "expected_wrong": s.expected_wrong} for s in found
    ]
    return {"n_answers": n_answers, "suspects": suspects}
