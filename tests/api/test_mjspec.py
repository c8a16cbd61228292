"""MjSpec: building, looking up, editing, deleting, attaching, recompiling; errors that help."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest

import cardan as mujoco
from cardan.errors import MjcfError

ARM = """<mujoco>
  <compiler angle="degree" eulerseq="zyx"/>
  <default><geom rgba="1 0 0 1"/><joint range="-90 90"/><default class="big"><geom size=".3"/></default></default>
  <asset><texture name="t" type="2d" builtin="flat" width="4" height="4"/><material name="m" texture="t"/></asset>
  <worldbody>
    <geom name="base" type="box" size=".1 .1 .1" contype="0" conaffinity="0" euler="30 20 10"/>
    <body name="upper" pos="0 0 1"><joint name="s" axis="0 1 0" ref="10"/><geom name="u" class="big" material="m"/>
      <site name="tip"/><body name="lower" pos=".5 0 0"><joint name="e" axis="0 1 0"/><geom name="l" size=".1"/></body>
    </body>
    <body name="ball" pos="3 0 0" euler="30 20 10"><freejoint name="f"/><geom size=".1"/></body>
  </worldbody>
  <contact><exclude name="x" body1="upper" body2="lower"/></contact>
  <equality><joint name="q" joint1="s" joint2="e"/></equality>
  <tendon><fixed name="td"><joint joint="s" coef="1"/><joint joint="e" coef="2"/></fixed></tendon>
  <actuator><position name="a" joint="s" kp="5"/><motor name="b" tendon="td"/></actuator>
  <sensor><jointpos name="p" joint="e"/><actuatorfrc name="af" actuator="b"/>
    <framepos name="fp" objtype="site" objname="tip" reftype="body" refname="world"/></sensor>
  <keyframe><key name="k" qpos=".1 .2 1 2 3 1 0 0 0" ctrl=".3 .4"/></keyframe>
