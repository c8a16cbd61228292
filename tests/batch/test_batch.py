"""Batches: each world is a simulation of its own, bit by bit that of a single MjData."""

from __future__ import annotations

import copy
import gc
import pickle
import warnings
import weakref
from collections.abc import Callable

import numpy as np
import pytest
from models import model_path

import cardan
from cardan.batch import Batch, SimulationError
from cardan.step.report import SimulationWarning

CART = """
<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body name="cart" pos="0 0 1">
      <joint name="slide" type="slide" axis="1 0 0" damping="0.1"/>
      <geom name="box" size=".1 .2 .3" type="box" mass="1"/>
      <body name="pole">
        <joint name="hinge" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 .6" size=".03" mass=".1"/>
      </body>
    </body>
    <body name="ball" pos="1 0 .5"><freejoint name="free"/><geom size=".1"/></body>
  </worldbody>
  <actuator><motor name="push" joint="slide"/></actuator>
  <sensor><jointpos joint="hinge"/></sensor>
  <keyframe><key name="up" qpos="0.5 0.1 1 0 2 1 0 0 0" time="3"/></keyframe>
</mujoco>
"""

# more contacts in some worlds than in others, and far more than at the start
PILE = (
    "<mujoco><worldbody><geom type='plane' size='5 5 .1'/>"
    + "".join(
        f"<body pos='{0.15 * (i % 4)} {0.15 * (i // 4)} {0.4 + 0.2 * (i % 3)}'><freejoint/>"
        "<geom type='box' size='.1 .1 .1'/></body>"
        for i in range(12)
    )
    + "</worldbody></mujoco>"
)

FIELDS = ("qpos", "qvel", "qacc", "xpos", "sensordata", "qfrc_constraint", "geom_xmat")


@pytest.fixture(scope="module")
def cart() -> cardan.MjModel:
    return cardan.MjModel.from_xml_string(CART)


