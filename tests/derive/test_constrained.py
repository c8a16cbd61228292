"""Exact derivatives of a step through contacts and other constraints, against extrapolated differences."""

from __future__ import annotations

import os

import numpy as np
import pytest
from derivatives_compared import exact_jacobian
from derive.differences import Outcome, moved, richardson
from models import model_path
from solver.row_models import ROWS

import cardan
from cardan.enums import mjtCone, mjtIntegrator, mjtSolver

CLOSE = 1e-6
"""Relative to the largest derivative of the same results."""
CONES = [mjtCone.mjCONE_PYRAMIDAL, mjtCone.mjCONE_ELLIPTIC]
INTEGRATORS = list(mjtIntegrator.__members__.values())
APART = 0.05
"""Largest shift of a mocap body along each axis, m.

The two arms of aloha are held by mocap bodies, and their hulls overlap by up to 46 mm at the start. In such a state the
last bit of a pose decides where the convex search ends, in both engines and for all sizes of a difference, so that no
derivative by differences exists.
"""


def solve_to_the_end(m: cardan.MjModel) -> None:
    """Have the solver find the solution to rounding."""
    m.opt.tolerance, m.opt.iterations, m.opt.ls_tolerance = 0.0, 200, 1e-8


def in_contact(m: cardan.MjModel, steps: int, seed: int = 0) -> cardan.MjData:
    """Return a state after some steps with random controls and shifted mocap bodies."""
    d = cardan.MjData(m)
    rng = np.random.default_rng(seed)
    d.mocap_pos[:] += rng.uniform(-APART, APART, (m.nmocap, 3))
    low, high = np.where(m.actuator_ctrllimited[:, None], m.actuator_ctrlrange, [-1.0, 1.0]).T
    for _ in range(steps):
        d.ctrl[:] = 0.5 * (low + high) + 0.3 * rng.uniform(-0.5, 0.5, m.nu) * (high - low)
        cardan.mj_step(m, d)
    cardan.mj_forward(m, d)
    return d


def difference(d: cardan.MjData, column: int) -> tuple[np.ndarray, bool]:
    """A column of the Jacobian by differences, and whether the active constraints are the same all along."""
    m, nx = d.model, 2 * d.model.nv + d.model.na
    base = moved(d, 0, 0.0)
    cardan.mj_step(m, base)

    def outcome(step: float) -> Outcome:
        e = moved(d, column, step) if column < 2 * m.nv else moved(d, 0, 0.0)
        if 2 * m.nv <= column < nx:
            e.act[column - 2 * m.nv] += step
        elif column >= nx:
            e.ctrl[column - nx] += step
        cardan.mj_step(m, e)
        position = np.zeros(m.nv)
        cardan.mj_differentiatePos(m, position, 1.0, base.qpos, e.qpos)
        piece = e.efc_type.tobytes() + e.efc_state.tobytes() + e.contact.geom.tobytes()
        return Outcome(np.concatenate([position, e.qvel, e.act, e.sensordata]), piece)

    return richardson(outcome)


def check(d: cardan.MjData, columns: list[int], share: float = 0.8) -> None:
    """The columns agree in which the active constraints stay the same, at least a share of all."""
    m = d.model
    exact = exact_jacobian(m, d)
    assert np.isfinite(exact).all()
    smooth = 0
    for column in columns:
        expected, is_smooth = difference(d, column)
        if is_smooth:
            smooth += 1
            for part in (slice(0, m.nv), slice(m.nv, 2 * m.nv), slice(2 * m.nv, None)):
                scale = max(1.0, np.abs(exact[part]).max(initial=0.0))
                error = np.abs(exact[part, column] - expected[part]).max(initial=0.0)
                assert error < CLOSE * scale, (column, part, error, scale)
    assert smooth >= share * len(columns)


def some(m: cardan.MjModel, count: int = 12) -> list[int]:
    """Columns, evenly spread over positions, velocities, activations and controls."""
    return np.unique(np.linspace(0, 2 * m.nv + m.na + m.nu - 1, count).astype(int)).tolist()


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda kind: kind.name[6:])
@pytest.mark.parametrize("cone", CONES, ids=lambda kind: kind.name[7:])
def test_humanoid_on_the_ground(cone, integrator):
    m = cardan.MjModel.from_xml_path(str(model_path("humanoid")))
    m.opt.cone, m.opt.integrator = cone, integrator
    solve_to_the_end(m)
    d = in_contact(m, 250)
    assert d.ncon > 1
    check(d, some(m))


