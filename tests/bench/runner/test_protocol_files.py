"""Protocols as TOML files that people write."""

from dataclasses import replace

import pytest

from nldd.bench.runner.protocol import Protocol, Shares
from nldd.bench.runner.protocol_file import PROTOCOLS, load_protocol
from nldd.bench.runner.splits import Split
from nldd.estimators._registry import METHODS
from nldd.exceptions import InputError


def test_every_key_is_read(own):
    protocol = own(
        """
        name = "words"
        title = "Words only"
        seed = 7
        folds = 3
        split_from = 900
        test_share = 0.5
        settings = "paper"
        base = "platt-svc"
        methods = ["NLDD", "BR"]
        [parameters.NLDD]
        standardize = "none"
        [large]
        base = "platt-linear-svc"
        [large.parameters.NLDD]
        train_fraction = 0.5
        [datasets.enron.parameters.BR]
        decision = "probability"
        [shares]
        dataset = "enron"
        method = "NLDD"
        steps = [0.25, 1]
        parameters = { max_pairs = 10 }
        """
    )
    assert protocol == Protocol(
        name="words",
        title="Words only",
        seed=7,
        folds=3,
        split_from=900,
        test_share=0.5,
        settings="paper",
        base="platt-svc",
        large_base="platt-linear-svc",
        methods=("NLDD", "BR"),
        parameters={"NLDD": {"standardize": "none"}},
        large_parameters={"NLDD": {"train_fraction": 0.5}},
        dataset_parameters={"enron": {"BR": {"decision": "probability"}}},
        shares=Shares("enron", "NLDD", (0.25, 1.0), {"max_pairs": 10}),
    )


def test_splits_steps_and_searches_are_read(own):
    protocol = own(
        """
        folds = 4
        prepare = [
            "sklearn.impute:SimpleImputer",
            { transformer = "sklearn.decomposition:PCA", n_components = 2 },
        ]
        [split]
        kind = "stratified"
        order = 2
        [datasets.enron.split]
        kind = "repeated"
        folds = 2
        [datasets.yeast]
        split = "given"
        [search]
        scoring = "log_loss"
        inner_folds = 5
        NLDD = { train_fraction = [0.5, 1.0], estimator__C = [1.0] }
        """
    )
    assert [repr(each) for each in protocol.prepare] == ["SimpleImputer()", "PCA(n_components=2)"]
    assert replace(protocol, prepare=()) == Protocol(
        name="mine",
        title="mine",
        folds=4,
        split=Split("stratified", folds=4, order=2),
        dataset_splits={"enron": Split("repeated", folds=2, repeats=10), "yeast": Split("given")},
        scoring="log_loss",
        inner_folds=5,
        search={"NLDD": {"train_fraction": (0.5, 1.0), "estimator__C": (1.0,)}},
    )


def test_empty_file_has_the_defaults_and_the_name_of_the_file(own):
    assert own("", "words.toml") == Protocol(name="words", title="words")
    assert own("").methods == tuple(METHODS)


def test_base_of_small_data_is_that_of_large_ones_too(own):
    assert own('base = "platt-svc"').large_base == "platt-svc"


def test_path_may_be_text_and_its_ending_in_capitals(tmp_path):
    path = tmp_path / "Mine.TOML"
    path.write_text("folds = 4")
    assert load_protocol(str(path)) == Protocol(name="Mine", title="Mine", folds=4)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_shipped_protocols_load_by_name(name):
    assert load_protocol(name).name == name


def test_own_file_may_have_the_name_of_a_shipped_one(own):
    assert own("folds = 4", "paper.toml").settings == "default"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("papr", "did you mean 'paper'"),
        ("Default", "did you mean 'default'"),
        ("something", "there are default, best, paper"),
        ("mine.tom", r"ends in \.toml"),
    ],
)
def test_misspelt_name_is_refused(name, hint):
    with pytest.raises(InputError, match=f"no protocol '{name}'.*{hint}"):
        load_protocol(name)


def test_missing_file_is_named(tmp_path):
    with pytest.raises((InputError, OSError), match=r"nowhere\.toml"):
        load_protocol(tmp_path / "nowhere.toml")


