"""The parts of `MjSpec` that came with MuJoCo 3.2 to 4.0, compared with 4.0.0 where it is installed."""

from __future__ import annotations

import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from later import later_run

import cardan as mujoco
from cardan import MjSpec
from cardan.errors import FatalError, MjcfError
from cardan.spec import layout as layout_module

ARM = """
<mujoco>
  <compiler angle="degree"/>
  <default><geom density="500"/></default>
  <worldbody>
    <body name="arm" pos="0 0 1">
      <joint name="shoulder" range="-90 90"/>
      <geom name="upper" type="capsule" size=".05 .2"/>
      <frame pos="0 0 .4" euler="0 90 0">
        <body name="hand" pos=".1 0 0">
          <geom name="palm" type="box" size=".1 .1 .02"/>
          <site name="tip" pos="0 0 .1"/>
        </body>
      </frame>
    </body>
  </worldbody>
  <actuator><position name="servo" joint="shoulder" kp="5"/></actuator>
  <sensor><framepos name="at" objtype="site" objname="tip"/></sensor>
  <keyframe><key name="home" qpos=".5"/></keyframe>
</mujoco>
"""


ATTACHED = """
parent, child = mujoco.MjSpec(), mujoco.MjSpec.from_string(xml)
parent.attach(child, frame=parent.worldbody.add_frame(pos=[1, 0, 0]), prefix="a-")
parent.body("a-hand").pos = [0.3, 0, 0]
m = parent.compile()
out = m.body_pos, m.jnt_range, m.key_qpos, [b.name for b in child.bodies]
"""
COPIED_BACK = """
m = spec.compile()
m.body("hand").pos[:] = [.2, .1, 1]
m.joint("shoulder").range[1] = 1
m.actuator("servo").gainprm[0] = 7
m.geom("palm").size[0] = .2
m.opt.timestep = .004
m.key("home").qpos[0] = .25
spec.copy_back(m)
out = [np.array(spec.body("hand").pos), spec.joint("shoulder").range[1], spec.actuator("servo").gainprm[0],
       spec.geom("palm").size[0], spec.option.timestep, spec.key("home").qpos[0]]
"""


def arm(compat: str = "4.0") -> MjSpec:
    return MjSpec.from_string(ARM, compat=compat)


def attached() -> tuple[MjSpec, MjSpec]:
    """A specification with a copy of the arm in a frame, without a copy: parent and child."""
    parent, child = MjSpec(compat="4.0"), arm()
    parent.attach(child, frame=parent.worldbody.add_frame(pos=[1, 0, 0]), prefix="a-")
    return parent, child


# --- attaching -------------------------------------------------------------------------------------------------------


def test_attached_elements_are_shared() -> None:
    parent, child = attached()
    hand = child.body("hand") or parent.body("a-hand")
    assert parent.body("a-hand") is hand
    assert [body.name for body in child.bodies] == ["world", "a-arm", "a-hand"]
    hand.pos = [0.3, 0, 0]
    parent.joint("a-shoulder").damping = 2
    assert child.joints[0].damping[0] == 2
    model = parent.compile()
    np.testing.assert_allclose(model.body("a-hand").pos, [0, 0, 0.1], atol=1e-12)
    assert child.parent is parent and hand.compiler.degree
    assert parent.key("a-home").qpos[0] == 0.5
    expected = later_run(ATTACHED, xml=ARM)
    for found, wanted in zip((model.body_pos, model.jnt_range, model.key_qpos), expected, strict=False):
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    assert [body.name for body in child.bodies] == expected[3]


def test_an_attached_child_is_part_of_its_parent() -> None:
    parent, child = attached()
    with pytest.raises(ValueError, match="attached by reference"):
        child.compile()
    with pytest.raises(ValueError, match="already attached"):
        parent.attach(child, frame=parent.frames[0], prefix="b-")
    with pytest.raises(ValueError, match="attached mjSpec"):
        child.delete(child.geoms[0])
    with pytest.raises(ValueError, match="enable deep copy"):
        parent.frames[0].attach_body(parent.body("a-arm"), "c-")
    parent.copy_during_attach = True
    copy = parent.frames[0].attach_body(parent.body("a-hand"), "c-")
    assert copy.name == "c-a-hand" and copy is not parent.body("a-hand")


