"""Connect and weld constraints between sites (MuJoCo since 3.2.3)."""

import numpy as np
import pytest
from later import later_run, later_states

import cardan
from cardan.enums import mjtObj

SCENE = """<mujoco><option timestep="0.002"><flag contact="disable"/></option><worldbody>
<site name="w" pos="0.3 0.1 0.6" euler="20 -30 40"/>
<body name="a" pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .3"/>
<site name="a" pos=".2 .1 -.1" euler="10 50 -20"/>
<body name="c" pos=".4 0 0"><joint axis="0 1 0"/><geom type="capsule" size=".05 .2"/>
<site name="c" pos="0 .1 .2" euler="70 0 30"/></body></body>
<body name="b" pos="1 0 1" euler="0 20 0"><joint type="ball" pos="-.1 0 0"/><geom type="box" size=".1 .1 .2"/>
<site name="b" pos="-.2 .1 .1" euler="-40 30 10"/></body></worldbody>
<equality>%s</equality></mujoco>"""
CONSTRAINTS = {
    "connect": '<connect site1="a" site2="b"/>',
    "connect to the world": '<connect site1="c" site2="w" solref=".05 1"/>',
    "weld": '<weld site1="c" site2="b" torquescale="0.3"/>',
    "weld to the world": '<weld name="e" site1="w" site2="a" solimp=".8 .9 .01"/>',
    "both": '<weld site1="a" site2="w" torquescale="2"/><connect body1="b" anchor="0 0 .2"/>'
    '<connect site1="c" site2="b"/>',
}
VELOCITY = 0.3 * np.cos(np.arange(10))


def forward(xml: str, compat: str = "4.0") -> tuple[cardan.MjModel, cardan.MjData]:
    """Model and data after the forward dynamics with a velocity."""
    m = cardan.MjModel.from_xml_string(xml, compat=compat)
    d = cardan.MjData(m)
    d.qvel[:] = VELOCITY
    cardan.mj_forward(m, d)
    return m, d


