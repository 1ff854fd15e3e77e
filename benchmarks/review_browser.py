"""The review page in Chromium with 100,000 answers: from the key to the next answer on screen."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from measure import HERE, Answers

from browser import launched
from coding.review.made_review import make_review
from nldd.coding.review import __file__

N, N_KEYS, PAUSE_MS = 100_000, 300, 60
CODES = {"5 codes": None, "300 codes": tuple(f"code {i}" for i in range(300))}
# From the press, as the browser saw it, until the frame with the next answer has been painted.
WATCH = """() => {
  window.taken = []
  addEventListener('keydown', (event) => {
    const before = document.querySelector('#answer-title').textContent
    const pressed = event.timeStamp
    const look = () => requestAnimationFrame(() => {
      if (document.querySelector('#answer-title').textContent === before) return look()
      const { port1, port2 } = new MessageChannel()
      port1.onmessage = () => window.taken.push(performance.now() - pressed)
      port2.postMessage(0)
    })
    look()
  }, { capture: true })
}"""


def milliseconds(page: Any) -> list[float]:
    """Times of so many presses of Enter, one after the other."""
    page.wait_for_selector("#answer-title")
    page.evaluate(WATCH)
    for done in range(N_KEYS):
        page.keyboard.press("Enter")
        page.wait_for_timeout(PAUSE_MS)
        while page.evaluate("window.taken.length") <= done:
            page.wait_for_timeout(PAUSE_MS)
    return page.evaluate("window.taken")


def served(path: Path) -> subprocess.Popen[str]:
    """The server in a process of its own; the first line that it prints is its address."""
    command = [sys.executable, "-m", "coding.review.serve_made", "--store", str(path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=HERE.parent / "tests")


def main() -> None:
    answers = Answers("review_browser")
    files = (Path(str(__file__)).parent / "page").iterdir()
    size = sum(file.stat().st_size for file in files if file.suffix != ".ts")
    answers.add("review page, all files, not compressed", f"{size / 1000:.0f} kB", "<= 150 kB")
    for name, codes in CODES.items():
        with tempfile.TemporaryDirectory() as folder, launched() as browser:
            path = Path(folder) / "new.review.db"
            make_review(path, N, **({"codes": codes} if codes else {}))
            server = served(path)
            assert server.stdout is not None
            try:
                page = browser.new_page(viewport={"width": 1280, "height": 800})
                page.goto(server.stdout.readline().strip())
                taken = milliseconds(page)
            finally:
                server.terminate()
                server.wait()
        what = f"review page, key to next answer painted, {N:,} answers, {name}"
        answers.add(f"{what}: median", f"{np.percentile(taken, 50):.0f} ms")
        answers.add(f"{what}: 95th percentile", f"{np.percentile(taken, 95):.0f} ms", "<= 50 ms")


if __name__ == "__main__":
    main()
