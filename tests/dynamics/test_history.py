"""Delays and histories of controls and sensors, compared with MuJoCo 4.0.0 bit by bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from later import later_run
from tests.fake_gpu import lent

import cardan
from cardan.errors import MjcfError
from cardan.jit import jit_enabled

ARM = """<mujoco><option timestep=".01" integrator="{integrator}"/>
<default><motor ctrlrange="-1 1"/></default>
<worldbody><body name="b" pos="0 0 1"><joint name="a" axis="0 1 0" damping=".1"/><geom size=".1" pos=".3 0 0"/>
<body pos=".4 0 0"><joint name="s" type="slide" axis="1 0 0" stiffness="30"/><geom name="g" size=".05"/><site name="p"/>
</body></body></worldbody>
<actuator>
<motor name="late" joint="a" delay=".05" nsample="6" gear="3"/>
<motor name="kept" joint="s" nsample="3" gear="9"/>
<motor name="plain" joint="s" gear=".1"/>
<position name="smooth" joint="a" kp="4" kv=".3" delay=".023" interp="cubic" nsample="5" ctrlrange="-2 2"/>
<intvelocity name="integrated" joint="a" kp="1" delay=".031" interp="linear" nsample="7" actrange="-1 1"/>
<muscle name="muscle" joint="s" delay=".02" nsample="2" ctrlrange="0 1" lengthrange="-1 1"/>
</actuator>
<sensor>
<jointpos joint="a" delay=".025" interp="linear" nsample="4"/>
<jointpos joint="s" interval=".025" nsample="3"/>
<framepos objtype="body" objname="b" nsample="5"/>
<framepos objtype="geom" objname="g" nsample="5" delay=".034" interp="cubic"/>
<accelerometer site="p" nsample="4" delay=".02"/>
<accelerometer site="p" nsample="3" interval=".033 -.012" delay=".04" cutoff="9"/>
<gyro site="p" nsample="2" interval=".03"/>
<actuatorfrc actuator="late"/>
<clock nsample="4" interval=".1" delay=".05" interp="linear"/>
<jointvel joint="a" nsample="1" delay=".004"/>
<jointvel joint="a" nsample="8" interval=".007"/>
</sensor></mujoco>"""

RUN = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
rows = []
for k in range(len(controls)):
    d.ctrl[:] = controls[k]
    mujoco.mj_step(m, d)
    if k % 17 == 0:
        mujoco.mj_forward(m, d)
    rows.append(np.concatenate([d.history, d.sensordata, d.actuator_force, d.qpos, d.qvel, d.act, [d.time]]))
out = np.array(rows)
"""


def own(code: str, **names: Any) -> Any:
    """Run code of `later_run` with Cardan."""
    space = {"mujoco": cardan, "np": np, **names}
    exec(code, space)
    return space["out"]


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicit", "implicitfast"])
def test_steps(integrator: str, compat: str) -> None:
    """Histories, sensors and forces of 400 steps: times are equal bit by bit, values up to rounding."""
    xml = ARM.format(integrator=integrator)
    controls = np.random.default_rng(1).uniform(-1.5, 1.5, (400, 6))
    m = cardan.MjModel.from_xml_string(xml, compat=compat)
    rows = own(RUN.replace("m = mujoco.MjModel.from_xml_string(xml)", ""), m=m, controls=controls)
    reference = later_run(RUN, xml=xml, controls=controls)
    assert np.abs(rows - reference).max() < 1e-11 * np.abs(reference).max()
    for k in range(m.nu + m.nsensor):
        table, adr = (
            (m.actuator_history, m.actuator_historyadr) if k < m.nu else (m.sensor_history, m.sensor_historyadr)
        )
        i = k if k < m.nu else k - m.nu
        part = slice(adr[i], adr[i] + 2 + table[i, 0] if table[i, 0] else 0)
        assert np.array_equal(rows[:, part], reference[:, part])


def test_layout() -> None:
    """Fields of the model, and sizes of the state, equal those of 4.0.0."""
    xml = ARM.format(integrator="Euler")
    m = cardan.MjModel.from_xml_string(xml)
    names = [f"actuator_{n}" for n in ("history", "historyadr", "delay")]
    names += [f"sensor_{n}" for n in ("history", "historyadr", "delay", "interval")]
    code = "m = mujoco.MjModel.from_xml_string(xml); out = [m.nhistory, *(getattr(m, n) for n in names)]"
    for ours, theirs in zip(own(code, xml=xml, names=names), later_run(code, xml=xml, names=names), strict=True):
        assert np.array_equal(ours, theirs)
    state = cardan.mjtState
    assert cardan.mj_stateSize(m, state.mjSTATE_HISTORY) == m.nhistory
    plain = cardan.MjModel.from_xml_string("<mujoco/>")
    assert cardan.mj_stateSize(plain, state.mjSTATE_FULLPHYSICS) == 1


