"""Run all benchmarks, or those named: ``python -m benchmarks stepping rollout``."""

from __future__ import annotations

import importlib
import sys

NAMES = (
    "accuracy",
    "single_precision",
    "parity",
    "soft_parity",
    "long_runs",
    "derivative_accuracy",
    "stepping",
    "every_model",
    "newest",
    "settings",
    "soft",
    "collision",
    "midphase",
    "growth",
    "derivatives",
    "optimisation",
    "rollout",
    "batch",
    "cluster",
    "startup",
    "first_steps",
    "compiling",
    "loading",
    "reading",
    "memory",
    "calls",
    "unconverged",
    "gpu_code",
    "visual",
    "render",
    "pictures",
    "view",
)
ASKED_FOR = ("gpu", "derivative_fuzz")
"""Those that run only when they are named: one needs a machine of its own, the other hours."""


def main() -> None:
    """Run the benchmarks that the command line names (all if it names none)."""
    chosen = sys.argv[1:] or NAMES
    if {"-h", "--help"} & set(chosen):
        print(f"{__doc__}\n\nThere are: {', '.join(NAMES)}.\nOnly when named: {', '.join(ASKED_FOR)}.")
        return
    unknown = [name for name in chosen if name not in NAMES + ASKED_FOR]
    if unknown:
        sys.exit(f"unknown benchmark {unknown[0]!r}; there are: {', '.join(NAMES + ASKED_FOR)}")
    for name in chosen:
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
