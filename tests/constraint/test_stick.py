"""Contacts that stick: they remember their deformation from step to step."""

import copy
import pickle
from math import atan, cos, sin

import numpy as np
import pytest
from tests.fake_gpu import lent

import cardan
from cardan.batch.differentiable import differentiable_step
from cardan.errors import MjcfError
from cardan.jit import jit_enabled
from cardan.step.report import SimulationWarning

GRAVITY, MU = 9.81, 0.5
HISTORY = cardan.mjtState.mjSTATE_HISTORY
SLOPE = """<mujoco><option timestep="{h}" cone="{cone}" solver="{solver}" integrator="{integrator}"
 jacobian="{jacobian}"/><default><geom friction=".5 .005 .0001" condim="{dim}"/></default><worldbody>
<geom name="floor" type="plane" size="5 5 1" euler="0 {angle} 0"/>
<body pos="{x} 0 {z}" euler="0 {angle} 0"><freejoint/>
<geom name="box" type="box" size=".1 .1 .1" mass="1" {law}/></body>
</worldbody>{more}</mujoco>"""
USUAL = {"h": 0.002, "cone": "elliptic", "solver": "Newton", "integrator": "Euler", "jacobian": "dense", "dim": 3}


def slope(steepness: float, **values: object) -> str:
    """A box of 1 kg on a slope whose tangent is `steepness` times the coefficient of friction."""
    angle = atan(steepness * MU)
    place = {"angle": np.rad2deg(angle), "x": 0.1 * sin(angle), "z": 0.1 * cos(angle)}
    return SLOPE.format(**(USUAL | {"law": 'stick="true"', "more": ""} | place | values))


def downhill(d: cardan.MjData, steepness: float) -> float:
    """The way down the slope, m."""
    angle = atan(steepness * MU)
    return d.qpos[0] * cos(angle) - d.qpos[2] * sin(angle)


def settled(xml: str, steps: int = 1000, compat: str = "3.1") -> tuple[cardan.MjModel, cardan.MjData]:
    """Model, and data after some steps."""
    m = cardan.MjModel.from_xml_string(xml, compat=compat)
    d = cardan.MjData(m)
    cardan.mj_step(m, d, steps)
    return m, d


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"cone": "pyramidal"},
        {"solver": "CG"},
        {"solver": "PGS", "cone": "pyramidal"},
        {"jacobian": "sparse", "dim": 4},
        {"integrator": "implicitfast", "dim": 6},
        {"integrator": "RK4"},
        {"integrator": "discrete", "cone": "pyramidal"},
    ],
)
def test_box_stays_on_a_slope(values: dict[str, object]) -> None:
    """At 0.99 of the limit the box creeps less than 1e-9 m/s; without memory it creeps more than 1 mm/s."""
    m, d = settled(slope(0.99, **values), 5000)
    start = downhill(d, 0.99)
    cardan.mj_step(m, d, 5000)
    assert abs(downhill(d, 0.99) - start) / 10 < 1e-9
    m, d = settled(slope(0.99, law="", **values), 500)
    start = downhill(d, 0.99)
    cardan.mj_step(m, d, 500)
    assert (downhill(d, 0.99) - start) / 1 > 1e-3


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_box_slides_beyond_the_limit(cone: str) -> None:
    """At 1.01 of the limit the acceleration is g (sin - mu cos), within 1 %."""
    m, d = settled(slope(1.01, cone=cone), 500)
    start, speed = downhill(d, 1.01), float(d.qvel[0])
    ways = []
    for _ in range(2):
        cardan.mj_step(m, d, 500)
        ways.append(downhill(d, 1.01) - start)
    angle = atan(1.01 * MU)
    expected = GRAVITY * (sin(angle) - MU * cos(angle))
    assert speed > 0
    assert abs((ways[1] - 2 * ways[0]) / expected - 1) < 0.01


def test_elastic_force_carries_the_load() -> None:
    """At rest, the forces of the friction rows are those of the springs, D k d z."""
    m, d = settled(slope(0.6), 5000)
    cardan.mj_forward(m, d)
    total = 0.0
    for contact in range(d.ncon):
        row = d.contact.efc_address[contact] + 2
        spring = d.efc_D[row] * d.efc_KBIP[row, 0] * d.efc_KBIP[row, 2] * d.contact.deformation[contact, 1]
        assert abs(spring + d.efc_force[row]) < 1e-6
        total += abs(spring)
    assert abs(total - GRAVITY * sin(atan(0.3))) < 1e-6