RESET = """
m = mujoco.MjModel.from_xml_string(xml)
out = np.array(mujoco.MjData(m).history)
"""


def test_reset() -> None:
    """Times after a reset, for time steps and intervals of all kinds."""
    rng = np.random.default_rng(2)
    for _ in range(60):
        h = float(rng.choice([0.002, 0.01, 0.003, rng.uniform(1e-3, 0.1)]))
        period = float(rng.choice([0.025, 0.1, 0.03, 0.07, 3 * h, rng.uniform(1e-3, 0.3)]))
        phase = float(rng.choice([0.0, -rng.uniform(0, period)]))
        n = int(rng.integers(1, 40))
        clock = f'<clock nsample="{n}"/><clock nsample="{n}" interval="{period!r} {phase!r}"/>'
        xml = f'<mujoco><option timestep="{h!r}"/><sensor>{clock}</sensor></mujoco>'
        assert np.array_equal(own(RESET, xml=xml), later_run(RESET, xml=xml)), xml


JUMPS = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
out = []
for time in times:
    d.time = time
    d.ctrl[0] += 1
    mujoco.mj_step(m, d)
    out.append(np.concatenate([d.history, d.sensordata]))
out = np.array(out)
"""


def test_jumps_in_time() -> None:
    """Samples of earlier times are sorted in; equal times replace the value; periods catch up one by one."""
    xml = """<mujoco><option timestep=".01"/><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody>
    <actuator><motor joint="j" nsample="4"/></actuator>
    <sensor><clock nsample="4" interval=".025"/><clock nsample="3" delay=".02"/></sensor></mujoco>"""
    times = [0, 0.01, 0.02, 0.02, 0.005, 0.5, 0.1, 0.09, -3, 0.7, 0.7 - 1e-16, 0.7 - 5e-16, 0.7 - 3e-15, 0.7 + 1e-15]
    times += [0.2, 0.21, 0.22, 0.05, 0.06, 1, 1, 1.1, *np.random.default_rng(0).uniform(0, 1, 60)]
    assert np.array_equal(own(JUMPS, xml=xml, times=times), later_run(JUMPS, xml=xml, times=times))


READ = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
result, values = np.zeros(1), np.zeros(3)
out = []
for k, (times, samples, vectors) in enumerate(tables):
    mujoco.mj_initCtrlHistory(m, d, 0, None if k % 3 == 2 else times, samples)
    mujoco.mj_initSensorHistory(m, d, 0, None if k % 3 == 2 else times, vectors, -.25)
    for time in (*moments, *(times + .05), *(times + .05 - 9e-16), *(times + .05 + 9e-16)):
        for interp in (-1, 0, 1, 2):
            mujoco.mj_readCtrl(m, d, 0, time, result, interp)
            mujoco.mj_readSensor(m, d, 0, time, values, interp)
            out += [*result, *values]
    out += d.history.tolist()
    mujoco.mj_step(m, d)
out = np.array(out)
"""
GYRO = """<mujoco><worldbody><body><joint name="j"/><geom size=".1"/><site name="s"/></body></worldbody>
<actuator><motor joint="j" nsample="5" delay=".05" interp="linear"/><motor joint="j"/></actuator>
<sensor><gyro site="s" nsample="5" delay=".05" interp="cubic"/><clock/></sensor></mujoco>"""


def test_reads() -> None:
    """Reads at, between, before and after samples, of controls and of vectors, in all interpolations."""
    rng = np.random.default_rng(3)
    tables = [(np.cumsum(rng.uniform(0.05, 0.2, 5)), rng.normal(size=5), rng.normal(size=(5, 3))) for _ in range(12)]
    moments = [-1.0, *rng.uniform(0, 1, 30), 5.0]
    names: dict[str, Any] = {"xml": GYRO, "tables": tables, "moments": moments}
    ours, theirs = own(READ, **names), later_run(READ, **names)
    assert np.abs(ours - theirs).max() < 1e-13