def test_attaching_copies_with_compat_3_1() -> None:
    parent, child = MjSpec(compat="3.1"), arm("3.1")
    parent.attach(child, frame=parent.worldbody.add_frame(), prefix="a-")
    assert parent.copy_during_attach and child.body("arm").name == "arm"
    assert child.compile().nbody == parent.compile().nbody


def test_files_of_a_child_get_prefix_and_suffix() -> None:
    parent, child = MjSpec(compat="4.0"), MjSpec(compat="4.0")
    child.assets = {"path/box.obj": b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1"}
    child.add_mesh(name="box", file="path/box.obj")
    child.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname="box")
    parent.attach(child, frame=parent.worldbody.add_frame(), prefix="p-", suffix="-s")
    assert list(parent.assets) == ["path/p-box-s.obj"] and parent.meshes[0].file == "path/p-box-s.obj"
    assert parent.compile().nmesh == 1


def test_settings_are_merged_by_compiler_conflict() -> None:
    parent, child = MjSpec(compat="4.0"), arm()
    parent.compiler.conflict = "merge"
    parent.option.timestep, child.option.timestep = 0.005, 0.001
    child.option.integrator = "RK4"
    parent.option.integrator = "implicit"
    with pytest.raises(ValueError, match="integrator"):
        parent.attach(child, frame=parent.worldbody.add_frame(), prefix="a-")
    assert parent.option.timestep == 0.005
    child.option.integrator = "implicit"
    parent.attach(child, frame=parent.worldbody.add_frame(), prefix="a-")
    assert parent.option.timestep == 0.001


def test_the_world_of_a_child_becomes_a_body() -> None:
    parent, child = MjSpec(compat="4.0"), arm()
    child.worldbody.add_geom(size=[0.1, 0, 0])
    body = parent.worldbody.add_site(pos=[1, 2, 3]).attach_body(child.worldbody, "a-")
    assert [part.name for part in parent.bodies] == ["world", "a-world", "a-arm", "a-hand"] and body.name == "a-world"
    body.add_freejoint()
    assert parent.compile().nv == 7 and len(parent.sensors) == 1


# --- binding ---------------------------------------------------------------------------------------------------------


def test_bind() -> None:
    spec = arm()
    model = spec.compile()
    data = mujoco.MjData(model)
    joint = spec.joint("shoulder")
    data.bind(joint).qpos = 0.3
    assert data.qpos[0] == 0.3 and model.bind(joint).name == "shoulder"
    geoms = model.bind(spec.geoms)
    assert geoms.id == [0, 1] and len(geoms.pos) == 6
    geoms.margin = [0.1, 0.2]
    np.testing.assert_array_equal(model.geom_margin, [0.1, 0.2])
    with pytest.raises(ValueError, match="expected 2 values"):
        geoms.margin = [0.1]
    with pytest.raises(TypeError, match="elements of a MjSpec"):
        model.bind("arm")  # type: ignore[arg-type]
    assert spec.signature == model.signature == mujoco.MjModel.from_xml_string(ARM, compat="4.0").signature
    geom = spec.body("arm").add_geom(size=[0.1, 0, 0])
    with pytest.raises(ValueError, match="does not match"):
        model.bind(geom)
    spec.delete(geom)
    assert spec.compile().signature == model.signature
    with pytest.raises(IndexError, match="Invalid index -1"):
        model.bind(geom)


@pytest.mark.parametrize("values", [{"mass": 1}, {"mass": 1, "inertia": [1, 1, 1]}])
def test_an_inertial_frame_that_is_not_explicit(values: dict[str, Any]) -> None:
    spec = MjSpec(compat="4.0")
    body = spec.worldbody.add_body(**values)
    geom = body.add_geom(size=[0.1, 0, 0])
    body.add_freejoint()
    mass = later_run("s = mujoco.MjSpec(); b = s.worldbody.add_body(**values); b.add_geom(size=[.1, 0, 0]);"
                     "b.add_freejoint(); out = s.compile().body_mass[1]", values=values)  # fmt: skip
    assert not body.explicitinertial
    assert spec.copy().compile().body_mass[1] == pytest.approx(mass)
    spec.delete(geom)
    if "inertia" in values:
        assert spec.compile().body_mass[1] == 1
        body.add_geom(size=[0.1, 0, 0])
        body.explicitinertial = True
        assert spec.compile().body_mass[1] == 1


