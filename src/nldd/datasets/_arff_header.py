"""The header of an ARFF file: relation, attributes, and where the rows begin."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nldd._wording import quote
from nldd.datasets._source import Refusal, Source

# Repetitions are possessive (*+, ++) so that no damaged line, however long, is searched twice.
QUOTED = r"""'[^'\\]*+(?:\\.[^'\\]*+)*'|"[^"\\]*+(?:\\.[^"\\]*+)*\""""
# A quoted or bare value between braces, and the comma or brace behind it.
LISTED = rf"(?:({QUOTED})|([^ \t,{{}}'\"][^,{{}}]*+))[ \t]*+([,}}])"
_DECLARATION = re.compile(r"(?s)@([A-Za-z]++)(.*)")
_NAME = re.compile(rf"(?s)(?:({QUOTED})|([^ \t{{'\"][^ \t{{]*+))[ \t]*+(.*)")
_VALUE = re.compile(rf"(?s)[ \t]*+{LISTED}")
_ESCAPE = re.compile(r"(?s)\\(u[0-9a-fA-F]{4}|.)")
_ESCAPED = {"'": "'", '"': '"', "\\": "\\", "%": "%", "t": "\t", "n": "\n", "r": "\r"}
_NUMERIC = ("numeric", "real", "integer")

Codes = dict[str, float]


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of an ARFF file.

    Attributes
    ----------
    name : str
    codes : dict of str to float, or None
        Position of each value of a nominal attribute; None for a numeric one.
    line : int
        Where it is declared, counted from 1.
    """

    name: str
    codes: Codes | None
    line: int

    @property
    def values(self) -> tuple[str, ...] | None:
        """Values of a nominal attribute in the order of the header; None for a numeric one."""
        return None if self.codes is None else tuple(self.codes)


def parse_header(lines: Sequence[str], source: Source) -> tuple[str, tuple[Attribute, ...], int]:
    """The relation, the attributes, and the line of ``@data``."""
    relation: str | None = None
    attributes: dict[str, Attribute] = {}
    known: dict[str, Codes] = {}
    for line, content in enumerate(lines, start=1):
        text = content.strip(" \t")
        if not text or text.startswith("%"):
            continue
        try:
            keyword, rest = _parse_declaration(text)
            if keyword == "data":
                _check_end(rest, "@data")
                if not attributes:
                    raise Refusal("@data comes before any @attribute. Declare the columns first.")
                return relation or "", tuple(attributes.values()), line
            if keyword == "attribute":
                attribute = _parse_attribute(rest, line, known)
                _check_new(attributes.setdefault(attribute.name, attribute), line)
            elif relation is None:
                relation = _parse_relation(rest)
            else:
                raise Refusal("a second @relation. A file holds one table; remove one of them.")
        except Refusal as refusal:
            raise source.error(line, refusal) from None
    raise source.error(len(lines), "the file ends without a line @data. Is it complete?")


def _parse_declaration(text: str) -> tuple[str, str]:
    found = _DECLARATION.fullmatch(text)
    keyword = found[1].lower() if found else ""
    if not found or keyword not in ("relation", "attribute", "data"):
        known = "@relation, @attribute, @data or a comment (%)"
        raise Refusal(f"expected {known} in the header; got {quote(text)}.")
    if found[2] and found[2][0] not in " \t'\"%":
        raise Refusal(f"expected a space after @{keyword}; got {quote(text)}.")
    return keyword, found[2].strip(" \t")


def _parse_relation(text: str) -> str:
    if text[:1] not in ("'", '"'):
        return text.partition("%")[0].rstrip(" \t")
    name, rest = _split_name(text)
    _check_end(rest, "the name of the relation")
    return name


def _split_name(text: str) -> tuple[str, str]:
    """The quoted or bare name at the beginning of a text, and what comes after it."""
    found = _NAME.fullmatch(text)
    if found:
        return unquote(found[1]) if found[1] else found[2], found[3]
    if text[:1] in ("'", '"'):
        raise unclosed(text)
    return "", ""


def _check_new(first: Attribute, line: int) -> None:
    if first.line != line:
        where = f"was declared before, in line {first.line}"
        raise Refusal(f"attribute {quote(first.name)} {where}. Rename one of them.")


def _parse_attribute(text: str, line: int, known: dict[str, Codes]) -> Attribute:
    name, kind = _split_name(text)
    if kind.startswith("{") and name:
        # Most attributes share a list such as {0,1}, which is read once.
        known[kind] = known.get(kind) or _parse_values(kind, name)
        return Attribute(name, known[kind], line)
    kind, _, rest = kind.partition("%")[0].replace("\t", " ").partition(" ")
    if not name or not kind:
        form = "@attribute needs a name and a type, such as: @attribute age numeric"
        raise Refusal(f"{form}; got {quote(text)}.")
    if kind.lower() not in _NUMERIC:
        raise Refusal(
            f"attribute {quote(name)} is of type {quote(kind)}; expected numeric, real, integer or "
            "a list of values such as {0,1}. Remove it, or turn it into numbers first."
        )
    _check_end(rest, f"the type of attribute {quote(name)}")
    return Attribute(name, None, line)


def _parse_values(text: str, name: str) -> Codes:
    which = f"the values of attribute {quote(name)}"
    if "}" not in text:
        raise Refusal(f"{which} do not end with }}.")
    codes: Codes = {}
    found, rest = split_braced(text, _VALUE, f"{which} should read like {{a, 'b c', d}}")
    for quoted, bare, _ in map(re.Match.groups, found):
        value = unquote(quoted) if quoted else bare.rstrip(" \t")
        if value in codes:
            raise Refusal(f"attribute {quote(name)} lists the value {quote(value)} twice.")
        codes[value] = float(len(codes))
    _check_end(rest, which)
    return codes


def split_braced(text: str, item: re.Pattern[str], form: str) -> tuple[list[re.Match[str]], str]:
    """Items between braces, each of which matches with its comma or brace, and what follows."""
    found: list[re.Match[str]] = []
    position = 1
    while not found or found[-1][0].endswith(","):
        match = item.match(text, position)
        if not match:
            raise Refusal(f"{form}; got {quote(text[position:].strip())}.")
        found.append(match)
        position = match.end()
    return found, text[position:]


def _check_end(text: str, after: str) -> None:
    text = text.strip(" \t")
    if text and not text.startswith("%"):
        raise Refusal(f"unexpected {quote(text)} after {after}.")


def unquote(text: str) -> str:
    r"""The text between quotes, with escapes such as ``\'`` resolved."""
    return _ESCAPE.sub(_resolve, text[1:-1]) if "\\" in text else text[1:-1]


def _resolve(escape: re.Match[str]) -> str:
    code = escape[1]
    if len(code) == 5 and not 0xD800 <= int(code[1:], 16) <= 0xDFFF:
        return chr(int(code[1:], 16))
    if code in _ESCAPED:
        return _ESCAPED[code]
    raise Refusal(
        f"unknown escape {quote(escape[0])} in quotes. "
        r"""Known are \' \" \\ \% \t \n \r and \u with four hexadecimal digits."""
    )


def unclosed(text: str) -> Refusal:
    """What to say about a quote without its end."""
    return Refusal(f"a quote is not closed: {quote(text)}.")
