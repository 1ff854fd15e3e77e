"""Write the files that this version of nldd promises to read for ever: once, before a release.

``python tests/persistence/make_stored_files.py`` makes ``files/v<version>``: a model of every
method, one of every type of base classifier that files may hold, a coding model, a review and the
records of a benchmark. ``expected.json`` has what each of them says on the day it is written.
`test_stored_files.py` asks the files of all versions for the same.
"""

import json
import re
import shutil
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from model_files import members_of
from scipy.sparse import csr_matrix
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    PassiveAggressiveClassifier,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

import nldd
from nldd.bench.protocols.protocol import Protocol
from nldd.bench.runner.benchmark import run_benchmark
from nldd.bench.runner.records import read_predictions, read_records
from nldd.coding.answers import Answers, CodeColumns, Columns
from nldd.coding.codebook import Codebook, CodebookEntry
from nldd.coding.model import Settings, fit_coding_model
from nldd.coding.model_file import load_coding_model, save_coding_model
from nldd.coding.review.log import LogEntry, Position, outcomes
from nldd.coding.review.prepare import prepare_review
from nldd.coding.review.store import Store
from nldd.datasets import Dataset
from nldd.estimators._binary_relevance import BinaryRelevance
from nldd.estimators._linear_svm import LinearSVM
from nldd.estimators._nldd import NLDDClassifier
from nldd.estimators._platt_svc import PlattSVC
from nldd.estimators._registry import METHODS
from nldd.linear._logistic import MultiLabelLogisticRegression
from nldd.persistence._models import save_model
from nldd.persistence._schemas import SCHEMAS

FILES = Path(__file__).parent / "files"
SHALLOW = {"max_depth": 2, "random_state": 0}
# Of methods that would be large otherwise.
SMALLER = {
    "ECC": {"n_members": 2},
    "RAKEL": {"k": 2, "n_models": 2},
    "CBM": {"n_components": 2, "n_iterations": 2},
    "RFPCT": {"n_estimators": 2, "max_depth": 2},
}
NLDD = {
    "plain": {"estimator": None},
    "auto": {"estimator": "auto"},
    "multiplicative": {"estimator": None, "model": "multiplicative", "decision": "f"},
    "own_choice": {"estimator": {"naive": GaussianNB(), "platt": PlattSVC()}},
    "forest": {"estimator": RandomForestClassifier(2, **SHALLOW)},
    "platt_sparse": {"estimator": PlattSVC()},
    "sparse": {"estimator": None},
}
FEATURES = ("normalised", "tfidf", "rbf")
ASKED = ("predict", "predict_proba", "decision_function", "predict_theta")
WORDS = {"food": "cold lunch", "pay": "low salary", "rooms": "loud office", "boss": "never listens"}
EVIDENCE = ("Y", "theta", "Dx", "Dy", "row", "chance", "P")
# After the release in which scikit-learn made temperature scaling.
LEAST_VERSIONS = {"base_temperature": "1.8"}


def bases():
    """A base classifier of every type that a model file may hold."""
    return {
        "auto": "auto",
        "logistic": LogisticRegression(),
        "logistic_cv": LogisticRegressionCV(cv=2, Cs=2),
        "stochastic": SGDClassifier(loss="log_loss", random_state=0),
        "perceptron": Perceptron(),
        "passive_aggressive": PassiveAggressiveClassifier(random_state=0),
        "ridge": RidgeClassifier(),
        "linear_svc": LinearSVC(),
        "linear_svm": LinearSVM(),
        "platt": PlattSVC(),
        "svc": SVC(),
        "nu_svc": NuSVC(nu=0.1),
        "forest": RandomForestClassifier(2, **SHALLOW),
        "extra_trees": ExtraTreesClassifier(2, **SHALLOW),
        "neighbours": KNeighborsClassifier(3),
        "gaussian": make_pipeline(StandardScaler(), GaussianNB()),
        "multinomial": make_pipeline(MinMaxScaler(), MultinomialNB()),
        "bernoulli": make_pipeline(Normalizer(), BernoulliNB()),
        "complement": make_pipeline(MaxAbsScaler(), MinMaxScaler(), ComplementNB()),
        "one_of_each": OneVsRestClassifier(LogisticRegression()),
        "sigmoid": CalibratedClassifierCV(LinearSVC(), cv=2),
        "isotonic": CalibratedClassifierCV(GaussianNB(), cv=2, method="isotonic"),
        "temperature": CalibratedClassifierCV(GaussianNB(), cv=2, method="temperature"),
    }


