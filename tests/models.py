"""Models by name, and all files of models: written for this project, or from packages (see `model_packages`).

A test that goes through all files takes the fixture ``model_file``: in ``make test`` these are `known_files`, in
``make test-models MODELS=DIR`` all MJCF and URDF files of a folder.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from model_packages import folder_of, pins, why_missing

TESTS = Path(__file__).resolve().parent
EXAMPLES = TESTS.parent / "examples"
OWN = sorted((TESTS / "models").glob("*.xml"))
"""One small model a feature."""
SCENES = {path.stem: path for path in sorted((TESTS / "models" / "scenes").glob("*.*"))}
"""Models as they are used."""
_HANDS = "gymnasium_robotics/envs/assets"
_PACKAGED = {
    "aloha": ("gym-aloha", "gym_aloha/assets/bimanual_viperx_end_effector_insertion.xml"),
    "ant": ("gymnasium", "gymnasium/envs/mujoco/assets/ant.xml"),
    "barkour": ("mujoco-mjx", "mujoco/mjx/test_data/barkour_v0/assets/barkour_v0_mjx.xml"),
    "cmu": ("dm-control", "dm_control/suite/humanoid_CMU.xml"),
    "door": ("gymnasium-robotics", f"{_HANDS}/adroit_hand/adroit_door.xml"),
    "egg": ("gymnasium-robotics", f"{_HANDS}/hand/manipulate_egg.xml"),
    "elbow": ("myo-sim", "myo_sim/models/legacy/elbow/myoelbow_1dof6muscles_1dofSoftexo_sim2.xml"),
    "fetch": ("gymnasium-robotics", f"{_HANDS}/fetch/pick_and_place.xml"),
    "finger": ("myo-sim", "myo_sim/models/legacy/finger/myofinger_v0.xml"),
    "fish": ("dm-control", "dm_control/suite/fish.xml"),
    "gym_humanoid": ("gymnasium", "gymnasium/envs/mujoco/assets/humanoid.xml"),
    "half_cheetah": ("gymnasium", "gymnasium/envs/mujoco/assets/half_cheetah.xml"),
    "hfield": ("mujoco-warp", "mujoco_warp/test_data/hfield/hfield.xml"),
    "kitchen": ("gymnasium-robotics", f"{_HANDS}/kitchen_franka/kitchen_assets/kitchen_env_model.xml"),
    "mug": ("mujoco-warp", "mujoco_warp/test_data/mug/mug.xml"),
    "pusher": ("gymnasium", "gymnasium/envs/mujoco/assets/pusher_v5.xml"),
    "quadruped": ("dm-control", "dm_control/suite/quadruped.xml"),
    "rodent": ("dm-control", "dm_control/locomotion/walkers/assets/rodent.xml"),
    "shadow_hand": ("mujoco-mjx", "mujoco/mjx/test_data/shadow_hand/scene_right.xml"),
    "stacker": ("dm-control", "dm_control/suite/stacker.xml"),
    "warp_rope": ("mujoco-warp", "mujoco_warp/test_data/flex/rope.xml"),
}
_PACKAGE_OF = {folder_of(package) / file: package for package, file in _PACKAGED.values()}
PATHS = {
    "humanoid": EXAMPLES / "humanoid.xml",
    **SCENES,
    **{name: folder_of(package) / file for name, (package, file) in _PACKAGED.items()},
}
"""The file of each model that tests ask for by name, whether it is there or not."""

# small and large, with actuators, tendons, contacts, fluid, sensors
STEPPED = ("humanoid", "muscle_arm", "slider_crank", "balloons", "ant", "quadruped", "egg")
# made of springs, constraints or elastic elements
ELASTIC = ("hammock", "net", "grains", "free_grains", "cushion", "belt", "cable", "coil", "flag", "flag_flex")
ELASTIC += ("jelly", "jelly_flex", "trampoline", "rope", "warp_rope")
# what is soft: flexes, composites, elastic plugins, and the other plugins
SOFT = (*ELASTIC, "pid", "touch_grid", "rings", "bowl", "nut", "gears", "stone_sdf")


def there(path: Path) -> Path:
    """The same file; skips the test when it belongs to a package that could not be fetched."""
    if path in _PACKAGE_OF and not path.exists():
        pytest.skip(why_missing(_PACKAGE_OF[path]))
    return path


def model_path(name: str) -> Path:
    """The file of a model by its name; skips the test when its package could not be fetched."""
    return there(PATHS[name])


def known_files() -> list[Path]:
    """The files that `make test` goes through."""
    return [*OWN, EXAMPLES / "quadruped.xml", *PATHS.values()]


def files_in(folder: Path) -> list[Path]:
    """All model files of a folder, MJCF and URDF, ascending."""
    return sorted([*folder.rglob("*.xml"), *folder.rglob("*.urdf")])


BASES = [*(folder_of(package) for package in pins()), TESTS, EXAMPLES]
"""Folders whose models may take assets from anywhere inside: those of packages, of the tests, and of ``--models``."""


def base_of(path: Path) -> Path:
    """The folder from which a model may take its assets."""
    return next((base for base in reversed(BASES) if base in path.parents), path.parent)


def short_name(path: Path) -> str:
    """A file's name in the names of tests: its path inside its base."""
    return path.relative_to(base_of(path)).as_posix()
