"""Timing two things in turn, and summing up what came out."""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PAIRS = 9

Rows = dict[str, dict[str, float]]
"""What was measured of each case, by its name."""


def steps_seconds(engine: Any, model: Any, data: Any, steps: int) -> float:
    """Processor seconds of this thread for `steps` calls of ``mj_step`` from Python.

    The clock of the thread stands still while other processes have the core.
    """
    step = engine.mj_step
    start = time.thread_time()
    for _ in range(steps):
        step(model, data)
    return time.thread_time() - start


def paired_ratio(ours: Callable[[], float], theirs: Callable[[], float], pairs: int = PAIRS) -> dict[str, float]:
    """Run both in turn, `pairs` times, changing who goes first; returns medians and the median of the ratios."""
    rows: list[tuple[float, float]] = []
    for k in range(pairs):
        if k % 2:
            theirs_seconds = theirs()
            ours_seconds = ours()
        else:
            ours_seconds = ours()
            theirs_seconds = theirs()
        rows.append((ours_seconds, theirs_seconds))
    ratios = [a / b for a, b in rows]
    return {
        "ratio": statistics.median(ratios),
        "ratio_low": min(ratios),
        "ratio_high": max(ratios),
        "ours": statistics.median(a for a, _ in rows),
        "reference": statistics.median(b for _, b in rows),
        "pairs": pairs,
    }


def machine() -> str:
    """The processor, as the operating system names it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def save(name: str, rows: dict[str, dict[str, float]]) -> None:
    """Keep the results of one benchmark, with machine and date."""
    RESULTS.mkdir(exist_ok=True)
    content = {"machine": machine(), "date": datetime.now(UTC).date().isoformat(), "rows": rows}
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