def singles(m: cardan.MjModel, count: int, seed: int) -> list[cardan.MjData]:
    """Single simulations from random velocities and controls."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        d = cardan.MjData(m)
        d.qvel[:] = rng.normal(size=m.nv)
        d.ctrl[:] = rng.uniform(-1, 1, m.nu)
        found.append(d)
    return found


def batch_of(m: cardan.MjModel, datas: list[cardan.MjData], nthread: int = 2) -> Batch:
    """A batch with the states and controls of single simulations."""
    b = Batch(m, len(datas), nthread)
    b.qvel = [d.qvel for d in datas]
    b.ctrl = [d.ctrl for d in datas]
    return b


def assert_same(b: Batch, i: int, d: cardan.MjData) -> None:
    """World `i` has, bit by bit, what a single simulation has."""
    for name in FIELDS:
        assert np.array_equal(getattr(b, name)[i], getattr(d, name)), name
    assert b.time[i] == d.time and b.ncon[i] == d.ncon and b.nefc[i] == d.nefc
    assert np.array_equal(b.data(i).contact.dist, d.contact.dist)
    assert np.array_equal(b.data(i).efc_force, d.efc_force)


@pytest.mark.parametrize("name", ["humanoid", "muscle_arm"])
@pytest.mark.parametrize("nthread", [1, 2])
def test_worlds_are_single_simulations(name: str, nthread: int) -> None:
    m = cardan.MjModel.from_xml_path(str(model_path(name)))
    datas = singles(m, 5, 1)
    b = batch_of(m, datas, nthread)
    b.step(20)
    for i, d in enumerate(datas):
        cardan.mj_step(m, d, 20)
        assert_same(b, i, d)


def test_arenas_grow_in_each_world() -> None:
    m = cardan.MjModel.from_xml_string(PILE)
    datas = singles(m, 6, 2)
    b = batch_of(m, datas)
    b.step(60)
    assert len(set(b.nefc.tolist())) > 1
    for i, d in enumerate(datas):
        cardan.mj_step(m, d, 60)
        assert_same(b, i, d)


def test_results_do_not_depend_on_size_position_or_threads(cart: cardan.MjModel) -> None:
    datas = singles(cart, 7, 3)
    one, many = batch_of(cart, datas, 1), batch_of(cart, datas[::-1], 2)
    one.step(30)
    many.step(np.ones(7, bool), 30)
    assert np.array_equal(one.state, many.state[::-1])


def test_views_are_live_and_shaped(cart: cardan.MjModel) -> None:
    b = Batch(cart, 3)
    assert b.qpos.shape == (3, cart.nq) and b.xmat.shape == (3, cart.nbody, 9) and b.time.shape == (3,)
    assert b.qpos is b.bind("qpos") and np.shares_memory(b.qpos, b.state)
    assert b.joint("hinge").qpos.shape == (3, 1) and b.body("pole").xpos.shape == (3, 3)
    b.joint("slide").qvel = [1.0, 2.0, 3.0]
    qpos, before = b.qpos, b.xpos.copy()
    b.step()
    assert np.allclose(qpos[:, 0], [0.01, 0.02, 0.03], atol=1e-4)
    b.forward()
    assert not np.array_equal(b.xpos, before)
    with pytest.raises(ValueError, match="computed by every call"):
        b.xpos = 0
    with pytest.raises(ValueError, match="read-only"):
        b.xpos[:] = 0


def test_views_outlive_the_batch(cart: cardan.MjModel) -> None:
    b = Batch(cart, 3)
    qpos, xpos = b.qpos, b.xpos
    b.step()
    kept = xpos.copy()
    del b
    gc.collect()
    assert np.array_equal(xpos, kept) and qpos.shape == (3, cart.nq)


def test_masks_leave_the_others_alone(cart: cardan.MjModel) -> None:
    b = batch_of(cart, singles(cart, 6, 4))
    b.step(10)
    before, mask = b.state.copy(), np.arange(6) % 2 == 0
    b.step(mask=mask)
    assert np.array_equal(b.state[~mask], before[~mask]) and not np.array_equal(b.state[mask], before[mask])
    b.reset(mask=mask)
    assert np.array_equal(b.state[~mask], before[~mask])
    assert (b.time[mask] == 0).all() and np.array_equal(b.qpos[mask], np.tile(cart.qpos0, (3, 1)))
    b.reset([1, 3], keyframe=0)
    assert np.allclose(b.qpos[[1, 3]], cart.key_qpos[0]) and (b.time[[1, 3]] == 3).all()
    for bad in ([2, 1], [0, 6], [[0]], ["a"], np.ones(5, bool)):
        with pytest.raises(ValueError, match=r"ids|mask"):
            b.step(bad)
    b.step(mask=[1, 0, 1, 0, 0, 0])
    for bad in (np.arange(6), [0.5] * 6, ["a"] * 6):
        with pytest.raises(ValueError, match="mask should be made of True and False"):
            b.step(mask=bad)


def test_calls_for_no_world_do_nothing(cart: cardan.MjModel) -> None:
    b = Batch(cart, 3)
    b.expand("body_mass")
    state, spec = b.state.copy(), int(cardan.mjtState.mjSTATE_PHYSICS)
    for chosen in ({"mask": np.zeros(3, bool)}, {"ids": []}):
        for call in (b.step, b.forward, b.inverse, b.step1, b.step2, b.reset, b.set_const):
            call(**chosen)
        rows = b.get_state(spec, **chosen)
        assert rows.shape == (0, cardan.mj_stateSize(cart, spec))
        b.set_state(rows, spec, **chosen)
        found = b.rollout(4, np.zeros((0, 4, 1)), record=["qpos", "ncon"], every=2, **chosen)
        assert found["qpos"].shape == (0, 2, cart.nq) and found["ncon"].shape == (0, 2)
        assert b.jac(1, np.zeros(3), **chosen)[0].shape == (0, 3, cart.nv)
        assert b.random(3, 1, **chosen).shape == (0, 3)
    assert np.array_equal(b.state, state)


def test_stages_bring_fields_up_to_date(cart: cardan.MjModel) -> None:
    datas = singles(cart, 3, 5)
    b = batch_of(cart, datas)
    b.step(nstep=4, stage=cardan.mjtStage.mjSTAGE_VEL)
    for i, d in enumerate(datas):
        cardan.mj_step(cart, d, 4)
        cardan.mj_step1(cart, d)
        assert np.array_equal(b.xpos[i], d.xpos) and np.array_equal(b.sensordata[i], d.sensordata)
    b.step1()
    b.ctrl = 0.3
    b.step2()
    for i, d in enumerate(datas):
        d.ctrl[:] = 0.3
        cardan.mj_step2(cart, d)
        assert np.array_equal(b.qpos[i], d.qpos)
    b.inverse()
    with pytest.raises(ValueError, match="mjtStage"):
        b.forward(stage=7)


def test_expanded_fields(cart: cardan.MjModel) -> None:
    b = Batch(cart, 4)
    b.body("pole").mass = [0.1, 0.2, 0.3, 0.4]
    gravity, timestep = b.expand("opt.gravity", "opt.timestep")
    gravity[:, 2] = -np.arange(4.0)
    timestep[:] = [0.01, 0.02, 0.01, 0.01]
    b.expand("opt.integrator")[:] = [0, 1, 2, 3]
    b.set_const()
    b.qvel[:, 1] = 0.5
    b.step(10)
    for i in range(4):
        m = b.get_model(i)
        assert m.body("pole").mass == pytest.approx(0.1 * (i + 1)) and m.opt.integrator == i
        d = cardan.MjData(m)
        d.qvel[1] = 0.5
        cardan.mj_step(m, d, 10)
        assert np.array_equal(b.qpos[i], d.qpos) and b.time[i] == d.time
    assert b.expanded("body_invweight0") is not None and b.expanded("geom_size") is None
    b.expand("opt.integrator")[:] = 0  # programs follow
    b.step()


def test_constants_of_a_world_are_those_of_its_model(cart: cardan.MjModel) -> None:
    b = Batch(cart, 2)
    b.expand("body_mass", "body_inertia")
    b.body("ball").mass = [1, 20]
    b.set_const()
    for i, mass in enumerate((1, 20)):
        m = copy.copy(cart)
        m.body("ball").mass[:] = mass
        cardan.mj_setConst(m, cardan.MjData(m))
        assert b.get_model(i).stat.meaninertia == m.stat.meaninertia  # solvers end by it
        assert b.get_model(i).stat.meanmass == m.stat.meanmass
    assert b.expanded("body_subtreemass") is not None


def test_models_of_the_caller(cart: cardan.MjModel) -> None:
    models = []
    for mass in (0.5, 1.0, 2.0):
        m = cardan.MjModel.from_xml_string(CART.replace('mass="1"', f'mass="{mass}"'))
        models.append(m)
    b = Batch(cart, 3)
    b.set_models(models)
    b.ctrl = 1.0
    b.step(5)
    for i, m in enumerate(models):
        d = cardan.MjData(m)
        d.ctrl[:] = 1
        cardan.mj_step(m, d, 5)
        assert np.array_equal(b.qpos[i], d.qpos)
    with pytest.raises(cardan.FatalError, match="caller"):
        b.expand("body_mass")
    with pytest.raises(ValueError, match="has nq"):
        b.set_models(cardan.MjModel.from_xml_string("<mujoco/>"))


def test_questions(cart: cardan.MjModel) -> None:
    b = batch_of(cart, singles(cart, 3, 6))
    b.step(20)
    state = b.state.copy()
    point, pole = np.array([0.1, 0.2, 1.0]), cart.body("pole").id
    jacp, jacr = b.jac(pole, point)
    dist, geom = b.ray([[0.0, 0, 3], [1, 0, 3], [9, 9, 3]], [0, 0, -1.0])
    assert np.array_equal(b.state, state)
    for i in range(3):
        d = b.get_data(i)
        cardan.mj_forward(cart, d)
        expected = np.zeros((2, 3, cart.nv))
        cardan.mj_jac(cart, d, *expected, point, pole)
        assert np.array_equal(jacp[i], expected[0]) and np.array_equal(jacr[i], expected[1])
        hit = np.zeros(1, np.int32)
        assert dist[i, 0] == cardan.mj_ray(cart, d, np.array([0.0, 0, 3]), np.array([0, 0, -1.0]), None, 1, -1, hit)
        assert geom[i, 0] == hit[0]
    with pytest.raises(ValueError, match="too small"):
        b.ray([0, 0, 1], [0, 0, 0])


def test_rollouts_record_what_steps_give(cart: cardan.MjModel) -> None:
    datas = singles(cart, 3, 7)
    control = np.random.default_rng(0).uniform(-1, 1, (3, 6, 1))
    b = batch_of(cart, datas)
    record = ["qpos", "ncon", int(cardan.mjtState.mjSTATE_PHYSICS)]
    results = b.rollout(6, control, record=record, every=2)
    for i, d in enumerate(datas):
        for k in range(6):
            d.ctrl[:] = control[i, k]
            cardan.mj_step(cart, d)
            if k % 2:
                assert np.array_equal(results["qpos"][i, k // 2], d.qpos) and results["ncon"][i, k // 2] == d.ncon
    assert results[record[2]].shape == (3, 3, cart.nq + cart.nv + cart.na)
    # fields of other types, and a world that stops with a warning: its records are what it has then
    b.qvel[1, 0] = np.inf
    with pytest.warns(SimulationWarning):
        results = b.rollout(3, record=["dof_island", "eq_active", "time"])
    assert results["time"][1].tolist() == [b.time[1]] * 3 and b.time[1] == cart.opt.timestep
    assert results["dof_island"].dtype == np.int32
    assert np.array_equal(results["dof_island"][:, -1], b.dof_island)
    with pytest.raises(ValueError, match="did you mean 'qpos'"):
        b.rollout(1, record=["qpso"])


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_a_world_that_diverges_again_stops_again(cart: cardan.MjModel, persistent: bool) -> None:
    """Automatic resets clear the counters of warnings, which therefore don't rise the second time."""
    b = Batch(cart, 3, persistent=persistent)
    force = np.zeros((3, 6, cart.nv))
    force[1, 2, 0] = 1e300
    dt, spec = cart.opt.timestep, int(cardan.mjtState.mjSTATE_QFRC_APPLIED)
    for k in range(3):
        time = b.rollout(6, force, control_spec=spec, record=["time"])["time"]
        start = 6 * k + np.arange(1, 7)
        np.testing.assert_allclose(time[[0, 2]], np.tile(dt * start, (2, 1)))
        first = 0 if k == 0 else 1  # steps since the last reset, at which it stopped
        np.testing.assert_allclose(time[1], dt * np.array([first + 1, first + 2, 1, 1, 1, 1]))
    b.step(4)  # it goes on in steps, and in a rollout without trouble
    assert b.rollout(2, record=["time"])["time"][1] == pytest.approx([6 * dt, 7 * dt])


