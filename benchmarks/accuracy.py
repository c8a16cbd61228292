"""How far results are from the reference's: forward dynamics, single steps along a trajectory, forward and inverse.

Not a timing, but the other half of the same comparison. Differences are relative to the largest entry of a field.
"""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np

import cardan
from benchmarks.scenes import SCENES, Scene
from benchmarks.timing import save

STATES = 10
STEPS = 1000
SMOOTH = (
    *("xpos", "xquat", "xipos", "geom_xpos", "geom_xmat", "subtree_com", "cinert", "cdof", "qM", "qLD", "qLDiagInv"),
    *("ten_length", "actuator_length", "cvel", "cdof_dot", "qfrc_bias", "qfrc_passive"),
    *("actuator_force", "qfrc_actuator", "qfrc_smooth", "qacc_smooth"),
)
SOLVER = ("qacc", "qfrc_constraint", "efc_force")


def difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Largest difference relative to the largest entry (infinite if the shapes differ)."""
    if ours.shape != theirs.shape:
        return np.inf
    return float(np.abs(ours - theirs).max(initial=0.0) / max(1.0, np.abs(theirs).max(initial=0.0)))


class Pair:
    """The same model in both engines."""

    def __init__(self, scene: Scene) -> None:
        self.reference = mujoco.MjModel.from_xml_path(str(scene.path))
        self.model = cardan.MjModel.from_xml_path(str(scene.path))
        self.their_data = mujoco.MjData(self.reference)
        self.our_data = cardan.MjData(self.model)

    def copy_state(self) -> None:
        """Put our data into the state and inputs of the reference's."""
        for name in ("qpos", "qvel", "act", "ctrl", "qacc_warmstart"):
            getattr(self.our_data, name)[:] = getattr(self.their_data, name)
        self.our_data.time = self.their_data.time

    def set_tolerance(self, tolerance: float, iterations: int) -> None:
        """Solver settings of both engines."""
        for m in (self.reference, self.model):
            m.opt.tolerance = tolerance
            m.opt.ls_tolerance = min(m.opt.ls_tolerance, 1e-10) if tolerance < 1e-10 else 0.01
            m.opt.iterations = iterations


def random_states(pair: Pair) -> Iterator[None]:
    """Put both into random states: some time after a random start, so that there are contacts."""
    rng = np.random.default_rng(1)
    for _ in range(STATES):
        d = pair.their_data
        mujoco.mj_resetData(pair.reference, d)
        d.qvel[:] = 0.5 * rng.standard_normal(d.qvel.shape)
        d.ctrl[:] = 0.3 * rng.standard_normal(d.ctrl.shape)
        for _ in range(int(rng.integers(20, 200))):
            mujoco.mj_step(pair.reference, d)
        d.qvel[:] += 0.2 * rng.standard_normal(d.qvel.shape)
        pair.copy_state()
        yield


def forward(pair: Pair) -> tuple[float, float, float]:
    """Largest differences of smooth fields, of solver results, and of forward and inverse dynamics."""
    smooth = solver = inverse = 0.0
    for _ in random_states(pair):
        pair.set_tolerance(1e-14, 200)
        mujoco.mj_forward(pair.reference, pair.their_data)
        cardan.mj_forward(pair.model, pair.our_data)
        for name in SMOOTH:
            smooth = max(smooth, difference(getattr(pair.our_data, name), getattr(pair.their_data, name)))
        for name in SOLVER:
            solver = max(solver, difference(getattr(pair.our_data, name), getattr(pair.their_data, name)))
        d = pair.our_data
        applied = d.qfrc_applied + d.qfrc_actuator
        cardan.mj_inverse(pair.model, d)
        inverse = max(inverse, difference(d.qfrc_inverse, applied))
        pair.set_tolerance(1e-8, 100)
    return smooth, solver, inverse


def steps(pair: Pair) -> float:
    """Largest difference after one step from each state along a reference trajectory."""
    rng = np.random.default_rng(2)
    mujoco.mj_resetData(pair.reference, pair.their_data)
    worst = 0.0
    for _ in range(STEPS):
        d = pair.their_data
        d.ctrl[:] = 0.9 * d.ctrl + 0.1 * rng.standard_normal(d.ctrl.shape)
        pair.copy_state()
        mujoco.mj_step(pair.reference, d)
        cardan.mj_step(pair.model, pair.our_data)
        for name in ("qpos", "qvel"):
            worst = max(worst, difference(getattr(pair.our_data, name), getattr(d, name)))
    return worst


def main() -> None:
    """Print and save the table."""
    print(f"differences from mujoco {mujoco.__version__} ({STATES} random states; {STEPS} single steps)")
    rows = {}
    for scene in SCENES:
        pair = Pair(scene)
        smooth, solver, inverse = forward(pair)
        row = rows[scene.name] = {"smooth": smooth, "solver": solver, "inverse": inverse, "step": steps(pair)}
        print(f"  {scene.name:16s} " + "  ".join(f"{name} {value:.1e}" for name, value in row.items()))
    save("accuracy", rows)


if __name__ == "__main__":
    main()
