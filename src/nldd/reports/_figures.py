"""Figures as SVG text that is the same in every run and safe in a page, and as files."""

import re
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from nldd._files import write_atomically
from nldd.exceptions import InputError
from nldd.reports._table import check_key

DPI = 150
# What matplotlib would say about itself and the time; files of equal figures are then equal.
NO_METADATA = {"svg": ("Creator", "Date", "Format", "Type"), "png": ("Software",)}
# Matplotlib sets these by a style sheet for "*", which in a page would be all of the page.
ROOT_STYLE = "stroke-linejoin: round; stroke-linecap: butt"

SVG = "{http://www.w3.org/2000/svg}"
HREF = ("href", "{http://www.w3.org/1999/xlink}href")
# What matplotlib draws with.
ELEMENTS = {"svg", "g", "defs", "path", "use", "clipPath", "rect", "image", "pattern"}
ATTRIBUTES = {"id", "version", "viewBox", "x", "y", "width", "height", "d", "style", "transform"}
ATTRIBUTES |= {"clip-path", "opacity", "patternUnits"}


def svg(figure: Any, prefix: str = "") -> str:
    """The figure as an ``<svg>`` element that can stand in a page among others.

    Letters are drawn as outlines, so they look the same wherever the page is read. All ids begin
    with `prefix`, or with a hash of the picture, so that those of two figures never meet.

    Parameters
    ----------
    figure : matplotlib Figure
    prefix : str
        Letters, digits, ``.``, ``_`` and ``-``, such as the key of the figure.
    """
    text = _rendered(figure, "svg").decode("utf-8")
    text = text[text.index("<svg") :].strip()
    text = re.sub(r"<!--.*?-->\s*", "", text, flags=re.DOTALL)
    text = re.sub(r"<defs>\s*<style[^>]*>[^<]*</style>\s*</defs>\s*", "", text)
    text = text.replace("<svg ", f'<svg style="{ROOT_STYLE}" ', 1)
    prefix = prefix or f"f{sha256(text.encode()).hexdigest()[:10]}"
    check_key("figure", prefix)
    return re.sub(r'(\bid="|\bhref="#|url\(#)', rf"\g<1>{prefix}-", text)


def save_figure(figure: Any, folder: Path | str, key: str) -> tuple[Path, Path]:
    """Write ``key.svg`` and ``key.png`` to a folder, each of them whole or not at all."""
    check_key("figure", key)
    vector, raster = (Path(folder) / f"{key}.{ending}" for ending in ("svg", "png"))
    header = '<?xml version="1.0" encoding="utf-8"?>\n'
    write_atomically(vector, f"{header}{svg(figure, key)}\n".encode())
    write_atomically(raster, _rendered(figure, "png"))
    return vector, raster


def check_picture(text: str) -> float:
    """Refuse an ``<svg>`` element that is more than a picture; return its width in CSS pixels.

    A page takes the element as it is, so anything that could act or fetch is refused: scripts,
    handlers, style sheets, links, foreign elements, and the parts of XML that HTML reads in
    another way.

    Examples
    --------
    >>> check_picture('<svg xmlns="http://www.w3.org/2000/svg" width="72pt" height="9pt"/>')
    96.0
    """
    if "<!" in text or "<?" in text:
        raise _not_a_picture("a comment, declaration or instruction")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise _not_a_picture(f"text that is not XML ({error})") from None
    for element in root.iter():
        _check_element(element)
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(pt|px)?", root.get("width", ""))
    if root.tag != f"{SVG}svg" or found is None:
        raise _not_a_picture(f"<{root.tag}> of width {root.get('width')!r}")
    return float(found[1]) * (4 / 3 if found[2] == "pt" else 1)


def _check_element(element: ElementTree.Element) -> None:
    if element.tag.removeprefix(SVG) not in ELEMENTS or not element.tag.startswith(SVG):
        raise _not_a_picture(f"<{element.tag}>")
    for name, value in element.items():
        if name in HREF:
            safe = value.startswith(("#", "data:image/png;base64,"))
        else:
            safe = name in ATTRIBUTES and not re.search(r"url\((?!#)|@|\\|/\*", value)
        if not safe:
            raise _not_a_picture(f"{name}={value[:60]!r}")


def _not_a_picture(what: str) -> InputError:
    return InputError(
        "A figure must be an <svg> element with xmlns, width and shapes only, as from svg(); "
        f"this one has {what}."
    )


def _rendered(figure: Any, ending: str) -> bytes:
    from matplotlib import rc_context

    buffer = BytesIO()
    metadata = dict.fromkeys(NO_METADATA[ending])
    with rc_context({"svg.hashsalt": "nldd", "svg.fonttype": "path"}):
        figure.savefig(buffer, format=ending, dpi=DPI, metadata=metadata)
    return buffer.getvalue()
