"""Search trees of nearest neighbours: not stored, since they are the same when built anew."""

from typing import Any

from nldd.io._within import everything_within


def plant_trees(estimators: Any) -> None:
    """Build the search trees of estimators that were stored without them.

    A stored tree could be forged to point outside of its rows; a new one cannot, and the same rows
    give the same tree.
    """
    from sklearn.neighbors import BallTree, KDTree

    trees: dict[Any, Any] = {"kd_tree": KDTree, "ball_tree": BallTree}
    for estimator in everything_within(estimators):
        state = getattr(estimator, "__dict__", {})
        Tree = trees.get(state.get("_fit_method", ""))
        if Tree is not None and state["_tree"] is None:
            estimator._tree = Tree(
                estimator._fit_X,
                estimator.leaf_size,
                metric=estimator.effective_metric_,
                **estimator.effective_metric_params_,
            )
