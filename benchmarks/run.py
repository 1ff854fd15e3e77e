"""All benchmarks, one program after the other, and then the page: what ``make bench`` does.

A round that was interrupted goes on with the first program that had not ended; ``--again`` starts a
new one. Programs named on the command line are run whether or not they have ended before.
"""

import argparse
import json
import subprocess
import sys
import time

from measure import HERE, RESULTS

PROGRAMS = (
    "start", "one_row", "excel", "search", "fit", "decisions", "lanes", "busy", "growth", "memory",
    "pairs", "scaling", "methods", "systems", "coding", "coding_fit", "million", "dask_fit",
    "review_page", "review_browser",
)  # fmt: skip
# Programs of this round that have ended, and how many seconds each took; gone when all have.
ROUND = RESULTS / ".round.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", help=f"of {', '.join(PROGRAMS)}; all by default")
    parser.add_argument("--again", action="store_true", help="forget an interrupted round")
    arguments = parser.parse_args()
    if unknown := set(arguments.programs) - set(PROGRAMS):
        parser.error(f"no such program: {', '.join(sorted(unknown))}")
    if arguments.programs:
        for name in arguments.programs:
            measure(name)
    else:
        whole_round(again=arguments.again)
    subprocess.run([sys.executable, HERE / "page.py"], check=True)


def whole_round(again: bool) -> None:
    ended = {} if again or not ROUND.exists() else json.loads(ROUND.read_text())
    for name in PROGRAMS:
        if name in ended:
            print(f"{name}: measured before this round was interrupted", flush=True)
            continue
        ended[name] = measure(name)
        ROUND.write_text(json.dumps(ended))
    ROUND.unlink()
    print(f"all programs: {sum(ended.values()) / 60:.1f} minutes", flush=True)


def measure(name: str) -> float:
    """Run one program; it prints and writes its answers as they come."""
    print(f"{name} ...", flush=True)
    start = time.perf_counter()
    subprocess.run([sys.executable, HERE / f"{name}.py"], check=True)
    taken = time.perf_counter() - start
    print(f"{name}: {taken:.0f} s\n", flush=True)
    return taken


if __name__ == "__main__":
    main()