def test_twist() -> None:
    """A torque below the torsional limit turns a ball a little; it then stays, and turns back without the torque."""
    xml = """<mujoco><option cone="elliptic"/><default><geom condim="4" friction=".5 .02 0" stick="true"/></default>
    <worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .1"><joint type="slide" axis="0 0 1"/>
    <joint axis="0 0 1"/><geom size=".1" mass="1"/></body></worldbody></mujoco>"""
    m, d = settled(xml, 500)
    d.qfrc_applied[1] = 0.9 * 0.02 * GRAVITY
    cardan.mj_step(m, d, 2000)
    turned = d.qpos[1]
    cardan.mj_step(m, d, 2000)
    assert turned > 1e-3
    assert abs(d.qpos[1] - turned) < 1e-10
    d.qfrc_applied[1] = 0
    cardan.mj_step(m, d, 2000)
    assert abs(d.qpos[1]) < 1e-9


PINCH = """<mujoco><option timestep="0.002" cone="{cone}"/><default><geom {law} friction="1 .005 .0001"/></default>
<worldbody>
<body pos="-.03 0 .5"><joint name="left" type="slide" axis="1 0 0"/><geom type="box" size=".01 .03 .03" mass=".1"/>
</body>
<body pos=".03 0 .5"><joint name="right" type="slide" axis="-1 0 0"/><geom type="box" size=".01 .03 .03" mass=".1"/>
</body><body pos="0 0 .5"><freejoint/><geom type="capsule" size=".02 .03" mass=".05"/></body></worldbody>
<actuator><motor joint="left"/><motor joint="right"/></actuator></mujoco>"""


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
@pytest.mark.parametrize("surplus", [20, 95])
def test_pinched_capsule(cone: str, surplus: float) -> None:
    """A capsule pinched with many times the needed force creeps less than 1e-9 m/s; without memory more than 5e-5."""
    rates = []
    for law, steps in (("", 1000), ('stick="true"', 5000)):
        m = cardan.MjModel.from_xml_string(PINCH.format(cone=cone, law=law))
        d = cardan.MjData(m)
        d.ctrl[:] = surplus * 0.5 * 0.05 * GRAVITY
        cardan.mj_step(m, d, 3000)
        height = d.qpos[4]
        cardan.mj_step(m, d, steps)
        rates.append(abs(d.qpos[4] - height) / (0.002 * steps))
    assert rates[0] > 2e-5
    assert rates[1] < 1e-9


def test_state_holds_the_deformation() -> None:
    """A state, a copy and a pickle continue with the same bits; a reset forgets."""
    m, d = settled(slope(0.8), 137)
    size = cardan.mj_stateSize(m, cardan.mjtState.mjSTATE_FULLPHYSICS)
    assert size == 1 + m.nq + m.nv + 16 * m.nstick
    state = np.zeros(cardan.mj_stateSize(m, cardan.mjtState.mjSTATE_INTEGRATION))
    cardan.mj_getState(m, d, state, cardan.mjtState.mjSTATE_INTEGRATION)
    others = [copy.copy(d), pickle.loads(pickle.dumps(d)), cardan.MjData(m)]
    cardan.mj_setState(m, others[2], state, cardan.mjtState.mjSTATE_INTEGRATION)
    for data in (d, *others):
        cardan.mj_step(data.model, data, 50)
    for other in others:
        assert other.qpos.tobytes() == d.qpos.tobytes()
        assert other.stick.tobytes() == d.stick.tobytes()
    cardan.mj_resetData(m, d)
    assert not d.stick.any()


def test_forward_keeps_the_memory() -> None:
    """Only a step changes the memory."""
    m, d = settled(slope(0.8), 100)
    before = d.stick.copy()
    assert before.any()
    cardan.mj_forward(m, d)
    cardan.mj_inverse(m, d)
    assert d.stick.tobytes() == before.tobytes()


