"""Protocols: the files that people write, and folds, seeds and settings of cells."""

from dataclasses import replace

import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from bench.runner.trials import rows_only, songs, trial
from nldd.bench.datasets.catalogue import CATALOGUE
from nldd.bench.runner.cell import settings_text
from nldd.bench.runner.protocol import BASES, SHAPES, DatasetRules, Protocol, Shares
from nldd.bench.runner.protocol_file import PROTOCOLS, load_protocol
from nldd.bench.runner.splits import Split
from nldd.estimators._registry import METHODS
from nldd.exceptions import InputError

EVERY_KEY = """
name = "words"
title = "Words only"
seed = 7
folds = 4
split_from = 900
splits = 2
test_share = 0.5
settings = "paper"
base = "platt-svc"
methods = ["NLDD", "BR"]
prepare = [
    "sklearn.impute:SimpleImputer",
    { transformer = "sklearn.decomposition:PCA", n_components = 2 },
]
parameters.NLDD.standardize = "none"
split = { kind = "stratified", order = 2 }
large = { base = "platt-linear-svc", parameters.NLDD.train_fraction = 0.5 }
[datasets]
yeast.split = "given"
[datasets.enron]
base = "auto"
labels = "code_*"
text = "answer"
split = { kind = "repeated", folds = 2 }
parameters.BR.decision = "probability"
[shares]
dataset = "enron"
method = "NLDD"
steps = [0.25, 1]
parameters = { max_pairs = 10 }
[search]
scoring = "log_loss"
inner_folds = 5
NLDD = { train_fraction = [0.5, 1.0], estimator__C = [1.0], pca__n_components = [1, 2] }
"""


def test_every_key_is_read(own):
    protocol = own(EVERY_KEY)
    assert [repr(each) for each in protocol.prepare] == ["SimpleImputer()", "PCA(n_components=2)"]
    split, large = Split("repeated", folds=2, repeats=10), {"NLDD": {"train_fraction": 0.5}}
    grid = {"train_fraction": (0.5, 1.0), "estimator__C": (1.0,), "pca__n_components": (1, 2)}
    of_enron = {"parameters": {"BR": {"decision": "probability"}}}
    of_enron |= {"labels": "code_*", "text": "answer"}
    expected = Protocol("words", "Words only", 7, 4, 900, 2, 0.5)
    assert replace(protocol, prepare=()) == replace(
        expected,
        split=Split("stratified", folds=4, order=2),
        settings="paper",
        base="platt-svc",
        methods=("NLDD", "BR"),
        parameters={"NLDD": {"standardize": "none"}},
        large=DatasetRules(base="platt-linear-svc", parameters=large),
        datasets={
            "enron": DatasetRules(split, "auto", **of_enron),
            "yeast": DatasetRules(split=Split("given")),
        },
        search={"NLDD": grid},
        scoring="log_loss",
        inner_folds=5,
        shares=Shares("enron", "NLDD", (0.25, 1.0), {"max_pairs": 10}),
    )


def test_empty_file_has_the_defaults_and_the_name_of_the_file(own, tmp_path):
    assert own("", "Words.TOML") == Protocol(name="Words", title="Words", methods=tuple(METHODS))
    assert load_protocol(str(tmp_path / "Words.TOML")).name == "Words"
    assert own("folds = 4", "paper.toml").settings == "default"  # not the one of nldd
    assert [load_protocol(name).name for name in PROTOCOLS] == list(PROTOCOLS)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("papr", "'paper'"), ("Default", "'default'"), ("x", "default, best"), ("a.tom", "toml")],
)
def test_misspelt_name_is_refused(name, hint):
    with pytest.raises(InputError, match=f"'{name}'.*{hint}"):
        load_protocol(name)


def test_missing_file_is_named(tmp_path):
    with pytest.raises((InputError, OSError), match=r"nowhere\.toml"):
        load_protocol(tmp_path / "nowhere.toml")