def test_reads_without_history() -> None:
    """An actuator or sensor without a history is read at once."""
    m = cardan.MjModel.from_xml_string(GYRO)
    d = cardan.MjData(m)
    d.ctrl[1], d.time = 3.0, 7.0
    cardan.mj_forward(m, d)
    result = np.zeros(1)
    assert cardan.mj_readCtrl(m, d, 1, 0.0, result, -1) is result
    assert result[0] == 3.0
    assert cardan.mj_readSensor(m, d, 1, 0.0, result, 0)[0] == 7.0


BAD_CALLS = [
    (lambda m, d: cardan.mj_readCtrl(m, d, 2, 0.0, np.zeros(1), 0), IndexError, "actuator"),
    (lambda m, d: cardan.mj_readSensor(m, d, -1, 0.0, np.zeros(1), 0), IndexError, "sensor"),
    (lambda m, d: cardan.mj_readCtrl(m, d, 0, 0.0, np.zeros(2), 0), TypeError, "result size"),
    (lambda m, d: cardan.mj_readCtrl(m, d, 0, 0.0, np.zeros(1), 3), cardan.FatalError, "interp must be 0, 1, 2"),
    (lambda m, d: cardan.mj_initCtrlHistory(m, d, 5, None, np.zeros(5)), IndexError, "actuator"),
    (lambda m, d: cardan.mj_initCtrlHistory(m, d, 1, None, np.zeros(5)), cardan.FatalError, "no history"),
    (lambda m, d: cardan.mj_initSensorHistory(m, d, 1, None, np.zeros(5), 0.0), cardan.FatalError, "no history"),
    (lambda m, d: cardan.mj_initCtrlHistory(m, d, 0, None, np.zeros(4)), TypeError, "values"),
    (lambda m, d: cardan.mj_initCtrlHistory(m, d, 0, np.zeros(4), np.zeros(5)), TypeError, "times"),
    (
        lambda m, d: cardan.mj_initCtrlHistory(m, d, 0, np.ones(5), np.zeros(5)),
        cardan.FatalError,
        "strictly increasing",
    ),
    (
        lambda m, d: cardan.mj_initCtrlHistory(m, d, 0, np.array([0, 1, np.nan, 3, 4]), np.zeros(5)),
        cardan.FatalError,
        "strictly increasing",
    ),
]


@pytest.mark.parametrize(("call", "error", "part"), BAD_CALLS)
def test_bad_calls(call: Any, error: type, part: str) -> None:
    """Wrong ids, sizes, times and interpolations are refused."""
    m = cardan.MjModel.from_xml_string(GYRO)
    with pytest.raises(error, match=part):
        call(m, cardan.MjData(m))


BAD = {
    'nsample="0" delay=".1"': "a delay needs a history: set nsample",
    'nsample="99999999"': "at most 16777216 samples, found 99999999",
    'nsample="2" interp="spline"': "'spline' is not one of its keywords",
    'nsample="2.5"': "nsample",
}
BAD_CLOCKS = {
    'nsample="2" interval="-.1"': "the period must not be negative, found -0.1",
    'nsample="2" interval=".1 .1"': "the phase must not be positive, found 0.1",
    'nsample="2" interval=".1 -.1"': "the phase must be above -period, found -0.1 for 0.1",
    'delay=".1"': "a delay needs a history",
}


def _model(motor: str = "", clock: str = "", option: str = "") -> str:
    return f"""<mujoco><option {option}/><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody>
    <actuator><motor joint="j" {motor}/></actuator><sensor><clock {clock}/></sensor></mujoco>"""


@pytest.mark.parametrize(
    ("xml", "part"),
    [(_model(motor=text), part) for text, part in BAD.items()]
    + [(_model(clock=text), part) for text, part in BAD_CLOCKS.items()]
    + [(_model('nsample="2"', option='timestep="0"'), "a history needs a positive timestep")],
)
def test_bad_models(xml: str, part: str) -> None:
    """Mistakes in the attributes are errors that name element and attribute."""
    with pytest.raises(MjcfError, match=part):
        cardan.MjModel.from_xml_string(xml)


