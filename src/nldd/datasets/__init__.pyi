from ._arff import Arff as Arff, read_arff as read_arff
from ._arff_header import Attribute as Attribute
from ._catalogue import (
    CATALOGUE as CATALOGUE,
    EMBEDDED as EMBEDDED,
    CatalogueFile as CatalogueFile,
    Entry as Entry,
    find_entry as find_entry,
)
from ._csv import read_csv as read_csv
from ._dataset import Dataset as Dataset
from ._facts import Facts as Facts, describe as describe
from ._fetch import fetch as fetch
from ._folder import (
    FileState as FileState,
    data_folder as data_folder,
    is_here as is_here,
    require_files as require_files,
    select_entries as select_entries,
    verify as verify,
)
from ._label_columns import FORMS as FORMS
from ._load import load_dataset as load_dataset
from ._mulan import read_label_names as read_label_names
from ._survey import Survey as Survey, make_survey as make_survey, survey_rows as survey_rows
from ._yeast import load_yeast as load_yeast
