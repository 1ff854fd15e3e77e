"""Preparation and search inside folds: what is done, and that test rows are not looked at."""

from dataclasses import replace
from hashlib import blake2b

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.stats import f_oneway
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline

from bench.runner.trials import songs, trial
from nldd.bench.protocols.preparation import PreparationStep, feature_scores, make_steps, prepared
from nldd.bench.protocols.splits import Split
from nldd.bench.runner.cell import cells, digest, fingerprint, run_cell
from nldd.datasets import Dataset
from nldd.estimators._mlknn import MLkNN
from nldd.estimators._nldd import NLDDClassifier
from nldd.exceptions import InputError
from nldd.metrics._measures import f_measure

STEPS = (
    PreparationStep("impute", {"strategy": "median"}),
    PreparationStep("standardise"),
    PreparationStep("select", {"k": 3}),
)


def with_holes(dataset):
    X = dataset.X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return replace(dataset, X=X)


def texts():
    """Songs as texts: a word for each label that follows from the numbers, and others."""
    dataset = songs()
    words = np.array(["slow", "deep", "noise", "run"])
    X = [" ".join([*words[x > 0.5], "song", "of", str(i % 7)]) for i, x in enumerate(dataset.X)]
    return replace(dataset, X=np.array(X, dtype=object), feature_names=["lyrics"])


def run(protocol, dataset, methods):
    planned = list(cells(protocol, dataset.name, dataset, methods))
    return [run_cell(dataset, cell) for cell in planned]


# Steps


def test_steps_learn_from_the_training_rows_alone():
    """The cell's predictions are those of steps done by hand on the training rows."""
    dataset = with_holes(songs())
    protocol = trial(prepare=STEPS, methods=("MLKNN",))
    for cell in cells(protocol, "songs", dataset, ("MLKNN",)):
        X_train, X_test = dataset.X[cell.train], dataset.X[cell.test]
        medians = np.nanmedian(X_train, axis=0)
        X_train, X_test = (np.where(np.isnan(X), medians, X) for X in (X_train, X_test))
        mean, std = X_train.mean(axis=0), X_train.std(axis=0)
        X_train, X_test = ((X - mean) / std for X in (X_train, X_test))
        Y_train = dataset.Y[cell.train]
        statistics = [
            max(f_oneway(x[y == 0], x[y == 1]).statistic for y in Y_train.T) for x in X_train.T
        ]
        kept = np.sort(np.argsort(statistics)[-3:])
        model = MLkNN().fit(X_train[:, kept], Y_train)
        record = run_cell(dataset, cell)
        assert record.error is None
        assert_array_equal(record.predictions.Y_pred, model.predict(X_test[:, kept]))


def test_settings_say_what_was_prepared():
    (cell, *_) = cells(trial(prepare=STEPS), "songs", songs(), ("MLKNN",))
    assert cell.settings == (
        "Pipeline(steps=[('impute', SimpleImputer(keep_empty_features=True, strategy='median')), "
        "('standardise', StandardScaler()), ('select', SelectFeatures(k=3)), "
        "('method', MLkNN())])"
    )


def test_column_without_any_value_in_training_stays():
    X, Y, _ = songs()
    X = np.column_stack([X, np.full(60, np.nan)])
    steps = make_steps([PreparationStep("impute")], Dataset(X, Y, list("abcd")))
    assert prepared(MLkNN(), steps).fit(X, Y)[0].transform(X).shape == (60, 5)


def test_sparse_rows_are_scaled_and_not_centred():
    dataset = songs(sparse=True)
    ((_, scaler),) = make_steps([PreparationStep("standardise")], dataset)
    X = scaler.fit_transform(dataset.X)
    assert_array_equal(X.indices, dataset.X.indices)
    assert_allclose(X.toarray(), dataset.X.toarray() / dataset.X.toarray().std(axis=0))
    first, *_ = run(trial(prepare=STEPS[1:]), dataset, ("MLKNN",))
    assert first.error is None


def test_nldd_behind_steps_keeps_its_coefficients():
    protocol = trial(prepare=STEPS[1:], base="platt-linear-svc")
    cell, *_ = cells(protocol, "songs", songs(), ("NLDD",))
    details = run_cell(songs(), cell).details
    assert len(details["coefficients"]) == 3
    assert 0 < details["evaluated_share"] <= 1


# Selection


