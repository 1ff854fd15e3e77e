from ._benchmark import State as State, run_benchmark as run_benchmark
from ._choice import choose_datasets as choose_datasets, choose_methods as choose_methods
from ._cross_validation import (
    FittedFold as FittedFold,
    cross_validate as cross_validate,
    mean_scores as mean_scores,
)
from ._demo import BASE_NAMES as BASE_NAMES, Demo as Demo, Example as Example, run_demo as run_demo
from ._protocol import Protocol as Protocol
from ._protocol_file import PROTOCOLS as PROTOCOLS, load_protocol as load_protocol
from ._record import CELLS as CELLS, Key as Key, Record as Record, read_records as read_records
from ._watch import Watch as Watch