# --- changes to the whole --------------------------------------------------------------------------------------------


def test_copy_back() -> None:
    names: dict[str, Any] = {"np": np, "spec": arm()}
    exec(COPIED_BACK, names)
    wanted = later_run("spec = mujoco.MjSpec.from_string(xml)" + COPIED_BACK, xml=ARM)
    for found, value in zip(names["out"], wanted, strict=True):
        np.testing.assert_allclose(found, value, atol=1e-12)


def test_copy_back_refuses_what_the_specification_cannot_express() -> None:
    spec = arm()
    model = spec.compile()
    model.geom("palm").size[0], model.jnt_type[0] = 0.3, int(mujoco.mjtJoint.mjJNT_SLIDE)
    model.body_mass[1] = 3
    spec.compiler.inertiafromgeom = "true"
    model = spec.compile()
    model.body_mass[1], model.geom("palm").size[0] = 3, 0.3
    with pytest.raises(ValueError, match="body 'arm': inertial mass was changed in the model"):
        spec.copy_back(model)
    assert spec.geom("palm").size[0] == 0.1
    with pytest.raises(ValueError, match="incompatible"):
        spec.copy_back(MjSpec(compat="4.0").compile())


def test_fused_bodies_keep_the_model() -> None:
    spec = arm()
    whole = spec.compile()
    assert spec.fuse_static() == 1
    fused = spec.compile()
    assert fused.nbody == 2 and spec.body("hand") is None
    assert spec.geom("palm").frame.pos[0] == 0.1
    np.testing.assert_allclose(fused.body("arm").mass, whole.body("arm").mass + whole.body("hand").mass)
    wanted = later_run("spec = mujoco.MjSpec.from_string(xml); spec.fuse_static(); m = spec.compile();"
                       "out = m.geom_pos, m.body_inertia, m.key_qpos", xml=ARM)  # fmt: skip
    for found, value in zip((fused.geom_pos, fused.body_inertia, fused.key_qpos), wanted, strict=True):
        np.testing.assert_allclose(found, value, atol=1e-12)


def test_fused_inertial_frames_are_added() -> None:
    spec = arm()
    spec.adopt_inertial(spec.body("hand"))
    spec.adopt_inertial(spec.body("arm"))
    spec.fuse_static()
    other = arm()
    other.fuse_static()
    np.testing.assert_allclose(spec.compile().body_mass, other.compile().body_mass)


def test_discarded_visuals_leave_the_inertia() -> None:
    spec = arm()
    spec.geom("palm").contype = spec.geom("palm").conaffinity = 0
    spec.add_material(name="red")
    whole = spec.compile()
    assert spec.discard_visual() == 2
    assert spec.geom("palm") is None and spec.material("red") is None
    np.testing.assert_allclose(spec.compile().body_mass, whole.body_mass)
    assert spec.body("hand").explicitinertial


def test_equal_assets_are_merged() -> None:
    spec = MjSpec(compat="4.0")
    for name, scale in (("a", 1), ("b", 1), ("c", 2)):
        mesh = spec.add_mesh(name=name, scale=[scale] * 3)
        mesh.uservert = [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name)
    assert spec.dedup_assets() == 1
    assert [geom.meshname for geom in spec.geoms] == ["a", "a", "c"]
    assert spec.compile().nmesh == 2


def test_a_body_becomes_a_frame() -> None:
    spec = arm()
    frame = spec.body("hand").to_frame()
    assert frame.parent is spec.body("arm") and [geom.name for geom in spec.body("arm").geoms] == ["upper", "palm"]
    assert spec.key("home").qpos[0] == 0.5 and spec.compile().nbody == 2
    with pytest.raises(MjcfError, match="only bodies inside the world"):
        spec.worldbody.to_frame()


def test_deleted_references_with_compat_4_0() -> None:
    spec = arm()
    spec.delete(spec.site("tip"))
    assert len(spec.sensors) == 1
    spec = arm()
    spec.delete(spec.body("hand"))
    assert not spec.sensors


