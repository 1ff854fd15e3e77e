"""The pages that people read: lines that fit, headings in order, links that lead somewhere."""

import importlib.util
import re
import tomllib
from itertools import pairwise, takewhile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMED = ("README.md", "CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md")
# What a build of the site writes; links into it are checked there.
MADE = ("docs/_", "docs/api/", "docs/gallery/")
PAGES = {
    path.relative_to(ROOT).as_posix(): path
    for path in (*(ROOT / name for name in NAMED), *sorted((ROOT / "docs").rglob("*.md")))
    if path.exists() and not path.relative_to(ROOT).as_posix().startswith(MADE)
}
WIDTH, CODE_WIDTH = 100, 120
FENCE = re.compile(r" *(```|~~~)")
HEADING = re.compile(r"(#{1,6}) (.*)")
LINK = re.compile(r"\]\(([^()\s]+)\)")
# A picture in HTML has a width, which one in Markdown cannot have.
TAG = re.compile(r'<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)="([^"\s]+)"')
PICTURES_AT_MOST = {".svg": 100_000, ".png": 150_000}


def lines(path):
    """Each line with whether it is code."""
    inside = False
    for line in path.read_text("utf-8").splitlines():
        is_fence = bool(FENCE.match(line))
        yield line, inside or is_fence
        inside ^= is_fence


def headings(path):
    """Level and words of the headings."""
    found = (HEADING.fullmatch(line) for line, is_code in lines(path) if not is_code)
    return [(len(match[1]), match[2]) for match in found if match]


def slug(words):
    """The anchor of a heading, as GitHub makes it: marks of Markdown and punctuation are gone."""
    words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", words)
    return re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")


def anchors(path):
    """All anchors of a page; those of a heading that comes again are numbered."""
    seen: dict[str, int] = {}
    for _, words in headings(path):
        name = slug(words)
        seen[name] = seen.get(name, -1) + 1
        yield f"{name}-{seen[name]}" if seen[name] else name
    # Labels, of Markdown and of reStructuredText within it.
    text = path.read_text("utf-8")
    yield from re.findall(r"^(?:\(|\.\. _)([\w-]+)(?:\)=|:)$", text, re.MULTILINE)


def links(path):
    """Targets of the links of a page but for those to other sites."""
    prose = "\n".join(re.sub(r"`[^`]*`", "`", line) for line, is_code in lines(path) if not is_code)
    found = LINK.findall(prose) + TAG.findall(prose)
    return [target for target in found if not re.match(r"\w+:", target)]


def is_made(path, target):
    """Whether a link leads to what a build of the site writes."""
    place = (path.parent / target).resolve()
    return place.is_relative_to(ROOT) and place.relative_to(ROOT).as_posix().startswith(MADE)


def contents(path):
    """Pages that the site's navigation lists below this one."""
    for block in re.findall(r"```\{toctree\}\n(.*?)```", path.read_text("utf-8"), re.DOTALL):
        for entry in block.splitlines():
            if entry and not entry.startswith(":"):
                name = entry.rpartition("<")[2].rstrip(">")
                yield path.parent / f"{name}.md"


def is_too_wide(line, is_code):
    if is_code:
        return len(line) > CODE_WIDTH
    is_whole = line.lstrip().startswith(("|", "#")) or " " not in line.strip()
    return len(line) > WIDTH and not is_whole


@pytest.mark.parametrize("page", PAGES)
def test_lines_are_wrapped(page):
    wide = [line for line, is_code in lines(PAGES[page]) if is_too_wide(line, is_code)]
    assert wide == []
    assert "<<<<<<<" not in PAGES[page].read_text("utf-8")  # what a merge left behind


@pytest.mark.parametrize("page", PAGES)
def test_headings_start_with_one_title_and_never_jump(page):
    levels = [level for level, _ in headings(PAGES[page])]
    assert levels[0] == 1 and levels.count(1) == 1
    assert [(a, b) for a, b in pairwise(levels) if b > a + 1] == []


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_headings_that_are_there(page):
    path = PAGES[page]
    broken = []
    for target in (target for target in links(path) if not is_made(path, target)):
        place, _, anchor = target.partition("#")
        file = (path.parent / place).resolve() if place else path
        if not file.is_file() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


@pytest.mark.parametrize("page", [name for name in PAGES if name.startswith("docs/")])
def test_pages_of_the_site_link_to_pages_and_pictures_only(page):
    """The site has no page for a folder or a source file; these are told in words."""
    path = PAGES[page]
    places = {link.partition("#")[0] for link in links(path) if not is_made(path, link)} - {""}
    assert [place for place in places if not place.endswith((".md", ".svg", ".png"))] == []


