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
from nldd.bench.datasets.source import DataError, read_bytes
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


def parse_labels(text: str | None) -> str | int | list[str] | None:
    """Label columns as written in a command: a count, names with commas, a pattern or a file."""
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        return [name.strip() for name in text.split(",")] if "," in text else text


def label_columns(labels: Labels, names: Sequence[str]) -> list[int]:
    """Positions of the label columns among all columns, in the order of the file."""
    if isinstance(labels, int) and not isinstance(labels, bool):
        return _outer_columns(labels, len(names))
    if isinstance(labels, str):
        return _matching_columns(labels, names)
    if isinstance(labels, Iterable):
        return named_columns(list(labels), names, "that were asked for")
    raise InputError(f"{FORMS}; got {labels!r}.")


def _outer_columns(count: int, n_columns: int, origin: str = "") -> list[int]:
    """The first `count` columns, or the last ones if it is negative."""
    if count == 0:
        raise DataError(f"{origin}0 label columns were asked for; at least one is needed.")
    if abs(count) > n_columns:
        asked = f"{abs(count)} label columns were asked for"
        raise DataError(f"{origin}{asked}, but there are {n_columns}.")
    return list(range(n_columns)[:count] if count > 0 else range(n_columns)[count:])


def _matching_columns(pattern: str, names: Sequence[str]) -> list[int]:
    if pattern in names:
        return [names.index(pattern)]
    columns = [j for j, name in enumerate(names) if fnmatchcase(name, pattern)]
    if not columns:
        known = f"the columns are {quote_first(names)}"
        raise DataError(f"no column matches {quote(pattern)}; {known}. {FORMS}.")
    return columns


def named_columns(labels: Sequence[str], names: Sequence[str], origin: str) -> list[int]:
    """Positions of the labels of these names; an error says where the names come from."""
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
        how = f"Did you mean {quote(near[0])}?" if near else "Names must agree exactly."
        which = f"{len(unknown)} of the {len(labels)} labels {origin} are"
        if len(labels) == 1:
            which = f"the one column {origin} is"
        where = f"the {len(names)} columns of the file"
        raise DataError(f"{which} not among {where}: {quote_first(unknown)}. {how}")
    return sorted(position[label] for label in labels)


def meka_columns(relation: str, n_attributes: int) -> list[int] | None:
    """The first 3 attributes for ``-C 3``, the last for ``-C -3``; None if it does not say."""
    counts = _MEKA_OPTION.findall(relation)
    if not counts:
        return None
    if len(counts) > 1:
        why = "which happens when a filter has moved the attributes"
        how = "Say which ones are labels: labels=3 for the first three, -3 for the last."
        raise DataError(f"the relation says -C {len(counts)} times, {why}. {how}")
    if not _MEKA_COUNT.fullmatch(counts[0]):
        form = "-C 3 (the first three attributes) or -C -3 (the last three)"
        found = f"the relation says -C {quote(counts[0])}"
        raise DataError(f"{found}; expected the number of labels, such as {form}.")
    return _outer_columns(int(counts[0]), n_attributes, f"the relation says -C {counts[0]}: ")


def read_label_names(path: str | os.PathLike[str], *, max_bytes: int = MAX_XML_BYTES) -> list[str]:
    """Read the names of labels from an XML file of Mulan, exactly as they are written there.

    Labels may lie within labels (a hierarchy): all of them count, in the order of the file.
    Document types and entities, which can be made to fill the memory, are refused.
    """
    source, content = read_bytes(path, max_bytes)
    # No tree is built, however deep the file is.
    parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
    lines: dict[str, int] = {}  # of the names
    tags: set[str] = set()

    def refuse(message: str) -> NoReturn:
        raise source.error(parser.CurrentLineNumber, message)

    def refuse_declaration(*_: object) -> None:
        refuse("document types and entities are not allowed. Remove the <!DOCTYPE ...>.")

    def start_element(tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(_SEPARATOR)[2]
        if not tags and tag != "labels":
            expected = f"expected <labels> as the outermost element; got <{tag[:40]}>"
            refuse(f"{expected}. Is it a label file of Mulan?")
        tags.add(tag)
        name = attributes.get("name")
        if tag == "label" and not name:
            refuse('a <label> has no name. Expected <label name="...">.')
        if tag == "label" and name:
            if name in lines:
                refuse(f"label {quote(name)} was named before, in line {lines[name]}.")
            lines[name] = parser.CurrentLineNumber

    parser.StartElementHandler = start_element
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
        reason = quote(str(error))
        raise source.error(1, f"the file cannot be decoded: {reason}. Save it as UTF-8.") from None
    if not lines:
        refuse('<labels> holds no label. Expected <label name="..."/> in it.')
    return list(lines)
