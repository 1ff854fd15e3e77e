"""Rows predicted by a model that has not seen their fold."""

from nldd.coding.cross_validation import deal_folds, join_predictions, predict_left_out
from nldd.coding.predictions import no_progress


def out_of_fold(model, X, Y, n_folds=10, random_state=0, watch=no_progress):
    folds = deal_folds(len(Y), n_folds, random_state)
    return join_predictions(folds, predict_left_out(model, X, Y, folds, watch))
