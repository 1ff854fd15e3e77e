"""Mulan's XML files, which name the labels of an ARFF file."""

import os
from xml.parsers import expat

from nldd._wording import quote
from nldd.datasets._source import Source, read_bytes
from nldd.exceptions import InputError

MAX_XML_BYTES = 2**26
# Put by expat between the address of a namespace and a tag; no XML file can hold it.
_SEPARATOR = "\x01"


def read_label_names(path: str | os.PathLike[str], *, max_bytes: int = MAX_XML_BYTES) -> list[str]:
    """Read the names of labels from an XML file of Mulan, exactly as they are written there.

    Labels may lie within labels (a hierarchy): all of them count, in the order of the file.

    Parameters
    ----------
    path : path
    max_bytes : int
        Larger files are refused.

    Returns
    -------
    label_names : list of str

    Raises
    ------
    InputError
        With the name of the file and the number of the line. Document types and entities are
        refused before they are read: no label file needs them, and they can be made to fill
        the memory.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "mood.xml")
    ...     _ = path.write_text('<labels><label name="sad"/><label name="happy"/></labels>')
    ...     read_label_names(path)
    ['sad', 'happy']
    """
    source, content = read_bytes(path, max_bytes)
    return _LabelParser(source).parse(content)


class _LabelParser:
    """Collects names while expat walks through the file; no tree is built, however deep it is."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.names: dict[str, int] = {}
        self.root: str | None = None
        self.parser = expat.ParserCreate(namespace_separator=_SEPARATOR)
        self.parser.StartElementHandler = self._start_element
        self.parser.StartDoctypeDeclHandler = self._refuse_declaration
        self.parser.EntityDeclHandler = self._refuse_declaration

    def parse(self, content: bytes) -> list[str]:
        try:
            self.parser.Parse(content, True)
        except InputError:
            raise  # of the methods below; it is a ValueError too
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise self.source.error(error.lineno, f"not well-formed XML: {reason}.") from None
        except (ValueError, LookupError) as error:
            # An encoding that Python does not know, or not as one byte a character.
            raise self.source.error(
                1, f"the file cannot be decoded: {quote(str(error))}."
            ) from None
        if not self.names:
            raise self._error('<labels> holds no label. Expected <label name="..."/> in it.')
        return list(self.names)

    def _error(self, message: str) -> InputError:
        return self.source.error(self.parser.CurrentLineNumber, message)

    def _start_element(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(_SEPARATOR)[2]
        if self.root is None:
            self.root = tag
            if tag != "labels":
                raise self._error(
                    f"expected <labels> as the outermost element; got <{tag[:40]}>. "
                    "Is it a label file of Mulan?"
                )
        if tag != "label":
            return
        name = attributes.get("name")
        if not name:
            raise self._error('a <label> has no name. Expected <label name="...">.')
        if name in self.names:
            raise self._error(f"label {quote(name)} was named before, in line {self.names[name]}.")
        self.names[name] = self.parser.CurrentLineNumber

    def _refuse_declaration(self, *_: object) -> None:
        raise self._error("document types and entities are not allowed. Remove the <!DOCTYPE ...>.")
