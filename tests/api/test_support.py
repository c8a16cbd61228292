"""Support functions against the reference, on random states (level: forward)."""

import mujoco
import numpy as np
import pytest
from reference import data_from_reference, model_from_reference

import cardan
from cardan.errors import FatalError

XML = """<mujoco><compiler autolimits="true"/><option cone="{cone}" jacobian="{jacobian}" timestep="0.003"/>
<worldbody><geom type="plane" size="5 5 1"/><camera name="c" pos="0 0 1"/>
 <body pos="0 0 .12"><freejoint/><geom size=".1" condim="{condim}"/>
  <geom type="capsule" size=".05 .1" pos=".3 0 -.05" euler="0 90 0" condim="{condim}"/>
  <body pos="0 0 .3"><joint axis="0 1 .3" range="-10 10"/><joint type="slide" axis="0 0 1"/>
   <geom type="box" size=".1 .05 .02" pos=".1 0 0" euler="5 6 7"/><site pos=".2 0 0" euler="40 0 20"/>
   <body pos=".1 0 0"><joint type="ball"/><geom size=".03" pos="0 .05 0"/><camera pos=".1 0 0" euler="1 2 3"/></body>
  </body></body>
 <body pos="1 0 1"><joint axis="1 0 0"/><geom size=".1" pos="0 0 .2"/></body></worldbody></mujoco>"""


def pair_of(cone="pyramidal", jacobian="dense", condim=3):
    ref = mujoco.MjModel.from_xml_string(XML.format(cone=cone, jacobian=jacobian, condim=condim))
    rng = np.random.default_rng(1)
    ref_data = mujoco.MjData(ref)
    ref_data.qvel[:] = rng.normal(size=ref.nv)
    while ref_data.ncon < 1 or ref_data.time < 0.1:
        mujoco.mj_step(ref, ref_data)
    mujoco.mj_forward(ref, ref_data)
    mujoco.mj_rnePostConstraint(ref, ref_data)
    m = model_from_reference(ref)
    return ref, ref_data, m, data_from_reference(m, ref_data)


@pytest.fixture(
    scope="module", params=[("pyramidal", "dense", 3), ("elliptic", "sparse", 6), ("pyramidal", "sparse", 1)]
)
def pair(request):
    return pair_of(*request.param)


rng = np.random.default_rng(0)


def compare(pair, name, outputs, *arguments, data=True):
    """Call a function of both engines with fresh output arrays at the front of `arguments`, and compare these."""
    ref, ref_data, m, d = pair
    theirs, ours = [o.copy() for o in outputs], [o.copy() for o in outputs]
    getattr(mujoco, name)(ref, *([ref_data] if data else []), *place(theirs, arguments))
    getattr(cardan, name)(m, *([d] if data else []), *place(ours, arguments))
    for own, their in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(own, their, rtol=1e-9, atol=1e-11)


OUT = object()


def place(outputs, arguments):
    rest = iter(outputs)
    return [next(rest) if a is OUT else a for a in arguments]


def jacobians(m):
    return [rng.normal(size=(3, m.nv)), rng.normal(size=(3, m.nv))]


@pytest.mark.parametrize(
    ("name", "count"),
    [("mj_jacBody", "nbody"), ("mj_jacBodyCom", "nbody"), ("mj_jacGeom", "ngeom"), ("mj_jacSite", "nsite")],
)
def test_jacobians_of_objects(pair, name, count):
    for i in range(getattr(pair[2], count)):
        compare(pair, name, jacobians(pair[2]), OUT, OUT, i)
        compare(pair, name, jacobians(pair[2])[:1], None, OUT, i)


def test_jacobians_of_points(pair):
    for body in range(pair[2].nbody):
        compare(pair, "mj_jac", jacobians(pair[2]), OUT, OUT, rng.normal(size=3), body)
        compare(pair, "mj_jacPointAxis", jacobians(pair[2]), OUT, OUT, rng.normal(size=3), rng.normal(size=3), body)
        compare(pair, "mj_jacSubtreeCom", jacobians(pair[2])[:1], OUT, body)
        compare(pair, "mj_angmomMat", jacobians(pair[2])[:1], OUT, body)


def test_motion_of_objects(pair):
    for name in ("mj_objectVelocity", "mj_objectAcceleration"):
        for kind, count in ((1, "nbody"), (2, "nbody"), (5, "ngeom"), (6, "nsite"), (7, "ncam")):
            for i in range(getattr(pair[2], count)):
                for local in (0, 1):
                    compare(pair, name, [np.zeros(6)], kind, i, OUT, local)
        with pytest.raises(FatalError, match=f"{name}: invalid object type 3"):
            getattr(cardan, name)(*pair[2:], 3, 0, np.zeros(6), 0)


def test_contact_forces(pair):
    assert pair[3].ncon > 0
    for i in range(-1, pair[3].ncon + 1):
        compare(pair, "mj_contactForce", [np.ones(6)], i, OUT)


def test_applied_forces(pair):
    for body in range(pair[2].nbody):
        vectors = rng.normal(size=(3, 3))
        compare(pair, "mj_applyFT", [rng.normal(size=pair[2].nv)], *vectors, body, OUT)
    with pytest.raises(FatalError, match="mj_applyFT: invalid body 9"):
        cardan.mj_applyFT(*pair[2:], np.zeros(3), np.zeros(3), np.zeros(3), 9, np.zeros(pair[2].nv))


def test_inertia(pair):
    m, d = pair[2:]
    compare(pair, "mj_mulM", [np.zeros(m.nv)], OUT, rng.normal(size=m.nv))
    for name in ("mj_solveM", "mj_solveM2"):
        compare(pair, name, [np.zeros((3, m.nv))], OUT, rng.normal(size=(3, m.nv)))
    compare(pair, "mj_fullM", [rng.normal(size=(m.nv, m.nv))], OUT, d.qM.copy(), data=False)