</mujoco>"""


@pytest.fixture
def spec() -> mujoco.MjSpec:
    return mujoco.MjSpec.from_string(ARM)


def pendulum() -> mujoco.MjSpec:
    """A pendulum, built from nothing."""
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name="pole", pos=[0, 0, 1])
    body.add_joint(name="hinge", axis=[0, 1, 0])
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=[0, 0, 0, 0, 0, -0.5], size=[0.05, 0, 0])
    return spec


def test_build_and_simulate() -> None:
    spec = pendulum()
    spec.modelname = "pendulum"
    spec.option.timestep = 0.01
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    actuator = spec.add_actuator(name="servo", target="hinge", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    actuator.set_to_position(kp=10, kv=1)
    sensor = spec.add_sensor(name="angle", objname="hinge", type=mujoco.mjtSensor.mjSENS_JOINTPOS)
    m = spec.compile()
    assert (m.nq, m.nu, m.nsensor, m.opt.timestep) == (1, 1, 1, 0.01)
    assert m.opt.disableflags == mujoco.mjtDisableBit.mjDSBL_CONTACT
    assert sensor.objtype == mujoco.mjtObj.mjOBJ_UNKNOWN and sensor.objname == "hinge"
    d = mujoco.MjData(m)
    d.ctrl[0] = 0.5
    for _ in range(300):
        mujoco.mj_step(m, d)
    assert 0 < d.sensordata[0] < 0.5


def test_attributes_have_the_types_of_the_reference() -> None:
    geom = pendulum().geoms[0]
    assert geom.type == mujoco.mjtGeom.mjGEOM_CAPSULE and np.isnan(geom.mass) and geom.material == ""
    assert isinstance(geom.size, np.ndarray) and geom.size.shape == (3,) and geom.rgba.tolist() == [0.5, 0.5, 0.5, 1]
    geom.size[0] = 0.1
    geom.friction[1:] = 0.5
    geom.solref *= 2
    assert (geom.size[0], geom.friction.tolist(), geom.solref.tolist()) == (0.1, [1, 0.5, 0.5], [0.04, 2])
    geom.type = "sphere"
    assert geom.type == mujoco.mjtGeom.mjGEOM_SPHERE
    scaled = geom.size * 2
    scaled[0] = 7
    assert geom.size[0] == 0.1
    geom.fromto = np.nan
    assert np.isnan(geom.fromto).all()


def test_one_orientation_at_a_time(spec: mujoco.MjSpec) -> None:
    base = spec.geom("base")
    assert base.alt.type == mujoco.mjtOrientation.mjORIENTATION_EULER
    base.quat = [0, 1, 0, 0]
    assert base.alt.type == mujoco.mjtOrientation.mjORIENTATION_QUAT and np.isnan(base.alt.euler).all()
    base.alt.axisangle = [0, 0, 1, 90]
    assert spec.compile().geom("base").quat[3] == pytest.approx(np.sqrt(0.5))
    assert spec.worldbody.add_site(euler=[1, 2, 3]).alt.euler.tolist() == [1, 2, 3]


def test_look_up_and_walk(spec: mujoco.MjSpec) -> None:
    upper = spec.body("upper")
    assert spec.body("upper") is upper and spec.body("nobody") is None
    assert [body.name for body in spec.bodies] == ["world", "upper", "lower", "ball"]
    assert [geom.name for geom in upper.geoms] == ["u"] and upper.bodies == [spec.body("lower")]
    assert spec.joint("e").parent.parent is upper and spec.joint("e").frame is None
    assert [j.name for j in upper.find_all(mujoco.mjtObj.mjOBJ_JOINT)] == ["s", "e"]
    assert spec.worldbody.find_child("lower") is spec.body("lower")
    assert [a.trntype.name for a in spec.actuators] == ["mjTRN_JOINT", "mjTRN_TENDON"]
    assert spec.sensor("fp").reftype == mujoco.mjtObj.mjOBJ_BODY
    m = spec.compile()
    assert [spec.geom("l").id, spec.body("ball").id, spec.actuator("b").id] == [m.geom("l").id, 3, 1]
    assert spec.geom("u").classname.name == "big" and spec.material("m").textures[1] == "t"


def test_defaults() -> None:
    spec = pendulum()
    spec.default.geom.rgba = [0, 1, 0, 1]
    loud = spec.add_default("loud")
    loud.geom.rgba[0] = 1
    loud.actuator.gear[0] = 3
    body = spec.body("pole")
    body.add_geom(loud, name="g", size=[0.1, 0, 0])
    body.add_geom("loud", name="h", size=[0.1, 0, 0], rgba=[1, 1, 1, 1])
    m = spec.compile()
    assert [m.geom(i).rgba.tolist() for i in range(3)] == [[0, 1, 0, 1], [1, 1, 0, 1], [1, 1, 1, 1]]
    with pytest.raises(MjcfError, match=r"<geom name='g'> class: is of the default class 'loud'"):
        spec.delete(loud)
    with pytest.raises(MjcfError, match="there is no default class 'loudd'; did you mean 'loud'"):
        body.add_geom("loudd")


def test_inertial_frames() -> None:
    spec = pendulum()
    body = spec.body("pole")
    assert not body.explicitinertial
    body.mass, body.inertia, body.ipos = 2, [1, 2, 2.5], [0, 0, 0.1]
    m = spec.compile()
    assert (m.body_mass[1], m.body_inertia[1].tolist(), m.body_ipos[1, 2]) == (2, [1, 2, 2.5], 0.1)
    body.explicitinertial = False
    assert spec.compile().body_mass[1] != 2


def test_tendons_equalities_tuples() -> None:
    spec = pendulum()
    tendon = spec.add_tendon(name="t")
    tendon.wrap_joint("hinge", 2.0)
    assert tendon.path[0].coef == 2 and tendon.path[0].target is spec.joint("hinge")
    with pytest.raises(MjcfError, match="<fixed name='t'>: a fixed tendon has no <site>"):
        tendon.wrap_site("x")
    eq = spec.add_equality(name="e", type=mujoco.mjtEq.mjEQ_JOINT, name1="hinge", data=[0.1, 2])
    eq.data[2] = 3
    spec.add_tuple(name="u", objtype=[mujoco.mjtObj.mjOBJ_BODY], objname=["pole"], objprm=[4])
    m = spec.compile()
    assert m.eq_data[0, :3].tolist() == [0.1, 2, 3] and m.tuple_objprm.tolist() == [4] and m.wrap_prm.tolist() == [2]


def test_shortcuts_become_general_when_they_must(spec: mujoco.MjSpec) -> None:
    actuator = spec.actuator("a")
    assert actuator.biasprm[:2].tolist() == [0, -5]
    actuator.gainprm[0] = 6
    actuator.dyntype = mujoco.mjtDyn.mjDYN_INTEGRATOR
    m = spec.compile()
    assert (m.actuator_gainprm[0, 0], m.actuator_biasprm[0, 1], m.na) == (6, -5, 1)


def test_delete_takes_along_what_refers(spec: mujoco.MjSpec) -> None:
    spec.delete(spec.body("upper"))
    m = spec.compile()
    assert (m.nbody, m.njnt, m.neq, m.ntendon, m.nu, m.nsensor, m.nexclude) == (2, 1, 0, 0, 0, 0, 0)
    assert m.key_qpos.tolist() == [[1, 2, 3, 1, 0, 0, 0]]
    with pytest.raises(MjcfError, match="the world body can't be deleted"):
        spec.delete(spec.worldbody)


def test_deleted_materials_are_dropped_from_what_they_cover(spec: mujoco.MjSpec) -> None:
    spec.delete(spec.texture("t"))
    spec.delete(spec.material("m"))
    m = spec.compile()
    assert (m.nmat, m.ntex, m.ngeom, m.geom_matid.tolist()) == (0, 0, 4, [-1] * 4)


def test_attach_brings_everything(spec: mujoco.MjSpec) -> None:
    alone = spec.compile()
    parent = pendulum()
    parent.compiler.degree = False
    parent.default.geom.density = 500
    parent.add_key(name="start", qpos=[0.7])
    for number in range(2):
        parent.attach(spec, prefix=f"{number}-", frame=parent.worldbody.add_frame(pos=[0, number, 0]))
    m = parent.compile()
    assert (m.njnt, m.nu, m.nsensor, m.neq, m.ntendon, m.nmat, m.nexclude) == (7, 4, 6, 2, 2, 2, 2)
    # angles, classes and materials are those of the child
    np.testing.assert_allclose(m.joint("1-s").range, alone.joint("s").range)
    np.testing.assert_allclose(m.joint("1-s").qpos0, alone.joint("s").qpos0)
    np.testing.assert_allclose(m.geom("0-base").quat, alone.geom("base").quat)
    np.testing.assert_allclose(m.body("0-ball").quat, alone.body("ball").quat)
    np.testing.assert_allclose(m.body("0-lower").mass, alone.body("lower").mass)
    assert m.geom("0-u").matid[0] == m.material("0-m").id and m.geom("0-l").rgba.tolist() == [1, 0, 0, 1]
    # keyframes of both, the rest as in the initial configuration
    assert m.key("start").qpos[0] == 0.7 and m.key("1-k").qpos[0] == 0
    np.testing.assert_array_equal(m.key("1-k").qpos[-9:], alone.key("k").qpos)
    np.testing.assert_array_equal(m.key("0-k").ctrl, [0.3, 0.4, 0, 0])
    again = mujoco.MjModel.from_xml_string(parent.to_xml())
    np.testing.assert_allclose(again.body_inertia, m.body_inertia, rtol=1e-9)


def test_a_failed_attachment_changes_nothing(spec: mujoco.MjSpec) -> None:
    child = mujoco.MjSpec.from_string(
        """<mujoco><default class="top"><geom size=".3"/><default class="b"/></default><size nkey="1"/>
        <worldbody><body name="new"><joint name="j"/><geom/></body></worldbody></mujoco>"""
    )
    xml = """<mujoco><default><default class="x-b"/></default><worldbody><site name="at"/><body name="own">
        <joint/><geom size=".1"/></body></worldbody><keyframe><key qpos="1"/></keyframe></mujoco>"""
    parent = mujoco.MjSpec.from_string(xml)
    before = parent.to_xml()
    frame = parent.worldbody.add_frame()
    for attach in (
        lambda: parent.attach(child, prefix="x-", frame=frame),
        lambda: parent.attach(child, prefix="x-", site="at"),
        lambda: parent.site("at").attach_body(child.body("new"), "x-", ""),
        lambda: frame.attach_body(child.body("new"), "x-", ""),
    ):
        with pytest.raises(MjcfError, match="has a default class 'x-b' already"):
            attach()
        assert [cls.name for cls in parent.tree.defaults] == ["main", "x-b"]
        assert [part.tag for part in parent.worldbody.element.children] == ["site", "body", "frame"]
        assert not frame.element.children
    assert parent.to_xml() == before
    assert parent.compile().key_qpos.tolist() == [[1.0]]


def test_attach_parts(spec: mujoco.MjSpec) -> None:
    parent = pendulum()
    site = parent.body("pole").add_site(name="hand", pos=[0, 0, -0.5], axisangle=[0, 0, 1, 90])
    body = site.attach_body(spec.body("lower"), "a-", "-z")
    assert body.name == "a-lower-z" and body.parent is parent.body("pole")
    m = parent.compile()
    # what refers to the upper arm as well stays behind
    assert (m.nbody, m.njnt, m.nsensor, m.neq, m.nu) == (3, 2, 1, 0, 0)
    assert m.body("a-lower-z").pos[2] == -0.5
    frame = parent.attach(pendulum(), prefix="p-", site="hand")
    assert frame.bodies == [] if hasattr(type(frame), "bodies") else True
    assert parent.compile().nbody == 4


def tetrahedron(size: int) -> bytes:
    """A mesh."""
    return f"v 0 0 0\nv {size} 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n".encode()


MESHED = """<mujoco><asset><mesh name="m" file="{0}"/></asset>
<worldbody><body name="b"><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("name", ["x.obj", "other/x.obj"])
def test_attached_models_keep_their_files(name: str, tmp_path: Path) -> None:
    """Files of the same name must have the same content, whether they are in memory or on the disk."""
    parent = mujoco.MjSpec.from_string(MESHED.format("x.obj"), {"x.obj": tetrahedron(1)})
    frame = parent.worldbody.add_frame()
    for size in (1, 2):
        child = mujoco.MjSpec.from_string(MESHED.format(name), {name: tetrahedron(size)})
        (tmp_path / "x.obj").write_bytes(tetrahedron(size))
        (tmp_path / "child.xml").write_text(MESHED.format("x.obj"))
        for number, source in enumerate((child, mujoco.MjSpec.from_file(str(tmp_path / "child.xml")))):
            if size == 1:
                frame.attach_body(source.body("b"), f"{number}-", "")
                continue
            with pytest.raises(MjcfError, match=r"<mesh name='m'> file: the asset 'x\.obj' of the target has another"):
                frame.attach_body(source.body("b"), f"{number}+", "")
    assert parent.copy().compile().nmesh == 3


