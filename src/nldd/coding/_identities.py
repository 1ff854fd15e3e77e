"""Which rows are the same answer of the same person, so that none counts twice."""

from collections.abc import Sequence
from hashlib import sha256

from nldd.coding._answers import plain_text, unguarded
from nldd.coding._columns import PREFIX, Columns
from nldd.tables import Cell, TableReader

# Share of the rows that a column must tell apart to be taken for an id.
DISTINCT = 0.95


class Identities:
    """Digests of the rows of a table, of all that is not codes and was not added by nldd.

    An answer that comes back from a review has the same one, whatever codes it got.

    Parameters
    ----------
    table : TableReader
    columns : Columns
    names : sequence of str
        Columns to digest, those of an earlier table; all of them if empty. Columns that somebody
        has added since then make no other answer of an answer.

    Attributes
    ----------
    names : tuple of str
        Columns that are digested.
    missing : list of str
        Those of them that the table does not have.
    digests : list of str
        One a row.
    """

    def __init__(self, table: TableReader, columns: Columns, names: Sequence[str] = ()) -> None:
        places = {str(unguarded(name)): j for j, name in enumerate(table.names)}
        every = sorted(
            name
            for name in places
            if name not in columns.codes.names and not name.startswith(PREFIX)
        )
        self.names = tuple(names or every)
        self.missing = [name for name in self.names if name not in places]
        self.digests: list[str] = []
        self._places = [(name, places[name]) for name in self.names if name in places]
        self._values: dict[str, set[str]] = {
            name: set() for name, _ in self._places if name not in columns.text
        }

    def add(self, rows: Sequence[Sequence[Cell]]) -> None:
        """Take in further rows."""
        for row in rows:
            cells = {name: _as_in_excel(plain_text(row[j])) for name, j in self._places}
            told = "\x1f".join(f"{name}={cell}" for name, cell in cells.items())
            self.digests.append(sha256(told.encode()).hexdigest())
            for name, values in self._values.items():
                values.add(cells[name])

    def tell_apart(self) -> bool:
        """Whether no rows are equal, or a column has another value in nearly every distinct one.

        Then rows that are equal are one answer that is there twice. Without such a column, which
        the answers themselves are not, they may as well be two people who say the same.
        """
        if self.missing:
            return False
        n_distinct = len(set(self.digests))
        return n_distinct == len(self.digests) or any(
            len(values) >= DISTINCT * n_distinct for values in self._values.values()
        )


def _as_in_excel(text: str) -> str:
    """An id as it is after a spreadsheet took it for a number."""
    return text.lstrip("0") or "0" if text.isdecimal() else text
