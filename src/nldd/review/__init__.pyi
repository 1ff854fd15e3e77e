from ._log import (
    Entry as Entry,
    Outcome as Outcome,
    Position as Position,
    latest as latest,
    outcome as outcome,
)
from ._prepare import (
    Prepared as Prepared,
    prepare_review as prepare_review,
)
from ._store import (
    Item as Item,
    Round as Round,
    Store as Store,
    Study as Study,
    Suggestion as Suggestion,
    is_store as is_store,
)
