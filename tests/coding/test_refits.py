"""What is in use stays in use until a refit passes its own test, at its share of the level."""

from dataclasses import replace

import numpy as np
import pytest

from coding.made_up import decided
from nldd.coding.answers import Answers
from nldd.coding.automation import triage
from nldd.coding.coded_answers import CodingOptions
from nldd.coding.guarantee import GuaranteeTarget, GuaranteeTest, level_share, select_in_turn
from nldd.coding.model import Settings, add_answers, fit_coding_model
from nldd.coding.model_file import load_coding_model, save_coding_model
from nldd.exceptions import InputError

pytestmark = pytest.mark.filterwarnings("ignore::nldd.exceptions.NLDDWarning")
PHRASES = {"bus": "late buses", "park": "green parks", "rent": "high rents", "noise": "loud cars"}
QUICK = Settings(n_folds=4, n_jobs=1)


def answers(n, seed, wrong=0.0):
    """Answers of one code and a word of their own; some have a code by chance."""
    rng = np.random.default_rng(seed)
    names = rng.choice(list(PHRASES), size=n).tolist()
    texts = [f"{PHRASES[name]} {seed}x{i}" for i, name in enumerate(names)]
    codes = [{str(rng.choice(list(PHRASES)))} if rng.random() < wrong else {name} for name in names]
    return Answers(texts, ids=[f"{seed}-{i}" for i in range(n)]), codes


@pytest.fixture(scope="module")
def first():
    return fit_coding_model(*answers(150, 0), settings=QUICK)


@pytest.fixture(scope="module")
def worse(first):
    """The model after an update with answers that were coded by chance."""
    more, codes = answers(300, 1, wrong=1.0)
    return add_answers(first, more, decided(codes))


def test_a_refit_that_fails_leaves_the_fit_before_it_in_use(first, worse):
    assert first.in_use(GuaranteeTarget(0.8))[0] is first
    assert first.select(GuaranteeTarget(0.8)).automates
    assert not worse.select(GuaranteeTarget(0.8)).automates
    used, found = worse.in_use(GuaranteeTarget(0.8))
    assert used is worse.fallback
    assert found == first.select(GuaranteeTarget(0.8))
    assert len(used.answers) == 150 < len(worse.answers) == 450
    policy, _ = CodingOptions(None).follow(worse, GuaranteeTarget(0.8))
    assert policy.model_in_use(worse) is used
    assert policy.threshold == first.select(GuaranteeTarget(0.8)).limit
    told = triage(worse, GuaranteeTarget(0.8))
    assert (told.selection.threshold, told.earlier) == (None, found)
    assert {t.target: t.n_auto for t in told.targets}[0.8] == found.n_auto


def test_a_refit_that_passes_takes_over(first):
    more, codes = answers(300, 2)
    better = add_answers(first, more, decided(codes))
    used, found = better.in_use(GuaranteeTarget(0.8))
    assert used is better
    assert found.n_answers == 450
    # At all usual targets, so that nothing of the fit before it is kept.
    assert better.fallback is None


def test_a_failed_refit_is_kept_in_its_file_with_what_is_in_use(worse, tmp_path):
    save_coding_model(worse, tmp_path / "model.nldd")
    loaded = load_coding_model(tmp_path / "model.nldd")
    used, found = loaded.in_use(GuaranteeTarget(0.8))
    assert used is loaded.fallback
    assert found == worse.in_use(GuaranteeTarget(0.8))[1]
    new = answers(20, 9)[0]
    np.testing.assert_array_equal(used.code(new).Y, worse.fallback.code(new).Y)
    more, codes = answers(300, 3)
    assert len(add_answers(loaded, more, decided(codes)).earlier) == 2
    save_coding_model(replace(worse, earlier=()), tmp_path / "odd.nldd")
    with pytest.raises(InputError, match="do not fit together"):
        load_coding_model(tmp_path / "odd.nldd")


def test_all_tests_together_have_no_more_than_the_level():
    shares = [level_share(n) for n in range(1000)]
    assert shares[:4] == pytest.approx([0.8, 0.2 / 2, 0.2 / 6, 0.2 / 12])
    assert 0.99 < sum(shares) < 1


@pytest.mark.parametrize("n_refits", [5, 20])
def test_level_is_kept_over_refits_at_the_edge_of_the_target(n_refits):
    """Fits that are all just below the target, tested on answers that pile up."""
    rng = np.random.default_rng(n_refits)
    broken = always = 0
    for _ in range(200):
        right = rng.random((n_refits + 1, 300 + 40 * n_refits)) < 0.795
        doubt = rng.random(right.shape)
        tests = []
        for j in range(n_refits + 1):
            n = 300 + 40 * j
            right[j, : n - 40] = right[j - 1, : n - 40] if j else right[j, : n - 40]
            wrong = (~right[j, :n]).astype(np.intp)
            tests.append(GuaranteeTest(doubt[j, :n], None, wrong, 1, np.zeros(n, dtype=bool)))
        found = select_in_turn(tests, GuaranteeTarget(0.8))
        broken += any(selection.automates for selection in found)
        always += any(test.select(GuaranteeTarget(0.8)).automates for test in tests)
    assert broken <= 20
    assert always > broken