# --- generated objects -----------------------------------------------------------------------------------------------


def test_generated_meshes_and_flexes() -> None:
    spec = MjSpec(compat="4.0")
    spec.add_mesh(name="cone").make_cone(nedge=5, radius=1)
    spec.add_mesh(name="grid").make_grid(count=[3, 3, 3], spacing=[0.1, 0.1, 0.1])
    with pytest.raises(MjcfError, match="nvert"):
        spec.add_mesh(name="bad").make_cone(nedge=1, radius=1)
    spec.delete(spec.mesh("bad"))
    flex = spec.worldbody.make_flex(name="soft", mesh="grid", equality=1, radius=0.01)
    assert flex.name == "soft" and len(spec.bodies) == 28
    model = spec.compile()
    assert model.nflexvert == 27 and model.mesh_vertnum[0] == 10
    with pytest.raises(ValueError, match="mesh 'gird' not found; did you mean 'grid'"):
        spec.worldbody.make_flex(name="typo", mesh="gird")
    with pytest.raises(MjcfError, match="type"):
        spec.worldbody.make_flex(name="typo", type="gird")
    assert spec.flex("typo") is None and spec.compile().nflex == 1


def test_limp_flexes_are_named() -> None:
    spec = MjSpec(compat="4.0")
    spec.worldbody.make_flex(name="limp", count=[2, 2, 2])
    with pytest.warns(UserWarning, match="flex 'limp' is not rigid"):
        spec.compile()


def test_textures_from_pixels() -> None:
    spec = MjSpec(compat="4.0")
    texture = spec.add_texture(name="t", type=mujoco.mjtTexture.mjTEXTURE_2D, height=1, width=2, nchannel=3)
    texture.data = bytes(range(6))
    assert spec.copy().texture("t").data == bytes(range(6))
    np.testing.assert_array_equal(spec.compile().tex_rgb, range(6))
    texture.width = 3
    with pytest.raises(MjcfError, match=r"6 bytes, but height \* width \* nchannel is 1 \* 3 \* 3"):
        spec.compile()


# --- files -----------------------------------------------------------------------------------------------------------

BOX = b"v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n"
MESH = (
    '<mujoco><asset><mesh name="m" file="box.obj"/></asset><worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>'
)


def test_virtual_files() -> None:
    with mujoco.MjVfs() as vfs:
        vfs["box.obj"] = BOX
        spec = MjSpec.from_string(MESH)
        assert spec.compile(vfs).nmesh == 1 and not spec.assets
        assert mujoco.MjModel.from_xml_string(MESH, vfs=vfs).nmesh == 1
        with pytest.raises(ValueError, match="Repeated file name"):
            vfs["box.obj"] = BOX
        with pytest.raises(TypeError, match="bytes"):
            vfs["text"] = "v"  # type: ignore[assignment]
        with pytest.raises(ValueError, match="Cannot specify both"):
            MjSpec.from_string(MESH, assets={"box.obj": BOX}, vfs=vfs)
        del vfs["box.obj"]
        with pytest.raises(MjcfError, match=r"box\.obj"):
            spec.compile(vfs)
    with pytest.raises(RuntimeError, match="closed"):
        spec.compile(vfs)


@pytest.mark.parametrize("ending", ["xml", "mjz", "zip"])
def test_encode(ending: str, tmp_path: Path) -> None:
    spec = MjSpec.from_string(MESH, assets={"box.obj": BOX}, compat="4.0")
    model = spec.compile()
    model.opt.timestep = 0.004
    path = tmp_path / f"model.{ending}"
    assert spec.encode(path, model) == path.stat().st_size
    assets = {"box.obj": BOX} if ending == "xml" else None
    assert mujoco.MjModel.from_xml_path(str(path), assets).opt.timestep == 0.004
    with pytest.raises(FatalError, match="no encoder"):
        spec.encode(tmp_path / "model.foo")
    with pytest.raises(FatalError, match="model is required for MJB"):
        spec.encode(tmp_path / "model.mjb")


