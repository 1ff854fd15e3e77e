"""Preparation and search inside folds: what is done, and that test rows are not looked at."""

from dataclasses import replace
from hashlib import blake2b
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from bench.runner.trials import Stub, replace_method, run_first, songs, trial
from nldd import MLkNN, NLDDClassifier
from nldd.bench.runner.cell import cells, digest, fingerprint, run_cell
from nldd.bench.runner.splits import Split
from nldd.datasets import Dataset
from nldd.exceptions import InputError
from nldd.metrics import f_measure

STEPS = (SimpleImputer(strategy="median"), StandardScaler(), PCA(n_components=3))


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
        axes = np.linalg.svd(X_train)[2][:3].T
        model = MLkNN().fit(X_train @ axes, dataset.Y[cell.train])
        record = run_cell(dataset, cell)
        assert_array_equal(record.predictions.Y_pred, model.predict(X_test @ axes))
    assert cell.settings == (
        "Pipeline(steps=[('simpleimputer', SimpleImputer(strategy='median')), "
        "('standardscaler', StandardScaler()), ('pca', PCA(n_components=3, random_state=2)), "
        "('method', MLkNN())])"
    )


def test_transformers_and_what_is_inside_draw_from_the_seed_of_the_fold(own):
    protocol = own(
        """
        [[prepare]]
        transformer = "sklearn.feature_selection:SelectFromModel"
        estimator = "sklearn.ensemble:ExtraTreesClassifier"
        estimator__n_estimators = 5
        max_features = 2
        """
    )
    for cell in cells(protocol, "songs", songs(), ("MLKNN",)):
        step = cell.estimator["selectfrommodel"]
        assert step.get_params()["estimator__random_state"] == cell.key.fold
    assert run_cell(songs(), cell).predictions.Y_pred.any()


# Texts


def test_texts_are_weighted_words_of_the_training_rows():
    dataset = texts()
    protocol = trial(prepare=(TfidfVectorizer(min_df=2, ngram_range=(1, 2)),))
    for cell in cells(protocol, "songs", dataset, ("BR",)):
        record = run_cell(dataset, cell)
        vectorizer = TfidfVectorizer(min_df=2, ngram_range=(1, 2))
        X_train = vectorizer.fit_transform(dataset.X[cell.train])
        model = cell.estimator[-1].fit(X_train, dataset.Y[cell.train])
        expected = model.predict(vectorizer.transform(dataset.X[cell.test]))
        assert_array_equal(record.predictions.Y_pred, expected)


@pytest.mark.parametrize(
    ("prepare", "of_texts", "of_numbers"),
    [
        ((), ["tfidfvectorizer"], []),
        ((TfidfVectorizer(),), ["tfidfvectorizer"], []),
        ((SimpleImputer(),), ["tfidfvectorizer", "simpleimputer"], ["simpleimputer"]),
        (
            (SimpleImputer(), HashingVectorizer(n_features=64)),
            ["hashingvectorizer", "simpleimputer"],
            ["simpleimputer"],
        ),
    ],
)
def test_texts_become_numbers_in_any_case_and_numbers_stay(prepare, of_texts, of_numbers):
    for dataset, names in ((texts(), of_texts), (songs(), of_numbers)):
        first, *_ = cells(trial(prepare=prepare), "songs", dataset, ("BR",))
        steps = first.estimator.steps[:-1] if isinstance(first.estimator, Pipeline) else []
        assert [name for name, _ in steps] == names
        assert run_cell(dataset, first).error is None


def test_nldd_behind_steps_keeps_its_coefficients():
    protocol = trial(prepare=(StandardScaler(with_mean=False),))
    for dataset in (songs(), texts()):
        details = run_first(protocol, "NLDD", dataset)[1].details
        assert len(details["coefficients"]) == 3
        assert 0 < details["evaluated_share"] <= 1


def test_digest_changes_with_values_places_shape_and_type_and_not_with_the_layout():
    X = songs().X
    sparse = csr_array(X)
    wider = csr_array((sparse.data, sparse.indices, sparse.indptr), shape=(len(X), 9))
    others = [X + 1e-12 * np.eye(*X.shape), X[::-1], X[:, ::-1], X[:-1], X.reshape(2, -1)]
    others += [X.astype(np.float32), sparse, csr_array(X[:, ::-1]), 2 * sparse, wider]
    others += [np.zeros(shape) for shape in ((0, 4), (4, 0), (0,))]
    assert len(set(map(digest, [X, *others]))) == 14
    assert digest(np.asfortranarray(X)) == digest(X)
    assert digest(X[:, :2]) == digest(X[:, :2].copy())


