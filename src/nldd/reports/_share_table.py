"""Time and errors of a method on growing shares of the training rows."""

from collections.abc import Iterator

from nldd.displays import ShareDisplay
from nldd.experiments import Record
from nldd.reports import Table
from nldd.reports._picture import Picture


def mismatches(record: Record) -> float:
    """Average number of wrong labels of a test row."""
    return record.scores["hamming_loss"] * float(record.details["n_labels"])


def share_table(records: list[Record]) -> Table | None:
    """One row a share, the smallest first; None without such cells."""
    if not records:
        return None
    return Table(
        key="shares",
        title=f"{records[0].method} on shares of the training rows of {records[0].dataset}",
        head=("share", "training rows", "seconds", "wrong labels a row"),
        rows=tuple(
            (
                f"{record.train_share:.0%}",
                str(record.details["n_train"]),
                f"{record.seconds:.1f}",
                f"{mismatches(record):.4f}",
            )
            for record in records
        ),
        data_head=("share", "n_train", "seconds", "mismatches"),
        data=tuple(
            (r.train_share, r.details["n_train"], r.seconds, mismatches(r)) for r in records
        ),
    )


def share_pictures(records: list[Record]) -> Iterator[Picture]:
    """The same as curves, once the whole of the training rows is there to compare with."""
    if not any(record.train_share == 1 for record in records):
        return
    method, dataset = records[0].method, records[0].dataset
    display = ShareDisplay(
        [record.train_share or 0.0 for record in records],
        [record.seconds for record in records],
        [mismatches(record) for record in records],
        f"{method} on {dataset}",
    )
    yield Picture(
        "shares",
        f"{method} on {dataset}: running time relative to all training rows, and the average "
        "number of wrong labels, against the share of the training rows.",
        "Two curves over the share of the training rows: time, and wrong labels.",
        display.plot().figure_,
    )
