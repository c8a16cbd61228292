"""Time of finite-difference derivatives of the humanoid on the ground ÷ the reference engine's."""

from __future__ import annotations

import time
from typing import Any

import mujoco
import numpy as np

import cardan
from benchmarks.scenes import HUMANOID, set_state, settled_state
from benchmarks.timing import paired_ratio, save

CALLS = 5
EPSILON = 1e-6


def transition(engine: Any, m: Any, d: Any, centred: bool) -> float:
    """Seconds for one call of ``mjd_transitionFD`` with all four matrices."""
    nx, outputs = 2 * m.nv + m.na, m.nsensordata
    matrices = [np.zeros(shape) for shape in ((nx, nx), (nx, m.nu), (outputs, nx), (outputs, m.nu))]
    start = time.thread_time()
    for _ in range(CALLS):
        engine.mjd_transitionFD(m, d, EPSILON, centred, *matrices)
    return (time.thread_time() - start) / CALLS


def main() -> None:
    """Print and save forward and centred differences."""
    reference_model, our_model = HUMANOID.load(mujoco), HUMANOID.load(cardan)
    reference_data, our_data = mujoco.MjData(reference_model), cardan.MjData(our_model)
    state = settled_state(mujoco, reference_model, HUMANOID)
    set_state(our_data, state)
    set_state(reference_data, state)
    rows = {}
    for name, centred in (("forward", False), ("centred", True)):
        transition(cardan, our_model, our_data, centred)
        row = rows[name] = paired_ratio(
            lambda c=centred: transition(cardan, our_model, our_data, c),
            lambda c=centred: transition(mujoco, reference_model, reference_data, c),
        )
        print(
            f"mjd_transitionFD, humanoid, {name} differences / reference: {row['ratio']:.2f}"
            f"  {1e3 * row['ours']:.2f} ms / {1e3 * row['reference']:.2f} ms"
        )
    save("derivatives", rows)


if __name__ == "__main__":
    main()
