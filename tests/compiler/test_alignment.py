"""Free bodies aligned with their inertia; bodies that are not simple, or not fused (MuJoCo since 3.2.3 and 3.11)."""

import numpy as np
import pytest
from later import later_run

import cardan

MODEL = """<mujoco>{around}<worldbody><body name="b" pos="1 2 3" euler="10 20 30" {body}>{joint}
<geom type="box" size=".1 .2 .3" pos=".5 0 0" euler="0 0 20"/><geom size=".1" pos="0 .4 0"/>
<site name="s" pos=".1 .2 .3" euler="10 0 0"/><camera name="c" pos="0 0 1" mode="trackcom"/>
<light pos="0 0 2" dir="1 0 0"/>{inside}</body><body name="o"><geom size=".1"/></body></worldbody>
<equality><connect body1="b" body2="o" anchor=".1 .1 .1"/><weld body1="b" body2="o" relpose="1 2 3 1 0 0 0"/></equality>
<keyframe><key qpos="0 0 1 1 0 0 0"/><key/></keyframe></mujoco>"""
FIELDS = (
    *("body_pos", "body_quat", "body_ipos", "body_iquat", "body_inertia", "geom_pos", "geom_quat", "site_pos"),
    *("site_quat", "cam_pos", "cam_quat", "cam_poscom0", "light_pos", "light_dir", "qpos0", "qpos_spring", "key_qpos"),
    *("body_simple", "body_sameframe", "dof_simplenum", "body_invweight0"),
)
FETCH = """
m = mujoco.MjModel.from_xml_string(xml)
out = {name: np.array(getattr(m, name)) for name in fields}
"""
CASES = {
    "aligned": {"joint": '<freejoint align="true"/>'},
    "not aligned": {"joint": "<freejoint/>"},
    "in a frame": {"joint": '<frame pos="1 1 1"><freejoint align="true"/></frame>'},
    "with a child": {"joint": '<freejoint align="true"/>', "inside": '<body><geom size=".1"/></body>'},
    "all aligned": {"joint": '<joint type="free"/>', "around": '<compiler alignfree="true"/>'},
    "all but one": {"joint": '<freejoint align="false"/>', "around": '<compiler alignfree="true"/>'},
    "not simple": {"joint": '<freejoint align="true"/>', "body": 'simple="false"'},
}


def text(joint: str = "", body: str = "", inside: str = "", around: str = "") -> str:
    """The model's text with these parts."""
    return MODEL.format(joint=joint, body=body, inside=inside, around=around)


@pytest.mark.parametrize("name", CASES)
def test_fields(name: str) -> None:
    """All fields are those of 4.0.0."""
    xml = text(**CASES[name])
    there = later_run(FETCH, xml=xml, fields=FIELDS)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    for field in FIELDS:
        found = np.asarray(getattr(m, field), float)
        np.testing.assert_allclose(found, there[field].reshape(found.shape), rtol=1e-9, atol=1e-12, err_msg=field)


def test_same_motion() -> None:
    """Alignment changes coordinates, not the motion: what is attached to the body moves along the same path."""
    paths = []
    for align in ("true", "false"):
        xml = text(joint=f'<freejoint align="{align}"/>').replace("<equality>", "<custom/><!--").replace(
            "</equality>", "-->"
        )  # fmt: skip
        m = cardan.MjModel.from_xml_string(xml)
        d = cardan.MjData(m)
        d.xfrc_applied[1] = 1.0, 2.0, 3.0, 0.3, 0.2, 0.1
        for _ in range(50):
            cardan.mj_step(m, d)
        paths.append((d.site_xpos.copy(), d.geom_xpos.copy(), d.cam_xpos.copy(), d.light_xdir.copy()))
    for one, other in zip(*paths, strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-5)


def test_saved() -> None:
    """A saved model is aligned already."""
    spec = cardan.MjSpec.from_string(text(joint='<freejoint align="true"/>'))
    m = spec.compile()
    again = cardan.MjModel.from_xml_string(spec.to_xml())
    for field in FIELDS:
        np.testing.assert_allclose(getattr(again, field), getattr(m, field), rtol=1e-9, atol=1e-12, err_msg=field)


@pytest.mark.parametrize("fuse", ["auto", "false"])
def test_fuse(fuse: str) -> None:
    """A static body is kept where its attribute says so."""
    xml = f"""<mujoco><compiler fusestatic="true"/><worldbody><body name="m"><joint/><geom size=".1"/>
    <body name="s" fuse="{fuse}" pos="1 0 0"><geom size=".1"/></body></body></worldbody></mujoco>"""
    there = later_run("out = mujoco.MjModel.from_xml_string(xml).nbody", xml=xml)
    assert cardan.MjModel.from_xml_string(xml).nbody == there == (2 if fuse == "auto" else 3)
