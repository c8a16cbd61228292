"""Parity, level 1 (compile): `mj_setConst` after changes at run time gives every field that the reference gives."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from fields_compared import differences
from models import EXAMPLES, TESTS

import cardan

CHANGES = {
    "masses": lambda m: (m.body_mass.__imul__(1.7), m.body_inertia.__imul__(1.3)),
    "positions": lambda m: (m.body_pos.__setitem__(slice(1, None), m.body_pos[1:] * 1.1 + 0.01),),
    "inertial frames": lambda m: (m.body_ipos.__setitem__(slice(1, None), m.body_ipos[1:] + 0.02),),
    "qpos0": lambda m: (_turn(m),),
    "gear": lambda m: (m.actuator_gear.__imul__(2.5),),
    "sizes": lambda m: (m.geom_size.__imul__(1.2), m.geom_rbound.__imul__(1.2)),
    "armature": lambda m: (m.dof_armature.__iadd__(0.1),),
}
MODELS = [
    EXAMPLES / "humanoid.xml",
    *(TESTS / "models" / f"{name}.xml" for name in ("actuators", "tendons", "equality", "mocap", "views", "trees")),
]


def _turn(m) -> None:
    """Move all hinges and slides of the initial configuration."""
    for joint in range(m.njnt):
        if m.jnt_type[joint] >= 2:
            m.qpos0[m.jnt_qposadr[joint]] += 0.1


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_set_const(path: Path, change: str) -> None:
    theirs, own = mujoco.MjModel.from_xml_path(str(path)), cardan.MjModel.from_xml_path(path)
    CHANGES[change](theirs)
    CHANGES[change](own)
    mujoco.mj_setConst(theirs, mujoco.MjData(theirs))
    cardan.mj_setConst(own, cardan.MjData(own))
    before = differences(mujoco.MjModel.from_xml_path(str(path)), cardan.MjModel.from_xml_path(path))
    assert [name for name in differences(theirs, own) if name.partition(":")[0] not in str(before)] == []
    assert np.isfinite(own.body_invweight0).all()


@pytest.mark.parametrize("inside", ["", "<geom size='.1'/>", "<body><geom size='.1'/></body>"])
@pytest.mark.parametrize(
    "given", ["", "<statistic meansize='3' meaninertia='4'/>", "<statistic meansize='.01' meanmass='5'/>"]
)
def test_means_over_nothing_stay(given: str, inside: str) -> None:
    """Means over no dofs or bodies stay as they are, and the extent follows the mean size."""
    xml = f"<mujoco>{given}<worldbody>{inside}</worldbody></mujoco>"
    theirs, own = mujoco.MjModel.from_xml_string(xml), cardan.MjModel.from_xml_string(xml)
    assert differences(theirs, own) == []
    for changed in (theirs, own):
        changed.stat.meaninertia, changed.stat.meansize = 7.0, 9.0
    mujoco.mj_setConst(theirs, mujoco.MjData(theirs))
    cardan.mj_setConst(own, cardan.MjData(own))
    assert str(own.stat) == str(theirs.stat)
    assert own.stat.meaninertia == 7.0


def test_centres_of_mass_on_an_axis_are_held() -> None:
    """Nothing moves such a body's centre of mass, though that of its tree is elsewhere: no rounding error is left."""
    xml = """<mujoco><worldbody><body><joint/><geom size=".02" pos="0 0 .2"/>
    <body pos=".2 .1 0"><joint type="slide" axis="1 2 3"/><geom size=".1" pos="-.1 .3 -.2"/></body>
    </body></worldbody></mujoco>"""
    theirs, own = mujoco.MjModel.from_xml_string(xml), cardan.MjModel.from_xml_string(xml)
    assert theirs.body_invweight0[1, 0] == own.body_invweight0[1, 0] == 0.0
    assert differences(theirs, own) == []
