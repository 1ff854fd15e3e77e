"""The paper's data sets for tests, where a folder with them lies beside the checkout."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

FOLDER = Path(os.environ.get("NLDD_DATA", Path(__file__).parents[2] / "shared" / "datasets"))


def load_mulan(name):
    """X as CSR array and Y as indicator array of a sparse Mulan file; skips where it is missing."""
    arff, xml = FOLDER / f"{name}.arff", FOLDER / f"{name}.xml"
    if not (arff.exists() and xml.exists()):
        pytest.skip(f"needs {arff.name} and {xml.name}: put them in a folder and set NLDD_DATA")
    label_names = re.findall(r'<label name="([^"]*)"', xml.read_text())
    names, cells, n_rows = [], [], 0
    for line in arff.read_text().splitlines():
        if line.lower().startswith("@attribute"):
            names.append(line.split()[1])
        elif line.startswith("{"):
            cells += [(n_rows, *pair.split()) for pair in line.strip("{} ").split(",") if pair]
            n_rows += 1
    row, column, value = np.array(cells, dtype=float).T
    table = csr_array(
        (value, (row.astype(int), column.astype(int))), shape=(n_rows, len(names))
    ).tocsc()
    is_label = np.isin(names, label_names)
    return table[:, ~is_label].tocsr(), table[:, is_label].toarray().astype(int)