def test_no_page_is_left_alone():
    """From the README, or from the site's index, every page of docs can be reached."""
    starts = [path for name, path in PAGES.items() if name in ("README.md", "docs/index.md")]
    reached, waiting = set(), starts
    while waiting:
        path = waiting.pop()
        if path in reached or path.suffix != ".md" or not path.is_file():
            continue
        reached.add(path)
        waiting += [(path.parent / link.partition("#")[0]).resolve() for link in links(path)]
        waiting += contents(path)
    assert [name for name, path in PAGES.items() if path.resolve() not in reached] == []


@pytest.mark.parametrize("ending", PICTURES_AT_MOST)
def test_pictures_are_light_and_shown(ending):
    shown = {(path.parent / link).resolve() for path in PAGES.values() for link in links(path)}
    pictures = sorted((ROOT / "docs").glob(f"*{ending}"))
    assert pictures
    for picture in pictures:
        assert picture.stat().st_size <= PICTURES_AT_MOST[ending], picture.name
        assert picture.resolve() in shown, f"no page shows {picture.name}"


@pytest.mark.parametrize(
    ("words", "anchor"),
    [
        ("Values that are far from the paper's", "values-that-are-far-from-the-papers"),
        ("Check the machine: `--audit`", "check-the-machine---audit"),
        ("0/1 loss, lower is better", "01-loss-lower-is-better"),
        ("5. Learn again: `nldd update`", "5-learn-again-nldd-update"),
    ],
)
def test_slugs_are_those_of_github(words, anchor):
    assert slug(words) == anchor


def test_checks_find_what_is_wrong(tmp_path):
    page = tmp_path / "page.md"
    wide = "word " * 21
    page.write_text(f"# One\n\n{wide}\n\n| {wide} |\n\n```\n{wide}\n# no heading\n```\n\n# One\n")
    assert [line for line, is_code in lines(page) if is_too_wide(line, is_code)] == [wide]
    assert headings(page) == [(1, "One"), (1, "One")]
    assert list(anchors(page)) == ["one", "one-1"]
    page.write_text("[a](b.md#c) ![p](q.png) `[no](x.md)` <https://y> [z](https://z.org)\n")
    assert links(page) == ["b.md#c", "q.png"]
    page.write_text('[![p](q.png)](b.md)\n<img width="9" src="r.png" alt="">\n')
    assert links(page) == ["q.png", "b.md", "r.png"]


def spans(path):
    """What stands in code within lines."""
    return [
        s for line, is_code in lines(path) if not is_code for s in re.findall(r"`([^`]+)`", line)
    ]


@pytest.mark.parametrize("page", [name for name in PAGES if name.startswith("docs/")])
def test_files_and_names_that_a_page_speaks_of_are_there(page):
    told = spans(PAGES[page])
    files = [
        s for s in told if re.fullmatch(r"(tests|results|benchmarks|constraints)/[\w./*-]+", s)
    ]
    assert [name for name in files if not any(ROOT.glob(name.rstrip("/")))] == []
    names = [s for s in told if re.fullmatch(r"nldd(\.\w+)+", s) and not s.endswith(".lock")]
    assert [name for name in names if not is_there(name)] == []


def is_there(name):
    """Whether something can be imported by its dotted name."""
    module, _, attribute = name.rpartition(".")
    if importlib.util.find_spec(module) is None:
        return False
    found = hasattr(importlib.import_module(module), attribute)
    return found or importlib.util.find_spec(name) is not None


def test_every_dependency_has_its_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    text = (ROOT / "docs" / "dependencies.md").read_text("utf-8").lower()
    given = [name.partition(";")[0] for name in project["dependencies"]]
    needed = [re.sub(r"([>=]+)", r" \1 ", name) for name in given]
    assert [name for name in needed if f"| {name.lower()} |" not in text] == []
    assert len(needed) == 18 and "needs eighteen packages" in text
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    for extra, names in project["optional-dependencies"].items():
        mine = " ".join(row for row in rows if row.startswith(f"| `{extra}` |"))
        plain = {re.match(r"[\w-]+", name)[0].lower() for name in names} - {"nldd"}
        assert {name for name in plain if name not in mine} == set(), extra


def test_layers_on_the_page_are_those_that_are_checked():
    """Every package and module of nldd stands in the picture, in the order of the contract."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    (contract,) = config["tool"]["importlinter"]["contracts"]
    text = (ROOT / "docs" / "development.md").read_text("utf-8")
    picture = re.search(r"```text\n(__main__ .*?)```", text, re.DOTALL)[1]
    layers = [set(layer.split(" | ")) for layer in contract["layers"]]
    names = set().union(*layers)
    heads = [line.split() for line in picture.splitlines() if not line.startswith(" ")]
    assert [set(takewhile(names.__contains__, head)) for head in heads] == layers
