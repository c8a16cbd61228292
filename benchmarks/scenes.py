"""Benchmark scenes: a model file, how it is brought into its state, and how long it is timed.

A scene is brought to life by the reference engine (it falls to the ground for `settle` steps); both engines are then
timed from the same states, so that both have the same contacts to deal with.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

MODELS = Path(__file__).resolve().parents[2] / "shared" / "models" / "mujoco"
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@dataclass(frozen=True)
class Scene:
    """A benchmark scene.

    Attributes:
        name: short name for the tables.
        path: model file.
        settle: reference steps before the timing begins.
        steps: steps in one timed run.
    """

    name: str
    path: Path
    settle: int
    steps: int


SCENES = (
    Scene("humanoid", MODELS / "humanoid" / "humanoid.xml", settle=400, steps=500),
    Scene("22_humanoids", MODELS / "humanoid" / "22_humanoids.xml", settle=250, steps=40),
)


@dataclass(frozen=True)
class State:
    """Where a timed run starts."""

    qpos: np.ndarray
    qvel: np.ndarray
    act: np.ndarray
    qacc_warmstart: np.ndarray


def settled_state(engine: object, model: object, scene: Scene) -> State:
    """Let the scene fall to the ground in `engine` (any module with MuJoCo's interface); returns the state reached."""
    data = engine.MjData(model)
    for _ in range(scene.settle):
        engine.mj_step(model, data)
    return State(data.qpos.copy(), data.qvel.copy(), data.act.copy(), data.qacc_warmstart.copy())


def set_state(data: object, state: State) -> None:
    """Put a data object of any engine into a state."""
    data.time = 0.0
    data.qpos[:] = state.qpos
    data.qvel[:] = state.qvel
    data.act[:] = state.act
    data.qacc_warmstart[:] = state.qacc_warmstart