def test_zip_files(tmp_path: Path) -> None:
    spec = MjSpec.from_string(MESH, assets={"box.obj": BOX}, compat="4.0")
    spec.to_zip(tmp_path / "a.zip")
    read = MjSpec.from_zip(tmp_path / "a.zip", compat="4.0")
    assert read.compile().nmesh == 1 and read.assets == {"box.obj": BOX}
    with (tmp_path / "b.zip").open("wb") as file:
        spec.to_zip(file)
    assert (tmp_path / "b.zip").read_bytes() == (tmp_path / "a.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as archive:
        archive.writestr("a.txt", "text")
    with pytest.raises(ValueError, match="no XML file"):
        MjSpec.from_zip(tmp_path / "empty.zip")
    (tmp_path / "c.zip").write_text("text")
    with pytest.raises(ValueError, match="not a zip file"):
        MjSpec.from_zip(tmp_path / "c.zip")


# --- small parts -----------------------------------------------------------------------------------------------------


def test_authored_settings() -> None:
    spec = MjSpec.from_string('<mujoco><option timestep=".01" wind="1 0 0"><flag contact="disable"/></option></mujoco>')
    assert spec.authored.option == 0b1_0000_0001
    assert spec.authored.disableflags == int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    assert spec.compiler.authored == 0


def test_walking_through_elements() -> None:
    spec = arm()
    body = spec.worldbody.first_body()
    assert body.name == "arm" and spec.worldbody.next_body(body) is None
    assert body.first_geom().name == "upper" and body.first_camera() is None
    assert [geom.name for geom in spec.worldbody.find_all("geom")] == ["upper", "palm"]


def test_orientations_are_resolved() -> None:
    spec = MjSpec(compat="4.0")
    body = spec.worldbody.add_body(euler=[0, 0, 90])
    degree, sequence = spec.compiler.degree, spec.compiler.eulerseq
    quat = MjSpec.resolve_orientation(degree=degree, sequence=sequence, orientation=body.alt)
    np.testing.assert_allclose(quat, [0.5**0.5, 0, 0, 0.5**0.5])
    with pytest.raises(ValueError, match="Only one of: axisangle, xyaxes, zaxis, or euler"):
        spec.worldbody.add_body(euler=[1, 2, 3], zaxis=[0, 0, 1])


def test_repeated_names_are_refused_at_once() -> None:
    spec = arm()
    with pytest.raises(MjcfError, match="repeated name 'arm' in body"):
        spec.worldbody.add_body(name="arm")
    assert len(spec.bodies) == 3
    spec.body("arm").name = "leg"
    spec.worldbody.add_body(name="arm")


def test_ten_thousand_elements_take_less_than_a_second() -> None:
    spec = MjSpec(compat="4.0")
    start = time.thread_time()
    for i in range(2500):
        body = spec.worldbody.add_body(name=f"b{i}", pos=[i, 0, 1])
        body.add_joint(name=f"j{i}", axis=[0, 0, 1])
        body.add_geom(name=f"g{i}", size=[0.1, 0.1, 0.1], type=mujoco.mjtGeom.mjGEOM_BOX)
        body.add_site(name=f"s{i}")
    assert time.thread_time() - start < 1.0


def test_keyframes_are_rewritten_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many additions and removals, then one look at the keyframe: the layout of the state is made twice."""
    made: list[int] = []
    original = layout_module.layout
    monkeypatch.setattr(layout_module, "layout", lambda tree: made.append(1) or original(tree))
    spec: Any = MjSpec.from_string(ARM)
    key, hand = spec.key("home"), spec.body("hand")
    joints = [hand.add_joint(name=f"j{i}", type=mujoco.mjtJoint.mjJNT_SLIDE) for i in range(20)]
    for joint in joints[1:]:
        spec.delete(joint)
    spec.worldbody.add_body(name="free", mass=1, inertia=[1, 1, 1]).add_freejoint()
    assert len(made) == 1
    joints[0].type = mujoco.mjtJoint.mjJNT_BALL  # before the keyframe is read: four entries
    assert key.qpos[0] == 0.5 and np.isnan(key.qpos[1:]).all() and len(key.qpos) == 1 + 4 + 7
    assert len(made) == 2
    for copied in (spec.copy(), MjSpec.from_string(spec.to_xml())):
        assert copied.compile().key_qpos[0, 0] == 0.5