def test_contact_frame_turns_with_geoms() -> None:
    """A box that is held and turned with its gripper stays where it is in the gripper."""
    xml = """<mujoco><default><geom stick="true" friction=".8 .005 .0001" condim="4"/></default><worldbody>
    <body pos="0 0 1"><joint name="turn" axis="1 .3 0" damping="5"/>
    <geom type="box" size=".05 .05 .005" mass=".5" pos="0 0 .1"/>
    <geom type="box" size=".01 .03 .03" mass=".1" pos="-.035 0 0"/>
    <body pos=".035 0 0"><joint name="right" type="slide" axis="-1 0 0"/>
    <geom type="box" size=".01 .03 .03" mass=".1"/></body></body>
    <body pos="0 0 1"><freejoint/><geom type="box" size=".025 .02 .02" mass=".1"/></body></worldbody>
    <actuator><position joint="turn" kp="20" ctrlrange="-7 7"/><motor joint="right"/></actuator></mujoco>"""
    m = cardan.MjModel.from_xml_string(xml)
    d = cardan.MjData(m)
    d.ctrl[1] = 10
    cardan.mj_step(m, d, 500)

    def held() -> np.ndarray:
        cardan.mj_kinematics(m, d)
        return d.xmat[1].reshape(3, 3).T @ (d.xpos[3] - d.xpos[1])

    start = held()
    for step in range(5000):
        d.ctrl[0] = 1e-3 * min(step, 4000 - step) if step < 4000 else 0.0
        cardan.mj_step(m, d)
        if step == 2000:
            assert d.qpos[0] > 1.5
            assert np.abs(held() - start).max() < 1e-3  # elastic: the direction of gravity has turned
    assert np.abs(held() - start).max() < 2e-5


def test_explicit_pairs_and_priority() -> None:
    """A pair decides for its contacts; otherwise the geom with the higher priority, or both."""
    pair = '<contact><pair geom1="floor" geom2="box" stick="{}" friction=".5 .5 0 0 0"/></contact>'
    assert settled(slope(0.5, law="", more=pair.format("true")), 1)[1].contact.law.tolist() == [1] * 4
    assert settled(slope(0.5, more=pair.format("false")), 1)[1].contact.law.tolist() == [0] * 4
    assert settled(slope(0.5), 1)[1].contact.law.tolist() == [1] * 4
    assert settled(slope(0.5).replace('"floor"', '"floor" priority="1"'), 1)[1].contact.law.tolist() == [0] * 4
    m, d = settled(slope(0.9, law="", more=pair.format("true")), 5000)
    start = d.qpos.copy()
    cardan.mj_step(m, d, 1000)
    assert np.abs(d.qpos - start).max() < 1e-9


def test_programs_set_it() -> None:
    """Models with memory let programs choose; others say what is missing."""
    m = cardan.MjModel.from_xml_string(slope(0.9, law="", more='<size nstick="8"/>'))
    assert m.nstick == 8
    m.geom_stick[...] = 1
    d = cardan.MjData(m)
    cardan.mj_step(m, d, 2000)
    assert np.abs(d.qvel).max() < 1e-9
    m = cardan.MjModel.from_xml_string(slope(0.9, law=""))
    for assign in (lambda: m.geom_stick.__setitem__(..., 1), lambda: setattr(m, "pair_stick", 1)):
        with pytest.raises(ValueError, match="no memory for contacts"):
            assign()


def test_full_memory() -> None:
    """Contacts beyond the memory are warned of, and do not stick."""
    m = cardan.MjModel.from_xml_string(slope(0.9, more='<size nstick="3"/>'))
    d = cardan.MjData(m)
    with pytest.warns(SimulationWarning):
        cardan.mj_step(m, d, 10)
    assert np.count_nonzero(d.stick[:, 0]) == 3


def test_models_without_it_are_unchanged() -> None:
    """A model that does not ask for memory has none, and the same bits as one with memory that no geom uses."""
    m, d = settled(slope(0.9, law=""), 200)
    assert m.nstick == 0
    _, other = settled(slope(0.9, law="", more='<size nstick="8"/>'), 200)
    assert other.qpos.tobytes() == d.qpos.tobytes()


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_derivatives(cone: str) -> None:
    """Exact derivatives of a step, with the deformation as it is, equal differences; steps for PyTorch are refused."""
    m, d = settled(slope(0.3, cone=cone, dim=4), 500)
    assert np.abs(d.contact.deformation).max() > 1e-5
    n = 2 * m.nv
    exact, differences = np.empty((n, n)), np.empty((n, n))
    cardan.mjd_transition(m, d, exact, None, None, None)
    cardan.mjd_transitionFD(m, d, 1e-6, True, differences, None, None, None)
    assert np.abs(differences).max() > 1
    assert np.abs(exact - differences).max() < 1e-5
    with pytest.raises(NotImplementedError, match="contacts that stick"):
        differentiable_step(m, (), 1).forward(np.zeros((1, m.nq + m.nv)), np.zeros((1, 0)), ())


