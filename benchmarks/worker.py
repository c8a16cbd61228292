"""A process that times the reference engine of its own environment, on request (one JSON object a line).

It is run by the Python of an environment that has the newest engine, and therefore imports nothing of this project.
"""

from __future__ import annotations

import json
import sys
import time

import mujoco
import numpy as np

STATE = ("qpos", "qvel", "act", "qacc_warmstart", "ctrl")


def settle(model: mujoco.MjModel, steps: int, seconds: float) -> dict[str, list[float]]:
    """Make up to `steps` steps, for about `seconds` at most; returns the state reached."""
    data = mujoco.MjData(model)
    start = time.thread_time()
    for _ in range(steps):
        mujoco.mj_step(model, data)
        if time.thread_time() - start > seconds:
            break
    return {name: getattr(data, name).tolist() for name in STATE}


def main() -> None:
    """Read a model path and a state, or how long to settle, then time steps for every line that comes."""
    setup = json.loads(sys.stdin.readline())
    model = mujoco.MjModel.from_xml_path(setup["path"])
    state = setup.get("state") or settle(model, setup["settle"], setup["seconds"])
    data = mujoco.MjData(model)
    print(json.dumps({"version": mujoco.__version__, "state": state}), flush=True)
    for line in sys.stdin:
        steps = json.loads(line)["steps"]
        mujoco.mj_resetData(model, data)
        for name in STATE:
            getattr(data, name)[:] = np.array(state[name])
        start = time.thread_time()
        for _ in range(steps):
            mujoco.mj_step(model, data)
        print(json.dumps({"seconds": time.thread_time() - start, "ncon": int(data.ncon)}), flush=True)


if __name__ == "__main__":
    main()