# A known key in the wrong place or misspelt, and what the message says about it.
MISSPELT = {
    "fold = 3": "'fold' .did you mean 'folds'",
    "Seed = 3": "'Seed' .did you mean 'seed'",
    "test-share = 0.5": "'test-share' .did you mean 'test_share'",
    "method = ['BR']": "'method' .did you mean 'methods'",
    "titel = 'x'": "'titel' .did you mean 'title'",
    "large_base = 'logistic'": "'large_base'",
    "[large]\nbse = 'logistic'": r"large: there is no 'bse' .did you mean 'base'",
    "[large]\nfolds = 3": r"large: there is no 'folds'.*known are base, parameters",
    "[datasets.x.parameter.BR]": r"x: there is no 'parameter' .did you mean 'parameters'",
    "[shares]\nstep = [1.0]": r"shares: there is no 'step' .did you mean 'steps'",
    "[shares]\ndataset = 'x'\nsteps = [1.0]": r"\[shares\] needs method",
    "[shares]": r"\[shares\] needs dataset, method, steps",
    "[share]\ndataset = 'x'": "'share' .did you mean 'shares'",
    "[split]\nkinds = 'given'": "split: there is no 'kinds' .did you mean 'kind'",
    "[datasets.x.splits]": r"datasets\.x: there is no 'splits' .did you mean 'split'",
    "split = 'kfold'": r"split\.kind: there is no 'kfold' .did you mean 'k-fold'",
    "[search]\nscorer = 'f_measure'": "search: there is no 'scorer' .did you mean 'scoring'",
    "[search]\nscoring = 'f1'": r"search\.scoring: there is no 'f1'",
    "[search.NLD]": "search: there is no 'NLD' .did you mean 'NLDD'",
    "[search.MLKNN]\nn = [1]": r"search\.MLKNN: there is no 'n'; known are",
}


@pytest.mark.parametrize(("text", "message"), MISSPELT.items(), ids=MISSPELT)
def test_misspelt_key_is_refused_with_a_hint(own, text, message):
    with pytest.raises(InputError, match=rf"mine\.toml: .*{message}"):
        own(text)