def test_attaching_twice_needs_another_prefix(spec: mujoco.MjSpec) -> None:
    parent = mujoco.MjSpec()
    frame = parent.worldbody.add_frame()
    parent.attach(spec, prefix="a-", frame=frame)
    with pytest.raises(MjcfError, match="has a geom named 'a-base' already; attach with another prefix"):
        parent.attach(spec, prefix="a-", frame=frame)
    assert parent.compile().nbody == 4


def test_recompile_keeps_the_state(spec: mujoco.MjSpec) -> None:
    m = spec.compile()
    d = mujoco.MjData(m)
    d.qpos[:2], d.qvel[:], d.ctrl[:], d.time = [0.3, 0.4], np.arange(8), [5, 6], 2.5
    d.xfrc_applied[2, 0] = 9
    spec.delete(spec.joint("s"))
    spec.body("ball").add_geom(name="new", size=[0.2, 0, 0])
    new = spec.worldbody.add_body(name="new")
    new.add_freejoint()
    new.add_geom(size=[0.1, 0, 0])
    m2, d2 = spec.recompile(m, d)
    assert (m2.nq, m2.nu, d2.time) == (1 + 7 + 7, 0, 2.5)
    assert d2.qpos[0] == 0.4 and d2.qvel[:7].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert d2.qpos[8:].tolist() == [0, 0, 0, 1, 0, 0, 0] and d2.xfrc_applied[2, 0] == 9
    with pytest.raises(ValueError, match="last compiled"):
        spec.recompile(m, d)