PUSHED = """<mujoco><option timestep="0.002" cone="elliptic" integrator="{integrator}" tolerance="0" iterations="100"/>
<default><geom friction=".5 .02 .01" condim="4" {law}/></default><worldbody><geom type="plane" size="5 5 1"/>
<body pos="0 0 .0999"><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
<joint type="slide" axis="0 0 1"/><joint/><geom type="box" size=".1 .12 .1" mass="1"/></body></worldbody>
<actuator><motor joint="x"/><motor joint="y"/></actuator></mujoco>"""


@pytest.mark.parametrize(
    ("law", "integrator"),
    [('stick="true"', "Euler"), ('lagged="true"', "implicitfast"), ('stick="true" lagged="true"', "RK4")],
)
def test_derivatives_of_trajectories(law: str, integrator: str) -> None:
    """Gradients and sensitivities of a box that is pushed until it slides go through the memory of its contacts."""
    m, d = settled(PUSHED.format(law=law, integrator=integrator), 300)
    everything = cardan.mjtState.mjSTATE_INTEGRATION
    start = np.empty(cardan.mj_stateSize(m, everything))
    cardan.mj_getState(m, d, start, everything)
    n, nx = 30, 2 * m.nv
    weights, mass = np.linspace(1, 2, nx), m.body_mass[1].copy()
    controls = np.stack([8 * np.linspace(0.3, 1, n), np.full(n, 0.5)], axis=1)

    def end(controls: np.ndarray) -> float:
        cardan.mj_setState(m, d, start, everything)
        for control in controls:
            d.ctrl[:] = control
            cardan.mj_step(m, d)
        return float(weights @ np.concatenate([d.qpos, d.qvel]))

    cardan.mj_setState(m, d, start, everything)
    tape = cardan.record(m, d, n, controls)
    assert d.qvel[0] > 0.01
    by_states = np.zeros((n + 1, nx))
    by_states[-1] = weights
    exact = tape.gradient(by_states).controls
    states, _ = tape.sensitivities(["body_mass[1]"])["body_mass[1]"]
    for step, k in ((0, 0), (11, 1), (25, 0)):
        h = np.zeros_like(controls)
        h[step, k] = 1e-5
        assert abs((end(controls + h) - end(controls - h)) / 2e-5 - exact[step, k]) < 1e-7
    ends = []
    for change in (1e-5, -1e-5):
        m.body_mass[1] = mass + change
        ends.append(end(controls))
    assert abs((ends[0] - ends[1]) / 2e-5 - weights @ np.asarray(states)[-1].reshape(nx)) < 1e-6


def test_saving(tmp_path: object) -> None:
    """Text and binary files, and MjSpec, keep the attributes."""
    xml = slope(0.5, more='<size nstick="9"/><contact><pair geom1="floor" geom2="box" lagged="true"/></contact>')
    m = cardan.MjModel.from_xml_string(xml)
    cardan.mj_saveModel(m, f"{tmp_path}/m.mjb")
    cardan.mj_saveLastXML(f"{tmp_path}/m.xml", m)
    spec = cardan.MjSpec.from_string(xml)
    again = (
        cardan.MjModel.from_binary_path(f"{tmp_path}/m.mjb"),
        cardan.MjModel.from_xml_path(f"{tmp_path}/m.xml"),
        cardan.MjModel.from_xml_string(spec.to_xml()),
        spec.compile(),
    )
    for other in again:
        assert other.nstick == 9
        assert other.geom_stick.tolist() == [0, 1]
        assert (other.pair_stick.tolist(), other.pair_lagged.tolist()) == ([0], [1])