ROWS = """
m = mujoco.MjModel.from_xml_string(xml)
m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
d = mujoco.MjData(m)
d.qvel[:] = velocity
mujoco.mj_forward(m, d)
out = {name: np.array(getattr(d, "efc_" + name)) for name in ("J", "pos", "D", "aref", "force")}
out["J"] = out["J"].reshape(-1, m.nv)
out |= {name: np.array(getattr(m, name)) for name in ("eq_objtype", "eq_obj1id", "eq_obj2id")}
out["eq_data"] = np.array(m.eq_data)[:, :11]
"""


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_rows(name: str) -> None:
    """Residuals, Jacobians, parameters and references of the rows, and the fields of the model."""
    xml = SCENE % CONSTRAINTS[name]
    there = later_run(ROWS, xml=xml, velocity=VELOCITY)
    m, d = forward(xml)
    for field in ("eq_objtype", "eq_obj1id", "eq_obj2id", "eq_data"):
        np.testing.assert_allclose(getattr(m, field), there[field], rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(d.efc_J.reshape(-1, m.nv), there["J"], rtol=0.0, atol=1e-12)
    for field in ("pos", "D", "aref"):
        np.testing.assert_allclose(getattr(d, f"efc_{field}"), there[field], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(d.efc_force, there["force"], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_steps(name: str) -> None:
    """Sites that are apart at the start come together as in 4.0.0."""
    xml = SCENE % CONSTRAINTS[name]
    there = later_states(xml, 50, {"qvel": VELOCITY}, ("qpos", "qvel"))
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    d = cardan.MjData(m)
    d.qvel[:] = VELOCITY
    for _ in range(50):
        cardan.mj_step(m, d)
    np.testing.assert_allclose(d.qpos, there["qpos"], rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(d.qvel, there["qvel"], rtol=0.0, atol=1e-5)


@pytest.mark.parametrize("tag", ["connect", "weld"])
def test_equals_bodies(tag: str) -> None:
    """Where the sites coincide at the start, the constraint equals that of their bodies."""
    text = """<mujoco><worldbody>
    <body name="a" pos="0.4 0.3 1.1" quat="0.8 0 0.6 0"><freejoint/><geom size=".1"/><site name="a" pos="0 0 0"/></body>
    <body name="b" pos="0 0 1"><freejoint/><geom size=".1"/><site name="b" {}/></body></worldbody>
    <equality>{}</equality></mujoco>"""
    pos = 'pos="0.4 0.3 0.1" quat="0.8 0 0.6 0"'
    names = {"connect": 'body1="a" body2="b" anchor="0 0 0"', "weld": 'body1="b" body2="a"'}
    sites = {"connect": 'site1="a" site2="b"', "weld": 'site1="b" site2="a"'}
    _, one = forward_free(text.format(pos, f"<{tag} {names[tag]}/>"))
    _, other = forward_free(text.format(pos, f"<{tag} {sites[tag]}/>"))
    np.testing.assert_allclose(one.qacc, other.qacc, rtol=1e-9, atol=1e-9)


def forward_free(xml: str) -> tuple[cardan.MjModel, cardan.MjData]:
    """Model and data after the forward dynamics of a model of two free bodies in motion."""
    m = cardan.MjModel.from_xml_string(xml)
    d = cardan.MjData(m)
    d.qvel[:] = np.sin(np.arange(m.nv))
    cardan.mj_forward(m, d)
    return m, d


def test_moved_site() -> None:
    """Editing the pose of a site moves the anchor, without compiling again."""
    xml = SCENE % CONSTRAINTS["weld"]
    m, d = forward(xml)
    before = d.efc_pos.copy()
    m.site_pos[m.site("c").id] += 0.1
    m.site_quat[m.site("b").id] = (0.6, 0.8, 0.0, 0.0)
    cardan.mj_forward(m, d)
    assert np.abs(d.efc_pos - before).min() > 1e-3


def test_saved() -> None:
    """Saved models and structs keep the sites; the objects of a struct can be changed."""
    xml = SCENE % CONSTRAINTS["both"]
    spec = cardan.MjSpec.from_string(xml)
    weld, _, connect = spec.equalities
    assert (weld.objtype, weld.name1, weld.name2) == (mjtObj.mjOBJ_SITE, "a", "w")
    m = spec.compile()
    again = cardan.MjModel.from_xml_string(spec.to_xml())
    for field in ("eq_objtype", "eq_obj1id", "eq_obj2id", "eq_data"):
        np.testing.assert_allclose(getattr(again, field), getattr(m, field), rtol=0.0, atol=1e-12)
    connect.objtype = mjtObj.mjOBJ_BODY
    connect.name1, connect.name2, connect.data[:3] = "b", "c", (0.0, 0.0, 0.1)
    assert spec.compile().eq_objtype[2] == mjtObj.mjOBJ_BODY
    added = spec.add_equality(type=cardan.mjtEq.mjEQ_CONNECT, objtype=mjtObj.mjOBJ_SITE, name1="a", name2="b")
    assert added.objtype == mjtObj.mjOBJ_SITE
    assert spec.compile().eq_objtype[3] == mjtObj.mjOBJ_SITE


def test_forces_on_bodies() -> None:
    """The constraint's force counts as an external force of its two bodies: they balance the equations of motion."""
    m, d = forward(SCENE % CONSTRAINTS["weld"], compat="3.1")
    cardan.mj_rnePostConstraint(m, d)
    both = d.cfrc_ext[m.body("c").id] + d.cfrc_ext[m.body("b").id]
    total = np.zeros(3)
    for name, row in (("c", 0), ("b", 1)):
        total += (-1.0) ** row * d.cfrc_ext[m.body(name).id][3:]
    np.testing.assert_allclose(both[3:], 0.0, rtol=0.0, atol=1e-10)
    np.testing.assert_allclose(np.abs(total), 2.0 * np.abs(d.efc_force[:3]), rtol=1e-10)


def test_kinds_of_other_objects() -> None:
    """Only connects and welds have a kind of objects, as in 4.0.0; other constraints are saved by their type."""
    xml = """
<mujoco><worldbody><body><joint name="x" axis="1 0 0" type="slide"/><joint name="y" type="slide"/><geom size=".1"/>
</body></worldbody><tendon><fixed name="t"><joint joint="x" coef="2"/></fixed></tendon>
<equality><joint joint1="x" joint2="y"/><tendon tendon1="t"/><connect body1="b" anchor="0 0 0"/></equality>
</mujoco>""".replace("<body>", '<body name="b">')
    there = later_run("out = mujoco.MjModel.from_xml_string(xml).eq_objtype.tolist()", xml=xml)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    assert m.eq_objtype.tolist() == there
    again = cardan.MjModel.from_xml_string(m.to_xml())
    for field in ("eq_objtype", "eq_obj1id", "eq_obj2id", "eq_data"):
        np.testing.assert_allclose(getattr(again, field), getattr(m, field), rtol=0.0, atol=1e-12)