def test_state_holds_the_history() -> None:
    """Two data with the same physics state take the same steps; copies and keyframes do as 4.0.0."""
    m = cardan.MjModel.from_xml_string(ARM.format(integrator="Euler"))
    d, e = cardan.MjData(m), cardan.MjData(m)
    rng = np.random.default_rng(0)
    for _ in range(30):
        d.ctrl[:] = rng.uniform(-1, 1, m.nu)
        cardan.mj_step(m, d)
    spec = cardan.mjtState.mjSTATE_INTEGRATION
    state = np.zeros(cardan.mj_stateSize(m, spec))
    cardan.mj_getState(m, d, state, spec)
    start = 1 + m.nq + m.nv + m.na  # as in 4.0.0, after act
    assert np.array_equal(state[start : start + m.nhistory], d.history)
    cardan.mj_setState(m, e, state, spec)
    f = cardan.mj_copyData(cardan.MjData(m), m, d)
    for _ in range(20):
        for data in (d, e, f):
            cardan.mj_step(m, data)
        assert np.array_equal(d.sensordata, e.sensordata)
        assert np.array_equal(d.history, f.history)
        assert np.array_equal(d.qpos, f.qpos)
    cardan.mj_resetData(m, d)
    assert np.array_equal(d.history, cardan.MjData(m).history)


def test_saving(tmp_path: Any) -> None:
    """Text, binary files and copies keep histories, delays and intervals."""
    m = cardan.MjModel.from_xml_string(ARM.format(integrator="Euler"))
    cardan.mj_saveModel(m, str(tmp_path / "m.mjb"))
    for other in (
        cardan.MjModel.from_xml_string(m.to_xml()),
        cardan.MjModel.from_binary_path(str(tmp_path / "m.mjb")),
    ):
        for name in ("actuator_history", "actuator_delay", "sensor_history", "sensor_delay", "sensor_interval"):
            assert np.array_equal(getattr(m, name), getattr(other, name))
        assert other.nhistory == m.nhistory


def test_structs() -> None:
    """Programs set the attributes on structs of MjSpec."""
    spec = cardan.MjSpec.from_string(_model())
    spec.actuators[0].nsample, spec.actuators[0].delay = 3, 0.004
    spec.sensors[0].nsample, spec.sensors[0].interval = 4, [0.01, -0.002]
    m = spec.compile()
    assert m.actuator_history.tolist() == [[3, 0]]
    assert m.actuator_delay[0] == 0.004
    assert m.sensor_interval.tolist() == [[0.01, -0.002]]


def test_worlds_of_a_batch() -> None:
    """Each world of a batch has a history of its own."""
    m = cardan.MjModel.from_xml_string(ARM.format(integrator="implicitfast"))
    batch, d = cardan.Batch(m, 3), cardan.MjData(m)
    controls = np.random.default_rng(4).uniform(-1, 1, (50, 3, m.nu))
    for row in controls:
        batch.ctrl[:] = row
        batch.step()
        d.ctrl[:] = row[1]
        cardan.mj_step(m, d)
    assert np.array_equal(np.asarray(batch.history)[1], d.history)
    assert np.array_equal(np.asarray(batch.sensordata)[1], d.sensordata)


def test_bad_control() -> None:
    """A bad control has its effect, and its warning, when the delay has passed."""
    m = cardan.MjModel.from_xml_string(_model('nsample="3" delay=".002"', option='timestep=".001"'))
    d = cardan.MjData(m)
    counts = []
    for value in (1.0, np.nan, 3.0, 4.0, 5.0):
        d.ctrl[0] = value
        cardan.mj_step(m, d)
        counts.append(int(d.warning[cardan.mjtWarning.mjWARN_BADCTRL].number))
    assert counts == [0, 0, 0, 1, 1]


def test_invalid_cursor_is_safe() -> None:
    """Numbers that users write into a history never lead outside of it."""
    m = cardan.MjModel.from_xml_string(ARM.format(integrator="Euler"))
    d = cardan.MjData(m)
    for value in (np.nan, -5.0, 1e300, 7e7):
        d.history[:] = value
        cardan.mj_step(m, d)
        cardan.mj_resetData(m, d)


def _after_a_while(integrator: str = "Euler") -> tuple[cardan.MjModel, cardan.MjData]:
    m = cardan.MjModel.from_xml_string(ARM.format(integrator=integrator))
    d = cardan.MjData(m)
    for k in range(30):
        d.ctrl[:] = np.sin(k)
        cardan.mj_step(m, d)
    return m, d