def problem(n_rows=28):
    """Rows of three clusters; the last of their three labels is constant."""
    rng = np.random.default_rng(4)
    cluster = rng.integers(0, 3, size=n_rows)
    X = (rng.normal(size=(n_rows, 3)) + 2.5 * np.eye(3)[cluster]).round(2)
    Y = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 1]])[cluster]
    Y[:, :2] ^= rng.random((n_rows, 2)) < 0.1
    return X, Y


def models():
    """Every model to store, by the name of its file."""
    for name, base in bases().items():
        yield f"base_{name}", BinaryRelevance(base)
    for key, method in METHODS.items():
        if key != "NLDD":
            yield f"method_{key.lower()}", method.default(**SMALLER.get(key, {}))
    for features in FEATURES:
        yield f"joint_{features}", MultiLabelLogisticRegression(features=features)
    for name, settings in NLDD.items():
        yield f"nldd_{name}", NLDDClassifier(**settings, random_state=0)


def features_for(name, X):
    """The rows in the form that the model of that name was fitted to."""
    X = np.abs(X) if "tfidf" in name else X
    return csr_matrix(np.where(np.abs(X) < 0.7, 0, X)) if "sparse" in name else X


def said_by(model, X):
    """What a model answers, as JSON has it."""
    return {ask: getattr(model, ask)(X).tolist() for ask in ASKED if hasattr(model, ask)}


def coded_answers(n=60, seed=0):
    """Answers of one or two topics, with an age, a region and two numbers of one's own.

    Every fifth has a code that its words do not say, so that some predictions are wrong.
    """
    rng, names = np.random.default_rng(seed), sorted(WORDS)
    said = [rng.choice(names, size=1 + (i % 3 == 0), replace=False).tolist() for i in range(n)]
    texts = [" and ".join(WORDS[code] for code in sorted(each)) for each in said]
    codes = [{*each, names[i % 4]} if i % 5 == 0 else set(each) for i, each in enumerate(said)]
    numbers = np.where(rng.random((n, 1)) < 0.2, np.nan, rng.integers(18, 66, (n, 1)))
    regions = [(str(region),) for region in rng.choice(["Bonn", "Leeds", ""], n)]
    extra = rng.normal(size=(n, 2)).round(2).astype(np.float32)
    return Answers(texts, numbers, regions, extra), codes


def code(model, answers):
    """What a coding model says of answers."""
    found = model.code(answers)
    said = {name: getattr(found, name).tolist() for name in EVIDENCE}
    selection = model.select(0.5, 0.6)
    return {**said, "limit": selection.limit, "rank_by": selection.rank_by}


def fit_coding(folder):
    """A coding model with every kind of feature, and one of texts alone for the review."""
    answers, codes = coded_answers()
    columns = CodeColumns(("codes",))
    book = Codebook((CodebookEntry("boss", name="Managers"), CodebookEntry("pay", order=1)))
    every = Columns(("answer",), columns, ("age",), ("region",), n_extra=2)
    how = Settings(n_folds=3, random_state=0)
    save_coding_model(
        fit_coding_model(answers, codes, every, how, codebook=book), folder / "coding.nldd"
    )
    plain = Answers(answers.texts, np.empty((len(codes), 0)), [()] * len(codes))
    save_coding_model(
        fit_coding_model(plain, codes, Columns(("answer",), columns), how),
        folder / "coding_texts.nldd",
    )


def review_of(folder):
    """A review of ten answers, four of them decided, one of these by two coders."""
    path, texts = folder / "answers.review.db", coded_answers(10, seed=1)[0].texts
    with TemporaryDirectory() as elsewhere:
        table = Path(elsewhere, "new.csv")
        table.write_text("\n".join(["answer", *texts]) + "\n", encoding="utf-8")
        prepare_review(folder / "coding_texts.nldd", table, path, (0.5, 0.6, "subset", "chance"), 2)
    decided = [(1, "Ann", {"pay"}), (2, "Ann", {"food", "pay"}), (3, "Ann", set())]
    decided += [(1, "Bob", {"boss"}), (4, "Bob", {"rooms"})]
    with Store.open(path) as store:
        store.add([_decision(f"u{i}", *each) for i, each in enumerate(decided)])
        store.keep("coder:Ann", {"order": "file"})


