from ._benchmark import (
    FACTS as FACTS,
    State as State,
    Watch as Watch,
    run_benchmark as run_benchmark,
)
from ._choice import (
    choose_datasets as choose_datasets,
    choose_methods as choose_methods,
    run_notes as run_notes,
)
from ._demo import (
    BASE_NAMES as BASE_NAMES,
    Demo as Demo,
    Example as Example,
    FittedFold as FittedFold,
    cross_validate as cross_validate,
    mean_scores as mean_scores,
    run_demo as run_demo,
)
from ._preparation import Step as Step
from ._protocol import Protocol as Protocol, Shares as Shares
from ._protocol_file import PROTOCOLS as PROTOCOLS, load_protocol as load_protocol
from ._record import (
    CELLS as CELLS,
    PREDICTIONS as PREDICTIONS,
    Key as Key,
    Predictions as Predictions,
    Record as Record,
    predictions_path as predictions_path,
    read_predictions as read_predictions,
    read_records as read_records,
)
from ._splits import Split as Split, stratified_parts as stratified_parts

__all__ = [
    "PROTOCOLS",
    "Key",
    "Predictions",
    "Protocol",
    "Record",
    "Shares",
    "Split",
    "State",
    "Step",
    "Watch",
    "choose_datasets",
    "choose_methods",
    "load_protocol",
    "read_predictions",
    "read_records",
    "run_benchmark",
    "stratified_parts",
]