@pytest.mark.skipif(not jit_enabled, reason="about native code")
def test_single_precision() -> None:
    """Batches in float32 pick the same samples as those in float64."""
    m = cardan.MjModel.from_xml_string(ARM.format(integrator="Euler"))
    single, double = cardan.Batch(m, 2, dtype="float32"), cardan.Batch(m, 2)
    # periods that are multiples of the time step end by rounding, in both
    steady = np.repeat(m.sensor_interval[:, 0] == 0.0, m.sensor_dim)
    for row in np.random.default_rng(5).uniform(-1, 1, (60, 2, m.nu)).astype(np.float32):
        for batch in (single, double):
            batch.ctrl[:] = row
            batch.step()
        assert np.abs(np.asarray(single.actuator_force) - double.actuator_force).max() < 1e-4
        found, expected = np.asarray(single.sensordata)[:, steady], double.sensordata[:, steady]
        assert np.abs(found - expected).max() < 1e-3 * max(1.0, np.abs(expected).max())


@pytest.mark.skipif(not jit_enabled, reason="about native code")
def test_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """GPU code of all stages with histories gives the same as threads."""
    m = cardan.MjModel.from_xml_string(ARM.format(integrator="Euler"))
    with lent(monkeypatch):
        batches = cardan.Batch(m, 2, device="cuda"), cardan.Batch(m, 2)
        for row in np.random.default_rng(6).uniform(-1, 1, (12, 2, m.nu)):
            for batch in batches:
                batch.ctrl[:] = row
                batch.step()
        for name in ("history", "sensordata", "actuator_force"):
            ours, theirs = (np.asarray(getattr(batch, name)) for batch in batches)
            assert np.abs(ours - theirs).max() < 1e-9
        batches[0].close()


@pytest.mark.skipif(not jit_enabled, reason="exact derivatives need native code")
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
def test_derivatives_of_a_step(integrator: str) -> None:
    """Derivatives of one step, with the history as it is: exact ones equal finite differences; the data are kept."""
    m, d = _after_a_while(integrator)
    history, n = d.history.copy(), 2 * m.nv + m.na
    shapes = [(n, n), (n, m.nu), (m.nsensordata, n), (m.nsensordata, m.nu)]
    exact, near = ([np.zeros(shape) for shape in shapes] for _ in range(2))
    cardan.mjd_transition(m, d, *exact)
    cardan.mjd_transitionFD(m, d, 1e-6, 1, *near)
    assert np.array_equal(history, d.history)
    for ours, theirs in zip(exact, near, strict=True):
        assert np.abs(ours - theirs).max() < 1e-6 * max(1.0, np.abs(theirs).max())
    late, plain = m.actuator("late").id, m.actuator("plain").id
    assert not exact[1][:, late].any()
    assert exact[1][:, plain].any()


@pytest.mark.skipif(not jit_enabled, reason="exact derivatives need native code")
def test_tapes_refuse_delays() -> None:
    """Derivatives of several steps need the history as a part of the state: an error names what has a delay."""
    m, d = _after_a_while()
    with pytest.raises(NotImplementedError, match="actuator 0 has a delay"):
        cardan.record(m, d, 3)
    kept = cardan.MjModel.from_xml_string(_model('nsample="3"', 'nsample="2"'))
    cardan.record(kept, cardan.MjData(kept), 3)


@pytest.mark.filterwarnings("ignore:.*not a usable number")
def test_delay_without_a_value() -> None:
    """A delay that is not a number is an error; a delay beyond the history reads its oldest sample."""
    with pytest.raises(MjcfError, match="delay: a delay must be a number, found nan"):
        cardan.MjModel.from_xml_string(_model('nsample="2" delay="nan"'))
    m = cardan.MjModel.from_xml_string(_model('nsample="2" delay="100"'))
    d = cardan.MjData(m)
    for k in range(4):
        d.ctrl[0] = k
        cardan.mj_step(m, d)
    assert d.actuator_force[0] == 1.0


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
def test_debug_reset(compat: str) -> None:
    """A reset for debugging keeps the initial history, and fills computed fields under both settings."""
    m = cardan.MjModel.from_xml_string(_model('nsample="2" delay=".01"'), compat=compat)
    d = cardan.MjData(m)
    initial = d.history.copy()
    d.ctrl[0] = 1.0
    cardan.mj_step(m, d, 3)
    cardan.mj_resetDataDebug(m, d, 0)
    assert np.array_equal(d.history, initial)
    assert not d.xpos.any()
    cardan.mj_step(m, d)
