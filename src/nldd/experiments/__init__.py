"""Experiments: methods on data sets under a protocol, cell by cell and resumable."""

from nldd.experiments._benchmark import State, run_benchmark
from nldd.experiments._choice import choose_datasets, choose_methods
from nldd.experiments._cross_validation import FittedFold, cross_validate, mean_scores
from nldd.experiments._demo import Demo, run_demo
from nldd.experiments._protocol import Protocol
from nldd.experiments._protocol_file import PROTOCOLS, load_protocol
from nldd.experiments._record import CELLS, Key, Record, read_records
from nldd.experiments._watch import Watch

__all__ = [
    "CELLS",
    "PROTOCOLS",
    "Demo",
    "FittedFold",
    "Key",
    "Protocol",
    "Record",
    "State",
    "Watch",
    "choose_datasets",
    "choose_methods",
    "cross_validate",
    "load_protocol",
    "mean_scores",
    "read_records",
    "run_benchmark",
    "run_demo",
]
