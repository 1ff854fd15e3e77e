"""Model files: one checked zip of JSON, arrays and estimators, never pickle."""

from nldd.io._archive import read_archive, read_documents, read_manifest, write_archive
from nldd.io._classifier import pack_classifier, unpack_classifier
from nldd.io._contents import Contents
from nldd.io._models import load_model, save_model

__all__ = [
    "Contents",
    "load_model",
    "pack_classifier",
    "read_archive",
    "read_documents",
    "read_manifest",
    "save_model",
    "unpack_classifier",
    "write_archive",
]
