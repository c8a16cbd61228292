"""Constraint rows, reference acceleration and inverse forces against the reference (level 2: forward)."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from models import model_path
from reference import data_from_reference, model_from_reference

import cardan
from cardan.constraint.make import constraint_stages
from cardan.constraint.update import inv_constraint, reference_constraint
from cardan.jit import Program

COUNTS = ("ne", "nf", "nl", "nefc", "nnzJ")
POSITION_FIELDS = (
    "efc_type",
    "efc_id",
    "efc_pos",
    "efc_margin",
    "efc_frictionloss",
    "efc_diagApprox",
    "efc_KBIP",
    "efc_D",
    "efc_R",
)
SPARSE_FIELDS = (
    "efc_J_rownnz",
    "efc_J_rowadr",
    "efc_J_rowsuper",
    "efc_J_colind",
    "efc_JT_rownnz",
    "efc_JT_rowadr",
    "efc_JT_rowsuper",
    "efc_JT_colind",
    "efc_JT",
)
VELOCITY_FIELDS = ("efc_vel", "efc_aref")
CONTACT_FIELDS = ("mu", "friction", "efc_address", "exclude")
INVERSE_FIELDS = ("efc_force", "efc_state", "qfrc_constraint")

EVERY_ROW = """
<mujoco><option jacobian="{jacobian}" cone="{cone}" impratio="4" timestep="0.01"/>
<worldbody>
<geom name="floor" type="plane" size="5 5 1" friction="0.7 0.01 0.002" solimp="0.8 0.9 0.02 0.4 3"/>
<body name="s1" pos="1 1 1"><geom name="gs1" size=".1"/></body>
<body name="s2" pos="1 1 1.1"><geom name="gs2" type="capsule" size=".1" fromto="0 0 0 0 0 .1"/></body>
<body name="mocap" mocap="true" pos="0 0 2" quat="1 2 3 4"/>
<body name="a" pos="0 0 .095"><freejoint/><geom name="ga" size=".1" condim="6" friction="0.5 0.02 0.003"/>
 <body name="b" pos=".15 0 0"><joint name="j1" axis="0 1 0" limited="true" range="-1 -0.1" frictionloss=".3"
   solreflimit="-300 -5"/>
  <geom name="gb" size=".1" condim="4"/>
  <body name="c" pos="0.1 .05 0"><joint name="j2" type="ball" limited="true" range="0 0.5" frictionloss="0.2"
    solimpfriction=".3 .8 .1 .2 1"/>
    <geom name="gc" size=".1" condim="3"/>
    <body name="e" pos="0 0 .15"><joint name="j3" type="slide" limited="true" range="-.01 .01" margin="0.02"
      solimplimit="0.4 0.9 0.03 0.3 3"/>
      <geom name="ge" size=".1" condim="1"/>
      <body name="s3" pos=".05 0 0" quat="1 .1 .2 .3"/></body></body></body></body>
<body name="f" pos="-0.1 0 .25"><freejoint/><geom name="gf" size=".1" condim="1" priority="1" margin="0.1"
  gap="0.09"/></body>
<body name="g" pos="0 0.18 .12"><freejoint/><geom name="gg" size=".1" condim="3"/></body>
</worldbody>
<contact><pair geom1="gs1" geom2="gs2"/>
 <pair geom1="ga" geom2="gg" condim="6" solreffriction="0.05 1" friction="0.4 0.3 0.01 0.002 0.001"/>
 <pair geom1="ga" geom2="ge" condim="3"/>
</contact>
<equality>
 <connect body1="c" body2="a" anchor=".1 .1 .1" solimp="0.3 0.9 0.5 0.4 2.5"/>
 <weld body1="e" body2="a" torquescale="0.7" anchor="0.1 0.2 0.3" solimp="0.2 0.9 3 0.3 2.5"/>
 <connect body1="s1" body2="s2" anchor="0 0 0"/>
 <weld body1="s1" body2="c" active="false"/>
 <joint joint1="j1" joint2="j3" polycoef="0.1 0.5 0.2 0.1 0.05"/>
 <joint joint1="j3" joint2="j1" polycoef="0.1 0.5 0.2 0.1 0.05" solref="-100 -2"/>
 <joint joint1="j1" polycoef="0.1 0.5 0.2 0.1 0.05"/>
 <weld body1="b" body2="s1" solimp="0.2 0.9 3 0.3 2.5" solref="0.05 0.7"/>
 <weld body1="mocap" body2="f"/>
 <connect body1="g" body2="s3" anchor="0 0.1 0"/>
 {tendon_equality}