SHARES = "[shares]\ndataset='x'\nmethod='BR'\n"
# What is misspelt or has a wrong value: the key that the message names, and what it suggests.
WRONG = {
    "fold = 3": "'fold'.*'folds'",
    "[large]\nbse = 'logistic'": "large: .*'bse'.*'base'",
    "[large]\nfolds = 3": "large: .*'folds'.*known are base, parameters",
    "[split]\nkinds = 'given'": "split: .*'kinds'.*'kind'",
    "split = 'kfold'": r"split\.kind: .*'kfold'.*'k-fold'",
    "[search]\nscoring = 'f1'": r"search\.scoring: .*'f1'",
    "[search.NLD]": "search: .*'NLD'.*'NLDD'",
    "[search.MLKNN]\nn = [1]": r"search\.MLKNN: .*'n'; known are",
    "[search.MLKNN]\nk = 3": r"search\.MLKNN\.k must.*got 3",
    "[search.MLKNN]\nk = [3, 0]": r"search\.MLKNN.*'k'",
    "methods = ['BR']\n[search.NLDD]\ntrain_fraction = [0.5]": r"search\.NLDD: .*not among",
    "name = '../mine'": "name must",
    "title = ''": "title must be a text; got ''",
    "seed = -1": "seed must.*got -1",
    "folds = 1": "folds must.*from 2 on; got 1",
    "test_share = nan": "test_share must.*got nan",
    "settings = 'papr'": "settings: .*'papr'.*'paper'",
    "base = ['logistic']": "base: .*logistic.*known are logistic",
    "methods = 'BR'": "methods must.*got 'BR'",
    "methods = ['NLD']": "'NLD'.*'NLDD'",
    "methods = [['BR']]": r"\['BR'\]",
    "parameters = 3": "parameters must be a table.*got 3",
    "[datasets]\nyeast = 3": r"datasets\.yeast must be a table",
    "[datasets.x]\ntext = 3": r"datasets\.x\.text must be the name of a column",
    "[parameters]\nNLDD = 'abc'": r"parameters\.NLDD must be a table",
    "[parameters.NLDD]\ntrain_fractions = 1": r"parameters\.NLDD: .*'train_fraction'",
    "[parameters.NLDD]\ntrain_fraction = 1.5": "train_fraction",
    "[parameters.BR]\nestimator = 'logistic'": "estimator",
    "[datasets.x.parameters.ECC]\nmembers = 1": r"x\.parameters\.ECC: .*'n_members'",
    "[shares]\ndataset = 'x'\nsteps = [1.0]": r"\[shares\] needs method",
    f"{SHARES}steps=[1.5]": r"shares\.steps must.*\[1.5\]",
    f"{SHARES}steps=[]": r"shares\.steps must",
    f"{SHARES}steps=[1.0]\nparameters={{x=1}}": r"shares\.parameters\.BR: .*'x'",
    "[shares]\ndataset=3\nmethod='BR'\nsteps=[1.0]": r"shares\.dataset must",
    "[split]\nkind = 'given'\nfolds = 3": 'folds goes with .*"k-fold" or "repeated".* "given"',
    "[split]\nkind = 'stratified'\norder = 3": r"split\.order must.*got 3",
    "[split]\nkind = 'repeated'\nrepeats = 0": r"split\.repeats must.*from 1",
    "[datasets.x.split]\nkind = 'random'\ntest_share = 2": r"x\.split\.test_share must",
    "folds = ": "not a TOML file",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items(), ids=WRONG)
def test_wrong_key_or_value_is_refused_with_the_file_and_the_key(own, text, message):
    with pytest.raises(InputError, match=rf"mine\.toml(:| is) .*{message}"):
        own(text)


