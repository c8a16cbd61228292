"""Time of a step ÷ the newest release of the reference engine, which runs in an environment of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path

import mujoco

import cardan
from benchmarks.scenes import SCENES, Scene, State, set_state, settled_state
from benchmarks.timing import paired_ratio, save, steps_seconds

ENVIRONMENT = Path(__file__).resolve().parents[1] / "build" / "newest"


def environment_python() -> Path:
    """Python of an environment with the newest engine; made on first use."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        print("installing the newest reference engine ...", file=sys.stderr)
        venv.create(ENVIRONMENT, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "mujoco"], check=True)
    return python


class Worker:
    """The other engine, in its own process."""

    def __init__(self, scene: Scene, state: State) -> None:
        command = [environment_python(), Path(__file__).parent / "worker.py"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        setup = {name: value.tolist() for name, value in vars(state).items()}
        self.version = self._ask({"path": str(scene.path), **setup})["version"]

    def _ask(self, request: dict) -> dict:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def seconds(self, steps: int) -> float:
        """Time `steps` steps from the state."""
        return self._ask({"steps": steps})["seconds"]

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def measure(scene: Scene) -> dict[str, float]:
    """Paired timing of one scene."""
    reference_model = mujoco.MjModel.from_xml_path(str(scene.path))
    state = settled_state(mujoco, reference_model, scene)
    model = cardan.MjModel.from_xml_path(str(scene.path))
    data = cardan.MjData(model)
    worker = Worker(scene, state)

    def ours() -> float:
        set_state(data, state)
        return steps_seconds(cardan, model, data, scene.steps)

    ours()
    worker.seconds(scene.steps)
    result = paired_ratio(ours, lambda: worker.seconds(scene.steps))
    result["version"] = worker.version
    worker.close()
    return result


def main() -> None:
    """Print and save the table."""
    print("time of a step / newest reference (its own process, one thread)")
    rows = {}
    for scene in SCENES:
        row = rows[scene.name] = measure(scene)
        low, high = row["ratio_low"], row["ratio_high"]
        print(
            f"  {scene.name:16s} {row['ratio']:.2f}  ({low:.2f}..{high:.2f}, {row['pairs']} pairs)"
            f"  mujoco {row['version']}"
        )
    save("newest", rows)


if __name__ == "__main__":
    main()
