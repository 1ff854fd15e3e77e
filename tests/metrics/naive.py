"""The measures once more, as loops over sets straight from their definitions."""

import numpy as np


def label_sets(Y):
    """The labels of each row."""
    return [{j for j, value in enumerate(row) if value == 1} for row in np.asarray(Y)]


def jaccard(truth, prediction, size, empty):
    if size(truth | prediction) == 0:
        return empty
    return size(truth & prediction) / size(truth | prediction)


def f(truth, prediction, size, empty):
    if size(truth) + size(prediction) == 0:
        return empty
    return 2 * size(truth & prediction) / (size(truth) + size(prediction))


def precision(truth, prediction, size, empty):
    if size(prediction) == 0:
        return empty if size(truth) == 0 else 0
    return size(truth & prediction) / size(prediction)


def recall(truth, prediction, size, empty):
    return precision(prediction, truth, size, empty)


def over_rows(score):
    """Score of each row's sets of labels, averaged with the weights of the rows."""

    def measure(Y_true, Y_pred, weight, empty):
        total = 0.0
        for truth, prediction, w in zip(
            label_sets(Y_true), label_sets(Y_pred), weight, strict=True
        ):
            total += w * score(truth, prediction, len, empty)
        return total / sum(weight)

    return measure


def over_cells(score):
    """Score of the sets of all (row, label) cells, each as heavy as its row."""

    def measure(Y_true, Y_pred, weight, empty):
        truth, prediction = (
            {(i, j) for i, labels in enumerate(label_sets(Y)) for j in labels}
            for Y in (Y_true, Y_pred)
        )
        return score(truth, prediction, lambda cells: sum(weight[i] for i, _ in cells), empty)

    return measure


def over_labels(score):
    """Score of each label's sets of rows, averaged over labels."""

    def measure(Y_true, Y_pred, weight, empty):
        columns = zip(np.transpose(Y_true), np.transpose(Y_pred), strict=True)
        scores = []
        for y_true, y_pred in columns:
            truth, prediction = (
                {i for i, value in enumerate(y) if value} for y in (y_true, y_pred)
            )
            scores.append(
                score(truth, prediction, lambda rows: sum(weight[i] for i in rows), empty)
            )
        return sum(scores) / len(scores)

    return measure


def hamming_loss(Y_true, Y_pred, weight, empty):
    n_labels = len(Y_true[0])
    wrong = [
        len(truth ^ prediction)
        for truth, prediction in zip(label_sets(Y_true), label_sets(Y_pred), strict=True)
    ]
    return sum(w * n for w, n in zip(weight, wrong, strict=True)) / (n_labels * sum(weight))


def subset_accuracy(Y_true, Y_pred, weight, empty):
    right = [
        truth == prediction
        for truth, prediction in zip(label_sets(Y_true), label_sets(Y_pred), strict=True)
    ]
    return sum(w for w, hit in zip(weight, right, strict=True) if hit) / sum(weight)


def zero_one_loss(Y_true, Y_pred, weight, empty):
    return 1 - subset_accuracy(Y_true, Y_pred, weight, empty)


# key of the measure: function(Y_true, Y_pred, weight of the rows, score of nothing)
NAIVE = {
    "hamming_loss": hamming_loss,
    "zero_one_loss": zero_one_loss,
    "subset_accuracy": subset_accuracy,
    "multilabel_accuracy": over_rows(jaccard),
    "f_measure": over_rows(f),
    "precision": over_rows(precision),
    "recall": over_rows(recall),
    "micro_f": over_cells(f),
    "micro_precision": over_cells(precision),
    "micro_recall": over_cells(recall),
    "macro_f": over_labels(f),
    "macro_precision": over_labels(precision),
    "macro_recall": over_labels(recall),
}


def random_pairs(n_pairs, *, min_labels=1, seed=0):
    """Truths and predictions with empty rows and absent labels among them."""
    rng = np.random.default_rng(seed)
    for _ in range(n_pairs):
        shape = (rng.integers(1, 9), rng.integers(min_labels, 6))
        density = rng.choice([0.0, 0.2, 0.5, 0.8])
        Y_true = (rng.random(shape) < density).astype(int)
        Y_pred = np.where(rng.random(shape) < 0.3, rng.random(shape) < 0.5, Y_true).astype(int)
        Y_true[rng.random(len(Y_true)) < 0.2] = 0
        Y_pred[rng.random(len(Y_pred)) < 0.2] = 0
        absent = rng.random(shape[1]) < 0.2
        Y_true[:, absent] = 0
        Y_pred[:, absent & (rng.random(shape[1]) < 0.5)] = 0
        yield Y_true, Y_pred
