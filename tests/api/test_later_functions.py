"""Functions that came with MuJoCo 4.0, and arguments of 4.0 of older functions, compared with 4.0.0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from later import later_run

import cardan

XML = """
<mujoco>
  <worldbody>
    <body name="free"><freejoint/><geom size=".1 .2 .3" type="ellipsoid"/></body>
    <body pos="0 0 1">
      <joint axis="0 1 0"/><geom size=".1" pos=".1 0 0"/>
      <body name="ball" pos="0 0 1"><joint type="ball"/><geom size=".1" pos=".2 .1 0"/>
        <body name="slide" pos=".3 0 0"><joint type="slide" axis="1 1 0"/><geom size=".1"/></body>
      </body>
    </body>
  </worldbody>
  <keyframe><key/></keyframe>
</mujoco>
"""
SETUP = """
import numpy as np
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
d.qpos[:] = np.linspace(0.1, 0.4, m.nq)
d.qvel[:] = np.linspace(-1, 1, m.nv)
mujoco.mj_forward(m, d)
"""


def both(code: str, **names: Any) -> tuple[Any, Any]:
    """Results of the same code (``out``) in Cardan and in 4.0.0."""
    own: dict[str, Any] = {"mujoco": cardan, "xml": XML, **names}
    exec(SETUP.replace("from_xml_string(xml)", "from_xml_string(xml, compat='4.0')") + code, own)
    return own["out"], later_run(SETUP + code, xml=XML, **names)


def agree(code: str, **names: Any) -> None:
    """Compare the arrays or numbers that the code computes."""
    own, theirs = both(code, **names)
    np.testing.assert_allclose(own, theirs, atol=1e-9)


@pytest.mark.parametrize("body", [0, 1, 2, 3, 4])
def test_rates_of_jacobians(body: int) -> None:
    """All kinds of joints; the world body has no dofs."""
    agree(
        """
out = np.zeros((6, m.nv))
mujoco.mj_jacDot(m, d, out[:3], out[3:], [0.1, 0.2, 0.3], body)""",
        body=body,
    )


def test_rates_of_jacobians_are_derivatives() -> None:
    """The finite difference of `mj_jacBody` along the velocity is the rate at the body's origin."""
    m = cardan.MjModel.from_xml_string(XML)
    d, step = cardan.MjData(m), 1e-6
    d.qpos[7:] = np.linspace(0.1, 0.4, m.nq - 7)
    cardan.mj_normalizeQuat(m, d.qpos)
    d.qvel = np.linspace(-1, 1, m.nv)
    cardan.mj_forward(m, d)
    rate, near, here = (np.zeros((3, m.nv)) for _ in range(3))
    cardan.mj_jacDot(m, d, rate, None, d.xpos[4], 4)
    cardan.mj_jacBody(m, d, here, None, 4)
    velocity = rate @ d.qvel
    cardan.mj_integratePos(m, d.qpos, d.qvel, step)
    cardan.mj_forward(m, d)
    cardan.mj_jacBody(m, d, near, None, 4)
    np.testing.assert_allclose((near - here) @ d.qvel / step, velocity, atol=1e-5)


def test_inertia_in_both_forms() -> None:
    """`mj_fullM(m, d, dst)` of 4.0, and `mj_fullM(m, dst, M)` of 3.1."""
    agree("out = np.zeros((m.nv, m.nv)); mujoco.mj_fullM(m, d, out)")
    agree("out = np.zeros((m.nv, m.nv)); mujoco.mj_fullM(m, d=d, dst=out)")
    m = cardan.MjModel.from_xml_string(XML)
    d, old, new = cardan.MjData(m), np.zeros((m.nv, m.nv)), np.zeros((m.nv, m.nv))
    cardan.mj_forward(m, d)
    cardan.mj_fullM(m, old, d.qM)
    cardan.mj_fullM(m, d, new)
    np.testing.assert_array_equal(old, new)
    with pytest.raises(TypeError, match="dst should be of shape"):
        cardan.mj_fullM(m, d, np.zeros(3))


def test_half_solution_with_a_scale() -> None:
    """`mj_solveM2` with the argument `sqrtInvD`."""
    agree(
        """
y, scale = np.linspace(1, 2, 2 * m.nv).reshape(2, -1), np.linspace(2, 3, m.nv)
out = np.zeros((2, m.nv))
mujoco.mj_solveM2(m, d, out, y, scale)"""
    )


def test_parts_of_the_pipeline() -> None:
    """`mj_fwdKinematics` and `mj_makeM` after a change of the configuration; `mj_resetCtrl`."""
    agree("d.qpos[7] = 0.7; mujoco.mj_fwdKinematics(m, d); mujoco.mj_makeM(m, d); out = np.concatenate([d.M, *d.xpos])")
    m = cardan.MjModel.from_xml_string(XML.replace("<keyframe>", "<actuator><motor joint='j'/></actuator><keyframe>")
                                       .replace("axis", "name='j' axis", 1))  # fmt: skip
    d = cardan.MjData(m)
    d.ctrl = 1.0
    cardan.mj_resetCtrl(m, d)
    assert d.ctrl.item() == 0.0


