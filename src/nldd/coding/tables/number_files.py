"""Numbers beside a table: a file of NumPy with a row for each row of the table."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from nldd.coding.tables.cells import MAX_COLUMNS
from nldd.exceptions import InputError

SAVE = "numpy.save('features.npy', array), where the array has a row for each row of the table"


class NumberFile:
    """A matrix in a ``.npy`` file, of which nothing but the header has been read.

    Pickled objects are never loaded, and a header that claims more numbers than the file has is
    refused. Rows are read as they are asked for, so the file may be larger than the memory.

    Parameters
    ----------
    path : Path
        A two-dimensional array of floating-point or whole numbers, saved by :func:`numpy.save`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._values = _mapped(path)
        self.n_rows, self.n_columns = self._values.shape

    def rows(self, places: NDArray[np.intp]) -> NDArray[np.float32]:
        """The rows at these places, from 0, in single precision; all numbers are finite."""
        with np.errstate(over="ignore"):
            values = np.asarray(self._values[places], dtype=np.float32)
        if not (finite := np.isfinite(values).all(axis=1)).all():
            row = int(places[np.argmin(finite)]) + 1
            message = f"{self.path.name}, row {row}: expected numbers, got NaN or infinity"
            hint = "give each row of the table numbers, such as 0 for an answer without any"
            raise InputError(f"{message} (in single precision).", hint=hint)
        return values

    def other_length(self, table: str, n_rows: str) -> InputError:
        """What to say where a table has more or fewer rows."""
        both = f"{self.path.name} has {self.n_rows} rows, {table} has {n_rows}"
        hint = "a row of numbers for each row of the table, coded or not, in the same order"
        return InputError(f"{both}: which row is whose cannot be told.", hint=hint)


def _mapped(path: Path) -> NDArray[Any]:
    if not path.is_file():  # opening a pipe would wait for somebody to write into it
        raise InputError(f"{path}: there is no such file.", hint="check its name and folder")
    try:
        values = open_memmap(path, mode="r")
    except (ValueError, OSError, OverflowError) as error:
        message = f"{path.name}: expected a .npy file of numbers; {' '.join(str(error).split())}"
        raise InputError(f"{message:.300}", hint=SAVE) from error
    if values.ndim != 2 or values.dtype.kind not in "fiu" or not 0 < values.shape[1] <= MAX_COLUMNS:
        found = f"got numbers of type {values.dtype} and shape {values.shape}"
        most = f"of at most {MAX_COLUMNS:,} columns"
        raise InputError(f"{path.name}: expected rows of numbers {most}; {found}.", hint=SAVE)
    return values
