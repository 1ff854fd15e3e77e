"""Predicted labelsets with their evidence, the chance that all is right, and reasons for review.

The posterior says how probable a labelset is, by four sources; a logistic regression learns from
right and wrong predictions how far that can be trusted. Its clues: the posterior, how far ahead of
the next labelset it is, how probable each label is, how often the labelset was seen. It starts from
the posterior, whose weight is next to free, and the fewer answers there are to learn from, the
nearer it stays to the posterior's order.

An answer that is left to people gets the reason that helps most, with the codes that it is about.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from nldd._wording import quote
from nldd.coding.answers import BoolArray, Entries, FloatArray, LabelArray, RowArray
from nldd.coding.guarantee import right_shares
from nldd.coding.wording import join_names
from nldd.exceptions import InputError
from nldd.linear._logistic import MultiLabelLogisticRegression
from nldd.present.text import percent
from nldd.search._index import find_labelsets

if TYPE_CHECKING:
    from nldd.coding.model import CodingModel

Mask = NDArray[Any]  # of the codes

# Passes so many steps through, with a progress bar of that title or whatever else.
Watch = Callable[[Iterable[Any], int, str], Iterable[Any]]
# Where codes are settled one by one, see `_per_code`, no single number says how right an answer is.
PER_CODE = "per-code"
# Of answers for which there was no second labelset to choose from: nothing speaks for them.
NO_EVIDENCE = 1 - np.finfo(np.float64).eps
# The probability of a label, where there is nothing to tell it by.
UNKNOWN = 0.5
N_CLUES = 13
# Standardised clues have weights of about the root of it; chosen on splits of four data sets.
C = 0.02
# So many times the others' deviation is granted to the posterior's weight before it is shrunk.
FREEDOM = 3.0
# Right answers, and wrong ones, that a regression takes.
FEWEST = 5
# Probabilities nearer to 0 and 1 than that tell no more.
NEAREST = 1e-6

# What is counted; the words of an answer name its codes.
EMPTY = "the answer is empty"
DRAWN_BLIND = "drawn at random, to be coded without a suggestion"
PART = "some codes are sure, others are to be decided"
FAR = "unlike any coded answer"
CONFLICT = "codes that are likely one by one, but were never given together"
# No cell begins with a quotation mark: a spreadsheet may swallow it.
UNSEEN = "likely, but never given together"
RARE = "a code, or a combination, that was seen too rarely"
CLOSE = "two combinations of codes are about as likely"
NO_CODE = "no code is likely"
FURTHER = "a further code may apply"
NEARLY = "likely right, but not sure enough for the target"
UNSURE = "a code is not sure enough"

# Farther from its nearest than this share of the coded answers from theirs, an answer is strange.
FAR_SHARE = 0.95
# Of fewer answers than that nobody learns when a code applies.
FEW_ANSWERS = 10
# Odds up to which one of two is about as likely as the other.
ABOUT_AS_LIKELY = 2.0
# Below that, a code is no candidate, whatever the others are.
UNLIKELY = 0.1
# From that on, for each code that applies or does not, an answer is more than likely right.
LIKELY = 0.85
MOST_NAMED = 4


def no_progress(steps: Iterable[Any], total: int, title: str) -> Iterable[Any]:
    """The steps, and nobody looks on."""
    return steps


@dataclass(frozen=True, eq=False)
class Predictions(Entries):
    """Predicted labelsets and the evidence for each.

    All arrays have one entry an answer; an index takes some of them.

    Attributes
    ----------
    Y : ndarray of int8 of shape (n_answers, n_labels)
        The labelsets as 0 and 1.
    theta : ndarray of shape (n_answers,)
        Expected error rate per label.
    probability : ndarray of shape (n_answers,)
        Probability that the labelset is exactly right, by the posterior.
    row : ndarray of int of shape (n_answers,)
        The nearest coded answer with this labelset.
    Dx : ndarray of shape (n_answers,)
        Its distance in features.
    P : ndarray of float32 of shape (n_answers, n_labels)
        Probabilities label by label.
    chance : ndarray of shape (n_answers,) or None
        Probability that all labels are right.
    clues : ndarray of shape (n_answers, n_clues) or None
        What the chance is found from, as long as it is not.
    ahead : ndarray of shape (n_answers, 4) or None
        What distance, probabilities, frequency and size add to its log-odds against the next best.
    others : ndarray of int8 of shape (n_answers, n_others, n_labels) or None
        The next most probable labelsets.
    others_row : ndarray of int of shape (n_answers, n_others) or None
        The nearest coded answers with these.
    others_probability : ndarray of shape (n_answers, n_others) or None
        Probability that each of these is exactly right.

    Examples
    --------
    >>> from nldd.coding import Answers, Settings, fit_coding_model
    >>> from nldd import load_survey
    >>> topics = {"cycling", "housing costs", "safety"}
    >>> rows = [row for row in load_survey().rows if topics.issuperset(row[4].split(";"))][:100]
    >>> answers = Answers([row[1] for row in rows])
    >>> codes = [set(row[4].split(";")) for row in rows]
    >>> model = fit_coding_model(answers, codes, settings=Settings(n_folds=2))
    >>> found = model.code(Answers(["cheaper rents", "safe cycle paths"]))
    >>> found.Y.tolist()
    [[0, 1, 0], [1, 0, 0]]
    >>> answers.texts[found.row[0]]
    'Cheaper rents'
    """

    Y: LabelArray
    theta: FloatArray
    probability: FloatArray
    row: RowArray
    Dx: FloatArray
    P: NDArray[np.float32]
    chance: FloatArray | None = None
    clues: FloatArray | None = None
    ahead: FloatArray | None = None
    others: LabelArray | None = None
    others_row: RowArray | None = None
    others_probability: FloatArray | None = None

    def doubt(self, rank_by: str) -> FloatArray:
        """What answers are ranked by, from 0 to 1; the surest have the least."""
        if rank_by == "theta":
            return self.theta
        if self.chance is None:
            message = "These predictions have no chance of being right, so theta must rank them."
            raise InputError(message, hint="--rank-by theta, or fit the model again")
        return 1 - self.chance

    def n_wrong(self, Y: LabelArray) -> RowArray:
        """Labels of each answer that are wrong; those beyond the known ones are not predicted."""
        n_known = self.Y.shape[1]
        return np.asarray((Y[:, :n_known] != self.Y).sum(axis=1) + Y[:, n_known:].sum(axis=1))

    def right(self, Y: LabelArray, measure: str = "subset") -> FloatArray:
        """How right each prediction is: 0 or 1 for the whole labelset, or its share of labels."""
        return right_shares(self.n_wrong(Y), Y.shape[1], measure)


def predict(classifier: Any, X: Any, k: int = 2) -> Predictions:
    """The most probable of the `k` most probable labelsets of each row, and the others."""
    best = classifier.labelset_posterior(X, k=min(k, len(classifier.labelsets_)))
    labelsets, ahead = best.labelsets.astype(np.int8), [z[:, 0] - z[:, 1] for z in best.parts]
    clues = confidence_clues(best, np.sum(ahead, axis=0), times_seen(classifier, labelsets[:, 0]))
    theta, probability, row, Dx = best.theta[:, 0], best.probability[:, 0], best.row, best.Dx[:, 0]
    first, others = (theta, probability, row[:, 0], Dx), (row[:, 1:], best.probability[:, 1:])
    said = (best.P.astype(np.float32), None, clues, np.column_stack(ahead), labelsets[:, 1:])
    return Predictions(labelsets[:, 0], *first, *said, *others)


def times_seen(classifier: Any, Y: LabelArray) -> FloatArray:
    """How many training rows carry each of these labelsets."""
    times = classifier.index_.counts[find_labelsets(classifier.labelsets_, Y)]
    return np.asarray(times, dtype=np.float64)


def log_odds(probability: Any) -> FloatArray:
    """Log-odds that stay finite at 0 and 1."""
    return np.asarray(logit(np.clip(probability, NEAREST, 1 - NEAREST)), dtype=np.float64)


def confidence_clues(best: Any, ahead: FloatArray, times: FloatArray) -> FloatArray:
    """What speaks for the most probable labelset, or against it as the first clue does.

    `best` has the two most probable labelsets of each answer and its probabilities label by label,
    `ahead` is the log-odds of the first against the second, and `times` how often it was seen.
    """
    P = np.clip(best.P, NEAREST, 1 - NEAREST)
    first, second = (best.labelsets[:, rank].astype(bool) for rank in (0, 1))
    likely, next_likely, most_likely = (_log_likelihood(P, Y) for Y in (first, second, P > 0.5))
    largest = np.sort(np.pad(P, ((0, 0), (1, 0))), axis=1)
    weakest = np.where(first, P, 1.0).min(axis=1)  # of the codes that are on
    strongest = np.where(first, 0.0, P).max(axis=1)  # and of those that are off
    likelihoods = (likely, likely - next_likely, most_likely - likely)
    sizes = (first.sum(axis=1), np.log(times), best.Dx[:, 0])
    codes = (largest[:, -1], largest[:, -2], P.sum(axis=1), weakest, strongest)
    wrong = -log_odds(best.probability[:, 0])
    return np.column_stack([wrong, ahead, *likelihoods, *sizes, *codes]).astype(np.float64)


def _log_likelihood(P: FloatArray, Y: BoolArray) -> FloatArray:
    return np.asarray(np.log(np.where(Y, P, 1 - P)).sum(axis=1))


@dataclass(frozen=True, eq=False)
class ConfidenceRegression:
    """Log-odds of "all codes right": an intercept and a weight for each clue and each code.

    Codes count by how doubtful the posterior is: some are harder than others, but where all speaks
    for an answer, even hard codes are right. `centre` and `scale` are those of the first clue.
    """

    intercept: float
    weights: FloatArray
    centre: float
    scale: float

    @classmethod
    def fit(cls, clues: FloatArray, Y: LabelArray, right: FloatArray) -> Self | None:
        """Learn from predicted labelsets `Y` that were right or not; from too few, nothing."""
        n_right = np.count_nonzero(right)
        if min(n_right, len(right) - n_right) < FEWEST:
            return None
        centre, scale = float(clues[:, 0].mean()), float(clues[:, 0].std()) or 1.0
        X = _columns(clues, Y, centre, scale)
        means, deviations = X.mean(axis=0), X.std(axis=0)
        deviations[deviations < NEAREST] = np.inf  # a constant says nothing
        deviations[0] /= FREEDOM
        model = MultiLabelLogisticRegression(C=C).fit((X - means) / deviations, right.astype(int))
        weights = model.coef_[0] / deviations
        return cls(float(model.intercept_[0] - weights @ means), weights, centre, scale)

    def chance(self, clues: FloatArray, Y: LabelArray) -> FloatArray:
        """How probable it is that all codes of each answer are right."""
        X = _columns(clues, Y, self.centre, self.scale)
        return np.asarray(expit(self.intercept + X @ self.weights))


def _columns(clues: FloatArray, Y: LabelArray, centre: float, scale: float) -> FloatArray:
    return np.hstack([clues, Y * expit((clues[:, :1] - centre) / scale)])


class Reason(NamedTuple):
    """What kind of reason it is, and what a person reads."""

    kind: str
    words: str


class Reasons:
    """Finds the reasons by what a model has seen.

    The first that applies is told: what is wrong with the answer itself comes before what is
    lacking among the coded ones, and that before a choice which a person can make at a glance.
    """

    def __init__(self, model: "CodingModel") -> None:
        self.model = model
        self.n_given = model.Y.sum(axis=0)
        self.seen = {labelset.tobytes() for labelset in model.classifier.labelsets_.astype(bool)}
        self.far = float(np.quantile(model.evidence.Dx, FAR_SHARE))
        self.n_words = len(model.features.words.terms) if model.columns.text else 0

    def find(self, found: Predictions, X: Any, rows: RowArray) -> list[Reason]:
        """The reason for each of some rows, of which `X` are the features."""
        known_words = np.diff(X[rows][:, : self.n_words].indptr) if self.n_words else None
        some = found[rows]
        assert some.others is not None
        assert some.ahead is not None
        times = times_seen(self.model.classifier, some.Y)
        reasons, is_close = [], some.ahead.sum(axis=1) <= np.log(ABOUT_AS_LIKELY)
        for i, n_times in enumerate(times):
            Y, other, P = some.Y[i].astype(bool), some.others[i, 0].astype(bool), some.P[i]
            if known_words is not None and not known_words[i]:
                reasons.append(Reason(FAR, f"{FAR}: none of its words is in one"))
            elif some.Dx[i] > self.far:
                reasons.append(Reason(FAR, f"{FAR}: the nearest is far away"))
            else:
                reasons.append(
                    next(self._candidates(Y, other if is_close[i] else None, P, n_times))
                )
        return reasons

    def _candidates(self, Y: Mask, rival: Mask | None, P: Mask, n_times: float) -> Iterator[Reason]:
        """Reasons in the order of their use, down to one that always applies.

        The `rival` is the next best labelset, if that is about as likely.
        """
        likely = P > 0.5
        if likely.sum() > 1 and likely.tobytes() not in self.seen:
            yield Reason(CONFLICT, f"{UNSEEN}: {self._names(likely)}")
        yield from self._rare(Y, n_times)
        none = Reason(NO_CODE, f"{NO_CODE}: {self._with_chance(int(P.argmax()), P)} comes first")
        if P.max() < UNLIKELY:
            yield none
        if rival is not None:
            yield Reason(CLOSE, self._either(Y, rival))
        if not likely.any():
            yield none
        off, on = np.where(Y, 0.0, P), np.where(Y, P, 1.0)
        weakest, strongest = int(on.argmin()), int(off.argmax())
        if min(on[weakest], 1 - off[strongest]) >= LIKELY:
            yield Reason(NEARLY, NEARLY)
        if Y.any() and 1 - on[weakest] >= off[strongest]:
            yield Reason(UNSURE, f"not sure enough of {self._with_chance(weakest, P)}")
        yield Reason(FURTHER, f"perhaps {self._with_chance(strongest, P)} too")

    def _rare(self, Y: Mask, n_times: float) -> Iterator[Reason]:
        rare = Y & (self.n_given < FEW_ANSWERS)
        if rare.any():
            code = int(np.where(rare, self.n_given, np.inf).argmin())
            n = int(self.n_given[code])
            often = f"given {'only once' if n == 1 else f'only {n} times'}" if n else "never given"
            yield Reason(RARE, f"too rare: {self._name(code)} was {often}")
        elif Y.sum() > 1 and n_times == 1:
            yield Reason(RARE, f"too rare: {self._names(Y)} were given together only once")

    def _either(self, Y: Mask, other: Mask) -> str:
        ours, theirs = Y & ~other, other & ~Y
        if ours.any() and theirs.any():
            return f"either {self._names(ours)} or {self._names(theirs)}: about as likely"
        return f"with {self._names(ours | theirs)} or without: about as likely"

    def _names(self, Y: Mask) -> str:
        names = [self._name(int(code)) for code in np.flatnonzero(Y)]
        if len(names) > MOST_NAMED:
            names = [*names[: MOST_NAMED - 1], f"{len(names) - MOST_NAMED + 1} more"]
        return join_names(names)

    def _name(self, code: int) -> str:
        return quote(self.model.shown[code])

    def _with_chance(self, code: int, P: Mask) -> str:
        return f"{self._name(code)} ({percent(float(P[code]))} likely)"