HOSTILE = {
    "nested lists": "folds = " + "[\n" * 20_000,
    "many long keys": "\n".join(f"title.b{i}{'.a' * 450} = 1" for i in range(20)),
    "many digits": f"folds = {'9' * 5000}",
    "escapes in a key": '"a\\u001b[2J\\u202e" = 1',
    "escapes in a name": '[datasets."a\\u001b[2J".parameters.BR]\nb = 1',
    "escapes in a value": 'base = "a\\u001b]0;b\\u0007"',
    "a control character": "folds = 3\x1b",
    "a long import path": f"methods = ['{'b' * 450}:{'c' * 450}']",
    "a long value": f'base = """\n{("b" * 80 + chr(10)) * 700}"""',
    "another encoding": 'title = "Wörter"'.encode("latin-1"),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_file_is_refused_in_a_few_printable_words(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=r"mine\.toml") as caught:
        load_protocol(path)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 700


LARGE = ("ohsumed", "tmc2007", "bibtex")
PAPER, DEFAULT = load_protocol("paper"), load_protocol("default")


def folds_of(protocol, n_samples):
    return protocol.split_of("rows", n_samples).rows(rows_only(n_samples), protocol.seed)


def made(protocol, method, dataset, fold=0):
    return protocol.estimator(method, dataset, CATALOGUE[dataset].n_samples, fold)


def settings(estimator, *names):
    return tuple(estimator.get_params()[name] for name in names)


# Folds


@pytest.mark.parametrize(("name", "n_splits"), [("paper", 1), ("default", 5), ("quick", 1)])
def test_small_data_are_cut_into_folds_and_large_ones_split(name, n_splits):
    protocol = load_protocol(name)
    found = {entry.name: len(folds_of(protocol, entry.n_samples)) for entry in CATALOGUE.values()}
    assert found == {name: n_splits if name in LARGE else protocol.folds for name in CATALOGUE}
    assert protocol.folds == (3 if name == "quick" else 10)


# Settings


def test_settings_of_every_method_on_small_and_large_data(snapshot):
    lines = []
    for protocol in (PAPER, DEFAULT):
        for dataset in ("yeast", *LARGE):
            settings = (settings_text(made(protocol, method, dataset)) for method in METHODS)
            lines += [f"{protocol.name}, {dataset}", *settings, ""]
    snapshot("\n".join(lines), "protocols")


def test_paper_has_its_methods_and_the_study_of_shares():
    assert DEFAULT.methods == tuple(METHODS)
    assert PAPER.methods == tuple(method for method in METHODS if method != "NLDD-P")
    steps = tuple(round(0.1 * step, 1) for step in range(1, 11))
    for protocol, own in ((PAPER, {"train_fraction": 1.0}), (DEFAULT, {})):
        shares = protocol.shares
        assert (shares.dataset, shares.method, shares.steps) == ("tmc2007", "NLDD", steps)
        assert shares.parameters == own


@pytest.mark.parametrize("method", [name for name, shape in SHAPES.items() if shape != "classes"])
def test_default_base_predicts_as_the_default_of_the_method(method):
    X, Y, _ = songs()
    named = DEFAULT.estimator(method, "songs", len(X), fold=0)
    unnamed = METHODS[method].default(estimator=None)  # NLDD's own default chooses
    if "random_state" in unnamed.get_params():
        unnamed.set_params(random_state=0)
    assert_array_equal(named.fit(X, Y).predict(X), unnamed.fit(X, Y).predict(X))


# Seeds, precedence and bases


@pytest.mark.parametrize("protocol", [PAPER, DEFAULT], ids=["paper", "default"])
@pytest.mark.parametrize("method", METHODS)
def test_every_draw_of_a_cell_comes_from_seed_and_fold(method, protocol):
    estimator = made(protocol, method, "bibtex", fold=7)
    seeds = [v for k, v in estimator.get_params().items() if k.endswith("random_state")]
    assert seeds == [7] * len(seeds)
    assert ("estimator" in estimator.get_params()) == (method in SHAPES)


def test_rules_of_a_data_set_come_before_large_before_all():
    protocol = trial(
        split_from=50,
        parameters={"MLKNN": {"k": 1, "s": 0.1}},
        large=DatasetRules(base="platt-svc", parameters={"MLKNN": {"k": 2}}),
        datasets={"songs": DatasetRules(base="auto", parameters={"MLKNN": {"k": 3}})},
    )

    def found(*arguments, **given):
        base = protocol.estimator("BR", *arguments, fold=0).estimator
        method = protocol.estimator("MLKNN", *arguments, fold=0, **given)
        return type(base).__name__, *settings(method, "k", "s")

    assert found("films", 49) == ("MultiLabelLogisticRegression", 1, 0.1)
    assert found("films", 50) == ("PlattSVC", 2, 0.1)
    assert found("songs", 49) == found("songs", 50) == ("str", 3, 0.1)
    assert found("songs", 50, k=4) == ("str", 4, 0.1)


@pytest.mark.parametrize(
    "base", [pytest.param(base, marks=[pytest.mark.slow] * (base == "platt-svc")) for base in BASES]
)
@pytest.mark.parametrize("method", ["NLDD", "CC", "LP"])
def test_every_method_runs_with_every_base_and_repeats_itself(method, base):
    X, Y, _ = songs()
    estimator = trial(base=base).estimator(method, "songs", len(X), fold=0)
    first = estimator.fit(X, Y).predict(X)
    assert_array_equal(clone(estimator).fit(X, Y).predict(X), first)
    # Better than no labels at all: it has learned something.
    assert (first != Y).mean() < 0.75 * (Y != 0).mean()