def test_sparse_matrices() -> None:
    """Both ways, symmetric ones, and arrays that do not fit."""
    agree(
        """
a = np.array([[0., 1, 0], [2, 0, 3]])
v, n, s, c = np.zeros(4), np.zeros(2, np.int32), np.zeros(2, np.int32), np.zeros(4, np.int32)
short = mujoco.mju_dense2sparse(v[:2].copy(), a, n, s, c[:2].copy())
status = mujoco.mju_dense2sparse(v, a, n, s, c)
b = np.zeros((2, 3))
mujoco.mju_sparse2dense(b, v, n, s, c)
out = np.concatenate([[short, status], v, n, s, c, b.ravel()])"""
    )
    agree("out = np.zeros((m.nv, m.nv)); mujoco.mju_sym2dense(out, d.M, m.M_rownnz, m.M_rowadr, m.M_colind)")
    with pytest.raises(TypeError, match="should address elements"):
        cardan.mju_sparse2dense(np.zeros((1, 2)), [1.0], [2], [0], [0])
    with pytest.raises(TypeError, match="colind should be from 0 to 1"):
        cardan.mju_sparse2dense(np.zeros((1, 2)), [1.0], [1], [0], [2])


def test_small_matrices() -> None:
    """Products, and rotations of arbitrary matrices with the number of iterations."""
    code = """
a = np.random.default_rng(seed).normal(size=9)
x, y, q = np.zeros(3), np.zeros(3), np.array([1.0, 0, 0, 0])
mujoco.mju_mulMatVec3(x, a, [1, 2, 3])
mujoco.mju_mulMatTVec3(y, a, [1, 2, 3])
out = [mujoco.mju_mat2Rot(q, a), *q, *x, *y]"""
    for seed in range(5):
        agree(code, seed=seed)


def test_derivatives_of_inverse_dynamics() -> None:
    """The inertia has the pattern of 4.0 for a model of compat 4.0."""
    own, theirs = both(
        "out = np.zeros((m.nv, m.nC)); mujoco.mjd_inverseFD(m, d, 1e-6, 0, None, None, None, None, None, None, out)"
    )
    np.testing.assert_allclose(own, theirs, atol=1e-6)


@pytest.mark.parametrize("action", ["ROTATE_H", "MOVE_V", "MOVE_H", "ZOOM"])
def test_moving_a_camera_without_a_scene(action: str) -> None:
    """As the call of 3.1.6 with a scene."""
    agree(
        f"""
c = mujoco.MjvCamera()
mujoco.mjv_defaultFreeCamera(m, c)
mujoco.mjv_moveCamera(m, mujoco.mjtMouse.mjMOUSE_{action}, 0.1, 0.2, c)
out = [c.azimuth, c.elevation, c.distance, *c.lookat]"""
    )


def test_absent_arguments() -> None:
    """Results that are not needed."""
    reference = np.zeros(2)
    cardan.mj_defaultSolRefImp(reference, None)
    assert reference.tolist() == [0.02, 1.0]
    face, vert = np.array([[0, 1, 2]], np.int32), np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    assert cardan.mju_raySkin(1, 3, face, vert, [0.2, 0.2, 2.0], [0, 0, -1.0], None) == pytest.approx(2.0)
    with pytest.raises(ValueError, match="from 0 to nvert"):
        cardan.mju_raySkin(1, 3, face + 1, vert, [0.2, 0.2, 2.0], [0, 0, -1.0], None)


SITES = """
<mujoco>
  <asset><mesh name="t" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
  <worldbody>
    <body euler="10 20 30" pos=".1 0 0">
      <site type="capsule" size=".2 .5"/><site type="cylinder" size=".2 .5"/><site type="ellipsoid" size=".2 .5 .3"/>
      <site type="box" size=".2 .5 .3" euler="10 0 0"/><site type="mesh" mesh="t"/><site size=".4"/>
    </body>
  </worldbody>
</mujoco>
"""


def test_points_inside_sites() -> None:
    """All shapes, at many points."""
    code = """
import numpy as np
m = mujoco.MjModel.from_xml_string(sites)
d = mujoco.MjData(m)
mujoco.mj_forward(m, d)
points = np.random.default_rng(0).uniform(-0.7, 0.7, (300, 3))
out = [[mujoco.mj_insideSite(m, d, k, p) for p in points] for k in range(m.nsite)]"""
    own: dict[str, Any] = {"mujoco": cardan, "sites": SITES}
    exec(code, own)
    assert own["out"] == later_run(code, sites=SITES)
    assert all(0 < sum(row) < 300 for row in own["out"])
    m = cardan.MjModel.from_xml_string(SITES)
    with pytest.raises(IndexError, match="site 6 does not exist"):
        cardan.mj_insideSite(m, cardan.MjData(m), 6, [0, 0, 0])


