"""Time of a step with ``compat="4.0"`` ÷ MuJoCo 4.0.0, which runs in an environment of its own (``make later``).

All shared models with contacts that both load, except those with flexes, by ratio, the largest first. Bars: no ratio
above 0.9, a median of 0.6. Arguments of `main` select models by a part of their path:
``python -c "from benchmarks.newest import main; main('hand')"``.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import cardan
from benchmarks.compat import FOLDERS, later_python
from benchmarks.scenes import WIDE, State, set_state
from benchmarks.timing import paired_ratio, save, steps_seconds

SETTLE, MOST_SETTLING = 150, 5.0
"""Steps that a model settles in 4.0.0, and seconds that this may take."""
MOST_STEPS, RUN = 2000, 0.02
"""Steps of a timed run at most, and about how many seconds it takes."""


class Worker:
    """MuJoCo 4.0.0 with one model, in its own process. It starts from `state`, or from where it settles without one."""

    def __init__(self, path: Path, state: State | None = None) -> None:
        command = [later_python(), Path(__file__).parent / "worker.py"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        setup: dict[str, Any] = {"path": str(path), "settle": SETTLE, "seconds": MOST_SETTLING}
        if state:
            setup["state"] = {name: value.tolist() for name, value in vars(state).items()}
        reply = self.ask(setup)
        self.version = reply["version"]
        self.state = State(**{name: np.array(value) for name, value in reply["state"].items()})

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request; returns the reply.

        Raises:
            ValueError: the process ended without an answer.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def seconds(self, steps: int) -> float:
        """Time `steps` steps from the state."""
        return self.ask({"steps": steps})["seconds"]

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def compare(worker: Worker, model: Any) -> dict[str, float] | None:
    """Paired timing of a model from the worker's state; None if nothing touches there."""
    data = cardan.MjData(model)

    def ours(steps: int) -> float:
        set_state(data, worker.state)
        return steps_seconds(cardan, model, data, steps)

    ours(1)
    steps = int(min(MOST_STEPS, RUN / max(ours(3) / 3, 1e-6))) + 1
    contacts = worker.ask({"steps": steps})["ncon"]
    if contacts == 0:
        return None
    row = paired_ratio(lambda: ours(steps), lambda: worker.seconds(steps))
    row["us_per_step"] = 1e6 * row["ours"] / steps
    row["us_per_step_reference"] = 1e6 * row["reference"] / steps
    return row | {"contacts": data.ncon, "contacts_reference": contacts}


def measure(path: Path) -> dict[str, float] | None:
    """Paired timing of one model; None if one of the engines does not load it, or nothing moves or touches."""
    try:
        model = cardan.MjModel.from_xml_path(str(path), compat="4.0")
    except (ValueError, NotImplementedError):
        return None
    if model.nv == 0 or model.nflex:
        return None
    try:
        worker = Worker(path)
    except ValueError:
        return None
    try:
        return compare(worker, model)
    finally:
        worker.close()


def main(chosen: str = "") -> None:
    """Print and save the table; ``chosen`` is a part of the paths of the models."""
    warnings.simplefilter("ignore")
    print("time of a step, compat 4.0 / mujoco 4.0.0 (its own process, one thread)")
    rows: dict[str, dict[str, float]] = {}
    for path in sorted(path for folder in FOLDERS for path in (WIDE / folder).rglob("*.xml")):
        parts = path.relative_to(WIDE).parts
        row = measure(path) if chosen in str(path) else None
        if row:
            rows[f"{parts[1].partition('==')[0]}: {'/'.join(parts[-2:])}"] = row
            print(
                f"  {'/'.join(parts[-2:]):50s} {row['ratio']:.2f}  ({row['ratio_low']:.2f}..{row['ratio_high']:.2f})"
                f"  {row['us_per_step']:.1f} us  contacts {row['contacts']} / {row['contacts_reference']}",
                flush=True,
            )
    rows = dict(sorted(rows.items(), key=lambda row: -row[1]["ratio"]))
    median = statistics.median(row["ratio"] for row in rows.values())
    print(f"  median of {len(rows)}: {median:.2f}, above 0.9: {sum(row['ratio'] > 0.9 for row in rows.values())}")
    if not chosen:
        save("newest", {"median": {"ratio": median}} | rows)


if __name__ == "__main__":
    main()
