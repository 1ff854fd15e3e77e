"""Make the synthetic survey that comes with nldd, and longer ones to measure speed with.

Run as a program it writes ``src/nldd/datasets/survey.csv.gz``, with the same text everywhere.
Its question, codes and note are in ``src/nldd/datasets.py``.
"""

import csv
import gzip
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import TypeVar

import survey_phrases as words
from survey_phrases import NOTHING, OVERLAPS, TOPICS, Overlap, Phrases

FILE = Path(__file__).parents[1] / "src" / "nldd" / "embedded" / "survey.csv.gz"
N_ANSWERS = 1500
CODES = (*TOPICS, NOTHING)
HEADER = ("id", "answer", "age", "region", "codes")
REGIONS = ("North", "East", "South", "West", "Centre")
YOUNGEST, OLDEST = 18, 90

# Above 0: older people say it more often; below 0: younger ones.
AGE_TILT = {
    "health care": 0.6,
    "safety": 0.4,
    "cleanliness": 0.3,
    "green spaces": 0.2,
    "cycling": -0.3,
    "things to do": -0.4,
    "housing costs": -0.5,
    "schools and childcare": -0.5,
}
# Where a topic comes up a little more often.
HOME = {
    "public transport": "North",
    "traffic and parking": "Centre",
    "housing costs": "Centre",
    "health care": "North",
    "shops and centre": "East",
    "safety": "West",
    "green spaces": "South",
}
IN_HOME = 0.15

# How often people answer in which way. The rates of this file set how hard the survey is to code.
SHARED, ASIDE, FILLER, FILLER_FIRST = 0.05, 0.15, 0.2, 0.4
WANT_SENTENCE, SECOND_SENTENCE = 0.35, 0.25
KEYWORDS, LIST, CHAT, FORMAL = 0.35, 0.65, 0.68, 0.70  # cumulated; the rest writes sentences
TYPO, LOWER, UPPER, EMOJI, CURLY, FULL_STOP = 0.08, 0.25, 0.03, 0.05, 0.25, 0.55
MISSING_AGE, MISSING_REGION = 0.03, 0.02
# How often those who coded the answers overlooked a topic, or took it for another one.
OVERLOOKED, CONFUSED = 0.02, 0.008

# Answers in a thousand that are about these topics. What is near in meaning comes together.
LABELSETS = """
    60 public transport
    24 cycling
    50 traffic and parking
    70 housing costs
    38 green spaces
    29 cleanliness
    31 safety
    28 schools and childcare
    38 health care
    36 shops and centre
    33 things to do
    43 nothing / don't know
    42 public transport; traffic and parking
    22 public transport; cycling
    13 public transport; health care
    12 public transport; housing costs
    46 cycling; traffic and parking
    12 cycling; green spaces
    20 traffic and parking; shops and centre
    10 traffic and parking; safety
    24 housing costs; schools and childcare
    14 housing costs; health care
    30 green spaces; cleanliness
    20 green spaces; things to do
    28 cleanliness; safety
    10 cleanliness; shops and centre
    26 schools and childcare; health care
    12 schools and childcare; things to do
    31 shops and centre; things to do
    30 public transport; cycling; traffic and parking
    10 public transport; health care; shops and centre
    12 cycling; traffic and parking; green spaces
    16 housing costs; schools and childcare; health care
    14 green spaces; cleanliness; safety
    10 green spaces; schools and childcare; things to do
    9 cleanliness; safety; shops and centre
    9 public transport; housing costs; health care
    8 traffic and parking; shops and centre; things to do
    12 public transport; cycling; traffic and parking; green spaces
    10 public transport; housing costs; schools and childcare; health care
    8 green spaces; cleanliness; shops and centre; things to do
"""

T = TypeVar("T")
Row = tuple[str, ...]
Draw = Callable[[], float]


def survey_rows(n_answers: int, random_state: int = 0) -> Iterator[Row]:
    """Rows of a synthetic survey, one at a time; a shorter survey begins a longer one.

    Another `random_state` gives other answers, the same one the same answers on every machine.
    """
    # Of all that Random offers only random() is promised to stay the same in all versions.
    draw = Random(random_state).random
    for number in range(1, n_answers + 1):
        topics = _shuffled(draw, _pick(draw, _labelsets()))
        yield (
            f"r{number:04d}",
            _answer(draw, topics),
            _age(draw, topics[0]),
            _region(draw, topics[0]),
            ";".join(_coded(draw, topics)),
        )


@cache
def _labelsets() -> tuple[tuple[str, ...], ...]:
    """Each set of topics as often as its number says, to pick from."""
    lines = (line.split(maxsplit=1) for line in LABELSETS.strip().splitlines())
    return tuple(tuple(topics.split("; ")) for times, topics in lines for _ in range(int(times)))


def _pick(draw: Draw, options: Sequence[T]) -> T:
    return options[int(draw() * len(options))]


def _favourite(draw: Draw, options: Sequence[T]) -> T:
    """The first ones are the most popular by far, as words are in any language."""
    luck = draw()
    return options[int(luck * luck * len(options))]


def _say(draw: Draw, phrases: Phrases) -> str:
    return _pick(draw, _favourite(draw, phrases))


def _framed(draw: Draw, frames: Phrases, text: str) -> str:
    return _say(draw, frames).replace("...", text)


def _shuffled(draw: Draw, topics: Iterable[str]) -> list[str]:
    return [topic for _, topic in sorted([(draw(), topic) for topic in topics])]