def test_copies_are_independent(spec: mujoco.MjSpec) -> None:
    other = copy.deepcopy(spec)
    other.geom("l").name = "changed"
    other.default.geom.rgba = [0, 0, 1, 1]
    assert spec.geom("l").rgba.tolist() == [1, 0, 0, 1] and spec.geom("changed") is None
    assert other.compile().ngeom == spec.compile().ngeom


WRONG = {
    "add_geom(sizee=1)": (TypeError, "MjsGeom has no attribute 'sizee'; did you mean 'size'"),
    "add_geom(name='g', size=[1, 2, 3, 4])": (ValueError, "size should be a list/array of size 1 to 3."),
    "add_geom(name='g', rgba='red')": (MjcfError, "<geom name='g'> rgba: expected numbers, found 'red'"),
    "add_geom(type=99)": (MjcfError, "<geom> type: 99 is not one of its values; expected one of mjGEOM_PLANE"),
    "add_geom(type='bx')": (MjcfError, "<geom> type: 'bx' is not one of its keywords; did you mean 'box'"),
    "add_geom(condim=1.5)": (MjcfError, "<geom> condim: expected integers, found 1.5"),
    "add_geom(contype=2**40)": (MjcfError, "<geom> contype: integers have 32 bits"),
    "add_body(mocap='yes')": (MjcfError, "<body> mocap: expected True or False, found 'yes'"),
    "add_freejoint(damping=1)": (
        TypeError,
        "Invalid damping keyword argument. Valid options are: align, group, name.",
    ),
}


