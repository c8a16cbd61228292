"""Benchmark scenes: a model file, how it is brought into its state, and how long it is timed.

A scene is brought to life by one of the engines (it falls to the ground for `settle` steps); both are then timed from
the same states, so that both have the same contacts to deal with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import models

MODELS = Path(__file__).resolve().parents[2] / "shared" / "models" / "mujoco"
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@dataclass(frozen=True)
class Scene:
    """A benchmark scene.

    Attributes:
        name: short name for the tables.
        source: model file, or what makes the text of one.
        settle: steps before the timing begins.
        steps: steps in one timed run.
        control: value of all controls.
    """

    name: str
    source: Path | Callable[[], str]
    settle: int
    steps: int
    control: float = 0.0

    @property
    def path(self) -> Path:
        """The model file.

        Raises:
            TypeError: the benchmark makes the model itself.
        """
        if not isinstance(self.source, Path):
            raise TypeError(f"{self.name} has no file")
        return self.source

    def load(self, engine: Any) -> Any:
        """The model, compiled by `engine` (any module with MuJoCo's interface)."""
        if isinstance(self.source, Path):
            return engine.MjModel.from_xml_path(str(self.source))
        return engine.MjModel.from_xml_string(self.source())


HUMANOID = Scene("humanoid", MODELS / "humanoid" / "humanoid.xml", settle=400, steps=500)
SCENES = (
    HUMANOID,
    Scene("22_humanoids", MODELS / "humanoid" / "22_humanoids.xml", settle=250, steps=40),
)
MORE_SCENES = (
    Scene("arm26", MODELS / "tendon_arm" / "arm26.xml", settle=200, steps=2000, control=0.3),
    Scene("slider_crank", MODELS / "slider_crank" / "slider_crank.xml", settle=100, steps=500),
    Scene("muscle arm, 30 dofs", models.muscle_arm, settle=200, steps=500, control=0.2),
    Scene("chain, 200 dofs", partial(models.chain, 200), settle=200, steps=100),
    Scene("humanoid100", MODELS / "humanoid100" / "humanoid100.xml", settle=150, steps=5),
    Scene("cube_3x3x3", MODELS / "cube" / "cube_3x3x3.xml", settle=200, steps=100),
    Scene("cards", MODELS / "cards" / "cards.xml", settle=200, steps=20),
    Scene("pile of 1000", partial(models.pile, 1000), settle=150, steps=3),
    Scene("quadruped on terrain", models.quadruped, settle=500, steps=500),
)
CHAINS = tuple(
    Scene(f"chain of {n}", partial(models.chain, n), settle=min(50, 50000 // n), steps=max(1, 20000 // n))
    for n in (10, 30, 100, 300, 1000, 3000)
)
PILES = tuple(
    Scene(f"pile of {n}", partial(models.pile, n), settle=150, steps=max(1, 1000 // n)) for n in (100, 300, 1000, 3000)
)
HUMANOIDS = tuple(
    Scene(f"humanoids, {n}", partial(models.humanoids, HUMANOID.path, n), settle=150, steps=max(2, 300 // n))
    for n in (1, 3, 10, 30, 100)
)
CLOTHS = tuple(
    Scene(f"cloth of {n}", partial(models.cloth, n), settle=20, steps=max(2, 20000 // n**2)) for n in (10, 20, 40, 80)
)


@dataclass(frozen=True)
class State:
    """Where a timed run starts."""

    qpos: np.ndarray
    qvel: np.ndarray
    act: np.ndarray
    qacc_warmstart: np.ndarray
    ctrl: np.ndarray


def settled_state(engine: Any, model: Any, scene: Scene) -> State:
    """Let the scene fall to the ground in `engine` (any module with MuJoCo's interface); returns the state reached."""
    data = engine.MjData(model)
    data.ctrl[:] = scene.control
    for _ in range(scene.settle):
        engine.mj_step(model, data)
    return State(*(getattr(data, field.name).copy() for field in fields(State)))


def set_state(data: Any, state: State) -> None:
    """Put a data object of any engine into a state."""
    data.time = 0.0
    data.actuator_moment[:] = 0.0  # the reference adds to those of slider-cranks in each step, until numbers are bad
    for field in fields(State):
        getattr(data, field.name)[:] = getattr(state, field.name)