def test_groups_of_options_are_assigned_by_value() -> None:
    """A model copies the values; arrays of it stay the same."""
    m = cardan.MjModel.from_xml_string(XML)
    gravity, option = m.opt.gravity, cardan.MjOption()
    option.gravity, option.timestep = (0, 0, -1), 0.25
    m.opt = option
    option.timestep = 0.5
    assert (gravity.tolist(), m.opt.timestep) == ([0, 0, -1], 0.25)
    other = cardan.MjModel.from_xml_string("<mujoco><visual><global fovy='70'/></visual></mujoco>")
    m.vis = other.vis
    assert m.vis.global_.fovy == 70
    m.vis.map = other.vis.map
    with pytest.raises(TypeError, match=r"MjModel.opt should be a MjOption, got int"):
        m.opt = 3


def test_files_of_a_model(tmp_path) -> None:
    """The file itself, included files, and assets of both."""
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "part.xml").write_text("<mujoco><asset><mesh file='a.obj'/></asset></mujoco>")
    (tmp_path / "assets").mkdir()
    for name in ("a.obj", "b.obj"):
        (tmp_path / "assets" / name).write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\n")
    main = tmp_path / "main.xml"
    main.write_text(
        "<mujoco><compiler meshdir='assets'/><include file='inside/part.xml'/>"
        "<asset><mesh file='b.obj'/></asset></mujoco>"
    )
    expected = later_run("out = mujoco.mju_getXMLDependencies(p)", p=str(main))
    assert sorted(cardan.mju_getXMLDependencies(main)) == sorted(expected)
    with pytest.raises(ValueError, match=r"none\.xml"):
        cardan.mju_getXMLDependencies(tmp_path / "none.xml")


def test_pixels_of_textures() -> None:
    """A copy of the pixels of the model; ids that do not exist."""
    xml = '<mujoco><asset><texture name="t" type="2d" builtin="checker" width="4" height="6"/></asset></mujoco>'
    m = cardan.MjModel.from_xml_string(xml)
    pixels, space = cardan.mj_loadTexture(m, 0)
    assert (pixels.shape, space) == ((6, 4, 3), m.tex_colorspace[0])
    np.testing.assert_array_equal(pixels.ravel(), m.tex_rgb)
    assert not np.shares_memory(pixels, m.tex_rgb)
    with pytest.raises(ValueError, match="texture id 1 is out of range"):
        cardan.mj_loadTexture(m, 1)


GEOMS = (
    *('size=".3"', 'type="plane" size="1 1 1"', 'type="capsule" size=".2 .3"', 'type="cylinder" size=".2 .3"'),
    *('type="ellipsoid" size=".2 .3 .4"', 'type="box" size=".2 .3 .4"', 'type="mesh" mesh="t"'),
)


@pytest.mark.parametrize("geom", GEOMS)
def test_normals_of_rays(geom: str) -> None:
    """Of one ray and of several, from outside and from inside."""
    code = """
import numpy as np
m = mujoco.MjModel.from_xml_string(scene)
d = mujoco.MjData(m)
mujoco.mj_forward(m, d)
rng, out, one = np.random.default_rng(0), [], np.zeros(1, np.int32)
for k in range(40):
    p, normal, normals = rng.uniform(-1, 1, 3) * (2 if k % 2 else 0.1), np.ones(3), np.ones(6)
    v = -p / np.linalg.norm(p) + rng.uniform(-0.1, 0.1, 3)
    out += [mujoco.mj_ray(m, d, p, v, None, 1, -1, one, normal), *normal]
    ids, dist = np.zeros(2, np.int32), np.zeros(2)
    mujoco.mj_multiRay(m, d, p, [*v, *-v], None, 1, -1, ids, dist, normals, 2, 1e10)
    out += [*dist, *normals]
    if m.geom_type[0] != mujoco.mjtGeom.mjGEOM_MESH:
        args = d.geom_xpos[0], d.geom_xmat[0], m.geom_size[0], p, v, m.geom_type[0]
        out += [mujoco.mju_rayGeom(*args, normal), *normal]
"""
    mesh = '<asset><mesh name="t" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>'
    scene = f'<mujoco>{mesh}<worldbody><geom {geom} euler="10 20 30" pos=".1 0 0"/></worldbody></mujoco>'
    own: dict[str, Any] = {"mujoco": cardan, "scene": scene.replace("<mujoco>", "<mujoco>")}
    exec(code, own)
    np.testing.assert_allclose(own["out"], later_run(code, scene=scene), atol=1e-6)
    assert min(own["out"]) == -1.0 or geom == 'type="plane" size="1 1 1"'


def test_normals_that_are_missing() -> None:
    """Height fields."""
    m = cardan.MjModel.from_xml_string(
        '<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1 .5 .1" elevation="0 1 0 1"/></asset>'
        '<worldbody><geom type="hfield" hfield="h"/></worldbody></mujoco>'
    )
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    with pytest.raises(cardan.errors.UnsupportedFeature, match="normals of geom 0"):
        cardan.mj_ray(m, d, [0, 0, 2], [0, 0, -1], None, 1, -1, np.zeros(1, np.int32), np.zeros(3))
    assert cardan.mj_ray(m, d, [0, 0, 2], [0, 0, -1], None, 1, -1, np.zeros(1, np.int32), None) == pytest.approx(1.75)