def test_spec() -> None:
    """A program builds a model whose geoms stick."""
    spec = cardan.MjSpec()
    spec.worldbody.add_geom(type=cardan.mjtGeom.mjGEOM_PLANE, size=[1, 1, 1])
    body = spec.worldbody.add_body(pos=[0, 0, 0.1])
    body.add_freejoint()
    geom = body.add_geom(size=[0.1, 0, 0], stick=1)
    assert (geom.stick, geom.lagged) == (1, 0)
    m = spec.compile()
    assert m.nstick > 0
    assert m.geom_stick.tolist() == [0, 1]


def test_worlds_of_a_batch() -> None:
    """Worlds of a batch step like single data; the memory is part of their states."""
    m, d = settled(slope(0.9), 0)
    batch = cardan.Batch(m, 3)
    for _ in range(100):
        batch.step()
    cardan.mj_step(m, d, 100)
    assert np.asarray(batch.qpos)[2].tobytes() == d.qpos.tobytes()
    assert np.asarray(batch.stick)[2].tobytes() == d.stick.tobytes()
    full = cardan.mjtState.mjSTATE_FULLPHYSICS
    state = batch.get_state(full)
    assert state.shape == (3, cardan.mj_stateSize(m, full))
    batch.reset()
    assert not np.asarray(batch.stick).any()
    batch.set_state(state, full)
    assert np.asarray(batch.stick)[1].tobytes() == d.stick.tobytes()


@pytest.mark.skipif(not jit_enabled, reason="about native code")
def test_single_precision_and_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches in float32, and GPU code, give the same as threads."""
    m, _ = settled(slope(0.9), 0)
    with lent(monkeypatch):
        batches = [cardan.Batch(m, 2), cardan.Batch(m, 2, dtype="float32"), cardan.Batch(m, 2, device="cuda")]
        for batch in batches:
            for _ in range(60):
                batch.step()
        found = [np.asarray(batch.qpos) for batch in batches]
        kept = [np.asarray(batch.stick) for batch in batches]
        batches[2].close()
    assert np.abs(found[1] - found[0]).max() < 1e-4
    assert np.abs(found[2] - found[0]).max() < 1e-9
    assert np.abs(kept[1] - kept[0])[:, :, :15].max() < 1e-3
    assert np.abs(kept[2] - kept[0]).max() < 1e-6


def test_bad_input() -> None:
    """Errors name the attribute."""
    with pytest.raises(MjcfError, match="stick"):
        cardan.MjModel.from_xml_string("<mujoco><worldbody><geom size='1' stick='much'/></worldbody></mujoco>")


SLIDING = """<mujoco><option timestep="0.001" cone="{cone}" solver="{solver}" jacobian="{jacobian}"
 noslip_iterations="{noslip}"/><default><geom friction=".5 .005 .0001" solref="{solref} 1" {law}/></default><worldbody>
