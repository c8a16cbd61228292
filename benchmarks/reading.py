"""Longest times to read models: damaged ones, ones of absurd sizes, broken pictures; bar: a second each.

The tests look at what comes out; here is how long it takes, which is no matter for a test on a shared machine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.timing import save

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from compiler.test_textures import BROKEN, test_broken_image
from mjcf.test_fuzz import RICH, damaged, read
from robustness.test_absurd_sizes import ABSURD, test_absurd_sizes_are_refused

CASES = 2000


def longest(calls: Iterable[Callable[[], None]]) -> dict[str, float]:
    """The longest processor time of any of the calls, and their number."""
    seconds = []
    for call in calls:
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return {"longest": max(seconds), "cases": len(seconds)}


def main() -> None:
    """Print and save the table."""
    read(RICH)  # loads libraries and kernels
    texts = [damaged(RICH, seed, 1 + seed % 4) for seed in range(CASES)]
    rows = {
        "damaged models": longest(lambda text=text: read(text) for text in texts),
        "absurd sizes": longest(lambda text=text: test_absurd_sizes_are_refused(text) for text in ABSURD.values()),
        "broken pictures": longest(lambda case=case: test_broken_image(*case) for case in BROKEN),
    }
    print("longest processor time to read a model")
    for name, row in rows.items():
        print(f"  {name:20s} {row['longest']:.2f} s of {row['cases']} cases")
    save("reading", rows)


if __name__ == "__main__":
    main()