@pytest.mark.parametrize("pool", ["max", "mean"])
@pytest.mark.parametrize("container", [np.array, csr_array])
def test_feature_scores_equal_statistics_label_by_label(pool, container):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(40, 5)) * 1.0
    Y = np.column_stack([rng.integers(0, 2, size=(40, 3)), np.ones(40), np.zeros(40)]).astype(int)
    join = {"max": max, "mean": np.mean}[pool]
    expected = [join([f_oneway(x[y == 0], x[y == 1]).statistic for y in Y.T[:3]]) for x in X.T]
    assert_allclose(feature_scores(container(X), Y, "f-classif", pool), expected)
    # Chi-squared of scikit-learn: sums of the feature by class against shares of the classes.
    expected = [
        join([
            sum(
                (x[y == c].sum() - x.sum() * np.mean(y == c)) ** 2 / (x.sum() * np.mean(y == c))
                for c in (0, 1)
            )
            for y in Y.T[:3]
        ])
        for x in X.T
    ]  # fmt: skip
    assert_allclose(feature_scores(container(X), Y, "chi2", pool), expected)
    assert_allclose(feature_scores(container(X), Y, "variance", pool), X.var(axis=0))


def test_constant_features_and_labels_have_no_score():
    X = np.column_stack([np.ones(6), [0, 0, 0, 1, 1, 1]])
    Y = np.array([[0, 0, 0, 1, 1, 1], [1] * 6]).T
    scores = feature_scores(X, Y, "f-classif", "max")
    assert scores[0] == 0
    assert scores[1] > 1e300  # the feature is the label
    assert_array_equal(feature_scores(X, Y[:, 1:], "f-classif", "max"), [0, 0])


# Texts


def test_texts_are_weighted_words_of_the_training_rows():
    dataset, protocol = (
        texts(),
        trial(prepare=(PreparationStep("tfidf", {"min_df": 2, "ngrams": 2}),)),
    )
    for cell in cells(protocol, "songs", dataset, ("BR",)):
        record = run_cell(dataset, cell)
        vectorizer = TfidfVectorizer(min_df=2, ngram_range=(1, 2))
        X_train = vectorizer.fit_transform(dataset.X[cell.train])
        model = cell.estimator[-1].fit(X_train, dataset.Y[cell.train])
        expected = model.predict(vectorizer.transform(dataset.X[cell.test]))
        assert_array_equal(record.predictions.Y_pred, expected)


def test_texts_are_weighted_unasked_and_numbers_never():
    for steps in ((), (PreparationStep("tfidf"),)):
        first, *_ = cells(trial(prepare=steps), "songs", texts(), ("BR",))
        assert isinstance(first.estimator, Pipeline)
        first, *_ = cells(trial(prepare=steps), "songs", songs(), ("BR",))
        assert not isinstance(first.estimator, Pipeline)
    record, *_ = run(trial(), texts(), ("NLDD",))
    assert len(record.details["coefficients"]) == 3


def test_digest_does_not_depend_on_the_layout_in_memory():
    X = songs().X
    assert digest(np.asfortranarray(X)) == digest(X)
    assert digest(X[:, :2]) == digest(X[:, :2].copy())
    assert len({digest(np.zeros(shape)) for shape in ((0, 4), (4, 0), (0,))}) == 3


def other_value(X):
    X = X.copy()
    X[7, 2] += 1e-12
    return X


def test_digest_changes_with_values_places_shape_and_type():
    X = songs().X
    sparse = csr_array(X)
    wider = csr_array((sparse.data, sparse.indices, sparse.indptr), shape=(len(X), 9))
    others = [other_value(X), X[::-1], X[:, ::-1], X[:-1], X.reshape(2, -1), X.astype(np.float32)]
    others += [sparse, csr_array(X[:, ::-1]), 2 * sparse, wider]
    assert len(set(map(digest, [X, *others]))) == 11


def test_fingerprint_of_texts_changes_with_any_letter():
    first, dataset = fingerprint(texts()), texts()
    assert fingerprint(texts()) == first
    X = dataset.X.copy()
    X[0], X[1] = X[0] + X[1][:1], X[1][1:]  # the same letters in other rows
    assert fingerprint(replace(dataset, X=X)) != first


