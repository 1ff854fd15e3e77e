from ._archive import (
    Contents as Contents,
    read_archive as read_archive,
    read_documents as read_documents,
    read_manifest as read_manifest,
    write_archive as write_archive,
)
from ._models import (
    CLASSIFIER_KINDS as CLASSIFIER_KINDS,
    load_model as load_model,
    pack_classifier as pack_classifier,
    save_model as save_model,
    unpack_classifier as unpack_classifier,
)

__all__ = [
    "load_model",
    "save_model",
]
