"""Time to load each shared model from its file (kernels and files warm) ÷ the reference's; bar: median 1.5, none > 3.

A row a file, by ratio, the largest first. Times are those of the processor, of all threads.
"""

from __future__ import annotations

import gc
import statistics
import time
import warnings
from pathlib import Path
from typing import Any

import mujoco

import cardan
from benchmarks.loadable import loadable
from benchmarks.timing import paired_ratio, save

QUICK = 0.05
"""Seconds below which a model is loaded more often."""


def seconds(engine: Any, path: Path) -> float:
    """Processor seconds of one load."""
    gc.collect()
    start = time.process_time()
    engine.MjModel.from_xml_path(str(path))
    return time.process_time() - start


def main() -> None:
    """Print and save the table."""
    warnings.simplefilter("ignore")
    print("time to load a model / reference")
    rows = {}
    for name, path in loadable().items():
        first = seconds(cardan, path)
        pairs = 5 if first < QUICK else 3
        rows[name] = paired_ratio(lambda p=path: seconds(cardan, p), lambda p=path: seconds(mujoco, p), pairs)
        print(f"  {name:60s} {rows[name]['ratio']:5.2f}  {1e3 * rows[name]['ours']:8.1f} ms")
    rows = dict(sorted(rows.items(), key=lambda row: -row[1]["ratio"]))
    ratios = [row["ratio"] for row in rows.values()]
    median = statistics.median(ratios)
    above = sum(ratio > 3.0 for ratio in ratios)
    print(f"  median {median:.2f}, largest {max(ratios):.2f}, above 3: {above} of {len(ratios)}")
    save("loading", {"median": {"ratio": median}} | rows)


if __name__ == "__main__":
    main()
