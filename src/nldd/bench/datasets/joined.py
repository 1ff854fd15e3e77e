"""Rows of several files, one below the other."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from nldd.datasets import Dataset
from nldd.exceptions import InputError


def stack(tables: Sequence[Any]) -> Any:
    """Tables one below the other: a CSR array if any of them is one."""
    if len(tables) == 1:
        return tables[0]
    if any(map(issparse, tables)):
        return vstack([csr_array(table) for table in tables], format="csr")
    return np.concatenate(tables)


def join(parts: Sequence[Dataset], name: str) -> Dataset:
    """Rows of several files one below the other; those of the first are given for training."""
    first = parts[0]
    if len(parts) == 1:
        return replace(first, name=name)
    for part in parts[1:]:
        for what in ("label_names", "feature_names"):
            here, there = getattr(first, what), getattr(part, what)
            if here != there:
                odd = [name for name in (*here, *there) if (name in here) != (name in there)]
                differ = (
                    f"differ: {odd[0]!r:.60} is in one only" if odd else "come in another order"
                )
                which = f"The {what.replace('_', ' ')} of {first.name} and {part.name} {differ}"
                raise InputError(f"{which}. Give both files the same columns.")
    X, Y = stack([part.X for part in parts]), stack([part.Y for part in parts])
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    groups = [part.groups for part in parts if part.groups is not None]
    together = np.concatenate(groups) if groups else None
    split: dict[str, Any] = {"n_train": first.n_samples, "notes": notes, "groups": together}
    return replace(first, X=X, Y=Y, name=name, **split)
