from ._export import KINDS as KINDS, check_kind as check_kind, write_export as write_export
from ._label_studio import (
    Taken as Taken,
    labeling_config as labeling_config,
    take_label_studio as take_label_studio,
)
from ._log import (
    Entry as Entry,
    Outcome as Outcome,
    Position as Position,
    latest as latest,
    outcome as outcome,
    outcomes as outcomes,
)
from ._merge import Merged as Merged, agreement_of as agreement_of, merge_stores as merge_stores
from ._store import (
    Item as Item,
    Round as Round,
    Store as Store,
    Study as Study,
    Suggestion as Suggestion,
    is_store as is_store,
)
from ._tables import (
    StoreOptions as StoreOptions,
    describe_table as describe_table,
    open_rows as open_rows,
    with_suggestions as with_suggestions,
)
