"""Shortcuts of actuators, attaching frames, saving to files: each against the same model written as text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco as reference
import numpy as np
import pytest
from fields_compared import differences

import cardan as mujoco

FINGER = """<mujoco>
  <worldbody>
    <body name="b">
      <joint name="j" axis="0 1 0" range="-1 1" limited="true"/><geom size=".1" fromto="0 0 0 .3 0 0" type="capsule"/>
    </body>
  </worldbody>
  <actuator>{actuator}</actuator>
</mujoco>"""

# a call on an actuator of the joint, and the element that it stands for
SHORTCUTS: dict[str, tuple[Callable[[Any], None], str]] = {
    "motor": (lambda a: a.set_to_motor(), '<motor joint="j"/>'),
    "position": (
        lambda a: a.set_to_position(kp=10, kv=2, timeconst=0.1),
        '<position joint="j" kp="10" kv="2" timeconst="0.1"/>',
    ),
    "position, damping ratio": (
        lambda a: a.set_to_position(kp=10, dampratio=1, inheritrange=1),
        '<position joint="j" kp="10" dampratio="1" inheritrange="1"/>',
    ),
    "intvelocity": (
        lambda a: a.set_to_intvelocity(kp=5, kv=1, inheritrange=0.5),
        '<intvelocity joint="j" kp="5" kv="1" inheritrange="0.5"/>',
    ),
    "velocity": (lambda a: a.set_to_velocity(kv=3), '<velocity joint="j" kv="3"/>'),
    "damper": (
        lambda a: (a.set_to_damper(kv=3), setattr(a, "ctrlrange", [0, 1])),
        '<damper joint="j" kv="3" ctrlrange="0 1"/>',
    ),
    "cylinder": (
        lambda a: a.set_to_cylinder(timeconst=0.2, bias=[1, 2, 3], area=0.5),
        '<cylinder joint="j" timeconst="0.2" bias="1 2 3" area="0.5"/>',
    ),
    "cylinder, diameter": (
        lambda a: a.set_to_cylinder(timeconst=0.2, bias=1.5, area=-1, diameter=0.4),
        '<cylinder joint="j" timeconst="0.2" bias="1.5 0 0" diameter="0.4"/>',
    ),
    "muscle": (
        lambda a: a.set_to_muscle(timeconst=[0.02, 0.05], range=[0.7, 1.1], force=100, lmin=0.4, vmax=2),
        '<muscle joint="j" timeconst="0.02 0.05" range="0.7 1.1" force="100" lmin="0.4" vmax="2"/>',
    ),
}


@pytest.mark.parametrize("name", SHORTCUTS)
def test_shortcut(name: str) -> None:
    call, element = SHORTCUTS[name]
    spec = mujoco.MjSpec.from_string(FINGER.format(actuator=""))
    actuator = spec.add_actuator(target="j", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    call(actuator)
    text = FINGER.format(actuator=element)
    assert differences(reference.MjModel.from_xml_string(text), spec.compile()) == []


def test_adhesion() -> None:
    spec = mujoco.MjSpec.from_string(FINGER.format(actuator=""))
    actuator = spec.add_actuator(target="b", trntype=mujoco.mjtTrn.mjTRN_BODY, ctrlrange=[0, 2])
    actuator.set_to_adhesion(gain=4)
    text = FINGER.format(actuator='<adhesion body="b" gain="4" ctrlrange="0 2"/>')
    assert differences(reference.MjModel.from_xml_string(text), spec.compile()) == []


def test_attach_frame() -> None:
    hand = mujoco.MjSpec.from_string(
        '<mujoco><worldbody><frame name="f" pos="1 2 3" euler="0 0 90"><body name="p"><joint name="j"/>'
        '<geom name="g" size=".1"/></body></frame></worldbody></mujoco>'
    )
    arm = mujoco.MjSpec.from_string('<mujoco><worldbody><body name="a"><geom size=".2"/></body></worldbody></mujoco>')
    copied = arm.body("a").attach_frame(hand.frame("f"), prefix="left_")
    model = arm.compile()
    expected = reference.MjModel.from_xml_string(
        '<mujoco><worldbody><body name="a"><geom size=".2"/><frame pos="1 2 3" euler="0 0 90"><body name="left_p">'
        '<joint name="left_j"/><geom name="left_g" size=".1"/></body></frame></body></worldbody></mujoco>'
    )
    assert copied.name == "left_f"
    assert differences(expected, model) == []


def test_to_file(tmp_path: Path) -> None:
    spec = mujoco.MjSpec.from_string(FINGER.format(actuator='<motor joint="j" gear="3"/>'))
    spec.to_file(tmp_path / "finger.xml")
    again = reference.MjModel.from_xml_path(str(tmp_path / "finger.xml"))
    assert differences(again, spec.compile()) == []
    np.testing.assert_array_equal(again.actuator_gear[0, 0], 3)


def test_to_file_leaves_the_old_file_when_the_model_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "finger.xml"
    path.write_text("old")
    spec = mujoco.MjSpec.from_string(FINGER.format(actuator=""))
    spec.body("b").joints[0].range = [1, -1]
    with pytest.raises(ValueError, match="range"):
        spec.to_file(path)
    assert path.read_text() == "old"