# with seed 0 the arms of aloha are apart; with seed 2 they press against each other, and a fifth of the columns changes
# the state of a contact, so that differences say nothing about them
@pytest.mark.parametrize(("name", "seed"), [("quadruped", 0), ("egg", 0), ("aloha", 0), ("aloha", 2)])
def test_models_in_contact(name, seed):
    m = cardan.MjModel.from_xml_path(str(model_path(name)))
    solve_to_the_end(m)
    d = in_contact(m, 150, seed)
    assert d.ncon > 0
    check(d, some(m, 20), share=0.6)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("condim", [1, 3, 4, 6])
def test_all_kinds_of_rows(cone, condim):
    m = cardan.MjModel.from_xml_string(ROWS.format(cone=cone, jacobian="auto", condim=condim))
    solve_to_the_end(m)
    d = in_contact(m, 20)
    assert d.ne > 0
    assert d.nf > 0
    assert d.ncon > 0
    check(d, some(m, 20))


SITES = """<mujoco><option><flag contact="disable"/></option><worldbody><site name="w" pos="0.3 0.1 0.6"/>
<body name="a" pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .3"/><site name="a" pos=".2 .1 -.1" euler="9 5 0"/>
<body pos=".4 0 0"><joint axis="0 1 0"/><geom size=".1"/><site name="c" pos="0 .1 .2" euler="70 0 30"/></body></body>
</worldbody><equality><weld site1="c" site2="w" torquescale=".4"/><connect site1="a" site2="w"/></equality></mujoco>"""


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
def test_sites(compat):
    """Connect and weld constraints between sites; in 4.0 their reference depends on velocity, too."""
    m = cardan.MjModel.from_xml_string(SITES, compat=compat)
    solve_to_the_end(m)
    d = cardan.MjData(m)
    d.qvel[:] = 0.1 * np.cos(np.arange(m.nv))
    cardan.mj_forward(m, d)
    check(d, some(m), share=1.0)


@pytest.mark.parametrize("solver", [mjtSolver.mjSOL_PGS, mjtSolver.mjSOL_CG], ids=lambda kind: kind.name[6:])
def test_solver_does_not_matter(solver):
    """At the solution, which each of them finds, all solvers have the same derivatives."""
    m = cardan.MjModel.from_xml_string(ROWS.format(cone="pyramidal", jacobian="auto", condim=3))
    solve_to_the_end(m)
    d = in_contact(m, 20)
    expected = exact_jacobian(m, d)
    m.opt.solver, m.opt.iterations = solver, 20000
    np.testing.assert_allclose(exact_jacobian(m, d), expected, rtol=0.0, atol=CLOSE * np.abs(expected).max())


