from ._arff import Arff as Arff, Attribute as Attribute, read_arff as read_arff
from ._catalogue import (
    CATALOGUE as CATALOGUE,
    EMBEDDED as EMBEDDED,
    CatalogueFile as CatalogueFile,
    Entry as Entry,
    FileState as FileState,
    data_folder as data_folder,
    find_entry as find_entry,
    is_here as is_here,
    require_files as require_files,
    select_entries as select_entries,
    verify as verify,
)
from ._csv import read_csv as read_csv
from ._dataset import Dataset as Dataset
from ._embedded import Survey as Survey, load_survey as load_survey, load_yeast as load_yeast
from ._export import export_dataset as export_dataset, export_paths as export_paths
from ._facts import Facts as Facts, describe as describe
from ._fetch import fetch as fetch
from ._label_columns import (
    FORMS as FORMS,
    parse_labels as parse_labels,
    read_label_names as read_label_names,
)
from ._load import load_dataset as load_dataset, load_named as load_named
from ._openml import OPENML as OPENML

__all__ = [
    "CATALOGUE",
    "CatalogueFile",
    "Dataset",
    "Entry",
    "Facts",
    "FileState",
    "Survey",
    "data_folder",
    "describe",
    "export_dataset",
    "fetch",
    "load_dataset",
    "load_survey",
    "load_yeast",
    "read_csv",
    "verify",
]