def _decision(uid, item, coder, codes):
    after = Position("done", frozenset(codes), note=f"of {coder}")
    return LogEntry(0, uid, item, coder, "code", after, "2026-11-18T00:00:00.000Z", seconds=1.5)


def review_said(path):
    """What a copy of a review holds, as JSON has it: SQLite leaves files beside what it reads."""
    with TemporaryDirectory() as elsewhere, Store.open(Path(shutil.copy(path, elsewhere))) as store:
        found = outcomes(store.entries())
        return {
            "table": store.study.table,
            "codes": [list(each) for each in store.study.codes],
            "texts": [item.text for item in store.items()],
            "drawn": [item.item for item in store.items() if item.drawn],
            "suggested": [[s.item, list(s.codes), s.status, s.doubt] for s in store.suggestions(0)],
            "decided": {
                str(item): None if each.codes is None else sorted(each.codes)
                for item, each in sorted(found.items())
            },
            "notes": [entry.after.note for entry in store.entries()],
            "settings": store.setting("coder:Ann"),
        }


def benchmark_in(folder):
    """Two methods on two folds."""
    protocol = Protocol("trial", "a trial", folds=2, methods=("BR", "NLDD"))
    X, Y = problem(60)
    data = Dataset(X, Y[:, :2], ["sad", "calm"], list("abc"), "songs")
    run_benchmark(protocol, {"songs": data}, folder, n_jobs=1)


def benchmark_said(folder):
    """What the records of a benchmark say but for their seconds."""
    said = []
    for record in read_records(folder / "cells.jsonl"):
        kept = read_predictions(folder, record.key)
        said.append(
            {
                "key": list(record.key),
                "settings": record.settings,
                "scores": record.scores,
                "counts": record.details["label_counts"],
                "Y_pred": kept.Y_pred.tolist(),
                "P": np.asarray(kept.P, dtype=float).tolist(),
            }
        )
    return sorted(said, key=lambda each: each["key"][2:4])


def write_files(folder):
    """All files of this version, and what they say."""
    X, Y = problem()
    rows = X[:6]
    expected = {"X": rows.tolist(), "types": sorted(SCHEMAS), "least scikit-learn": LEAST_VERSIONS}
    for name, model in models():
        model.fit(features_for(name, X), Y)
        save_model(model, folder / f"{name}.nldd")
        expected[name] = said_by(model, features_for(name, rows))
    fit_coding(folder)
    new, _ = coded_answers(5, seed=2)
    expected["coding"] = {
        "texts": new.texts,
        "numbers": [None if np.isnan(n) else n for n in new.numbers[:, 0].tolist()],
        "categories": [list(words) for words in new.categories],
        "extra": new.extra.tolist(),
        **code(load_coding_model(folder / "coding.nldd"), new),
    }
    review_of(folder)
    (folder / "coding_texts.nldd").unlink()
    expected["review"] = review_said(folder / "answers.review.db")
    benchmark_in(folder / "benchmark")
    expected["benchmark"] = benchmark_said(folder / "benchmark")
    if missing := set(SCHEMAS) - types_in(folder):
        sys.exit(f"No model holds {', '.join(sorted(missing))}: add one to bases() or models().")
    (folder / "expected.json").write_text(json.dumps(expected) + "\n")


def types_in(folder):
    """The types that the models of a folder hold."""
    found = set()
    for path in folder.glob("*.nldd"):
        for member, content in members_of(path).items():
            if member.startswith("estimators/") and member.endswith(".json"):
                found |= set(re.findall(r'"((?:sklearn|nldd)\.\w+)"', content.decode()))
    return found


def main():
    """Make the folder of this version, which must not be there: what was released stays."""
    folder = FILES / f"v{nldd.__version__}"
    if folder.exists():
        sys.exit(f"{folder} is there. Files that were released stay as they are.")
    with TemporaryDirectory() as elsewhere, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write_files(Path(elsewhere))
        for lock in Path(elsewhere).rglob(".*"):
            lock.unlink()
        shutil.copytree(elsewhere, folder)
    n_bytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{folder.name}: {len(list(folder.rglob('*.nldd')))} models, {n_bytes:,} bytes in all")


if __name__ == "__main__":
    main()
