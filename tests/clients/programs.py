"""The programs of other packages that run on both engines."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from clients import sessions


class Program(NamedTuple):
    """A program.

    Attributes:
        name: its name, package first.
        package: the distribution that it needs.
        open: makes a session of it.
    """

    name: str
    package: str
    open: Callable[[], Any]


V4 = ("Ant", "HalfCheetah", "Hopper", "Humanoid", "HumanoidStandup", "InvertedDoublePendulum", "InvertedPendulum")
V4 += ("Reacher", "Swimmer", "Walker2d")
GYMNASIUM = (*(f"{name}-v4" for name in V4), *(f"{name}-v5" for name in (*V4, "Pusher")))
"""Gymnasium's environments with MuJoCo; Pusher-v4 refuses every version from 3 on."""

HAND = ("Block", "Block_ContinuousTouchSensors", "Egg", "Egg_ContinuousTouchSensors", "Pen")
HAND += ("Pen_ContinuousTouchSensors",)
ROBOTICS = (
    *(f"Fetch{name}-v4" for name in ("Reach", "Push", "Slide", "PickAndPlace")),
    "HandReach-v3",
    *(f"HandManipulate{name}-v1" for name in HAND),
    *(f"AdroitHand{name}-v1" for name in ("Door", "Hammer", "Pen", "Relocate")),
    "FrankaKitchen-v1",
    "PointMaze_UMaze-v3",
    "AntMaze_UMaze-v4",
    "AntMaze_UMaze-v5",
)
"""One environment of each class of Gymnasium-Robotics that uses the package mujoco."""

SUITE = {
    "acrobot": "swingup swingup_sparse",
    "ball_in_cup": "catch",
    "cartpole": "balance balance_sparse swingup swingup_sparse two_poles three_poles",
    "cheetah": "run",
    "dog": "stand walk trot run fetch",
    "finger": "spin turn_easy turn_hard",
    "fish": "upright swim",
    "hopper": "stand hop",
    "humanoid": "stand walk run run_pure_state",
    "humanoid_CMU": "stand walk run",
    "lqr": "lqr_2_1 lqr_6_2",
    "manipulator": "bring_ball bring_peg insert_ball insert_peg",
    "pendulum": "swingup",
    "point_mass": "easy hard",
    "quadruped": "walk run escape fetch",
    "reacher": "easy hard",
    "stacker": "stack_2 stack_4",
    "swimmer": "swimmer6 swimmer15",
    "walker": "stand walk run",
}
"""Tasks of dm_control's suite by domain: all that `suite.ALL_TASKS` has."""

MANIPULATION = (
    "stack_2_bricks stack_2_bricks_moveable_base stack_3_bricks stack_3_bricks_random_order "
    "stack_2_of_3_bricks_random_order reassemble_3_bricks_fixed_order reassemble_5_bricks_random_order "
    "lift_brick lift_large_box place_brick place_cradle reach_duplo reach_site"
)
"""Tasks of dm_control's manipulation; those whose observations are images are the same with a camera."""

LOCOMOTION = {
    "basic_cmu_2019": "run_walls run_gaps go_to_target maze_forage heterogeneous_forage",
    "basic_rodent_2020": "escape_bowl run_gaps maze_forage two_touch",
}
"""Examples of dm_control's locomotion, whose cameras are switched off; `cmu_2020_tracking` downloads its motions."""
WALKERS = {"basic_cmu_2019": "cmu_humanoid", "basic_rodent_2020": "rodent"}

MINK_ARM = ("pusher_v5.xml", ("tips_arm",), (("tip_arml", "tip_armr"), ("table",)))
MINK_HUMANOID = ("humanoid.xml", ("left_foot", "right_foot", "left_lower_arm", "right_lower_arm"), None)

MJX_MODEL = """<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="5 5 .1"/>
<body pos="0 0 .09"><freejoint/><geom size=".1"/></body>
<body pos=".5 0 .098" euler="3 2 1"><freejoint/><geom type="box" size=".1 .12 .1"/></body>
<body pos="-.5 0 .14"><freejoint/><geom type="capsule" size=".05 .1"/>
 <body pos="0 0 .2"><joint name="j" axis="0 1 0" damping=".1" range="-60 60" limited="true"/>
  <geom type="capsule" size=".04 .1"/></body></body>
</worldbody><actuator><motor joint="j" gear="2"/></actuator></mujoco>"""


def _programs() -> list[Program]:
    """The list, a package after the other."""
    found = [Program(f"gymnasium {name}", "gymnasium", partial(sessions.Gymnasium, name)) for name in GYMNASIUM]
    robotics = [(name, partial(sessions.Gymnasium, name, "gymnasium_robotics")) for name in ROBOTICS]
    found += [Program(f"gymnasium-robotics {name}", "gymnasium-robotics", make) for name, make in robotics]
    reach = partial(sessions.Gymnasium, "Meta-World/MT1", "metaworld", anew=True, env_name="reach-v3", seed=0)
    found.append(Program("metaworld reach-v3", "metaworld", reach))
    found.append(Program("robosuite Lift", "robosuite", partial(sessions.Robosuite, "Lift", "Panda")))
    found.append(Program("mink arm", "mink", partial(sessions.Mink, *MINK_ARM)))
    found.append(Program("mink humanoid", "mink", partial(sessions.Mink, *MINK_HUMANOID)))
    found.append(Program("mujoco-mjx step", "mujoco-mjx", partial(sessions.Mjx, MJX_MODEL)))
    return found + _of_dm_control()


def _of_dm_control() -> list[Program]:
    """Environments of dm_control."""
    package = "dm_control"
    found = [
        Program(f"{package} {domain}-{task}", package, partial(sessions.Suite, domain, task))
        for domain, tasks in SUITE.items()
        for task in tasks.split()
    ]
    load = partial(partial, sessions.Composed, f"{package}.manipulation", "load")
    found += [
        Program(f"{package} manipulation {task}", package, load(f"{task}_features", seed=0))
        for task in MANIPULATION.split()
    ]
    for module, tasks in LOCOMOTION.items():
        make = partial(partial, sessions.Composed, f"{package}.locomotion.examples.{module}")
        names = [f"{WALKERS[module]}_{task}" for task in tasks.split()]
        found += [
            Program(f"{package} locomotion {name}", package, make(name, random_state=0, anew="maze_forage" in name))
            for name in names
        ]
    soccer = partial(sessions.Composed, f"{package}.locomotion.soccer", "load", 2, random_state=0)
    found.append(Program(f"{package} locomotion soccer", package, soccer))
    return found


PROGRAMS = {program.name: program for program in _programs()}
"""All of them, by name."""
