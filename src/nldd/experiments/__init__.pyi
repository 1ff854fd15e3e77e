from ._benchmark import State as State, Watch as Watch, run_benchmark as run_benchmark
from ._demo import (
    BASE_NAMES as BASE_NAMES,
    Demo as Demo,
    Example as Example,
    FittedFold as FittedFold,
    cross_validate as cross_validate,
    mean_scores as mean_scores,
    run_demo as run_demo,
)
from ._protocol import (
    PROTOCOLS as PROTOCOLS,
    Protocol as Protocol,
    choose_datasets as choose_datasets,
    choose_methods as choose_methods,
    load_protocol as load_protocol,
)
from ._record import (
    CELLS as CELLS,
    Key as Key,
    Predictions as Predictions,
    Record as Record,
    read_predictions as read_predictions,
    read_records as read_records,
)
