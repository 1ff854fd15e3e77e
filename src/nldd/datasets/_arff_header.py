"""The header of an ARFF file: relation, attributes, and where the rows begin."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nldd._wording import quote
from nldd.datasets._source import Refusal, Source

# Repetitions are possessive (*+, ++) so that no damaged line, however long, is searched twice.
QUOTED = r"""'[^'\\]*+(?:\\.[^'\\]*+)*'|"[^"\\]*+(?:\\.[^"\\]*+)*\""""
_STRING = re.compile(rf"(?s:{QUOTED})")
_DECLARATION = re.compile(r"(?s)@([A-Za-z]++)(.*)")
_NAME = re.compile(rf"(?s)(?:({QUOTED})|([^ \t{{'\"][^ \t{{]*+))[ \t]*+(.*)")
_VALUE = re.compile(rf"(?s)[ \t]*+(?:({QUOTED})|([^ \t,{{}}'\"][^,{{}}]*+))[ \t]*+([,}}])")
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
            if keyword == "relation":
                relation = _parse_relation(rest, relation)
            else:
                _add_attribute(_parse_attribute(rest, line, known), attributes)
        except Refusal as refusal:
            raise source.error(line, refusal) from None
    raise source.error(len(lines), "the file ends without a line @data. Is it complete?")


def _parse_declaration(text: str) -> tuple[str, str]:
    found = _DECLARATION.fullmatch(text)
    keyword = found[1].lower() if found else ""
    if not found or keyword not in ("relation", "attribute", "data"):
        raise Refusal(
            f"expected @relation, @attribute, @data or a comment (%) in the header; "
            f"got {quote(text)}."
        )
    if found[2] and found[2][0] not in " \t'\"%":
        raise Refusal(f"expected a space after @{keyword}; got {quote(text)}.")
    return keyword, found[2].strip(" \t")


def _parse_relation(text: str, before: str | None) -> str:
    if before is not None:
        raise Refusal("a second @relation. A file holds one table; remove one of them.")
    if text[:1] not in ("'", '"'):
        return text.partition("%")[0].rstrip(" \t")
    quoted = _STRING.match(text)
    if not quoted:
        raise unclosed(text)
    _check_end(text[quoted.end() :], "the name of the relation")
    return unquote(quoted[0])


def _add_attribute(attribute: Attribute, attributes: dict[str, Attribute]) -> None:
    before = attributes.setdefault(attribute.name, attribute)
    if before is not attribute:
        raise Refusal(
            f"attribute {quote(attribute.name)} was declared before, in line {before.line}. "
            "Rename one of them."
        )


def _parse_attribute(text: str, line: int, known: dict[str, Codes]) -> Attribute:
    found = _NAME.fullmatch(text)
    if not found and text[:1] in ("'", '"'):
        raise unclosed(text)
    name = (unquote(found[1]) if found[1] else found[2]) if found else ""
    kind = found[3] if found else ""
    if kind.startswith("{") and name:
        if kind not in known:
            known[kind] = _parse_values(kind, name)
        return Attribute(name, known[kind], line)
    kind, _, rest = kind.partition("%")[0].replace("\t", " ").partition(" ")
    if not name or not kind:
        raise Refusal(
            "@attribute needs a name and a type, such as: @attribute age numeric; "
            f"got {quote(text)}."
        )
    if kind.lower() not in _NUMERIC:
        raise Refusal(
            f"attribute {quote(name)} is of type {quote(kind)}; expected numeric, real, integer or "
            "a list of values such as {0,1}. Remove it, or turn it into numbers first."
        )
    _check_end(rest, f"the type of attribute {quote(name)}")
    return Attribute(name, None, line)


def _parse_values(text: str, name: str) -> Codes:
    codes: Codes = {}
    position, end = 1, ","
    while end == ",":
        found = _VALUE.match(text, position)
        if not found and "}" not in text:
            raise Refusal(f"the list of values of attribute {quote(name)} does not end with }}.")
        if not found:
            raise Refusal(
                f"the values of attribute {quote(name)} should read like {{a, 'b c', d}}; "
                f"got {quote(text[position:].strip())} in their place."
            )
        value = unquote(found[1]) if found[1] else found[2].rstrip(" \t")
        if value in codes:
            raise Refusal(f"attribute {quote(name)} lists the value {quote(value)} twice.")
        codes[value] = float(len(codes))
        position, end = found.end(), found[3]
    _check_end(text[position:], f"the values of attribute {quote(name)}")
    return codes


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
