"""Write the tables and figures of the pages on speed from the results of the benchmarks.

The text of the pages is written by hand. Between ``<!-- NAME -->`` and ``<!-- end -->`` stands what
``benchmarks/results/NAME.json`` holds, one row a data set or size where that is easier to read;
between ``<!-- NAME record -->`` and its end every answer as it was recorded. ``<!-- missed -->``
and ``<!-- machine -->`` stand for what was wanted and not reached, and for where it was measured.
What `told` has are figures within a sentence.
"""

import json
import re
import sys
from collections.abc import Callable
from functools import cache
from math import ceil, floor, log10
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "results"))
import marks  # noqa: E402 (found only by the path above)

RESULTS = HERE / "results"
PAGES = [marks.DOCS / f"{name}.md" for name in ("performance", "performance-records", "scaling")]
SPEED, GROWTH = marks.DOCS / "speed.svg", marks.DOCS / "growth.svg"
NUMBER = re.compile(r"-?[\d,]*\d(?:\.\d+)?")
Answer = dict[str, str]
Row = tuple[str, ...]


def record(name: str) -> dict:
    """What one program has measured."""
    return json.loads((RESULTS / f"{name}.json").read_text("utf-8"))


def is_measured(name: str) -> bool:
    """Whether there is a record of the program."""
    return (RESULTS / f"{name}.json").exists()


def answers(name: str) -> list[Answer]:
    """Its answers: question, figure, bar and remark of each."""
    return record(name)["answers"]


def number(text: str) -> float:
    """The number in a figure or in a bar, such as 3 in ``>= 3x`` and 0.93 in ``N^0.93``."""
    return float(NUMBER.search(text)[0].replace(",", ""))


def is_missed(answer: Answer) -> bool:
    """Whether the figure is not what was wanted."""
    figure, bar = answer["figure"], answer["bar"]
    if not bar:
        return False
    wanted = number(bar)
    reached = {
        ">=": lambda value: value >= wanted,
        "<=": lambda value: value <= wanted,
        "<": lambda value: value < wanted,
    }
    return not reached[bar.split()[0]](number(figure))


def verdict(answer: Answer) -> str:
    """What was wanted, and whether it was missed."""
    return f"{answer['bar']}, **missed**" if is_missed(answer) else answer["bar"]


