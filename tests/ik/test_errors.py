"""Errors for arguments that do not fit."""

import ik_mechanisms as mechanisms
import numpy as np
import pytest

import cardan
from cardan import ik

POSE = [0.4, 0, 0.4, 1, 0, 0, 0]


def test_every_error_names_what_is_wrong():
    m = mechanisms.model(mechanisms.ARM)
    hand = ik.FrameTask("hand")
    cases = [
        (([], None), ValueError, "needs a task"),
        ((["hand"], None), TypeError, "tasks are objects such as"),
        ((ik.FrameTask("hnad"), POSE), ValueError, "hnad"),
        ((ik.FrameTask("hand", "camera"), POSE), ValueError, "'body', 'geom' or 'site', not 'camera'"),
        ((ik.FrameTask(99), POSE), ValueError, "less than"),
        ((ik.FrameTask("hand", position_cost=0.0, orientation_cost=0.0), POSE), ValueError, "all costs are 0"),
        ((ik.FrameTask("hand", position_cost=-1.0), POSE), ValueError, "not negative"),
        ((ik.FrameTask("hand", gain=2.0), POSE), ValueError, "between 0 and 1"),
        ((ik.LookAtTask("hand", axis=(0, 0, 0)), [1, 2, 3]), ValueError, "not zero"),
        ((ik.PostureTask((1.0, 2.0)), m.qpos0), ValueError, "7 numbers"),
        ((ik.FrameTask(0), POSE), ValueError, "no joint moves"),
        ((hand, None), ValueError, "missing"),
        ((hand, [1, 2, 3]), ValueError, "expected 7 numbers"),
        ((hand, [*POSE[:3], 0, 0, 0, 0]), ValueError, "not zero"),
        ((hand, [*POSE[:6], np.nan]), ValueError, "not finite"),
        (([hand, hand], [POSE]), ValueError, "each of the 2 tasks, got 1"),
        (([hand, ik.FrameTask("upper")], [[POSE] * 2, [POSE] * 3]), ValueError, r"different numbers of rows: \[2, 3\]"),
    ]
    for (tasks, targets), kind, message in cases:
        with pytest.raises(kind, match=message):
            ik.solve(m, tasks, targets)


def test_errors_of_other_arguments():
    m = mechanisms.model(mechanisms.ARM)
    hand = ik.FrameTask("hand")
    with pytest.raises(ValueError, match="seeds"):
        ik.solve(m, hand, POSE, np.zeros(6))
    with pytest.raises(ValueError, match="seeds"):
        ik.solve(m, hand, [POSE] * 3, np.zeros((2, 7)))
    with pytest.raises(ValueError, match="'self'"):
        ik.solve(m, hand, POSE, avoid="all")
    with pytest.raises(ValueError, match="two geoms"):
        ik.solve(m, hand, POSE, avoid=["g1"])
    with pytest.raises(ValueError, match="avoid"):
        ik.solve(m, hand, POSE, avoid=[("g1", "nothing")])
    with pytest.raises(ValueError, match="joints"):
        ik.solve(m, hand, POSE, joints=["j9"])
    with pytest.raises(ValueError, match="velocity_limits"):
        ik.velocity(m, m.qpos0, hand, 0.01, POSE, velocity_limits={"j9": 1.0})
    with pytest.raises(ValueError, match="configurations of 7 numbers"):
        ik.velocity(m, np.zeros(6), hand, 0.01, POSE)
    with pytest.raises(ValueError, match="3 configurations, but 2 rows"):
        ik.velocity(m, np.zeros((3, 7)), hand, 0.01, [POSE] * 2)


def test_constraints_of_flexes_are_refused():
    m = cardan.MjModel.from_xml_string("""
    <mujoco><worldbody>
      <body name="b"><joint/><geom size=".1"/></body>
      <flexcomp name="f" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" radius=".01" mass="1">
        <edge equality="true"/></flexcomp>
    </worldbody></mujoco>""")
    with pytest.raises(ValueError, match="flex"):
        ik.solve(m, ik.FrameTask("b"), POSE)