def test_fingerprint_changes_with_the_groups_and_is_as_before_without():
    speakers = np.array(["Ann", "Bob", "Eve"], dtype=object)
    dealt = replace(songs(), groups=speakers[np.arange(60) % 3])
    in_a_row = replace(songs(), groups=speakers[np.arange(60) // 20])
    before = blake2b(digest(songs().X) + digest(songs().Y), digest_size=8).hexdigest()
    assert fingerprint(songs()) == before  # so that records of older versions stay valid
    assert len(set(map(fingerprint, (songs(), dealt, in_a_row)))) == 3
    assert fingerprint(replace(dealt, groups=np.arange(60) % 3)) == fingerprint(dealt)


# Search

GRID = {"MLKNN": {"k": (1, 3, 9), "s": (0.5, 1.0)}}


def test_search_takes_the_best_of_the_inner_folds():
    dataset = songs()
    planned = list(cells(trial(search=GRID, inner_folds=4), "songs", dataset, ("MLKNN",)))
    for fold, cell in enumerate(planned[:2]):
        record = run_cell(dataset, cell)
        X, Y = dataset.X[cell.train], dataset.Y[cell.train]
        inner = Split("k-fold", folds=4).rows(Dataset(X, Y, list("abcd")), fold)
        scores = {
            (k, s): np.mean([
                f_measure(Y[test], MLkNN(k=k, s=s).fit(X[train], Y[train]).predict(X[test]))
                for train, test in inner
            ])
            for k in (1, 3, 9)
            for s in (0.5, 1.0)
        }  # fmt: skip
        best = max(scores, key=scores.get)
        found = record.details["searched"]
        assert tuple(found["best"].values()) == best
        assert list(found["best"]) == ["k", "s"]
        assert found["score"] == pytest.approx(scores[best])
        assert (found["scoring"], found["n_candidates"]) == ("f_measure", 6)
        model = MLkNN(k=best[0], s=best[1]).fit(X, Y)
        assert_array_equal(record.predictions.Y_pred, model.predict(dataset.X[cell.test]))


def test_labels_of_test_rows_do_not_change_what_is_chosen_or_predicted():
    dataset = with_holes(songs())
    settings = {"prepare": STEPS, "search": {"MLKNN": {"k": (1, 5), "select__k": (1, 4)}}}
    cell, *_ = cells(trial(**settings), "songs", dataset, ("MLKNN",))
    Y = dataset.Y.copy()
    Y[cell.test] = np.random.default_rng(1).permutation(Y[cell.test].ravel()).reshape(-1, 4)
    first = run_cell(dataset, cell)
    second = run_cell(replace(dataset, Y=Y), cell)
    assert first.details["searched"] == second.details["searched"]
    assert_array_equal(first.predictions.Y_pred, second.predictions.Y_pred)
    assert first.scores != second.scores


def test_losses_are_searched_for_the_smallest_and_probabilities_too():
    for scoring, worse, better in (("hamming_loss", 1e-6, 1.0), ("log_loss", 1e4, 0.1)):
        search = {"BR": {"estimator__C": (worse, better)}}
        cell, *_ = cells(trial(search=search, scoring=scoring), "songs", songs(), ("BR",))
        found = run_cell(songs(), cell).details["searched"]
        assert found["best"] == {"estimator__C": better}
        assert 0 < found["score"] < 1


def test_nldd_is_searched_and_keeps_its_coefficients():
    settings = {"search": {"NLDD": {"train_fraction": (0.5, 1.0)}}, "prepare": STEPS[1:]}
    cell, *_ = cells(trial(**settings), "songs", songs(), ("NLDD",))
    record = run_cell(songs(), cell)
    assert record.error is None
    assert record.details["searched"]["best"]["train_fraction"] in (0.5, 1.0)
    assert len(record.details["coefficients"]) == 3
    assert isinstance(cell.estimator.estimator[-1], NLDDClassifier)


def test_inner_folds_keep_groups_together():
    groups = np.arange(60) % 6
    dataset = replace(songs(), groups=groups)
    settings = {"split": Split("leave-one-group-out"), "search": {"MLKNN": {"k": (1, 5)}}}
    for cell in cells(trial(**settings), "songs", dataset, ("MLKNN",)):
        inner = cell.estimator.cv.split(cell.train, groups=groups[cell.train])
        for train, test in inner:
            assert not set(groups[cell.train][train]) & set(groups[cell.train][test])
    assert run_cell(dataset, cell).error is None


def test_unknown_parameter_inside_is_refused_before_the_run():
    with pytest.raises(InputError, match="no parameter 'estimator__D' of BinaryRelevance"):
        list(cells(trial(search={"BR": {"estimator__D": (1,)}}), "songs", songs(), ("BR",)))
    with pytest.raises(InputError, match=r"BR on songs cannot be made.*'D'"):
        list(cells(trial(parameters={"BR": {"estimator__D": 1}}), "songs", songs(), ("BR",)))
