"""Short survey answers in several languages, for the detection of encodings."""

import json
import random
from pathlib import Path

FILE = Path(__file__).parent / "files" / "foreign_answers.json"
ANSWERS = json.loads(FILE.read_text(encoding="utf-8"))


def answers(language, n=100, seed=0):
    """Answers of `n` people: short sentences, often the same ones."""
    rng = random.Random(f"{language} {seed}")
    return [rng.choice(ANSWERS[language]) for _ in range(n)]


def table_text(language, n=100, seed=0):
    """A table of the answers between numbers, separated by semicolons."""
    lines = [f"{k};{answer};{k % 70 + 18}\n" for k, answer in enumerate(answers(language, n, seed))]
    return "id;answer;age\n" + "".join(lines)
