"""Data sets: the catalogue of the paper's nine, the one that comes with the package, and files.

Names are imported on first use: the catalogue is listed without loading numpy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nldd.datasets._arff import Arff, read_arff
    from nldd.datasets._arff_header import Attribute
    from nldd.datasets._catalogue import CATALOGUE, CatalogueFile, Entry
    from nldd.datasets._csv import read_csv
    from nldd.datasets._dataset import Dataset
    from nldd.datasets._facts import Facts, describe
    from nldd.datasets._fetch import fetch
    from nldd.datasets._folder import FileState, data_folder, require_files, verify
    from nldd.datasets._load import load_dataset
    from nldd.datasets._mulan import read_label_names
    from nldd.datasets._survey import Survey, make_survey, survey_rows
    from nldd.datasets._yeast import load_yeast

_HOME = {
    "Arff": "_arff",
    "Attribute": "_arff_header",
    "CATALOGUE": "_catalogue",
    "CatalogueFile": "_catalogue",
    "Dataset": "_dataset",
    "Entry": "_catalogue",
    "Facts": "_facts",
    "FileState": "_folder",
    "Survey": "_survey",
    "data_folder": "_folder",
    "describe": "_facts",
    "fetch": "_fetch",
    "load_dataset": "_load",
    "load_yeast": "_yeast",
    "make_survey": "_survey",
    "read_arff": "_arff",
    "read_csv": "_csv",
    "read_label_names": "_mulan",
    "require_files": "_folder",
    "survey_rows": "_survey",
    "verify": "_folder",
}

__all__ = [
    "CATALOGUE",
    "Arff",
    "Attribute",
    "CatalogueFile",
    "Dataset",
    "Entry",
    "Facts",
    "FileState",
    "Survey",
    "data_folder",
    "describe",
    "fetch",
    "load_dataset",
    "load_yeast",
    "make_survey",
    "read_arff",
    "read_csv",
    "read_label_names",
    "require_files",
    "survey_rows",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'nldd.datasets' has no attribute {name!r}")
    value = getattr(import_module(f"nldd.datasets.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
