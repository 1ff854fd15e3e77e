from ._desk import Desk as Desk, find_shown as find_shown
from ._export import KINDS as KINDS, check_kind as check_kind, write_export as write_export
from ._file import ENDING as ENDING, is_store as is_store
from ._label_studio import (
    Taken as Taken,
    labeling_config as labeling_config,
    take_label_studio as take_label_studio,
)
from ._learning import (
    Learner as Learner,
    Learning as Learning,
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
from ._prepare import (
    Prepared as Prepared,
    prepare_review as prepare_review,
)
from ._records import Item as Item, Round as Round, Study as Study, Suggestion as Suggestion
from ._running import Running as Running
from ._server import Review as Review
from ._store import Store as Store
from ._tables import (
    StoreOptions as StoreOptions,
    describe_table as describe_table,
    is_of_table as is_of_table,
    with_suggestions as with_suggestions,
)
from ._verified import Verified as Verified, audit_of as audit_of

__all__ = [
    "Entry",
    "Item",
    "Merged",
    "Outcome",
    "Position",
    "Prepared",
    "Store",
    "StoreOptions",
    "Verified",
    "agreement_of",
    "audit_of",
    "merge_stores",
    "outcomes",
    "prepare_review",
    "write_export",
]