def test_divergence_is_told_and_masked(cart: cardan.MjModel) -> None:
    b = Batch(cart, 4)
    b.qvel[2, 1] = np.nan
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        b.step(2)
    bit = 1 << int(cardan.mjtWarning.mjWARN_BADQVEL)
    assert b.diverged.tolist() == [0, 0, bit, 0] and not b.overflow.any()
    assert len(told) == 1 and "World 2" in str(told[0].message) and "qvel[1]" in b.diagnosis(2)
    assert b.diagnosis(0) == "" and np.isfinite(b.qpos).all()
    b.reset()
    assert not b.diverged.any() and b.diagnosis(2) == ""


def test_limits_on_memory_are_masked() -> None:
    m = cardan.MjModel.from_xml_string(PILE.replace("<worldbody>", "<size memory='4K'/><worldbody>", 1))
    b = Batch(m, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        b.step(60)
    assert (b.overflow != 0).all()


def test_worlds_that_fail_keep_their_state(cart: cardan.MjModel) -> None:
    b = Batch(cart, 4)
    b.step(3)
    state = b.state.copy()
    b.expand("opt.integrator")[1] = 99
    with pytest.raises(SimulationError, match=r"\(1\).*integrator") as caught:
        b.step(2)
    assert caught.value.ids == [1] and b.status.tolist() == [0, 1, 0, 0] and b.error(1) and not b.error(0)
    assert np.array_equal(b.state[1], state[1]) and not np.array_equal(b.state[0], state[0])


def test_python_functions_are_refused(cart: cardan.MjModel) -> None:
    b = Batch(cart, 2)
    cardan.set_mjcb_control(lambda m, d: None)
    try:
        with pytest.raises(ValueError, match=r"mjcb_control.*numba\.njit"):
            b.step()
    finally:
        cardan.set_mjcb_control(None)
    b.step()


def test_compiled_callbacks_run_in_every_world(cart: cardan.MjModel) -> None:
    @cardan.kernel
    def control(m: cardan.MjModel, d: cardan.MjData) -> None:
        d.ctrl[0] = -d.qpos[0]

    b = Batch(cart, 3)
    b.joint("slide").qpos = [1.0, 2.0, 3.0]
    cardan.set_mjcb_control(control)
    try:
        b.step()
    finally:
        cardan.set_mjcb_control(None)
    assert np.allclose(b.ctrl[:, 0], [-1, -2, -3])


def test_callbacks_of_the_model_alone_reach_its_worlds(cart: cardan.MjModel) -> None:
    @cardan.kernel
    def first(m: cardan.MjModel, d: cardan.MjData) -> None:
        d.ctrl[0] = -d.qpos[0]

    @cardan.kernel
    def second(m: cardan.MjModel, d: cardan.MjData) -> None:
        d.ctrl[0] = 10.0 * d.qpos[0]

    m = cardan.MjModel.from_xml_string(CART)
    cardan.set_callback(m, "control", first)
    for dtype in ("float64", "float32"):
        b, other = Batch(m, 2, dtype=dtype), Batch(cart, 2, dtype=dtype)
        b.qpos[:, 0] = 1, 2
        b.forward()
        assert b.ctrl[:, 0].tolist() == [-1, -2]
        # set later, and where models differ between worlds
        b.expand("body_mass")
        cardan.set_callback(m, "control", second)
        b.forward()
        assert b.ctrl[:, 0].tolist() == [10, 20]
        d = b.data(1)
        d.qpos[0] = 3
        cardan.mj_forward(d.model, d)
        assert d.ctrl[0] == 30
        other.forward()
        assert not other.ctrl.any()
        cardan.set_callback(m, "control", first)
    cardan.set_callback(m, "control", lambda m, d: None)
    with pytest.raises(ValueError, match="mjcb_control"):
        Batch(m, 2)
    with pytest.raises(ValueError, match="mjcb_control"):
        b.step()


def test_it_says_what_it_is_and_what_was_meant(cart: cardan.MjModel) -> None:
    b = Batch(cart, 3, dtype="float32")
    assert repr(b) == f"<Batch of 3 worlds in float32: nq {cart.nq}, nv {cart.nv}>"
    with pytest.raises(AttributeError, match="did you mean 'nsim'"):
        _ = b.nworld
    for name, why in {"contact": "several fields", "efc_J": "arena", "qpso": "did you mean 'qpos'"}.items():
        with pytest.raises(AttributeError, match=why):
            getattr(b, name)
    with pytest.raises(ValueError, match=r"qpos is of shape \(3, 9\)"):
        b.qpos = np.zeros(7)


def test_random_numbers_belong_to_worlds(cart: cardan.MjModel) -> None:
    few, many = Batch(cart, 2), Batch(cart, 500)
    numbers = many.random(7, seed=11)
    assert np.array_equal(numbers[:2], few.random(7, seed=11))
    assert np.array_equal(numbers[[3, 9], :5], many.random(5, 11, ids=[3, 9]))
    assert not np.array_equal(numbers, many.random(7, 11, draw=1))
    assert abs(numbers.mean() - 0.5) < 0.03 and numbers.min() >= 0 and numbers.max() < 1
    assert len(np.unique(numbers)) == numbers.size


@pytest.mark.parametrize("nthread", [1, 2])
def test_a_closed_batch_keeps_its_results_and_computes_nothing(cart: cardan.MjModel, nthread: int) -> None:
    with Batch(cart, 3, nthread) as b:
        b.step(2)
        kept = b.qpos.copy()
    b.close()
    calls = (
        b.step,
        b.forward,
        b.inverse,
        b.step1,
        b.step2,
        b.reset,
        lambda: b.rollout(2),
        lambda: b.jac(1, np.zeros(3)),
    )
    for call in calls:
        with pytest.raises(RuntimeError, match="was closed"):
            call()
    assert np.array_equal(b.qpos, kept) and np.array_equal(b.data(1).qpos, kept[1])
    assert not b.status.any()


def test_states_by_bits(cart: cardan.MjModel) -> None:
    b = batch_of(cart, singles(cart, 3, 8))
    spec = int(cardan.mjtState.mjSTATE_FULLPHYSICS)
    b.step(3)
    kept = b.get_state(spec)
    b.step(3)
    b.set_state(kept[1:], spec, [1, 2])
    assert np.array_equal(b.get_state(spec, [1, 2]), kept[1:])
    d = b.get_data(1)
    single = np.zeros(kept.shape[1])
    cardan.mj_getState(cart, d, single, spec)
    assert np.array_equal(single, kept[1])
    with pytest.raises(ValueError, match="shape"):
        b.set_state(np.zeros(2), spec)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"nsim": 0}, "nsim"),
        ({"nsim": 2, "nthread": -1}, "nthread"),
        ({"nsim": 2, "device": "tpu"}, "not supported yet"),
        ({"nsim": 2, "dtype": "float16"}, "no batches in float16"),
    ],
)
def test_bad_arguments(cart: cardan.MjModel, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Batch(cart, **arguments)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda b: setattr(b, "ctrl", None), ValueError, "ctrl is set from numbers"),
        (lambda b: b.get_state(1 << 14), ValueError, "bits of mjtState"),
        (lambda b: b.get_state(-1), ValueError, "spec should be an integer of at least 0"),
        (lambda b: b.set_state(np.zeros((4, 0)), 1 << 14), ValueError, "bits of mjtState"),
        (lambda b: b.rollout(1, record=[1 << 14]), ValueError, "bits of mjtState"),
        (lambda b: b.rollout(1, record=["contact"]), ValueError, r"several fields; data\(world\)"),
        (lambda b: b.random(1.5, 0), ValueError, "size should be an integer"),
        (lambda b: b.random(1, -1), ValueError, "seed should be an integer"),
        (lambda b: b.step(mask=np.ones((4, 1), bool)), ValueError, "ids, or a mask, should be one-dimensional"),
        (copy.copy, TypeError, "can't be copied or pickled"),
        (copy.deepcopy, TypeError, "can't be copied or pickled"),
        (pickle.dumps, TypeError, "can't be copied or pickled"),
        (lambda b: Batch(b.model, 2, device=None), ValueError, "device should be a name"),
    ],
)
def test_what_is_asked_wrongly(
    cart: cardan.MjModel, call: Callable[[Batch], object], kind: type[Exception], message: str
) -> None:
    b = Batch(cart, 4)
    before = b.state.copy()
    with pytest.raises(kind, match=message):
        call(b)
    assert np.array_equal(b.state, before)