<geom type="plane" size="90 5 1"/><body pos="0 0 .1">{joints}<geom type="box" size="{half} .1" mass="1"/></body>
</worldbody></mujoco>"""
SLIDES = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
FAST = {"cone": "elliptic", "solver": "Newton", "jacobian": "dense", "noslip": 0, "solref": 0.004, "half": ".1 .1"}


def thrown(law: str, **values: object) -> tuple[float, float]:
    """Largest height above the rest position, m, and mean acceleration, m/s^2, of a box that slides from 10 m/s on."""
    m = cardan.MjModel.from_xml_string(SLIDING.format(**(FAST | {"joints": SLIDES, "law": law} | values)))
    d = cardan.MjData(m)
    cardan.mj_step(m, d, 1000)
    start, highest = float(d.qpos[2]), 0.0
    d.qvel[0] = 10
    for _ in range(1500):
        cardan.mj_step(m, d)
        highest = max(highest, d.qpos[2] - start)
    return highest, (d.qvel[0] - 10) / 1.5


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"solref": 0.02},
        {"jacobian": "sparse", "solver": "CG"},
        {"solver": "PGS", "cone": "pyramidal"},
        {"cone": "pyramidal", "joints": "<freejoint/>", "half": ".3 .3"},
    ],
)
def test_lagged_law_does_not_lift(values: dict[str, object]) -> None:
    """Friction decelerates a fast box by mu g and does not lift it; that of MuJoCo lifts it by millimetres."""
    height, acceleration = thrown('lagged="true"', **values)
    assert height < 1e-5
    assert abs(acceleration + MU * GRAVITY) < 1e-3
    assert thrown("", **values)[0] > 2e-3


def test_no_slip_solver_with_lagged_law() -> None:
    """The no-slip solver limits friction by the normal force of the last step, too."""
    height, acceleration = thrown('lagged="true"', noslip=3)
    assert height < 1e-5
    assert abs(acceleration + MU * GRAVITY) < 1e-3


@pytest.mark.parametrize("solver", ["Newton", "PGS"])
def test_lagged_contacts_stick(solver: str) -> None:
    """Both laws together: the box stays at 0.99 of the limit, and slides with the right acceleration at 1.01."""
    both = 'stick="true" lagged="true"'
    m, d = settled(slope(0.99, law=both, solver=solver), 5000)
    start = downhill(d, 0.99)
    cardan.mj_step(m, d, 2000)
    assert abs(downhill(d, 0.99) - start) / 4 < 1e-9
    m, d = settled(slope(1.01, law=both, solver=solver), 500)
    speed = float(d.qvel[0])
    cardan.mj_step(m, d, 500)
    angle = atan(1.01 * MU)
    assert abs((d.qvel[0] - speed) / cos(angle) / (GRAVITY * (sin(angle) - MU * cos(angle))) - 1) < 0.01


def random_contact(rng: np.random.Generator) -> tuple[cardan.MjModel, cardan.MjData]:
    """A ball with 6 friction directions, and a random normal force of the last step."""
    xml = """<mujoco><option cone="elliptic"/><worldbody><geom type="plane" size="1 1 1" condim="6"
    friction=".7 .05 .02" lagged="true"/><body pos="0 0 .099"><freejoint/><geom size=".1" mass="1"/></body></worldbody>
    </mujoco>"""
    m = cardan.MjModel.from_xml_string(xml)
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    d.contact.lagged[0] = rng.uniform(0, 5)
    return m, d


def test_forces_are_the_gradient_of_the_convex_cost() -> None:
    """In all zones, forces are minus the gradient of the cost, and contact.H is the derivative of the forces."""
    rng, zones = np.random.default_rng(3), set()
    for _ in range(200):
        m, d = random_contact(rng)
        jar = rng.normal(size=6) * rng.choice([0.5, 5.0, 50.0]) * np.array([1, 0.3, 0.3, 3, 8, 8])
        cost = np.zeros(1)

        def evaluate(at: np.ndarray, m: cardan.MjModel = m, d: cardan.MjData = d, cost: np.ndarray = cost) -> float:
            cardan.mj_constraintUpdate(m, d, at, cost, 1)
            return float(cost[0])

        evaluate(jar)
        forces, hessian, zone = d.efc_force.copy(), d.contact.H[0].reshape(6, 6).copy(), int(d.efc_state[0])
        zones.add(zone)
        if zone != cardan.mjtConstraintState.mjCNSTRSTATE_CONE:
            hessian = np.diag(d.efc_D) * (zone == cardan.mjtConstraintState.mjCNSTRSTATE_QUADRATIC)
        for j, h in enumerate(np.eye(6) * 1e-6):
            slope_of_cost = (evaluate(jar + h) - evaluate(jar - h)) / 2e-6
            assert abs(slope_of_cost + forces[j]) < 1e-5 * (1 + np.abs(forces).max())
            evaluate(jar + h)
            high = d.efc_force.copy()
            evaluate(jar - h)
            change = (high - d.efc_force) / 2e-6
            assert np.abs(change + hessian[j]).max() < 1e-4 * (1 + np.abs(hessian).max())
        assert np.linalg.eigvalsh(hessian).min() > -1e-9
    assert len(zones) >= 2


def test_derivatives_with_lagged_law() -> None:
    """Exact derivatives of a step of a box that slides, with the normal forces as they are, equal differences."""
    law = 'stick="true" lagged="true"'
    m, d = settled(slope(1.5, law=law, dim=4).replace("<option", '<option tolerance="0" iterations="300"'), 200)
    n = 2 * m.nv
    exact, differences = np.empty((n, n)), np.empty((n, n))
    cardan.mjd_transition(m, d, exact, None, None, None)
    cardan.mjd_transitionFD(m, d, 1e-6, True, differences, None, None, None)
    assert np.abs(exact - differences).max() < 1e-5