def grid(head: Row, rows: list[Row]) -> str:
    """A table in Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def plain(name: str) -> str:
    """All answers as they are, what was wanted beside them."""
    rows = [(a["question"], a["figure"], verdict(a), a["remark"]) for a in answers(name)]
    if any(row[3] for row in rows):
        return grid(("question", "figure", "wanted", "remark"), rows)
    return grid(("question", "figure", "wanted"), [row[:3] for row in rows])


def by_place(name: str) -> dict[str, dict[str, Answer]]:
    """Answers by what comes last in their question, as a data set, and by what comes before."""
    found: dict[str, dict[str, Answer]] = {}
    for answer in answers(name):
        what, _, place = answer["question"].rpartition(", ")
        found.setdefault(place, {})[what] = answer
    return found


def search() -> str:
    rows = []
    for name, found in by_place("search").items():
        fast, share = found["search"], found["rows evaluated"]
        rows.append((name, fast["figure"], verdict(fast), share["figure"], verdict(share)))
    return grid(("data set", "times as fast", "wanted", "rows evaluated", "wanted"), rows)


FITS = tuple(f"{method} to OneVsRestClassifier" for method in ("NLDD", "BR", "NLDD default"))


def fits_measured() -> list[str]:
    """Those of the record."""
    known = {what for found in by_place("fit").values() for what in found}
    return [what for what in FITS if what in known]


def fit() -> str:
    found, methods = by_place("fit"), fits_measured()
    last = found.pop("data sets within 0.6x")[FITS[0]]
    rows = [
        (name, *(cell for what in methods for cell in (here[what]["figure"], verdict(here[what]))))
        for name, here in found.items()
    ]
    nothing = ("", "") * (len(methods) - 1)
    rows.append(
        ("data sets where NLDD takes at most 0.6x", last["figure"], verdict(last), *nothing)
    )
    head = (cell for what in methods for cell in (what.partition(" to ")[0], "wanted"))
    return grid(("data set", *head), rows)


def decisions() -> str:
    """Data sets as rows, decisions as columns."""
    found = by_place("decisions")
    rows = []
    for name, here in found.items():
        cells = (f"{answer['figure']} ({verdict(answer)})" for answer in here.values())
        rows.append((name, *cells))
    return grid(("data set", *next(iter(found.values()))), rows)


def growth() -> str:
    rows = []
    for answer in answers("growth"):
        size = re.fullmatch(r"(\S+) rows, (\S+) labelsets", answer["question"])
        if size:
            query, share = re.search(r"(\S+ us) a query, (\S+ %)", answer["remark"]).groups()
            rows.append((*size.groups(), answer["figure"], query, share))
    told = (f"{answer['figure']} (wanted {verdict(answer)})" for answer in answers("growth")[-2:])
    rows.append(("growth with N", "", *told, ""))
    head = ("training rows N", "labelsets", "fit beyond the classifiers", "a query")
    return grid((*head, "rows evaluated"), rows)


def pairs() -> str:
    rows = []
    for answer in answers("pairs"):
        name, drawn, of = re.match(r"(\w+), (\d+) of (\d+)", answer["question"]).groups()
        weights = re.fullmatch(r"b1 (.*), b2 (.*)", answer["remark"]).groups()
        rows.append((name, drawn, of, answer["figure"], *weights))
    return grid(("data set", "instances drawn", "of", "measures move by", "b1", "b2"), rows)


def systems() -> str:
    """Methods as rows, data sets as columns."""
    found: dict[tuple[str, str], list[str]] = {}
    remarks: dict[tuple[str, str], str] = {}
    for answer in answers("systems"):
        method, system, _ = answer["question"].split(", ")
        differ, faster, why = re.match(
            r"(\S+)% of the labels differ, (\S+x)(?:; (.*))?", answer["remark"]
        ).groups()
        found.setdefault((method, system), []).append(f"{differ} %, {faster}")
        remarks[method, system] = why or ""
    names = dict.fromkeys(a["question"].split(", ")[2] for a in answers("systems"))
    rows = [(*key, *cells, remarks[key]) for key, cells in found.items()]
    return grid(("method", "system", *names, "why labels differ"), rows)


def dask_fit() -> str:
    """Numbers of rows and workers as rows."""
    found: dict[tuple[str, str], dict[str, Answer]] = {}
    for answer in answers("dask_fit"):
        what, n_rows, workers = re.fullmatch(
            r"(.*), (\S+) rows, (\d+) workers?", answer["question"]
        ).groups()
        found.setdefault((n_rows, workers), {})[what] = answer
    rows = []
    for key, here in found.items():
        memory = here["most memory of a worker"]
        told = [here.get(what) for what in ("BR fit", "NLDD fit", "200 queries")]
        cells = ["" if a is None else f"{a['figure']} ({number(a['remark']):,.0f})" for a in told]
        rows.append((*key, *cells, f"{memory['figure']} ({verdict(memory)})"))
    head = ("rows", "workers", "BR fit", "NLDD fit", "200 queries", "most memory of a worker")
    return grid(head, rows)


def scaling() -> str:
    rows = []
    for answer in answers("scaling"):
        sizes = re.findall(r"= ([\d,]+)(?:,|$)", answer["question"])
        rows.append((*sizes, answer["figure"], answer["remark"].removesuffix(" a query")))
    return grid(("rows N", "features d", "labels L", "labelsets U", "fit", "a query"), rows)


READABLE: dict[str, Callable[[], str]] = {
    **{"search": search, "fit": fit, "decisions": decisions, "growth": growth, "pairs": pairs},
    **{"systems": systems, "dask_fit": dask_fit, "scaling": scaling},
}


def programs() -> list[str]:
    """All that have a record and a mark on the pages, in the order of these."""
    every = (mark for page in PAGES for mark in marks.names(page))
    known = dict.fromkeys(mark.removesuffix(" record") for mark in every if mark not in ALL)
    return [name for name in known if is_measured(name)]


def missed() -> str:
    rows = [
        (answer["question"], answer["figure"], answer["bar"])
        for name in programs()
        for answer in answers(name)
        if is_missed(answer)
    ]
    return grid(("question", "figure", "wanted"), rows)


def machine() -> str:
    """What all of it was measured on; in a list by program if that was not always the same."""
    found = {name: record(name)["machine"] for name in programs()}
    if len(set(found.values())) == 1:
        return marks.wrapped(f"All of it was measured on {next(iter(found.values()))}.")
    return marks.wrapped("\n".join(f"- {name}: {where}." for name, where in found.items()))


def figures(name: str, what: str) -> list[float]:
    """The figures of one question about all data sets."""
    found = by_place(name).values()
    return [number(here[what]["figure"]) for here in found if what in here]


@cache
def told() -> dict[str, str]:
    """Figures that are told in sentences."""
    fast, shares = figures("search", "search"), figures("search", "rows evaluated")
    on_text = [x for x, share in zip(fast, shares, strict=True) if share < 100]
    few = [share for share in shares if share < 100]
    *fits, longest = sorted(figures("fit", FITS[0])[:-1])
    br = figures("fit", FITS[1])
    time, _, memory = (answer["figure"] for answer in answers("million"))
    speed, _, block = (answer["figure"] for answer in answers("coding"))
    large = (a for a in answers("dask_fit") if a["question"].startswith("NLDD fit, 20,000,000"))
    return {
        "times as fast": f"{min(fast):.0f} to {max(fast):.0f}",
        "times as fast on text": f"{min(on_text):.0f} to {max(on_text):.0f}",
        "share evaluated": f"{min(few):.0f} to {max(few):.0f} %",
        "time of fits": f"{fits[0]:.2f} to {fits[-1]:.2f}",
        "longest fit": f"{longest:.2f}",
        "time of BR": f"{min(br):.2f} to {max(br):.2f}",
        "time of a million": f"{time.split()[0]} minutes with {memory}",
        "speed of coding": f"{block}, {speed} in a second",
        "time of 20 million": f"{number(next(large)['figure']) / 60:.1f} minutes",
    }


# What is made of all records together.
ALL: dict[str, Callable[[], str]] = {"missed": missed, "machine": machine}


def section(mark: str) -> str:
    """What stands between a mark and its end."""
    if mark in ALL:
        return ALL[mark]()
    if mark in told():
        return told()[mark]
    if not is_measured(mark.removesuffix(" record")):
        return "Not measured yet."
    if mark.endswith(" record"):
        return plain(mark.removesuffix(" record"))
    return READABLE[mark]() if mark in READABLE else plain(mark)


def draw_speed():
    """The search against brute force, and fits against binary relevance, by data set."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    found = by_place("search")
    names, at = list(found), range(len(found))
    fast = [number(found[name]["search"]["figure"]) for name in names]
    left.barh(at, fast, height=0.6, color="#0072b2")
    left.set(xscale="log", xlim=(1, 150), xticks=[1, 10, 100], yticks=at, yticklabels=names)
    left.set_xticklabels(["1", "10", "100"])
    left.invert_yaxis()
    left.set(title="search: times as fast as brute force")
    for place, value in zip(at, fast, strict=True):
        left.text(value * 1.08, place, f"{value:g}x", va="center", fontsize=9)
    looks = dict(zip(FITS, (("#0072b2", "o"), ("#d55e00", "s"), ("#009e73", "^")), strict=True))
    for what in fits_measured():
        color, mark = looks[what]
        ratios = [number(by_place("fit")[name][what]["figure"]) for name in names]
        right.plot(ratios, at, mark, color=color, label=f"our {what.partition(' to ')[0]}")
    right.axvline(1, color="#8c8c8c", linestyle="--", linewidth=1)
    right.set(xlim=(0, 1.6), title="fit and predict: time over scikit-learn's BR")
    right.legend(frameon=False, loc="upper right")
    _finish(figure)
    return figure


