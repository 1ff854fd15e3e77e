"""Values of cells as a workbook holds them: escaped text, and dates as numbers of days.

Excel counts days from 1900, and takes 1900 for a leap year: the days up to 28 February have the
numbers 1 to 59, and 1 March has 61. Only the number format of a cell says that its number is a
date. Times are fractions of a day, exact to the millisecond in any year.
"""

import datetime
import re

MAX_ROWS, MAX_COLUMNS = 1_048_576, 16_384

_MICROSECONDS = 86_400_000_000
_EPOCH = datetime.datetime(1899, 12, 30)
_EPOCH_1904 = datetime.datetime(1904, 1, 1)
_FALSE_LEAP_DAY = 60
_LAST_DAY = 2_958_465  # 9999-12-31
_DAYS_TO_1904 = 1462

# A format with so many digits of seconds marks times that are exact to the microsecond.
DATE_FORMAT, TIME_FORMAT, MOMENT_FORMAT = "yyyy-mm-dd", "hh:mm:ss", "yyyy-mm-dd hh:mm:ss"
FINE_TIME_FORMAT, FINE_MOMENT_FORMAT = "hh:mm:ss.000", "yyyy-mm-dd hh:mm:ss.000"
FINE_FORMATS = frozenset({FINE_TIME_FORMAT, FINE_MOMENT_FORMAT})

# XML cannot hold these; a carriage return it turns into a line feed.
_UNHOLDABLE = r"[\x00-\x08\x0b-\x1f\ufffe\uffff]"
_TO_ESCAPE = re.compile(rf"{_UNHOLDABLE}|_(?=x[0-9A-Fa-f]{{4}}(?:_|{_UNHOLDABLE}))")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")

Temporal = datetime.datetime | datetime.date | datetime.time


def escaped(text: str) -> str:
    """Text in which ``_xHHHH_`` stands for what XML cannot hold, and for a literal one.

    Examples
    --------
    >>> escaped("a\\rb"), escaped("_x0041_")
    ('a_x000D_b', '_x005F_x0041_')
    """
    return _TO_ESCAPE.sub(lambda match: f"_x{ord(match[0]):04X}_", text)


def unescaped(text: str) -> str:
    """The text that :func:`escaped`, or Excel, has written.

    Examples
    --------
    >>> unescaped("a_x000D_b"), unescaped("_x005F_x0041_")
    ('a\\rb', '_x0041_')
    """
    return _ESCAPED.sub(_character, text) if "_x" in text else text


def _character(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    # Half of a character is none.
    return match[0] if 0xD800 <= code <= 0xDFFF else chr(code)


def to_serial(value: Temporal) -> float | int | None:
    """The number of days for a date or a time; None for what Excel does not know.

    Examples
    --------
    >>> to_serial(datetime.date(2024, 1, 1)), to_serial(datetime.time(12))
    (45292, 0.5)
    """
    if isinstance(value, datetime.time):
        return None if value.tzinfo else _microseconds(value) / _MICROSECONDS
    if isinstance(value, datetime.datetime):
        if value.tzinfo:
            return None
        micro = _microseconds(value.time())
    else:
        micro = 0
    days = value.toordinal() - _EPOCH.toordinal()
    days -= days <= _FALSE_LEAP_DAY
    if days < 1:
        return None
    # One division of whole numbers, which Python rounds right.
    return (days * _MICROSECONDS + micro) / _MICROSECONDS if micro else days


def _microseconds(time: datetime.time) -> int:
    seconds = (time.hour * 60 + time.minute) * 60 + time.second
    return seconds * 1_000_000 + time.microsecond


def from_serial(
    serial: int | float, kind: str, *, fine: bool = False, from_1904: bool = False
) -> Temporal | str | None:
    """The date or time of a number of days.

    Parameters
    ----------
    serial : int or float
    kind : {"date", "time", "moment", "duration"}
        What the number format of the cell shows.
    fine : bool
        Whether microseconds count; else they are noise of the fraction.
    from_1904 : bool
        Whether the days are counted from 1904, as in old files of the Macintosh.

    Returns
    -------
    value : date, time, datetime, str or None
        Text for a duration of a day or more; None for a number that is no date.

    Examples
    --------
    >>> from_serial(45292, "date"), from_serial(0.75, "time")
    (datetime.date(2024, 1, 1), datetime.time(18, 0))
    """
    step = 1 if fine else 1000
    top, bottom = serial.as_integer_ratio()
    micro = (2 * top * _MICROSECONDS + step * bottom) // (2 * step * bottom) * step
    days, rest = divmod(micro, _MICROSECONDS)
    last = _LAST_DAY - _DAYS_TO_1904 if from_1904 else _LAST_DAY
    if not 0 <= days <= last or (days == _FALSE_LEAP_DAY and not from_1904):
        return None
    if kind == "duration" and days:
        return _duration(micro)
    if days == 0 and not (from_1904 and kind in ("date", "moment")):
        return (_EPOCH + datetime.timedelta(microseconds=rest)).time()
    days += 0 < days < _FALSE_LEAP_DAY and not from_1904
    moment = (_EPOCH_1904 if from_1904 else _EPOCH) + datetime.timedelta(days, 0, rest)
    return moment.date() if kind == "date" and rest == 0 else moment


def _duration(micro: int) -> str:
    seconds, micro = divmod(micro, 1_000_000)
    text = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{micro:06}" if micro else text


_BUILT_IN = {
    **dict.fromkeys([14, 15, 16, 17, *range(27, 32), 36, *range(50, 55), 57, 58], "date"),
    **dict.fromkeys([18, 19, 20, 21, *range(32, 36), 45, 47, 55, 56], "time"),
    22: "moment",
    46: "duration",
}
_LITERAL = re.compile(r'"[^"]*"?|\\.|_.|\*.|\[(?![hms]+\])[^\]]*\]?|general', re.IGNORECASE)


def kind_of_format(number: int, code: str | None) -> str | None:
    """What a number format shows: a date, a time, a moment (both), a duration, or none of them.

    Parameters
    ----------
    number : int
        Of the format; the lower ones mean the same in every workbook.
    code : str, optional
        The format itself, if the workbook has it.

    Examples
    --------
    >>> kind_of_format(14, None), kind_of_format(164, "dd/mm/yyyy hh:mm"), kind_of_format(9, "0%")
    ('date', 'moment', None)
    """
    if code is None:
        return _BUILT_IN.get(number)
    signs = _LITERAL.sub("", code).partition(";")[0].lower()
    if "[" in signs:
        return "duration"
    shows_time = "h" in signs or "s" in signs or "am/pm" in signs
    months = "m" in signs.replace("am/pm", "") and not shows_time
    shows_date = "y" in signs or "d" in signs or months or "mmm" in signs
    if shows_date:
        return "moment" if shows_time else "date"
    return "time" if shows_time else None