def test_bouncing_ball_in_closed_form():
    # one contact without friction: a = (D aref - m g) / (m + D), aref = -b v - k d r, all but r and v constant
    h, mass, imp, timeconst, dampratio = 0.002, 0.7, 0.9, 0.03, 0.8
    m = cardan.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{h}"/><worldbody>
        <geom type="plane" size="1 1 1" condim="1" solref="{timeconst} {dampratio}" solimp="{imp} {imp} .01"/>
        <body pos="0 0 .099"><joint type="slide" axis="0 0 1"/>
        <geom size=".1" mass="{mass}" condim="1" solref="{timeconst} {dampratio}" solimp="{imp} {imp} .01"/></body>
        </worldbody></mujoco>"""
    )
    d = cardan.MjData(m)
    d.qvel[0] = -0.5
    cardan.mj_forward(m, d)
    assert d.ncon == 1
    weight = 1.0 / ((1.0 - imp) / imp * d.efc_diagApprox[0])
    damping = 2.0 / (imp * timeconst)
    stiffness = 1.0 / (imp * timeconst * dampratio) ** 2
    by_position = -weight * stiffness * imp / (mass + weight)
    by_velocity = -weight * damping / (mass + weight)
    expected = [[1.0 + h * h * by_position, h + h * h * by_velocity], [h * by_position, 1.0 + h * by_velocity]]
    np.testing.assert_allclose(exact_jacobian(m, d), expected, rtol=1e-10)


STATES = 100_000 if os.environ.get("CARDAN_FULL_TESTS") == "1" else 100


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_random_states_have_finite_derivatives(cone):
    m = cardan.MjModel.from_xml_string(ROWS.format(cone=cone, jacobian="auto", condim=4))
    d = cardan.MjData(m)
    rng = np.random.default_rng(11)
    for _ in range(STATES // 2):
        d.qpos[:] = m.qpos0
        cardan.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), rng.choice([0.0, 0.01, 0.3]))
        d.qvel[:] = rng.choice([0.0, 1.0]) * rng.normal(size=m.nv)
        assert np.isfinite(exact_jacobian(m, d)).all()


def test_parameters_of_a_sliding_box():
    """Friction, contact stiffness, mass, size, gravity, time step: against differences of a step."""
    m = cardan.MjModel.from_xml_string(
        """<mujoco><option cone="elliptic"/><worldbody>
        <geom type="plane" size="5 5 1" friction=".3 .01 .01" condim="4"/><body pos="0 0 .0995">
        <freejoint/><geom type="box" size=".2 .15 .1" mass="2" condim="4" friction=".5 .02 .01"/>
        </body></worldbody></mujoco>"""
    )
    solve_to_the_end(m)
    d = cardan.MjData(m)
    d.qvel[:2] = 0.7, 0.2
    for _ in range(20):
        cardan.mj_step(m, d)
    names = ("geom_friction", "geom_solref", "body_mass", "geom_size", "opt.gravity", "opt.timestep", "opt.impratio")
    found = cardan.derivatives(m, d, of=("qvel",), by=names)
    for name in names:
        scalar = name in ("opt.timestep", "opt.impratio")
        field = m._memory.scalars[name] if scalar else m._memory.arrays[name]
        tangents = found["qvel", name].reshape(m.nv, -1)
        assert tangents.shape[1] == field.size
        for k, value in enumerate(field.reshape(-1).tolist()):

            def outcome(step: float, field=field, k=k, value=value) -> Outcome:
                field.reshape(-1)[k] = value + step
                e = moved(d, 0, 0.0)
                cardan.mj_step(m, e)
                field.reshape(-1)[k] = value
                return Outcome(e.qvel.copy(), e.efc_state.tobytes())

            expected, is_smooth = richardson(outcome, 1e-5 * max(abs(value), 0.01))
            assert is_smooth
            np.testing.assert_allclose(tangents[:, k], expected, rtol=0.0, atol=CLOSE, err_msg=f"{name} {k}")


def test_contacts_that_come_up_within_a_step():
    """Memory grows in a later pass of RK4, while the first one has the same contacts as in the state before."""
    balls = "".join(
        f'<body pos="{k % 20} {k // 20} .2"><joint type="slide" axis="0 0 1"/><geom size=".1"/></body>'
        for k in range(300)
    )
    m = cardan.MjModel.from_xml_string(
        f"""<mujoco><option integrator="RK4" timestep=".01" tolerance="0"/><worldbody>
        <geom type="plane" size="50 50 1"/>
        {balls}</worldbody></mujoco>"""
    )
    d = cardan.MjData(m)
    d.qvel[0] = -15.0  # touches in the second pass
    before = exact_jacobian(m, d)
    d.qvel[:] = -15.0
    found = exact_jacobian(m, d)
    cardan.mj_forward(m, d)
    assert d.ncon == 0
    assert np.isfinite(found).all()
    assert before[m.nv, m.nv] != 1.0
    np.testing.assert_allclose(np.diag(found)[m.nv :], before[m.nv, m.nv], rtol=1e-9)
    np.testing.assert_allclose(before[m.nv + 1, m.nv + 1], 1.0, rtol=1e-12)


@pytest.mark.parametrize("solref", [".03 .8", ".02 1"])
def test_several_explicit_pairs_of_the_same_geoms(solref):
    """Each contact has the parameters of its own pair, whichever of the pairs comes first, or both have the same."""
    m = cardan.MjModel.from_xml_string(
        f"""<mujoco><worldbody><geom name="floor" type="plane" size="5 5 1"/><body pos="0 0 .099"><freejoint/>
        <geom name="box" type="box" size=".2 .15 .1" mass="2"/></body></worldbody><contact>
        <pair geom1="floor" geom2="box" condim="3" friction=".5 .5" solref=".02 1"/>
        <pair geom1="box" geom2="floor" condim="3" friction=".5 .5" solref="{solref}"/></contact></mujoco>"""
    )
    solve_to_the_end(m)
    d = cardan.MjData(m)
    d.qvel[:2] = 0.7, 0.2
    for _ in range(3):
        cardan.mj_step(m, d)
    cardan.mj_forward(m, d)
    assert d.ncon == 8
    check(d, list(range(2 * m.nv)))