def draw_growth():
    """Time of fit and of a query against the number of training rows."""
    from matplotlib.figure import Figure

    rows = [answer for answer in answers("growth") if answer["remark"]]
    sizes = [number(answer["question"]) for answer in rows]
    times = (
        [number(answer["figure"]) for answer in rows],
        [number(re.search(r"(\S+) us", answer["remark"])[1]) / 1000 for answer in rows],
    )
    figure = Figure(figsize=(7, 3.4), layout="constrained")
    titles = ("fit beyond the classifiers, s", "one query, ms")
    exponents = (answer["figure"] for answer in answers("growth")[-2:])
    for axes, *told in zip(figure.subplots(1, 2), titles, times, exponents, strict=True):
        title, values, exponent = told
        axes.loglog(sizes, values, "o-", color="#0072b2", label=f"measured: {exponent}")
        linear = [size / sizes[0] * values[0] for size in sizes]
        axes.loglog(sizes, linear, "--", color="#8c8c8c", label="N^1")
        decades = floor(log10(min(values))), ceil(log10(max(values)))
        axes.set(xlabel="training rows N", title=title, xticks=[10_000, 100_000])
        axes.set_ylim(*(10.0**decade for decade in decades))
        axes.legend(frameon=False)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter("{x:,g}")
            axis.set_minor_formatter("")
    _finish(figure)
    return figure


def _finish(figure) -> None:
    for axes in figure.axes:
        axes.title.set_fontsize(10)
        axes.tick_params(labelsize=9)
        axes.spines[["top", "right"]].set_visible(False)


def main() -> None:
    for page in PAGES:
        marks.fill(page, {mark: section(mark) for mark in marks.names(page)})
    marks.save_light(draw_speed(), SPEED)
    marks.save_light(draw_growth(), GROWTH)


if __name__ == "__main__":
    main()
