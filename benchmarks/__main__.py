"""Run all benchmarks, or those named: ``python -m benchmarks stepping rollout``.

Most need a wide set of models, arranged like those that the project was developed with, in the folder that
``CARDAN_MODELS`` names (``make bench MODELS=DIR``), else ``../shared/models``. Without them the others run.
"""

from __future__ import annotations

import importlib
import sys

from benchmarks.scenes import MODELS, SUITE, WIDE

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
    "compat",
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
ASKED_FOR = ("gpu", "gpu_day", "derivative_fuzz", "ik")
"""Those that run only when they are named: they need a machine of their own, hours, or models of other packages."""

WITHOUT_MODELS = ("settings", "midphase", "growth", "optimisation", "compiling", "reading", "calls", "ik")
"""Those whose models are made by themselves, or are examples."""


def what_can_run(chosen: list[str]) -> list[str]:
    """Of some benchmarks those whose models are there; says which are left out, and what they need."""
    if MODELS.is_dir() and SUITE.is_dir():
        return chosen
    left_out = [name for name in chosen if name not in WITHOUT_MODELS]
    if left_out:
        print(f"left out: {', '.join(left_out)}.\nThey need the wide set of models, which isn't in {WIDE}:")
        print("give its folder by `make bench MODELS=DIR`, or in CARDAN_MODELS.", flush=True)
    return [name for name in chosen if name in WITHOUT_MODELS]


def main() -> None:
    """Run the benchmarks that the command line names (all if it names none)."""
    chosen = sys.argv[1:] or list(NAMES)
    if {"-h", "--help"} & set(chosen):
        print(f"{__doc__}\n\nThere are: {', '.join(NAMES)}.\nOnly when named: {', '.join(ASKED_FOR)}.")
        return
    unknown = [name for name in chosen if name not in NAMES + ASKED_FOR]
    if unknown:
        sys.exit(f"unknown benchmark {unknown[0]!r}; there are: {', '.join(NAMES + ASKED_FOR)}")
    for name in what_can_run(chosen):
        importlib.import_module(f"benchmarks.{name}").main()


if __name__ == "__main__":
    main()
