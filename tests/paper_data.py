"""The paper's data sets for tests, where a folder with them lies beside the checkout."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

FOLDER = Path(os.environ.get("NLDD_DATA", Path(__file__).parents[2] / "shared" / "datasets"))

# ARFF files, and where the labels are: a Mulan XML file, or the first so many columns (MEKA).
FILES = {
    "emotions": (["emotions.arff"], "emotions.xml"),
    "scene": (["scene-train.arff", "scene-test.arff"], "scene.xml"),
    "yeast": (["yeast.arff"], "yeast.xml"),
    "medical": (["medical.arff"], "medical.xml"),
    "enron": (["enron.arff"], "enron.xml"),
    "slashdot": (["SLASHDOT-F.arff"], 22),
    "ohsumed": (["OHSUMED-F.arff"], 23),
    "tmc2007": (["tmc2007-500.arff"], "tmc2007-500.xml"),
    "bibtex": (["bibtex.arff"], "bibtex.xml"),
}
N_SCENE_TRAIN = 1211


def load(name):
    """X (CSR array if the file is sparse) and Y of a data set; skips where it is missing."""
    arffs, labels = FILES[name]
    needed = [*arffs, *([labels] if isinstance(labels, str) else [])]
    if not all((FOLDER / file).exists() for file in needed):
        pytest.skip(f"needs {', '.join(needed)}: put them in a folder and set NLDD_DATA")
    tables, names = zip(*(_read_arff(FOLDER / file) for file in arffs), strict=True)
    table = np.vstack(tables) if isinstance(tables[0], np.ndarray) else tables[0]
    if isinstance(labels, str):
        xml = re.findall(r'<label name="([^"]*)"', (FOLDER / labels).read_text())
        is_label = np.isin(names[0], xml)
        assert is_label.sum() == len(xml)
    else:
        is_label = np.arange(len(names[0])) < labels
    if isinstance(table, np.ndarray):
        return table[:, ~is_label], table[:, is_label].astype(int)
    table = table.tocsc()
    return table[:, ~is_label].tocsr(), table[:, is_label].toarray().astype(int)


def _read_arff(path):
    names, rows = [], []
    for line in path.read_text().splitlines():
        if line.lower().startswith("@attribute"):
            found = re.match(
                r"""@attribute\s+(?:'((?:[^'\\]|\\.)*)'|"([^"]*)"|(\S+))""", line, re.I
            )
            names.append(next(group for group in found.groups() if group is not None))
        elif line and line[0] not in "@%" and line.strip():
            rows.append(line.strip())
    if not rows[0].startswith("{"):
        return np.array([row.split(",") for row in rows], dtype=float), names
    cells = [
        (i, *pair.split())
        for i, row in enumerate(rows)
        for pair in row.strip("{} ").split(",")
        if pair.strip()
    ]
    row, column, value = np.array(cells, dtype=float).T
    shape = (len(rows), len(names))
    return csr_array((value, (row.astype(int), column.astype(int))), shape=shape), names