@pytest.mark.parametrize("call", WRONG)
def test_wrong_values_name_element_and_attribute(call: str) -> None:
    kind, message = WRONG[call]
    body = pendulum().body("pole")
    with pytest.raises(kind) as caught:
        eval(f"body.{call}", {"body": body})
    assert message in str(caught.value)
    assert len(body.geoms) == 1 and not body.bodies and len(body.joints) == 1


def test_unknown_attributes_are_errors(spec: mujoco.MjSpec) -> None:
    with pytest.raises(AttributeError, match="MjsGeom has no attribute 'siz'; did you mean 'size'"):
        spec.geoms[0].siz = 1
    with pytest.raises(AttributeError, match="did you mean 'modelname'"):
        spec.modelnam = "x"
    with pytest.raises(AttributeError, match="did you mean 'timestep'"):
        spec.option.timestp = 1


def test_article_before_a_vowel() -> None:
    spec = pendulum()
    actuator = spec.add_actuator(name="q", trntype=mujoco.mjtTrn.mjTRN_JOINT, target="hinge")
    with pytest.raises(MjcfError, match="an adhesion actuator has no joint"):
        actuator.set_to_adhesion(gain=1)


def test_what_is_incomplete_is_found_when_compiling() -> None:
    for add, message in {
        "add_actuator(name='q')": "<general name='q'> trntype: an actuator needs trntype and target",
        "add_tendon(name='q')": "<spatial name='q'>: a tendon needs a path",
        "add_sensor(name='q', objtype=3, objname='hinge')": "a touch sensor takes mjOBJ_SITE here",
        "add_exclude(name='q', bodyname1='pole')": "<exclude name='q'> body2: required attribute missing",
        "add_pair(geomname1='x', geomname2='y')": "there is no geom named 'x'",
        "add_tuple(name='q', objname=['pole'])": "must have equally many",
    }.items():
        spec = pendulum()
        eval(f"spec.{add}", {"spec": spec})
        with pytest.raises(MjcfError) as caught:
            spec.compile()
        assert message in str(caught.value)