def test_the_caller_s_model_does_not_keep_the_batch(cart: cardan.MjModel) -> None:
    """Its programs are kept by the model; two batches may use it, one after the other, each with its own warnings."""
    given = copy.copy(cart)
    for _ in range(2):
        b = Batch(cart, 2)
        b.set_models(given)
        b.qvel[1, 0] = np.nan
        with pytest.warns(SimulationWarning, match="World 1"):
            b.step(2)
        assert b.diagnosis(1) and not b.diagnosis(0)
        gone = weakref.ref(b)
        del b
        gc.collect()
        assert gone() is None


RAYS = """
<mujoco>
  <asset>
    <mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
    <hfield name="h" nrow="3" ncol="3" size="1 1 1 .5" elevation="0 .2 .4 .1 .5 .2 0 .3 1"/>
  </asset>
  <worldbody>
    <geom type="plane" size="1 1 1" pos="-3 0 0" euler="10 20 30"/>
    <geom size=".3"/>
    <geom type="capsule" size=".2 .4" pos="3 0 0" euler="10 20 30"/>
    <geom type="ellipsoid" size=".2 .3 .4" pos="6 0 0" euler="10 20 30"/>
    <geom type="cylinder" size=".2 .4" pos="9 0 0" euler="10 20 30"/>
    <geom type="box" size=".2 .3 .4" pos="12 0 0" euler="10 20 30"/>
    <geom type="mesh" mesh="m" pos="15 0 0" euler="10 20 30"/>
    <geom type="hfield" hfield="h" pos="18 0 0" euler="10 20 30"/>
  </worldbody>
</mujoco>
"""