WRONG = {
    "name = 3": "name must be a name of letters, digits.*got 3",
    "name = ''": "name must be a name of letters, digits.*got ''",
    "title = 3": "title must be a text; got 3",
    "seed = 1.5": "seed must be a whole number.*got 1.5",
    "seed = -1": "seed must be a whole number from 0.*got -1",
    "seed = true": "seed must be a whole number.*got True",
    "folds = 1": "folds must be a whole number from 2 on; got 1",
    "split_from = 1": "split_from must be a whole number.*got 1",
    "test_share = 1.0": "test_share must be a number between 0 and 1; got 1.0",
    "test_share = nan": "test_share must be a number between 0 and 1; got nan",
    "settings = 'papr'": "settings: there is no 'papr' .did you mean 'paper'",
    "settings = 1": "settings: there is no 1; known are default, paper",
    "base = 'svc'": "base: there is no 'svc'.*platt-svc",
    "base = ['logistic']": r"base: there is no \['logistic'\].*known are logistic",
    "methods = 'BR'": "methods must be a list of methods; got 'BR'",
    "methods = []": r"methods must be a list of methods; got \[\]",
    "methods = ['NLD']": "methods: there is no 'NLD' .did you mean 'NLDD'",
    "methods = [['BR']]": r"methods: there is no \['BR'\]",
    "large = 3": r"large must be a table, \[large\]; got 3",
    "shares = 3": r"shares must be a table, \[shares\]; got 3",
    "parameters = 3": "parameters must be a table; got 3",
    "[datasets]\nyeast = 3": "yeast must be a table",
    "[large]\nparameters = 3": r"large\.parameters must be a table; got 3",
    "[large]\nbase = 'svm'": r"large\.base: there is no 'svm'",
    "[parameters.NLD]": "parameters: there is no 'NLD' .did you mean 'NLDD'",
    "[parameters.NLDD]\ntrain_fractions = 1": (
        r"parameters\.NLDD: there is no 'train_fractions' .did you mean 'train_fraction'"
    ),
    "[large.parameters.CBM]\nk = 1": r"large\.parameters\.CBM: there is no 'k'; known are .*var",
    "[datasets.x.parameters.ECC]\nmembers = 1": (
        r"datasets\.x\.parameters\.ECC: there is no 'members' .did you mean 'n_members'"
    ),
    "[shares]\ndataset='x'\nmethod='NLD'\nsteps=[1.0]": r"shares\.method: there is no 'NLD'",
    "[shares]\ndataset='x'\nmethod='BR'\nsteps=[1.5]": r"shares\.steps must be a list.*\[1.5\]",
    "[shares]\ndataset='x'\nmethod='BR'\nsteps=['a']": r"shares\.steps must be a list.*\['a'\]",
    "[shares]\ndataset='x'\nmethod='BR'\nsteps=[1.0]\nparameters={x=1}": (
        r"shares\.parameters\.BR: there is no 'x'"
    ),
    "[parameters]\nNLDD = 'abc'": r"NLDD.* must be a table",
    "[shares]\ndataset='x'\nmethod='BR'\nsteps=[1.0]\nparameters=3": "parameters",
    "[shares]\ndataset='x'\nmethod='BR'\nsteps=[]": "steps",
    "[shares]\ndataset='x'\nmethod='BR'\nsteps=[true]": "steps",
    "[shares]\ndataset=3\nmethod='BR'\nsteps=[1.0]": "dataset",
    "name = '../mine'": "name",
    "[parameters.NLDD]\ntrain_fraction = 1.5": "train_fraction",
    "[parameters.BR]\nestimator = 'logistic'": "estimator",
    "[large.parameters.MLKNN]\nk = 0": "k",
    "split = 3": r"split must be a table, \[split\], or a kind of split; got 3",
    "[split]\nkind = 'given'\nfolds = 3": (
        'folds goes with kind = "k-fold" or "repeated" or "stratified", and the kind is "given"'
    ),
    "[split]\nkind = 'stratified'\norder = 3": r"split\.order must be 1 or 2; got 3",
    "[split]\nkind = 'repeated'\nrepeats = 0": r"split\.repeats must be a whole number from 1",
    "[datasets.x.split]\nkind = 'random'\ntest_share = 2": r"x\.split\.test_share must be a number",
    "[search]\ninner_folds = 1": r"search\.inner_folds must be a whole number from 2",
    "[search.MLKNN]\nk = 3": r"search\.MLKNN\.k must be a list of values; got 3",
    "[search.MLKNN]\nk = [3, 0]": r"search\.MLKNN.*'k'",
    "folds = ": "not a TOML file: Invalid value",
    "folds = 3\nfolds = 4": "not a TOML file: Cannot overwrite",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items(), ids=WRONG)
def test_wrong_value_is_refused_with_the_file_and_the_key(own, text, message):
    with pytest.raises(InputError, match=rf"mine\.toml(:| is) .*{message}"):
        own(text)


HOSTILE = {
    "nested lists": "folds = " + "[\n" * 20_000,
    "nested tables": "folds = " + "{a = " * 190 + "1",
    "one long key": "title" + ".a" * 30_000 + " = 1",
    "many long keys": "\n".join(f"title.b{i}{'.a' * 450} = 1" for i in range(60)),
    "a deep value": "\n".join(["title" + ".a" * 450 + " = 1"]),
    "many digits": f"folds = {'9' * 5000}",
    "hexadecimal digits": f"seed = 0x{'f' * 900}",
    "escapes in a key": '"a\\u001b[2J\\u202e" = 1',
    "escapes in a name": '[datasets."a\\u001b[2J".parameters.BR]\nb = 1',
    "escapes in a value": 'base = "a\\u001b]0;b\\u0007"',
    "a control character": "folds = 3\x1b",
    "a long import path": f"methods = ['{'b' * 450}:{'c' * 450}']",
    "a long name of a method": f"methods = ['{'b' * 900}=os:path']",
    "a long parameter": f"[parameters.BR]\n{'b' * 900} = 1",
    "a long value": f'base = """\n{("b" * 80 + chr(10)) * 700}"""',
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_file_is_refused_in_a_few_printable_words(own, text):
    with pytest.raises(InputError, match=r"mine\.toml") as caught:
        own(text)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 700


def test_file_that_is_not_utf8_is_refused(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_bytes('title = "Wörter"'.encode("latin-1"))
    with pytest.raises(InputError, match=r"mine\.toml"):
        load_protocol(path)