def _answer(draw: Draw, topics: list[str]) -> str:
    """What somebody writes who has these topics in mind."""
    if topics == [NOTHING]:
        return _typed(draw, _say(draw, words.NON_ANSWERS))
    way = max([draw() for _ in topics])  # the more topics, the more words
    if way < KEYWORDS:
        keywords = [_say(draw, TOPICS[topic].keywords) for topic in topics]
        text = _joined(draw, keywords, words.LIST_JOINTS)
    elif way < LIST:
        text = _framed(draw, words.WANT_FRAMES, _list(draw, topics))
    elif way < CHAT:
        text = _chat(_list(draw, topics))
    elif way < FORMAL:
        text = _framed(draw, words.FORMAL_OPENINGS, _list(draw, topics))
        text = f"{text}. {_say(draw, words.FORMAL_CLOSINGS)}"
    else:
        text = _sentences(draw, topics)
    return _typed(draw, text)


def _joined(draw: Draw, parts: list[str], joints: Sequence[str]) -> str:
    text = parts[0]
    for part in parts[1:]:
        text += _pick(draw, joints) + part
    return text


def _want(draw: Draw, topic: str) -> str:
    shared = draw() < SHARED
    return _say(draw, (_shared(topic) if shared else TOPICS[topic]).wants)


def _complaint(draw: Draw, topic: str) -> str:
    shared = draw() < SHARED
    return _say(draw, (_shared(topic) if shared else TOPICS[topic]).complaints)


@cache
def _shared(topic: str) -> Overlap:
    """All that may be meant for this topic, and for another one as well."""
    found = [overlap for overlap in OVERLAPS if topic in overlap.codes]
    neighbours = tuple(code for overlap in found for code in overlap.codes if code != topic)
    return Overlap(
        neighbours,
        sum((overlap.wants for overlap in found), ()),
        sum((overlap.complaints for overlap in found), ()),
    )


def _list(draw: Draw, topics: list[str]) -> str:
    return _joined(draw, [_want(draw, topic) for topic in topics], words.LIST_JOINTS)


def _chat(text: str) -> str:
    return " ".join(words.CHAT_WORDS.get(word, word) for word in text.split())


def _sentences(draw: Draw, topics: list[str]) -> str:
    parts = [_sentence(draw, topic) for topic in topics]
    if draw() < SECOND_SENTENCE and len(parts) < 3:
        parts.append(_sentence(draw, _pick(draw, topics)))
    if draw() < ASIDE:
        parts[0] = f"{_say(draw, TOPICS[_pick(draw, CODES[:-1])].asides)}, but {parts[0]}"
    text = _joined(draw, parts, words.SENTENCE_JOINTS)
    if len(parts) < 4 and draw() < FILLER:
        filler = _say(draw, words.FILLERS)
        text = f"{filler}. {text}" if draw() < FILLER_FIRST else f"{text}. {filler}"
    return text


def _sentence(draw: Draw, topic: str) -> str:
    if draw() < WANT_SENTENCE:
        return _framed(draw, words.WANT_FRAMES, _want(draw, topic))
    return _framed(draw, words.COMPLAINT_FRAMES, _complaint(draw, topic))


def _typed(draw: Draw, text: str) -> str:
    """The text as it comes from somebody's keyboard."""
    case = draw()
    if case < UPPER:
        text = text.upper()
    elif case < UPPER + LOWER:
        text = text.lower()
    else:
        text = _capitalised(text)
    if draw() < TYPO:
        text = _misspelt(draw, text)
    if draw() < FULL_STOP and " " in text:
        text += "."
    if draw() < EMOJI:
        text += f" {_pick(draw, words.EMOJI)}"
    if draw() < CURLY:
        text = text.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")
    return text


def _capitalised(text: str) -> str:
    return ". ".join([part[:1].upper() + part[1:] for part in text.split(". ")])


def _misspelt(draw: Draw, text: str) -> str:
    """One letter left out, doubled or swapped with the next one; the first one always stays."""
    at = 1 + int(draw() * (len(text) - 1))
    letter, following = text[at : at + 1], text[at + 1 : at + 2]
    if _pick(draw, (True, False)):
        return f"{text[:at]}{following}{letter}{text[at + 2 :]}"
    return f"{text[:at]}{_pick(draw, ('', 2 * letter))}{text[at + 1 :]}"


def _coded(draw: Draw, topics: list[str]) -> list[str]:
    """The codes that somebody gave, in the order of the codebook."""
    codes = set()
    for topic in topics:
        luck = draw()
        if luck < CONFUSED and topic != NOTHING:
            codes.add(_pick(draw, _shared(topic).codes))
        elif luck >= CONFUSED + OVERLOOKED:
            codes.add(topic)
    return [code for code in CODES if code in (codes or topics)]


def _age(draw: Draw, topic: str) -> str:
    if draw() < MISSING_AGE:
        return ""
    tilt = AGE_TILT.get(topic, 0.0)
    place, other = draw(), draw()
    if draw() < abs(tilt):
        place = max(place, other) if tilt > 0 else min(place, other)
    return str(YOUNGEST + int(place * (OLDEST - YOUNGEST + 1)))


def _region(draw: Draw, topic: str) -> str:
    if draw() < MISSING_REGION:
        return ""
    if topic in HOME and draw() < IN_HOME:
        return HOME[topic]
    return _pick(draw, REGIONS)


def survey_file() -> bytes:
    """The packed file with the first `N_ANSWERS` answers."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([HEADER, *survey_rows(N_ANSWERS)])
    return gzip.compress(text.getvalue().encode(), mtime=0)


if __name__ == "__main__":
    FILE.write_bytes(survey_file())
