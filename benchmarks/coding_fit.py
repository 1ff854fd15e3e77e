"""``nldd fit`` of 20,000 and 43,000 short answers with 28 codes: processor time, bytes, memory.

Answers of 5 to 25 made-up words, which are as frequent as words are (Zipf's law) and sometimes
misspelt; each code has words of its own, and a few answers are coded by mistake.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from itertools import accumulate, product
from pathlib import Path
from random import Random

from measure import Answers

# By rows: processor time, size of the file, peak memory.
BARS = {20_000: ("<= 120 s", "<= 40 MB", ""), 43_000: ("<= 360 s", "", "<= 1.5 GB")}
N_WORDS, N_CODES, WORDS_OF_A_CODE = 30_000, 28, 120
OF_THE_CODE, TYPO, MISTAKE = 0.2, 0.02, 0.06
SECOND_CODE, THIRD_CODE = 0.17, 0.03
ONSETS = " b c d f g h l m n p r s t w st th tr pl ch gr sh k br"
VOWELS = "a e i o u ea ou ai io ee"
CODAS = "  n r s t l d ng st ck m nd"


def zipf(n: int, shift: float, power: float) -> list[float]:
    """Cumulated weights of ranks."""
    return list(accumulate(1 / (rank + shift) ** power for rank in range(n)))


def vocabulary(rng: Random) -> list[str]:
    """Distinct words of one to four syllables, the frequent ones mostly short."""
    parts = (letters.split(" ") for letters in (ONSETS, VOWELS, CODAS))
    syllables = sorted(set(map("".join, product(*parts))))
    rng.shuffle(syllables)
    weights = zipf(len(syllables), 3, 0.8)
    words: set[str] = set()
    while len(words) < N_WORDS:
        size = rng.choices((1, 2, 3, 4), (3, 5, 2.5, 1))[0]
        words.add("".join(rng.choices(syllables, cum_weights=weights, k=size)))
    return sorted(sorted(words), key=lambda word: len(word) + rng.gauss(0, 2.5))


def misspelt(word: str, rng: Random) -> str:
    """A letter left out, doubled, or swapped with the next one."""
    at = rng.randrange(1, max(2, len(word) - 1))
    start, letter, end = word[:at], word[at : at + 1], word[at + 1 :]
    return rng.choice((start + end, start + 2 * letter + end, start + end[:1] + letter + end[1:]))


def answers(n_rows: int, seed: int = 0):
    """Rows of an id, an answer and its codes."""
    rng = Random(seed)
    words, codes = vocabulary(rng), [f"code {number:02d}" for number in range(N_CODES)]
    own = {code: rng.sample(words[150 : N_WORDS // 2], WORDS_OF_A_CODE) for code in codes}
    of_words, of_own, of_codes = (
        zipf(*shape)
        for shape in ((N_WORDS, 2.7, 1.05), (WORDS_OF_A_CODE, 1.5, 1.0), (N_CODES, 1, 0.8))
    )
    for number in range(1, n_rows + 1):
        n_codes = 1 + (rng.random() < SECOND_CODE) + (rng.random() < THIRD_CODE)
        given = sorted(set(rng.choices(codes, cum_weights=of_codes, k=n_codes)))
        said = []
        for _ in range(rng.randint(5, 25)):
            mine = rng.random() < OF_THE_CODE
            source, weights = (own[rng.choice(given)], of_own) if mine else (words, of_words)
            word = rng.choices(source, cum_weights=weights)[0]
            said.append(misspelt(word, rng) if rng.random() < TYPO else word)
        if rng.random() < MISTAKE:
            given = rng.choices(codes, cum_weights=of_codes)
        yield number, " ".join(said), ";".join(given)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[*BARS])
    sizes = parser.parse_args().rows
    figures = Answers("coding_fit" if sizes == [*BARS] else "coding_fit-trial")
    for n_rows in sizes:
        measure(n_rows, figures)


def measure(n_rows: int, figures: Answers) -> None:
    program = [sys.executable, "-c", "import sys; from nldd.cli import main; main(sys.argv[1:])"]
    with tempfile.TemporaryDirectory() as name:
        table, model = Path(name, "answers.csv"), Path(name, "model.nldd")
        with table.open("w", newline="") as stream:
            csv.writer(stream).writerows([("id", "answer", "codes"), *answers(n_rows)])
        words = ["fit", table, "--text", "answer", "--labels", "codes", "--jobs", "1", "-o", model]
        # Waited for by its own id: the figures are those of this process alone.
        process = subprocess.Popen([*program, *words])
        _, status, used = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"nldd fit ended with status {status}")
        size = model.stat().st_size
    rows, bars = f"{n_rows:,} answers, {N_CODES} codes", BARS.get(n_rows, ("", "", ""))
    seconds = used.ru_utime + used.ru_stime
    figures.add(f"{rows}, nldd fit, processor time", f"{seconds:.0f} s", bars[0])
    figures.add(f"{rows}, size of the model file", f"{size / 1e6:.0f} MB", bars[1])
    figures.add(f"{rows}, peak memory of nldd fit", f"{used.ru_maxrss / 2**20:.2f} GB", bars[2])


if __name__ == "__main__":
    main()