</equality>
<tendon>
 <fixed name="t1" limited="true" range="0.1 0.2" frictionloss="0.1"><joint joint="j1" coef="2"/><joint joint="j3"
   coef="-3"/></fixed>
 <fixed name="t2" limited="true" range="-1 1" margin="3"><joint joint="j3" coef="1"/></fixed>
</tendon>
</mujoco>
"""
TENDON_EQUALITY = """
<tendon tendon1="t1" tendon2="t2" polycoef="0.1 0.5 0.2 0.1 0.05"/><tendon tendon1="t2"/>
"""

FILES = ("humanoid", "crowd", "clutter")


def wipe(d):
    """Replace everything that the constraint stages write by rubbish."""
    for name in COUNTS:
        setattr(d, name, 0)
    for name in POSITION_FIELDS + SPARSE_FIELDS + ("efc_J",) + VELOCITY_FIELDS + ("efc_force", "efc_state"):
        d._memory.arrays[name][...] = 77
    d.contact.mu[:] = 77
    d.contact.efc_address[:] = 77
    d.contact.exclude[:] = np.where(d.contact.exclude == 3, 0, d.contact.exclude)
    d.qfrc_constraint[:] = 77


def assert_same(d, ref, names, **tolerance):
    for name in names:
        np.testing.assert_allclose(getattr(d, name), getattr(ref, name), err_msg=name, **tolerance)


def check_constraints(ref_m, ref_d):
    """Compare all constraint fields at the state of `ref_d`, whose qacc is taken as input of the inverse."""
    mujoco.mj_inverse(ref_m, ref_d)
    m = model_from_reference(ref_m)
    d = data_from_reference(m, ref_d)
    wipe(d)
    assert Program([*constraint_stages(m), reference_constraint, inv_constraint]).run(m, d) == 0
    for name in COUNTS[:-1]:
        assert getattr(d, name) == getattr(ref_d, name), name
    sparse = mujoco.mj_isSparse(ref_m)
    assert d.nnzJ == (ref_d.nnzJ if sparse else ref_m.nv * ref_d.nefc)
    tight = {"rtol": 1e-9, "atol": 1e-12}
    np.testing.assert_allclose(d.efc_J, ref_d.efc_J[: d.nnzJ], err_msg="efc_J", **tight)
    assert_same(d, ref_d, POSITION_FIELDS, **tight)
    if sparse:
        assert_same(d, ref_d, SPARSE_FIELDS, **tight)
    assert_same(d, ref_d, VELOCITY_FIELDS, rtol=1e-9, atol=1e-9)
    for name in CONTACT_FIELDS:
        np.testing.assert_allclose(getattr(d.contact, name), getattr(ref_d.contact, name), err_msg=name, **tight)
    scale = max(1.0, np.abs(ref_d.efc_force).max(initial=0))
    assert_same(d, ref_d, INVERSE_FIELDS, rtol=1e-9, atol=1e-9 * scale)


def every_row_model(jacobian, cone, tendon_equality=TENDON_EQUALITY):
    text = EVERY_ROW.format(jacobian=jacobian, cone=cone, tendon_equality=tendon_equality)
    return mujoco.MjModel.from_xml_string(text)


def random_state(ref_m, ref_d, seed, spread=0.1):
    rng = np.random.default_rng(seed)
    mujoco.mj_resetData(ref_m, ref_d)
    mujoco.mj_integratePos(ref_m, ref_d.qpos, rng.normal(size=ref_m.nv) * spread, 1.0)
    ref_d.qvel[:] = rng.normal(size=ref_m.nv)
    ref_d.qacc[:] = 30 * rng.normal(size=ref_m.nv)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
def test_every_row_type(jacobian, cone):
    ref_m = every_row_model(jacobian, cone)
    ref_d = mujoco.MjData(ref_m)
    kinds = set()
    for seed in range(10):
        random_state(ref_m, ref_d, seed)
        check_constraints(ref_m, ref_d)
        kinds |= set(ref_d.efc_type)
    assert kinds == {0, 1, 2, 3, 4, 5, 6 if cone == "pyramidal" else 7}


@pytest.mark.parametrize("flag", ["CONSTRAINT", "EQUALITY", "FRICTIONLOSS", "LIMIT", "CONTACT", "REFSAFE"])
def test_disable_flags(flag):
    ref_m = every_row_model("dense", "pyramidal")
    ref_m.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))
    ref_m.jnt_solref[:] = (0.001, 0.5)
    ref_d = mujoco.MjData(ref_m)
    random_state(ref_m, ref_d, 3)
    check_constraints(ref_m, ref_d)


def test_tendon_efcadr_is_first_row_of_tendon():
    ref_m = every_row_model("sparse", "pyramidal", tendon_equality="")
    ref_d = mujoco.MjData(ref_m)
    random_state(ref_m, ref_d, 1)
    mujoco.mj_forward(ref_m, ref_d)
    m = model_from_reference(ref_m)
    d = data_from_reference(m, ref_d)
    Program(constraint_stages(m)).run(m, d)
    np.testing.assert_array_equal(d.tendon_efcadr, ref_d.tendon_efcadr)


def test_switched_equalities():
    ref_m = every_row_model("sparse", "elliptic")
    ref_d = mujoco.MjData(ref_m)
    random_state(ref_m, ref_d, 3)
    ref_d.eq_active[:] = 1 - ref_d.eq_active
    check_constraints(ref_m, ref_d)


SOLVER_PARAMETERS = [
    *[
        (ref, (0.9, 0.95, 0.01, 0.5, 2))
        for ref in (
            (0.02, 1),
            (0.001, 1),
            (-100, -3),
            (-100, 3),
            (100, -3),
            (0, 0),
            (0, 1),
            (1, 0),
            (-100, 0),
            (0, -3),
            (1e-9, 1e-9),
        )
    ],
    *[
        ((0.02, 1), imp)
        for imp in (
            (0.9, 0.95, 0.01, 0.3, 2),
            (0.9, 0.95, 0.01, 0.7, 3),
            (0.9, 0.95, 0.01, 0.7, 0.5),
            (0.9, 0.95, 0.01, 0.3, 1),
            (0, 1, 0.01, 0.3, 4),
            (-1, 2, 0.01, 0, 4),
            (0.5, 0.9, 0, 0.5, 2),
            (0.5, 0.9, -1, 0.5, 2),
            (0.5, 0.9, 1e-16, 0.5, 2),
            (0.9, 0.9, 0.01, 0.5, 2),
            (0.95, 0.9, 0.01, 0.3, 2),
            (0.5, 0.9, 0.01, 2, 2),
            (0.5, 0.9, 0.004, 0.5, 2),
            (0.5, 0.9, 0.003, 0.5, 2),
            (1, 1, 0.01, 0.5, 2),
            (0.5, 0.9, 0.01, 1, 2),
            (0.5, 0.9, 0.01, 0, 2),
            (0.5, 0.9, 0.01, 0.4, 1.0001),
        )
    ],
]

SLIDE = """
<mujoco><option timestep="0.01"/><worldbody><body><joint name="j" type="slide" limited="true" range="0 1"
  margin="0.005"/>
