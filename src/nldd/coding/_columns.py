"""What the columns of a table mean: text, features, codes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from nldd.exceptions import InputError

# Of the names of all columns that nldd adds to a table.
PREFIX = "nldd_"


@dataclass(frozen=True)
class CodeColumns:
    """Where the codes of an answer stand.

    Attributes
    ----------
    names : tuple of str
        One column that lists codes, or one column of 0 and 1 for each code.
    separator : str
        Between the codes of a list; empty for columns of 0 and 1.
    none : str
        Cell of a list which says that the answer was looked at and no code applies. An empty cell
        says that nobody has coded the answer yet.
    """

    names: tuple[str, ...]
    separator: str = ";"
    none: str = ""

    @property
    def listed(self) -> bool:
        """Whether codes are listed in one column, rather than marked in columns of their own."""
        return bool(self.separator)


@dataclass(frozen=True)
class Columns:
    """Which columns of a table a model reads, by name.

    Attributes
    ----------
    text : tuple of str
    numeric, categorical : tuple of str
        Features beside the text.
    codes : CodeColumns
    """

    text: tuple[str, ...]
    codes: CodeColumns
    numeric: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        features = (*self.text, *self.numeric, *self.categorical)
        if not features:
            raise InputError(
                "No column to code from was named.",
                hint="--text NAME, or --features NAMES, or both",
            )
        twice = repeated((*features, *self.codes.names))
        if twice:
            raise InputError(
                f"Column {twice!r} is named twice; a column is text, a feature or codes.",
                hint="name each column once",
            )

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns that new answers must have."""
        return (*self.text, *self.numeric, *self.categorical)


def repeated(names: Iterable[str]) -> str | None:
    """The first name that comes a second time."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def matching(pattern: str, names: Sequence[str]) -> tuple[str, ...]:
    """Columns whose names match a pattern such as ``q1_*``, or are listed with commas.

    Examples
    --------
    >>> matching("q1_*", ["id", "q1_bus", "q1_park", "q2_bus"])
    ('q1_bus', 'q1_park')
    """
    parts = [part.strip() for part in pattern.split(",") if part.strip()]
    found = tuple(name for name in names if _matches(name, parts))
    if not found:
        raise InputError(
            f"No column matches {pattern!r}; the columns are {', '.join(map(repr, names[:12]))}"
            f"{', ...' if len(names) > 12 else ''}.",
            hint="--label-columns with a pattern such as 'q1_*', or names with commas",
        )
    return found


def _matches(name: str, parts: Sequence[str]) -> bool:
    # Survey programs put brackets into names, which a pattern would read in its own way.
    return any(fnmatchcase(name, part.replace("[", "[[]")) for part in parts)


def expanded(given: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Column names that were given one by one or with commas between; names may hold commas.

    Examples
    --------
    >>> expanded(["What, if anything?", "age,region"], ["What, if anything?", "age", "region"])
    ('What, if anything?', 'age', 'region')
    """
    return tuple(
        name.strip() if name not in names else name
        for text in given
        for name in ([text] if text in names else text.split(","))
        if name.strip()
    )
