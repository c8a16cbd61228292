"""Run all benchmarks, or those named: ``python -m benchmarks stepping rollout``."""

from __future__ import annotations

import importlib
import sys

NAMES = (
    "accuracy",
    "parity",
    "soft_parity",
    "long_runs",
    "stepping",
    "settings",
    "soft",
    "growth",
    "derivatives",
    "optimisation",
)
NAMES += ("newest", "every_model", "collision", "rollout", "batch", "cluster", "first_steps")
NAMES += (
    "compiling",
    "loading",
    "startup",
    "first_steps",
    "memory",
    "midphase",
    "reading",
    "unconverged",
    "calls",
    "gpu_code",
    "render",
    "pictures",
)
ASKED_FOR = ("gpu",)
"""Those that run only when they are named: they need a machine of their own."""


def main() -> None:
    """Run the benchmarks that the command line names (all if it names none)."""
    chosen = sys.argv[1:] or NAMES
    unknown = [name for name in chosen if name not in NAMES + ASKED_FOR]
    if unknown:
        sys.exit(f"unknown benchmark {unknown[0]!r}; there are: {', '.join(NAMES + ASKED_FOR)}")
    for name in chosen:
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
