"""Which columns of a file are labels: as asked for, by MEKA's relation, or by Mulan's XML file."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import NoReturn
from xml.parsers import expat

from nldd._wording import quote, quote_first
from nldd.datasets._source import Refusal, read_bytes
from nldd.exceptions import InputError

Labels = int | str | Iterable[str]
FORMS = (
    "labels is a list of names, a pattern such as 'label_*', or a number of columns: "
    "3 for the first three, -3 for the last three"
)
MAX_XML_BYTES = 2**26
_MEKA_OPTION = re.compile(r"(?<![^\s:])-C(?:\s+(\S*)|$)")
_MEKA_COUNT = re.compile(r"-?[0-9]{1,18}")
# Put by expat between the address of a namespace and a tag; no XML file can hold it.
_SEPARATOR = "\x01"


def label_columns(labels: Labels, names: Sequence[str]) -> list[int]:
    """Positions of the label columns among all columns, in the order of the file."""
    if isinstance(labels, int) and not isinstance(labels, bool):
        return _outer_columns(labels, len(names))
    if isinstance(labels, str):
        return _matching_columns(labels, names)
    if isinstance(labels, Iterable):
        return _named_columns(list(labels), names, "that were asked for")
    raise InputError(f"{FORMS}; got {labels!r}.")


def _outer_columns(count: int, n_columns: int) -> list[int]:
    """The first `count` columns, or the last ones if it is negative."""
    if count == 0:
        raise Refusal("0 label columns were asked for; at least one is needed.")
    if abs(count) > n_columns:
        raise Refusal(f"{abs(count)} label columns were asked for, but there are {n_columns}.")
    return list(range(count) if count > 0 else range(n_columns + count, n_columns))


def _matching_columns(pattern: str, names: Sequence[str]) -> list[int]:
    if pattern in names:
        return [names.index(pattern)]
    columns = [j for j, name in enumerate(names) if fnmatchcase(name, pattern)]
    if not columns:
        raise Refusal(
            f"no column matches {quote(pattern)}; the columns are {quote_first(names)}. {FORMS}."
        )
    return columns


def xml_columns(path: str | os.PathLike[str], names: Sequence[str]) -> list[int]:
    """Columns that an XML file of Mulan names."""
    return _named_columns(read_label_names(path), names, f"that {path} names")


def _named_columns(labels: Sequence[str], names: Sequence[str], origin: str) -> list[int]:
    if not labels or not all(isinstance(label, str) for label in labels):
        raise InputError(f"{FORMS}; got {list(labels)[:5]!r}.")
    repeated = [label for label, count in Counter(labels).items() if count > 1]
    if repeated:
        raise InputError(f"labels names {quote_first(repeated)} more than once.")
    position = {name: j for j, name in enumerate(names)}
    unknown = [label for label in labels if label not in position]
    if unknown:
        # Comparing takes time by the square of the lengths, and a name can be as long as the file.
        candidates = [known for known in names[:2000] if len(known) <= 60]
        near = get_close_matches(unknown[0][:60], candidates, n=1)
        raise Refusal(
            f"{len(unknown)} of the {len(labels)} labels {origin} are not among the {len(names)} "
            f"columns of the file: {quote_first(unknown)}. "
            + (f"Did you mean {quote(near[0])}?" if near else "Names must agree exactly.")
        )
    return sorted(position[label] for label in labels)


def meka_columns(relation: str, n_attributes: int) -> list[int] | None:
    """The first 3 attributes for ``-C 3``, the last for ``-C -3``; None if it does not say."""
    counts = _MEKA_OPTION.findall(relation)
    if not counts:
        return None
    if len(counts) > 1:
        raise Refusal(
            f"the relation says -C {len(counts)} times, which happens when a filter has moved the "
            "attributes. Say which ones are labels: labels=3 for the first three, -3 for the last."
        )
    if not _MEKA_COUNT.fullmatch(counts[0]):
        raise Refusal(
            f"the relation says -C {quote(counts[0])}; expected the number of labels, such as "
            "-C 3 (the first three attributes) or -C -3 (the last three)."
        )
    try:
        return _outer_columns(int(counts[0]), n_attributes)
    except Refusal as refusal:
        raise Refusal(f"the relation says -C {counts[0]}: {refusal}") from None


def read_label_names(path: str | os.PathLike[str], *, max_bytes: int = MAX_XML_BYTES) -> list[str]:
    """Read the names of labels from an XML file of Mulan, exactly as they are written there.

    Labels may lie within labels (a hierarchy): all of them count, in the order of the file.
    Document types and entities, which can be made to fill the memory, are refused.
    """
    source, content = read_bytes(path, max_bytes)
    # No tree is built, however deep the file is.
    parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
    names: dict[str, int] = {}

    def refuse(message: str) -> NoReturn:
        raise source.error(parser.CurrentLineNumber, message)

    def refuse_declaration(*_: object) -> None:
        refuse("document types and entities are not allowed. Remove the <!DOCTYPE ...>.")

    def start_root(tag: str, _: object) -> None:
        tag = tag.rpartition(_SEPARATOR)[2]
        if tag != "labels":
            refuse(
                f"expected <labels> as the outermost element; got <{tag[:40]}>. "
                "Is it a label file of Mulan?"
            )
        parser.StartElementHandler = start_element

    def start_element(tag: str, attributes: dict[str, str]) -> None:
        if tag.rpartition(_SEPARATOR)[2] != "label":
            return
        name = attributes.get("name")
        if not name:
            refuse('a <label> has no name. Expected <label name="...">.')
        if name in names:
            refuse(f"label {quote(name)} was named before, in line {names[name]}.")
        names[name] = parser.CurrentLineNumber

    parser.StartElementHandler = start_root
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse_declaration
    try:
        parser.Parse(content, True)
    except InputError:
        raise  # it is a ValueError too
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise source.error(error.lineno, f"not well-formed XML: {reason}.") from None
    except (ValueError, LookupError) as error:
        # An encoding that Python does not know, or not as one byte a character.
        message = f"the file cannot be decoded: {quote(str(error))}. Save it as UTF-8."
        raise source.error(1, message) from None
    if not names:
        refuse('<labels> holds no label. Expected <label name="..."/> in it.')
    return list(names)