def test_square_root_of_the_inertia(pair):
    # the reference leaves the square root of D out of the lower triangle, so that its result has another length
    # (docs/differences.md)
    m, d = pair[2:]
    vec, root, product, back = rng.normal(size=m.nv), np.zeros(m.nv), np.zeros(m.nv), np.zeros((1, m.nv))
    cardan.mj_mulM2(m, d, root, vec)
    cardan.mj_mulM(m, d, product, vec)
    assert root @ root == pytest.approx(vec @ product, rel=1e-12)
    cardan.mj_solveM2(m, d, back, product[None])
    np.testing.assert_allclose(back[0], root, rtol=1e-9, atol=1e-12)


def test_constraint_jacobian(pair):
    m, d = pair[2:]
    assert d.nefc > 0
    compare(pair, "mj_mulJacVec", [np.zeros(d.nefc)], OUT, rng.normal(size=m.nv))
    compare(pair, "mj_mulJacTVec", [np.zeros(m.nv)], OUT, rng.normal(size=d.nefc))


def test_constraint_update(pair):
    ref_data, d = pair[1], pair[3]
    compare(pair, "mj_constraintUpdate", [np.zeros(1)], 10 * rng.normal(size=d.nefc), OUT, 1)
    for name in ("efc_force", "efc_state", "qfrc_constraint"):
        np.testing.assert_allclose(getattr(d, name), getattr(ref_data, name), rtol=1e-9, atol=1e-9, err_msg=name)


def test_configurations(pair):
    ref, _, m, _ = pair
    for _ in range(5):
        qpos = rng.normal(size=m.nq)
        mujoco.mj_normalizeQuat(ref, qpos)
        other = rng.normal(size=m.nq)
        compare(pair, "mj_normalizeQuat", [other], OUT, data=False)
        mujoco.mj_normalizeQuat(ref, other)
        compare(pair, "mj_differentiatePos", [np.zeros(m.nv)], OUT, 0.3, qpos, other, data=False)
        compare(pair, "mj_integratePos", [qpos], OUT, rng.normal(size=m.nv), 0.3, data=False)


def test_local_to_global(pair):
    ref_data, d = pair[1], pair[3]
    for body in range(d.model.nbody):
        for sameframe in (0, 1, 2):
            pos, quat = rng.normal(size=3), np.array([0.5, 0.5, -0.5, 0.5])
            theirs, ours = (np.zeros(3), np.zeros(9)), (np.zeros(3), np.zeros(9))
            mujoco.mj_local2Global(ref_data, *theirs, pos, quat, body, sameframe)
            cardan.mj_local2Global(d, *ours, pos, quat, body, sameframe)
            for own, their in zip(ours, theirs, strict=True):
                np.testing.assert_allclose(own, their, atol=1e-12)


def test_questions(pair):
    ref, _, m, _ = pair
    for name in ("mj_isSparse", "mj_isPyramidal", "mj_isDual", "mj_getTotalmass"):
        expected = getattr(mujoco, name)(ref)
        assert type(getattr(cardan, name)(m)) is type(expected)
        assert getattr(cardan, name)(m) == pytest.approx(expected, rel=1e-12)
    assert cardan.mj_version() == mujoco.mj_version()
    assert cardan.mj_versionString() == mujoco.mj_versionString()


def test_total_mass():
    ref, _, m, _ = pair_of()
    mujoco.mj_setTotalmass(ref, 17.0)
    cardan.mj_setTotalmass(m, 17.0)
    for name in ("body_mass", "body_inertia", "body_subtreemass"):
        np.testing.assert_allclose(getattr(m, name), getattr(ref, name), rtol=1e-12)


Z = np.zeros


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("mj_jac", (Z((3, 5)), None, Z(3), 1), r"jacp should be of shape \(3, nv\)"),
        ("mj_jac", (None, Z(33), Z(3), 1), r"jacr should be of shape \(3, nv\)"),
        ("mj_jac", (None, None, Z(4), 1), "point should be of size 3"),
        ("mj_jac", (Z((3, 12), np.float32), None, Z(3), 1), "jacp should be a writeable array of float64"),
        ("mj_mulM", (Z(5), Z(12)), "res should be of size nv"),
        ("mj_mulM", (Z(12), Z(5)), "vec should be of size nv"),
        ("mj_mulM", ([0] * 12, Z(12)), "res should be a writeable array"),
        ("mj_solveM", (Z(12), Z(12)), "the last dimension of x should be of size nv"),
        ("mj_solveM", (Z((2, 12)), Z((1, 12))), "the first dimension of x and y should be of the same size"),
        ("mj_applyFT", (Z(3), Z(3), Z(3), 1, Z(5)), "qfrc_target should be of size nv"),
    ],
)
def test_wrong_arrays_are_refused_as_by_the_reference(name, arguments, message):
    ref, ref_data, m, d = pair_of()
    assert m.nv == 12
    with pytest.raises(TypeError, match=message):
        getattr(cardan, name)(m, d, *arguments)
    with pytest.raises(TypeError):
        getattr(mujoco, name)(ref, ref_data, *arguments)


def test_ids_that_do_not_exist():
    _, _, m, d = pair_of()
    for name, arguments in (
        ("mj_jacBody", (None, None, 99)),
        ("mj_jacGeom", (None, None, -1)),
        ("mj_jacSite", (None, None, 1)),
    ):
        with pytest.raises(IndexError, match="does not exist"):
            getattr(cardan, name)(m, d, *arguments)
