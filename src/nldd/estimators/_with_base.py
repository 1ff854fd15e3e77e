"""What the methods that stand on a base classifier have in common."""

from typing import Any

from nldd._base import MultiLabelClassifier
from nldd._sklearn import get_tags
from nldd.estimators._label_models import default_estimator


class WithBaseEstimator(MultiLabelClassifier):
    """A multi-label classifier with a parameter `estimator`, whose None means the default."""

    estimator: Any

    def _base_estimator(self) -> Any:
        return default_estimator() if self.estimator is None else self.estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._base_estimator()).input_tags.sparse
        return tags