def test_fingerprint_changes_with_letters_and_groups_and_is_as_before_without():
    dataset = texts()
    X = dataset.X.copy()
    X[0], X[1] = X[0] + X[1][:1], X[1][1:]  # the same letters in other rows
    assert fingerprint(texts()) == fingerprint(dataset) != fingerprint(replace(dataset, X=X))
    dealt = replace(songs(), groups=np.array(["Ann", "Bob", "Eve"])[np.arange(60) % 3])
    in_a_row = replace(songs(), groups=np.arange(60) // 20)
    before = blake2b(digest(songs().X) + digest(songs().Y), digest_size=8).hexdigest()
    assert fingerprint(songs()) == before  # so that records of older versions stay valid
    assert len(set(map(fingerprint, (songs(), dealt, in_a_row)))) == 3
    assert fingerprint(replace(dealt, groups=np.arange(60) % 3)) == fingerprint(dealt)


# Refused

IMPUTER, BEST = "sklearn.impute:SimpleImputer", "sklearn.feature_selection:SelectKBest"
WRONG = {
    "'sklearn.impute:SimpleImputr'": "'SimpleImputer'",
    "'sklearn.svm:SVC'": "no transform",
    "'os:remove'": "no class",
    "'impute'": "prepare must be a list",
    "{strategy = 'mean'}": "prepare must be a list",
    f"{{transformer = '{IMPUTER}', n = 1}}": "'n'",
    f"{{transformer = '{IMPUTER}', strategy = 'middle'}}": "'strategy'",
    f"{{transformer = '{BEST}', score_func = 'os:remove'}}": "no class",
    "'sklearn.feature_selection:SelectFromModel'": "'estimator'",
}


@pytest.mark.parametrize(("entry", "message"), WRONG.items(), ids=WRONG)
def test_what_is_no_transformer_is_refused_before_the_run(own, entry, message):
    with pytest.raises(InputError, match=rf"mine\.toml: .*{message}"):
        own(f"prepare = [{entry}]")


# Search

GRID = {"MLKNN": {"k": (1, 3, 9), "s": (0.5, 1.0)}}


def test_search_takes_the_best_of_the_inner_folds():
    dataset = songs()
    planned = list(cells(trial(search=GRID, inner_folds=4), "songs", dataset, ("MLKNN",)))
    for fold, cell in enumerate(planned[:2]):
        record = run_cell(dataset, cell)
        X, Y = dataset.X[cell.train], dataset.Y[cell.train]
        inner = Split("k-fold", folds=4).rows(Dataset(X, Y, list("abcd")), fold)
        scores = {}
        for k, s in product((1, 3, 9), (0.5, 1.0)):
            fitted = ((MLkNN(k=k, s=s).fit(X[train], Y[train]), test) for train, test in inner)
            scores[k, s] = np.mean([f_measure(Y[test], m.predict(X[test])) for m, test in fitted])
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
    settings = {"prepare": STEPS, "search": {"MLKNN": {"k": (1, 5), "pca__n_components": (1, 4)}}}
    cell, *_ = cells(trial(**settings), "songs", dataset, ("MLKNN",))
    Y = dataset.Y.copy()
    Y[cell.test] = np.random.default_rng(1).permutation(Y[cell.test].ravel()).reshape(-1, 4)
    first = run_cell(dataset, cell)
    second = run_cell(replace(dataset, Y=Y), cell)
    assert first.details["searched"] == second.details["searched"]
    assert_array_equal(first.predictions.Y_pred, second.predictions.Y_pred)
    assert first.scores != second.scores


def test_losses_are_searched_for_the_smallest_and_probabilities_too(monkeypatch):
    for scoring, worse, better in (("hamming_loss", 1e-6, 1.0), ("log_loss", 1e4, 0.1)):
        search = {"BR": {"estimator__C": (worse, better)}}
        found = run_first(trial(search=search, scoring=scoring), "BR")[1].details["searched"]
        assert found["best"] == {"estimator__C": better}
        assert 0 < found["score"] < 1
    replace_method(monkeypatch, "MLKNN", Stub)
    _, record = run_first(trial(search={"MLKNN": {"place": (None,)}}, scoring="log_loss"), "MLKNN")
    assert "log_loss is a measure of probabilities" in record.error


def test_nldd_is_searched_and_keeps_its_coefficients():
    settings = {"search": {"NLDD": {"train_fraction": (0.5, 1.0)}}, "prepare": STEPS[1:]}
    cell, record = run_first(trial(**settings), "NLDD")
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


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"search": {"BR": {"estimator__D": (1,)}}}, "'estimator__D' of BinaryRelevance"),
        ({"parameters": {"BR": {"estimator__D": 1}}}, "BR on songs.*'D'"),
    ],
)
def test_unknown_parameter_inside_is_refused_before_the_run(settings, message):
    with pytest.raises(InputError, match=message):
        list(cells(trial(**settings), "songs", songs(), ("BR",)))
