"""Which columns of a file are labels."""

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from nldd._wording import quote, quote_first
from nldd.datasets._source import Refusal
from nldd.exceptions import InputError

Labels = int | str | Iterable[str]
FORMS = (
    "labels is a list of names, a pattern such as 'label_*', or a number of columns: "
    "3 for the first three, -3 for the last three"
)


def label_columns(labels: Labels, names: Sequence[str]) -> list[int]:
    """Positions of the label columns among all columns, in the order of the file.

    Parameters
    ----------
    labels : int, str or iterable of str
        Number of columns (negative: counted from the end), name or pattern (``*``, ``?`` and
        ``[...]``; upper and lower case differ), or names.
    names : sequence of str
        Names of all columns, none twice.

    Examples
    --------
    >>> label_columns("label_*", ["label_a", "age", "label_b"])
    [0, 2]
    >>> label_columns(-2, ["age", "size", "sad", "happy"])
    [2, 3]
    """
    if isinstance(labels, int) and not isinstance(labels, bool):
        return counted_columns(labels, len(names))
    if isinstance(labels, str):
        return _matching_columns(labels, names)
    if isinstance(labels, Iterable):
        return named_columns(list(labels), names, "that were asked for")
    raise InputError(f"{FORMS}; got {labels!r}.")


def counted_columns(count: int, n_columns: int) -> list[int]:
    """The first `count` columns, or the last ones if it is negative."""
    if count == 0:
        raise Refusal("0 label columns were asked for; at least one is needed.")
    if abs(count) > n_columns:
        raise Refusal(f"{abs(count)} label columns were asked for, but there are {n_columns}.")
    return list(range(count) if count > 0 else range(n_columns + count, n_columns))


def named_columns(labels: Sequence[str], names: Sequence[str], origin: str) -> list[int]:
    """Columns of the given names; `origin` says in the message where they come from."""
    if not labels or not all(isinstance(label, str) for label in labels):
        raise InputError(f"{FORMS}; got {list(labels)[:5]!r}.")
    repeated = [label for label, count in Counter(labels).items() if count > 1]
    if repeated:
        raise InputError(f"labels names {quote_first(repeated)} more than once.")
    position = {name: j for j, name in enumerate(names)}
    unknown = [label for label in labels if label not in position]
    if unknown:
        near = _nearest(unknown[0], names)
        raise Refusal(
            f"{len(unknown)} of the {len(labels)} labels {origin} are not among the {len(names)} "
            f"columns of the file: {quote_first(unknown)}. "
            + (f"Did you mean {quote(near)}?" if near else "Names must agree exactly.")
        )
    return sorted(position[label] for label in labels)


def _matching_columns(pattern: str, names: Sequence[str]) -> list[int]:
    if pattern in names:
        return [names.index(pattern)]
    columns = [j for j, name in enumerate(names) if fnmatchcase(name, pattern)]
    if not columns:
        raise Refusal(
            f"no column matches {quote(pattern)}; the columns are {quote_first(names)}. {FORMS}."
        )
    return columns


def _nearest(name: str, names: Sequence[str]) -> str | None:
    # Comparing takes time by the square of the lengths, and a name can be as long as the file.
    candidates = [known for known in names[:2000] if len(known) <= 60]
    near = get_close_matches(name[:60], candidates, n=1)
    return near[0] if near else None
