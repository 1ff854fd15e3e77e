"""The review page with 100,000 answers: how soon it starts, and how soon it answers.

The store is made up, with suggestions for all answers; the server runs as ``nldd review`` does, in
a process of its own. Times are over HTTP on loopback, without a browser: what a decision takes
until it is on the disk, and the next ten answers with all that the page shows of them.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import Answers, seconds

from coding.review.made_review import make_review
from coding.review.serve_made import Client

N_DECISIONS = 500
# Seconds in which a person reads the first answer, and the server loads its statistics.
FIRST_ANSWER = 10


def make_study(folder: Path, n_rows: int) -> None:
    """A table, a file in place of its model, and the store that ``nldd review`` goes on with."""
    for name in ("new.csv", "model.nldd"):
        (folder / name).write_bytes(name.encode())  # its checksum is what the store has
    make_review(folder / "new.review.db", n_rows, n_drawn=200, share=0.6)


def start(folder: Path) -> tuple[subprocess.Popen[str], Client]:
    """``nldd review`` on a prepared store, up to its first answer to the page."""
    command = [sys.executable, "-c", "from nldd.cli import main; main()", "review"]
    command += [str(folder / "model.nldd"), str(folder / "new.csv"), "--no-browser", "--every", "0"]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, text=True, **streams)
    assert process.stderr is not None
    address = next(found for line in process.stderr if (found := re.search(r"http\S+", line)))
    client = Client(address[0])
    client.get("/api/study")
    client.get("/api/next?order=alike&n=10")
    return process, client


def decide(client: Client, number: int) -> tuple[float, float]:
    """Seconds of a decision, and of the next answers behind it."""
    view = client.get("/api/next?order=alike&n=1")["items"][0]
    sent = {"uid": f"b{number}", "item": view["item"], "seen": view["seen"], "action": "code"}
    sent |= {"codes": ["pay"], "round": 0, "seconds": 3.0}
    status: list[int] = []
    taken = seconds(lambda: status.append(client.send("/api/decide", sent)[0]))
    assert status == [200]
    behind = f"/api/next?order=alike&after={view['item']}&n=10"
    return taken, seconds(lambda: client.get(behind))


def said(times: list[float], share: float) -> str:
    """A quantile in milliseconds."""
    return f"{1000 * sorted(times)[int(share * len(times))]:.1f} ms"


def commits(folder: Path, n: int) -> list[float]:
    """The peer of a decision: one page written and on the disk, and nothing else."""
    with (folder / "plain").open("wb", buffering=0) as stream:

        def write() -> None:
            stream.write(bytes(4096))
            os.fsync(stream.fileno())

        return [seconds(write) for _ in range(n)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    n_rows = parser.parse_args().rows
    answers = Answers("review_page" if n_rows == 100_000 else "review-trial")
    rows = f"{n_rows:,} answers"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_study(folder, n_rows)
        starts = []
        for _ in range(3):
            begin = time.perf_counter()
            process, client = start(folder)
            starts.append(time.perf_counter() - begin)
            if len(starts) < 3:
                stop(process, client)
        answers.add(f"{rows}, start of nldd review", f"{sorted(starts)[1]:.2f} s", "<= 3 s")
        time.sleep(FIRST_ANSWER)
        times = [decide(client, number) for number in range(N_DECISIONS)]
        decided, behind = (list(column) for column in zip(*times, strict=True))
        peer = commits(folder, N_DECISIONS)
        searched = [seconds(lambda: client.get("/api/list?state=all&search=canteen"))]
        stop(process, client)
    remark = f"a bare write and fsync: {said(peer, 0.5)}, {said(peer, 0.95)}"
    answers.add(f"{rows}, a decision on the disk, p50", said(decided, 0.5), "", remark)
    answers.add(f"{rows}, a decision on the disk, p95", said(decided, 0.95), "<= 50 ms")
    answers.add(f"{rows}, the next ten answers, p50", said(behind, 0.5))
    answers.add(f"{rows}, the next ten answers, p95", said(behind, 0.95), "<= 50 ms")
    answers.add(f"{rows}, all of them searched for a word", said(searched, 0.5))


def stop(process: subprocess.Popen[str], client: Client) -> None:
    """End the server as a person does."""
    client.close()
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    process.stderr.read()
    process.stderr.close()
    assert process.wait() == 0


if __name__ == "__main__":
    main()