def test_normals_of_rays_are_those_of_the_distance() -> None:
    """Moved across the surface, a ray gets longer or shorter as the plane through the hit says."""
    m = cardan.MjModel.from_xml_string(RAYS)
    b = Batch(m, 1)
    rng = np.random.default_rng(0)
    starts = (
        np.repeat(np.arange(-3.0, 19.0, 3.0), 40)[:, None] * [1, 0, 0] + [0, 0, 3] + rng.normal(size=(320, 3)) * 0.1
    )
    vec = np.array([0.05, -0.04, -1.0])
    dist, geom, normal = (a[0] for a in b.ray(starts, np.tile(vec, (320, 1)), normal=True))
    hit = geom >= 0
    assert len(set(geom[hit].tolist())) == m.ngeom
    np.testing.assert_allclose(np.linalg.norm(normal[hit], axis=1), 1, atol=1e-12)
    assert not normal[~hit].any()
    eps = 1e-6
    for axis in np.eye(3)[:2]:
        near = [b.ray(starts + side * eps * axis, np.tile(vec, (320, 1)))[0][0] for side in (-1, 1)]
        slope = (near[1] - near[0]) / (2 * eps)
        smooth = hit & (np.abs(near[1] - dist) < 1e-4) & (np.abs(near[0] - dist) < 1e-4)
        assert smooth.sum() > 0.9 * hit.sum()
        # n . (eps axis + vec ddist) = 0
        expected = -(normal[smooth] @ axis) / (normal[smooth] @ vec)
        good = np.abs(slope[smooth] - expected) < 1e-3 * (1 + np.abs(expected))
        assert good.mean() > 0.98  # but for rays across an edge
    assert (normal[hit] @ vec < 0).all()  # from outside
    inside, _, outward = b.ray([0.0, 0, 0], [0, 0, 1.0], normal=True)
    assert inside[0, 0] == pytest.approx(0.3) and np.allclose(outward[0, 0], [0, 0, 1])


@pytest.mark.parametrize("state", [np.zeros((2, 3, 1)), np.zeros((3, 2)), "x", [[1.0, 2.0], [3.0]]], ids=str)
def test_states_of_another_shape_are_refused(state):
    m = cardan.MjModel.from_xml_string("<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>")
    with pytest.raises(ValueError, match=r"state should be of shape \(3, 1\), got"):
        cardan.Batch(m, 3, 1).set_state(state, cardan.mjtState.mjSTATE_QPOS)


def test_named_access_to_several_outputs() -> None:
    """An actuator with several outputs has a row of the moment for each, in all worlds."""
    m = cardan.MjModel.from_xml_string("""<mujoco><worldbody><body><joint name="b" type="ball"/><geom size=".1"/></body>
    <body pos="1 0 0"><joint name="h"/><geom size=".1"/></body></worldbody>
    <actuator><orientation name="a" joint="b"/><motor name="m" joint="h"/></actuator></mujoco>""")
    batch = cardan.Batch(m, 4)
    batch.forward()
    assert batch.actuator("a").moment.shape == (4, 3, m.nv)
    assert batch.actuator("m").moment.shape == (4, m.nv)