<geom size=".1"/></body></worldbody><equality><joint joint1="j"/></equality></mujoco>
"""


@pytest.mark.parametrize(("solref", "solimp"), SOLVER_PARAMETERS)
def test_solver_parameters(solref, solimp):
    ref_m = mujoco.MjModel.from_xml_string(SLIDE)
    ref_m.jnt_solref[0] = ref_m.eq_solref[0] = solref
    ref_m.jnt_solimp[0] = ref_m.eq_solimp[0] = solimp
    ref_d = mujoco.MjData(ref_m)
    for position in (-0.02, -0.004, 0.0, 0.003, 0.005, 0.5):
        ref_d.qpos[0] = position
        ref_d.qacc[0] = -1
        check_constraints(ref_m, ref_d)


BALL = """
<mujoco><worldbody><body><joint type="ball" limited="true" range="0 {limit}" margin="{margin}"/><geom
  size=".1"/></body></worldbody></mujoco>
"""


@pytest.mark.parametrize(
    "quat",
    [
        (1, 0, 0, 0),
        (-1, 0, 0, 0),
        (0, 1, 0, 0),
        (1e-9, 1, 0, 0),
        (-1e-9, 0, 1, 0),
        (1, 1e-9, 0, 0),
        (1, 1e-16, 0, 0),
        (2, 1, 1, 1),
        (-1, 0.3, 0.1, 0),
    ],
)
@pytest.mark.parametrize(("limit", "margin"), [(0.1, 0.0), (0.1, 4.0), (3.0, 0.0)])
def test_ball_limit_angles(quat, limit, margin):
    ref_m = mujoco.MjModel.from_xml_string(
        BALL.format(limit=limit, margin=margin).replace("<mujoco>", '<mujoco><compiler angle="radian"/>')
    )
    ref_d = mujoco.MjData(ref_m)
    ref_d.qpos[:] = quat
    ref_d.qvel[:] = (1, 2, 3)
    check_constraints(ref_m, ref_d)


@pytest.mark.parametrize("cone", [0, 1])
@pytest.mark.parametrize("name", FILES)
def test_models(name, cone):
    ref_m = mujoco.MjModel.from_xml_path(str(model_path(name)))
    ref_m.opt.cone = cone
    ref_m.opt.disableflags |= (
        int(mujoco.mjtDisableBit.mjDSBL_AUTORESET) if hasattr(mujoco.mjtDisableBit, "mjDSBL_AUTORESET") else 0
    )
    ref_d = mujoco.MjData(ref_m)
    for _ in range(3):
        mujoco.mj_step(ref_m, ref_d, 100)
        mujoco.mj_forward(ref_m, ref_d)
        check_constraints(ref_m, ref_d)
        assert ref_d.nefc > 0


UNMOVED = """
<mujoco><option jacobian="{jacobian}"/>
<worldbody><site name="s"/>
<body><joint name="j"/><geom size=".1" pos=".1 0 0"/></body>
<body pos="0 1 0"><joint name="k"/><geom size=".1" pos=".1 0 0"/></body>
<body name="a" pos="1 0 0"><joint axis="0 0 1"/><geom size=".1"/></body>
<body pos="2 0 0"><geom size=".1"/><site name="t"/></body>
</worldbody>
<tendon>
 <fixed name="nothing" limited="true" range=".1 .2" frictionloss=".1"><joint joint="j" coef="0"/></fixed>
 <fixed name="something" limited="true" range=".1 .2" frictionloss=".1"><joint joint="k" coef="1"/></fixed>
 <spatial name="fixed" limited="true" range="3 4" frictionloss=".1"><site site="s"/><site site="t"/></spatial>
