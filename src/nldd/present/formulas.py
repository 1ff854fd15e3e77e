"""Escaping of texts that a spreadsheet would run as formulas."""

import re

# A formula begins after whatever a spreadsheet skips: spaces, and characters without a width. It
# does so in a cell, in a line, and behind a separator, which another program may cut the file by;
# a quote behind that is one of the file then.
_SKIPPED = r"\s\x00-\x20\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff"
_SIGNS = r"=+\-@\uff1d\uff0b\uff0d\uff20"
# What calls a function or another program; without one of these, a sum does no harm.
_CALLS = re.compile(r"[(|\uff08\uff5c]")
_BREAKS = r",;|\t\n\v\f\r\x85\u2028\u2029"
_FORMULA = re.compile(rf"[\t\r\n]|[{_SKIPPED}]*+[{_SIGNS}]")
# Not "*+" here, which Python 3.11.2 matches too much with.
_BEHIND = rf"(?=(?:(?![{_BREAKS}])[{_SKIPPED}\"])*[{{}}])"
_UNSAFE = re.compile(rf"([{_BREAKS}])" + _BEHIND.format(_SIGNS))
_UNSAFE_ANYWAY = re.compile(rf"([{_BREAKS}])" + _BEHIND.format(r"=@\uff1d\uff20"))
_GUARD = re.compile(rf"([{_BREAKS}])'" + _BEHIND.format(_SIGNS))
_PLAIN_NUMBER = re.compile(r"\s*[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)


def escape_formula(text: str) -> str:
    """Make text safe in a CSV file that a spreadsheet opens.

    A spreadsheet runs what begins with ``=``, ``+``, ``-`` or ``@``, also in their wide forms and
    after spaces; and if it cuts cells by another separator, what comes behind that. An apostrophe
    before it makes it text. Plain numbers are left as they are, and so are dashes within a text
    that calls nothing, such as those of a list.

    Parameters
    ----------
    text : str
        Of a cell.

    Returns
    -------
    str
        The text, with apostrophes where it needs some.

    Examples
    --------
    >>> from nldd.present.formulas import escape_formula
    >>> [escape_formula(text) for text in ("=1+1", " @SUM(A1)", "-5", "so-so", "a;=1")]
    ["'=1+1", "' @SUM(A1)", '-5', 'so-so', "a;'=1"]
    """
    unsafe = _UNSAFE if _CALLS.search(text) else _UNSAFE_ANYWAY
    safe = ("'" if _FORMULA.match(text) else "") + unsafe.sub(r"\1'", text)
    return text if len(safe) > len(text) and _PLAIN_NUMBER.fullmatch(text) else safe


def unescape_formula(text: str) -> str:
    """Remove the apostrophes of :func:`escape_formula`.

    Parameters
    ----------
    text : str
        Of a cell.

    Returns
    -------
    str
        What was escaped; other text unchanged.

    Examples
    --------
    >>> from nldd.present.formulas import unescape_formula
    >>> unescape_formula("'=1+1"), unescape_formula("a;'=1"), unescape_formula("'twas")
    ('=1+1', 'a;=1', "'twas")
    """
    if "'" not in text:
        return text
    found = text[1:] if text.startswith("'") and _FORMULA.match(text, 1) else text
    found = _GUARD.sub(r"\1", found)
    return found if escape_formula(found) == text else text
