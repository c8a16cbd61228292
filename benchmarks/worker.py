"""A process that times the reference engine of its own environment, on request (one JSON object a line).

It is run by the Python of an environment that has the newest engine, and therefore imports nothing of this project.
"""

from __future__ import annotations

import json
import sys
import time

import mujoco
import numpy as np


def main() -> None:
    """Read a model path and a state, then time steps for every line that comes."""
    setup = json.loads(sys.stdin.readline())
    model = mujoco.MjModel.from_xml_path(setup["path"])
    data = mujoco.MjData(model)
    print(json.dumps({"version": mujoco.__version__}), flush=True)
    for line in sys.stdin:
        steps = json.loads(line)["steps"]
        mujoco.mj_resetData(model, data)
        for name in ("qpos", "qvel", "act", "qacc_warmstart", "ctrl"):
            getattr(data, name)[:] = np.array(setup[name])
        start = time.thread_time()
        for _ in range(steps):
            mujoco.mj_step(model, data)
        print(json.dumps({"seconds": time.thread_time() - start, "ncon": int(data.ncon)}), flush=True)


if __name__ == "__main__":
    main()