</tendon>
<equality>{equality}</equality>
</mujoco>
"""


@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize(
    "equality",
    [
        '<tendon tendon1="nothing"/>',
        '<tendon tendon1="fixed"/>',
        '<tendon tendon1="nothing" tendon2="something" polycoef="1 2 3"/>',
        '<tendon tendon1="nothing" tendon2="something" polycoef="1 0 3"/>',
        '<connect body1="a" anchor="0 0 .3"/>',
        '<weld body1="a"/>',
    ],
)
def test_rows_that_nothing_moves(equality, jacobian):
    """Dense storage has no rows of equalities and tendons whose Jacobian is 0, sparse storage none without dofs."""
    xml = UNMOVED.format(equality=equality, jacobian=jacobian)
    ref_m = mujoco.MjModel.from_xml_string(xml)
    ref_d = mujoco.MjData(ref_m)
    mujoco.mj_forward(ref_m, ref_d)
    m = cardan.MjModel.from_xml_string(xml)
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    assert_same(d, ref_d, ("ne", "nf", "nl", "nefc"))
    assert_same(d, ref_d, (*POSITION_FIELDS, "qacc"), rtol=1e-12, atol=1e-12)
    if jacobian == "sparse":
        assert_same(d, ref_d, ("efc_J_rownnz", "efc_J_colind", "efc_J"), atol=1e-12)
    else:
        np.testing.assert_allclose(d.efc_J, ref_d.efc_J[: d.nefc * m.nv], atol=1e-12)


def test_free_joints_have_no_limits():
    xml = "<mujoco><worldbody><body pos='1 2 3'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    m = cardan.MjModel.from_xml_string(xml)
    d = cardan.MjData(m)
    m.jnt_limited[:] = 1
    cardan.mj_forward(m, d)
    assert d.nefc == 0
