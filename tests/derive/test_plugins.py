"""Exact derivatives of steps with engine plugins: compiled ones, and clear errors for others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from derive.differences import Outcome, moved, richardson
from derive.test_constrained import check, in_contact, solve_to_the_end, some
from models import model_path

import cardan
from cardan.batch import Batch
from cardan.batch.differentiable import differentiable_step
from cardan.plugins import PLUGINS as REGISTERED

FULL = pytest.mark.skipif(os.environ.get("CARDAN_FULL_TESTS") != "1", reason="compiles for long: CARDAN_FULL_TESTS=1")
OWN = """<mujoco><extension><plugin plugin="test.spring"><instance name="s"/></plugin></extension>
<worldbody><body><joint name="j" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"/></body>
</worldbody><actuator><plugin joint="j" instance="s"/></actuator><sensor><plugin instance="s"/></sensor></mujoco>"""
ACTUATOR = int(cardan.mjtPluginCapabilityBit.mjPLUGIN_ACTUATOR)


def loaded(name: str, steps: int = 60) -> cardan.MjData:
    """A state of a model of the tests."""
    m = cardan.MjModel.from_xml_path(str(model_path(name)))
    solve_to_the_end(m)
    return in_contact(m, steps)


@pytest.mark.parametrize("name", ["pid", "belt"])
def test_models(name: str) -> None:
    d = loaded(name)
    check(d, some(d.model, 12))


@FULL
@pytest.mark.parametrize("name", ["cable", "coil", "flag"])
def test_large_models(name: str) -> None:
    d = loaded(name)
    check(d, some(d.model, 12))


@FULL
def test_touch_grid() -> None:
    d = loaded("touch_grid", 400)
    assert d.sensordata.any()
    check(d, some(d.model, 12), share=0.5)


ELASTIC = """<mujoco><option integrator="{integrator}" solver="Newton" tolerance="1e-12"/>
<extension><plugin plugin="mujoco.elasticity.{plugin}"/></extension>
<worldbody><geom type="plane" size="2 2 .1"/>
<flexcomp name="soft" type="grid" dim="{dim}" count="{count}" spacing=".1 .1 .1" radius=".01" mass=".3" pos="0 0 {z}">
<contact selfcollide="none" internal="false"/><edge equality="false"/>
<plugin plugin="mujoco.elasticity.{plugin}"><config key="young" value="2e4"/><config key="poisson" value=".3"/>
<config key="damping" value="{damping}"/>{more}</plugin></flexcomp></worldbody></mujoco>"""
SOLID = {"plugin": "solid", "dim": "3", "count": "2 2 2", "z": ".055", "more": ""}
MEMBRANE = {"plugin": "membrane", "dim": "2", "count": "3 3 1", "z": ".008"}
MEMBRANE["more"] = '<config key="thickness" value=".01"/>'


def elastic(kind: dict[str, str], integrator: str = "Euler", damping: float = 0.01, steps: int = 12) -> cardan.MjData:
    """A damped body that touches the floor, whose strain changes: what it remembers is from the step before."""
    text = ELASTIC.format(integrator=integrator, damping=damping, **kind)
    d = cardan.MjData(cardan.MjModel.from_xml_string(text))
    solve_to_the_end(d.model)
    d.qvel[:] = 0.3 * np.random.default_rng(2).normal(size=d.model.nv)
    cardan.mj_step(d.model, d, steps)
    return d


@cardan.kernel
def spring(m: Any, d: Any, instance: int, capability: int) -> None:
    """A spring that hardens, and a sensor of its force."""
    x = d.actuator_length[0]
    if capability == ACTUATOR:
        d.actuator_force[0] = d.ctrl[0] - 3.0 * x - 5.0 * x * x * x - d.plugin_state[0] * d.actuator_velocity[0]
    else:
        d.sensordata[0] = 3.0 * x + 5.0 * x * x * x


@cardan.kernel
def wear(m: Any, d: Any, instance: int) -> None:
    """The state grows from step to step."""
    d.plugin_state[0] += 0.25


def slow_spring(m: Any, d: Any, instance: int, capability: int) -> None:
    """The same in Python."""
    spring(m, d, instance, capability)


@cardan.kernel
def forgetful(m: Any, d: Any, instance: int, capability: int) -> None:
    """A force that depends on the evaluation before."""
    d.actuator_force[0] = d.plugin_state[0]
    d.plugin_state[0] = d.actuator_length[0]


@pytest.fixture
def own() -> Iterator[Any]:
    """Registers a plugin for the duration of a test."""

    def register(compute: Any, **more: Any) -> cardan.MjData:
        cardan.register_plugin(
            "test.spring", capabilities=("actuator", "sensor"), compute=compute, nstate=1, nsensordata=1, **more
        )
        d = cardan.MjData(cardan.MjModel.from_xml_string(OWN))
        d.qpos[0], d.qvel[0], d.ctrl[0], d.plugin_state[0] = 0.4, -0.7, 0.3, 0.5
        return d

    yield register
    REGISTERED.pop("test.spring", None)


def test_own_plugin_and_its_state(own: Any) -> None:
    """What it does at the end of a step is left out, so that the state is that of the step."""
    d = own(spring, advance=wear)
    m = d.model
    inertia = 0.0
    for _ in range(2):
        found = cardan.derivatives(m, d, ("qacc", "sensordata"), ("qpos", "qvel", "ctrl", "plugin_state"), "forward")
        cardan.mj_forward(m, d)
        inertia = float(d.qM[0])
        x, v = d.qpos[0], d.qvel[0]
        assert found["qacc", "ctrl"].item() == pytest.approx(1.0 / inertia, rel=1e-10)
        assert found["qacc", "qvel"].item() == pytest.approx(-0.5 / inertia, rel=1e-10)
        assert found["qacc", "plugin_state"].item() == pytest.approx(-v / inertia, rel=1e-10)
        assert found["sensordata", "qpos"].item() == pytest.approx(3.0 + 15.0 * x * x, rel=1e-10)
        assert d.plugin_state[0] == 0.5
    A = np.zeros((2, 2))
    cardan.mjd_transition(m, d, A, None, None, None)
    assert A[1, 1] == pytest.approx(1.0 - m.opt.timestep * 0.5 / inertia, rel=1e-10)


def test_results_of_a_state_are_refused(own: Any) -> None:
    d = own(spring, advance=wear)
    with pytest.raises(NotImplementedError, match="plugin_state"):
        cardan.derivatives(d.model, d, ("plugin_state",), ("qpos",))


@cardan.kernel
def lag(m: Any, d: Any, instance: int) -> None:
    """The state follows the length of the actuator, and its force."""
    d.plugin_state[0] += 0.1 * (d.actuator_length[0] - d.plugin_state[0]) + 0.02 * d.actuator_force[0]


@cardan.kernel
def count(m: Any, d: Any, instance: int) -> None:
    """The number that the plugin remembers grows with the velocity."""
    value = cardan.plugin_number(d, instance, 0)
    cardan.set_plugin_number(d, instance, 0, 0.9 * value + 0.3 * d.qvel[0] * d.qvel[0])


@cardan.kernel
def counted(m: Any, d: Any, instance: int, capability: int) -> None:
    """A spring, stiffer by what it has counted."""
    x = d.actuator_length[0]
    k = 3.0 + cardan.plugin_number(d, instance, 0)
    if capability == ACTUATOR:
        d.actuator_force[0] = d.ctrl[0] - k * x
    else:
        d.sensordata[0] = k * x


def copied(d: cardan.MjData) -> cardan.MjData:
    """The same state, with what plugins keep."""
    return moved(d, 0, 0.0)


def check_tape(d: cardan.MjData, columns: list[int], controls: np.ndarray, every: int = 1) -> None:
    """A gradient, and sensitivities, of a trajectory agree with differences of the trajectory."""
    m, nstep = d.model, len(controls)
    rng = np.random.default_rng(4)
    by_states = rng.normal(size=(nstep + 1, 2 * m.nv + m.na))
    by_sensors = rng.normal(size=(nstep, m.nsensordata))
    tape = cardan.record(m, copied(d), nstep, controls, every=every)
    gradient = tape.gradient(by_states, by_sensors)

    def loss(e: cardan.MjData, given: np.ndarray) -> Outcome:
        states, pieces = [], b""
        sensed = 0.0
        for k in range(nstep + 1):
            position = np.zeros(m.nv)
            cardan.mj_differentiatePos(m, position, 1.0, m.qpos0, e.qpos)
            states.append(np.concatenate([position, e.qvel, e.act]))
            if k < nstep:
                e.ctrl[:] = given[k]
                cardan.mj_step(m, e)
                sensed += by_sensors[k] @ e.sensordata
                pieces += e.efc_state.tobytes() + e.contact.vert.tobytes()
        return Outcome(np.array([(by_states * states).sum() + sensed]), pieces)

    def agree(found: float, outcome: Callable[[float], Outcome], step: float) -> int:
        expected, is_smooth = richardson(outcome, step)
        if is_smooth:
            assert found == pytest.approx(expected.item(), rel=1e-6, abs=1e-6 * np.abs(gradient.state).max())
        return is_smooth

    smooth = 0
    for column in columns:
        smooth += agree(gradient.state[column], lambda s, c=column: loss(moved(d, c, s), controls), 1e-5)
    for u in range(m.nu):
        change = np.zeros_like(controls)
        change[0, u] = 1.0
        outcome = lambda s, by=change: loss(copied(d), controls + s * by)  # noqa: E731 (a table of one line each)
        smooth += agree(gradient.controls[0, u], outcome, 1e-4)
    for k in range(m.npluginstate):

        def of_state(s: float, k: int = k) -> Outcome:
            e = copied(d)
            e.plugin_state[k] += s
            return loss(e, controls)

        smooth += agree(gradient.plugin_state[k], of_state, 1e-4)
    assert smooth > 0.7 * (len(columns) + m.nu + m.npluginstate)
    states, sensors = tape.sensitivities("qvel[0]")["qvel[0]"]
    along = (by_states * states).sum() + (by_sensors * sensors).sum()
    assert along == pytest.approx(gradient.state[m.nv], rel=1e-9, abs=1e-9 * np.abs(gradient.state).max())


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize(("compute", "advance"), [(spring, lag), (counted, count), (forgetful, None)])
def test_tapes_with_what_plugins_keep(own: Any, compute: Any, advance: Any, every: int) -> None:
    d = own(compute, advance=advance, init=lambda m, d, instance: np.array([0.2]))
    controls = 0.3 * np.random.default_rng(1).normal(size=(7, 1))
    check_tape(d, [0, 1], controls, every)
    tape = cardan.record(d.model, copied(d), 7, controls)
    if compute is spring:
        states, _ = tape.sensitivities("plugin_state")["plugin_state"]
        assert tape.gradient(np.array([0.0, 1.0])).plugin_state == pytest.approx(states[-1, 1], rel=1e-10)


@pytest.mark.parametrize(("compute", "advance"), [(spring, lag), (counted, count), (forgetful, None)])
def test_tapes_of_batches_with_what_plugins_keep(own: Any, compute: Any, advance: Any) -> None:
    """Each world has the tape of a data of its own, and goes on where that does."""
    m = own(compute, advance=advance, init=lambda m, d, instance: np.array([0.2])).model
    batch, alone = Batch(m, 3, nthread=2), [cardan.MjData(m) for _ in range(3)]
    for world, d in enumerate(alone):
        d.qvel[:], d.plugin_state[:] = 0.3 * world - 0.5, 0.1 * world
        batch.qvel[world], batch.plugin_state[world] = d.qvel, d.plugin_state
    controls = 0.3 * np.random.default_rng(1).normal(size=(3, 5, 1))
    for _ in range(2):  # the second time from what the first one has left
        together = batch.record(5, controls)
        gradient = together.gradient(np.array([[0.7, 1.0]] * 3))
        for world, d in enumerate(alone):
            tape = cardan.record(m, d, 5, controls[world])
            expected = tape.gradient(np.array([0.7, 1.0]))
            np.testing.assert_array_equal(together.qpos[world], tape.qpos)
            np.testing.assert_array_equal(batch.plugin_state[world], d.plugin_state)
            for name in ("state", "controls", "plugin_state"):
                found, wanted = (getattr(g, name) for g in (gradient, expected))
                np.testing.assert_allclose(found[world], wanted, rtol=1e-12, atol=1e-14)
            states, _ = together.sensitivities("dof_damping")["dof_damping"]
            np.testing.assert_allclose(states[world], tape.sensitivities("dof_damping")["dof_damping"][0], rtol=1e-12)


def test_numbers_that_steps_have_left(own: Any) -> None:
    """Derivatives are those at the numbers that the data has, which the ends of steps before have written."""
    d = own(counted, advance=count, init=lambda m, d, instance: np.array([0.2]))
    for _ in range(2):
        cardan.mj_step(d.model, d, 100)
        check(d, [0, 1])


def test_sensitivities_by_a_friction_loss_of_0(own: Any) -> None:
    """They make rows on the way, also where plugins remember."""
    d = own(counted, advance=count, init=lambda m, d, instance: np.array([0.2]))
    m = d.model
    states, _ = cardan.record(m, copied(d), 5).sensitivities("dof_frictionloss")["dof_frictionloss"]
    ends = []
    for loss in (0.0, 1e-7):
        m.dof_frictionloss[0] = loss
        e = copied(d)
        cardan.mj_step(m, e, 5)
        ends.append(e.qvel[0])
    assert states[-1, 1, 0] == pytest.approx((ends[1] - ends[0]) / 1e-7, rel=1e-3)


def test_tapes_of_batches_with_damped_elasticity() -> None:
    d = elastic(SOLID)
    m, last = d.model, np.linspace(0.0, 1.0, 2 * d.model.nv)
    batch = Batch(m, 2)
    batch.step(12)
    alone = cardan.MjData(m)
    cardan.mj_step(m, alone, 12)
    found = batch.record(3).gradient(np.array([last, last])).state
    expected = cardan.record(m, alone, 3).gradient(last).state
    np.testing.assert_allclose(found, [expected, expected], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", [SOLID, MEMBRANE], ids=["solid", "membrane"])
def test_tapes_with_damped_elasticity(kind: dict[str, str]) -> None:
    d = elastic(kind)
    check_tape(d, np.linspace(0, 2 * d.model.nv - 1, 6).astype(int).tolist(), np.zeros((5, 0)))


def test_python_is_refused(own: Any) -> None:
    """The error names the plugin and says what to do; finite differences work."""
    d = own(slow_spring)
    m, A = d.model, np.zeros((2, 2))
    uses: list[Callable[[], object]] = [
        lambda: cardan.derivatives(m, d, ("qacc",), ("qpos",), "forward"),
        lambda: cardan.mjd_transition(m, d, A, None, None, None),
        lambda: cardan.mjd_inverse(m, d, 1, np.zeros((1, 1)), None, None, None, None, None, None),
        lambda: cardan.record(m, copied(d), 2).gradient(np.zeros(2)),
    ]
    for use in uses:
        with pytest.raises(NotImplementedError, match=r"test\.spring.*Python's.*cardan\.kernel.*mjd_transitionFD"):
            use()
    cardan.mjd_transitionFD(m, d, 1e-6, 1, A, None, None, None)
    assert np.isfinite(A).all()
    assert A[1, 0] < 0.0


def slow_wear(m: Any, d: Any, instance: int) -> None:
    """The state grows, in Python."""
    d.plugin_state[0] += 0.25


def test_python_at_the_end_of_a_step_is_refused_in_tapes(own: Any) -> None:
    """Single steps leave it out."""
    d = own(spring, advance=slow_wear)
    A = np.zeros((2, 2))
    cardan.mjd_transition(d.model, d, A, None, None, None)
    assert A[0, 1] > 0.0
    with pytest.raises(NotImplementedError, match=r"test\.spring.*Python's"):
        cardan.record(d.model, copied(d), 2).gradient(np.zeros(2))


def test_a_state_that_evaluations_change(own: Any) -> None:
    """Derivatives are those at the state that the data has, however often programs evaluate the step."""
    d = own(forgetful)
    m, e = d.model, cardan.MjData(d.model)
    e.qpos[:] = d.qpos
    for _ in range(2):
        by_state = cardan.derivatives(m, d, ("qacc",), ("plugin_state",), "forward")["qacc", "plugin_state"]
        cardan.mj_forward(m, e)
        assert by_state.item() == pytest.approx(1.0 / e.qM[0], rel=1e-10)
    A = np.zeros((2, 2))
    for state in (0.5, 0.25):
        d.plugin_state[0] = state
        cardan.mjd_transition(m, d, A, None, None, None)
        check(d, [0, 1])
        assert d.plugin_state[0] == state


@pytest.mark.parametrize("kind", [SOLID, MEMBRANE], ids=["solid", "membrane"])
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_damped_elasticity(kind: dict[str, str], integrator: str) -> None:
    d = elastic(kind, integrator)
    assert d.ncon > 0
    check(d, some(d.model, 12))


def test_damping_counts_from_the_evaluation_before() -> None:
    """What is remembered stays as it is: twice the same derivatives, and others than without or after a forward."""
    d = elastic(SOLID)
    m = d.model
    before = d._memory.arrays["work.plugin_number"].copy()
    A, B, C = (np.zeros((2 * m.nv, 2 * m.nv)) for _ in range(3))
    for matrix in (A, B):
        cardan.mjd_transition(m, d, matrix, None, None, None)
    np.testing.assert_array_equal(A, B)
    np.testing.assert_array_equal(d._memory.arrays["work.plugin_number"], before)
    found = cardan.derivatives(m, d, ("qvel",), ("qpos", "qvel"))
    np.testing.assert_allclose(found["qvel", "qpos"], A[m.nv :, : m.nv], rtol=0.0, atol=1e-12 * np.abs(A).max())
    cardan.mj_forward(m, d)  # its forces are those of no rate of strain now
    cardan.mjd_transition(m, d, C, None, None, None)
    assert np.abs(C - A).max() > 1e-6 * np.abs(A).max()


@FULL
def test_damped_models() -> None:
    d = loaded("jelly_flex", 20)
    check(d, some(d.model, 8), share=0.5)


def test_steps_as_functions_are_refused(own: Any) -> None:
    """Their state does not hold what plugins keep."""
    d = own(spring, advance=wear)
    for m, word in ((d.model, "have a state"), (elastic(SOLID, steps=0).model, "remember evaluations")):
        with pytest.raises(NotImplementedError, match=f"step: .* of models whose plugins {word}"):
            differentiable_step(m, (), 1).forward(np.zeros((1, m.nq + m.nv + m.na)), np.zeros((1, m.nu)), ())
