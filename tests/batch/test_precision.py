"""Batches in single precision: near those in double precision, with arrays of float32, and otherwise like them."""

from __future__ import annotations

import numpy as np
import pytest
from models import model_path
from tests.batch.test_batch import CART, PILE
from tests.precision_compared import rounded, too_far

import cardan
from cardan.batch import Batch
from cardan.enums import mjtStage, mjtState
from cardan.step.report import SimulationWarning

FIELDS = ("xpos", "geom_xmat", "subtree_com", "cinert", "cdof", "qM", "cvel", "qfrc_bias", "qacc_smooth", "sensordata")
CLOSE = 1e-5


@pytest.fixture(scope="module")
def cart() -> cardan.MjModel:
    return cardan.MjModel.from_xml_string(CART)


def two(m: cardan.MjModel, count: int = 3, speed: float = 1.0) -> tuple[Batch, Batch]:
    """Batches in single and in double precision with the same states, which both can hold."""
    single, double = Batch(m, count, 2, dtype="float32"), Batch(m, count, 2)
    rng = np.random.default_rng(3)
    single.qvel = speed * rng.normal(size=(count, m.nv))
    single.ctrl = rng.uniform(-1, 1, (count, m.nu))
    double.state[:] = single.state
    return single, double


def assert_near(single: np.ndarray, double: np.ndarray, tolerance: float = CLOSE) -> None:
    assert single.dtype == np.float32
    assert single.shape == double.shape
    assert np.abs(single - double).max() <= tolerance * max(1.0, np.abs(double).max())


def test_fields_are_near_those_in_double_precision(cart: cardan.MjModel) -> None:
    single, double = two(cart)
    single.forward()
    double.forward()
    for name in FIELDS:
        assert_near(single.bind(name), double.bind(name))
    assert np.array_equal(single.ncon, double.ncon)
    assert single.qpos.base is not None  # live, not a copy
    assert single.state.dtype == single.get_state(int(mjtState.mjSTATE_PHYSICS)).dtype == np.float32


def test_contacts_are_near_while_memory_grows() -> None:
    m = cardan.MjModel.from_xml_string(PILE)
    single, double = two(m, speed=0.1)
    for _ in range(4):
        double.step(100)
        single.state[:] = double.state
        double.state[:] = single.state
        single.forward()
        double.forward()
        for i in range(3):
            near, far = single.data(i), double.data(i)
            assert near.ncon == far.ncon
            assert near.contact.dist.dtype == np.float64  # data of a world is a copy in double precision
            np.testing.assert_allclose(np.sort(near.contact.dist), np.sort(far.contact.dist), atol=CLOSE)
    assert double.ncon.max() > 30


def test_it_is_as_near_as_rounding_allows(cart: cardan.MjModel) -> None:
    assert too_far(cart) == []


THROUGH = """
<mujoco>
  <option gravity="0 0 0"/>
  <worldbody>
    <geom name="ring" type="cylinder" size=".02 .1" euler="90 0 0" contype="0" conaffinity="0"/>
    <site name="inside"/><site name="low" pos="-.3 0 .02021"/>
    <body pos=".1 0 .02005">
      <joint type="slide" axis="0 0 1"/><geom size=".01" contype="0" conaffinity="0"/><site name="end"/>
    </body>
  </worldbody>
  <tendon><spatial><site site="low"/><geom geom="ring" sidesite="inside"/><site site="end"/></spatial></tendon>
</mujoco>
"""


def test_a_path_through_a_ring_touches_it_at_the_same_place() -> None:
    """Nearly straight: the sine of its angle of incidence differs from 1 by less than single precision can tell."""
    m = cardan.MjModel.from_xml_string(THROUGH)
    single, double = Batch(m, 40, 1, dtype="float32"), Batch(rounded(m), 40, 1)
    single.qpos[:, 0] = np.linspace(0.0, 1e-4, 40)
    double.state[:] = single.state
    for batch in (single, double):
        batch.forward(stage=mjtStage.mjSTAGE_POS)
    touching = np.array([double.data(i).wrap_obj[0, 1] >= 0 for i in range(40)])
    assert touching.all()
    assert_near(single.ten_length, double.ten_length, 1e-6)
    assert_near(single.bind("ten_J"), double.bind("ten_J"), 1e-4)


def test_a_pile_comes_to_rest() -> None:
    m = cardan.MjModel.from_xml_string(PILE)
    single = Batch(m, 2, 2, dtype="float32")
    single.step(2500)
    assert np.isfinite(single.state).all()
    assert np.abs(single.qvel).max() < 0.05
    assert not single.diverged.any()


@pytest.mark.parametrize(
    ("name", "duration"),
    [
        ("humanoid", 10.0),
        ("muscle_arm", 10.0),
        ("car", 10.0),
        ("slider_crank", 10.0),
        ("nut", 0.4),  # stiff contacts from gradients by differences
    ],
)
def test_models_move_without_a_bad_number(name: str, duration: float) -> None:
    """A share of what `python -m benchmarks single_precision` does with all of them."""
    m = cardan.MjModel.from_xml_path(str(model_path(name)))
    single = Batch(m, 1, 1, dtype="float32")
    steps = round(duration / m.opt.timestep)
    single.step(steps)
    assert np.isfinite(single.state).all()
    assert not single.diverged.any(), single.diagnosis(0)
    assert single.time[0] == pytest.approx(duration, rel=1e-3)  # seven digits, added up


def test_worlds_don_t_depend_on_each_other(cart: cardan.MjModel) -> None:
    many, _ = two(cart, 5)
    one = Batch(cart, 1, 1, dtype="float32")
    one.state[:] = many.state[3:4]
    many.step(50)
    one.step(50)
    assert np.array_equal(many.state[3], one.state[0])
    assert np.array_equal(many.xpos[3], one.xpos[0])


def test_resets_and_keyframes(cart: cardan.MjModel) -> None:
    single, double = two(cart)
    for batch in (single, double):
        batch.step(5)
        batch.reset(ids=[1], keyframe=0)
    assert_near(single.qpos, double.qpos)
    assert single.time.tolist() == pytest.approx([0.05, 3.0, 0.05])


def test_models_that_differ_between_worlds(cart: cardan.MjModel) -> None:
    single, double = two(cart)
    for batch in (single, double):
        mass = batch.expand("body_mass")
        mass[:] *= np.array([1.0, 2.0, 3.0])[:, None]
        batch.set_const()
        batch.forward()
    expanded = single.expanded("body_mass")
    assert expanded is not None and expanded.dtype == np.float32
    assert set(single._worlds.models.values) == set(double._worlds.models.values)
    for name in ("qM", "qacc_smooth"):
        assert_near(single.bind(name), double.bind(name))
    model = single.get_model(2)
    assert model.body_mass.dtype == np.float64
    assert model.body_mass[1] == pytest.approx(3 * cart.body_mass[1])


def test_given_models(cart: cardan.MjModel) -> None:
    heavy = cardan.MjModel.from_xml_string(CART)
    heavy.opt.gravity[2] = -20
    single, double = two(cart)
    for batch in (single, double):
        batch.set_models([cart, heavy, cart])
        batch.forward()
    assert_near(single.qacc, double.qacc)
    assert not np.allclose(single.qacc[0], single.qacc[1], atol=1)


def test_questions(cart: cardan.MjModel) -> None:
    single, double = two(cart)
    for near, far in zip(single.jac(2, [0.1, 0.2, 0.3]), double.jac(2, [0.1, 0.2, 0.3]), strict=True):
        np.testing.assert_allclose(near, far, atol=CLOSE)
    near, far = (batch.ray([1, 0, 3], [0, 0, -1]) for batch in (single, double))
    np.testing.assert_allclose(near[0], far[0], atol=CLOSE)
    assert np.array_equal(near[1], far[1])


def test_rollouts(cart: cardan.MjModel) -> None:
    single, double = two(cart)
    control = np.random.default_rng(1).uniform(-1, 1, (3, 20, 1))
    near, far = (batch.rollout(20, control, record=["qpos", "time"]) for batch in (single, double))
    assert_near(near["qpos"], far["qpos"], 1e-4)
    assert near["time"].dtype == np.float32


def test_data_of_a_world_is_a_copy(cart: cardan.MjModel) -> None:
    single, _ = two(cart)
    single.step(3)
    d = single.data(1)
    assert d.qpos.dtype == np.float64
    assert np.array_equal(d.qpos.astype(np.float32), single.qpos[1])
    cardan.mj_step(d.model, d)  # a data like any other
    assert d.time == pytest.approx(0.04)
    assert single.time[1] == pytest.approx(0.03)
    assert np.array_equal(single.get_data(1).qpos, single.data(1).qpos)


def test_a_world_that_diverges_is_reset(cart: cardan.MjModel) -> None:
    single, _ = two(cart)
    single.qvel[1, 0] = np.nan
    with pytest.warns(SimulationWarning, match="World 1"):
        single.step()
    assert np.isfinite(single.state).all()
    assert single.diverged.astype(bool).tolist() == [False, True, False]
    assert "qvel[0]" in single.diagnosis(1)


def test_the_model_of_the_user_stays_as_it_is(cart: cardan.MjModel) -> None:
    single, _ = two(cart)
    assert single.model.body_mass.dtype == np.float64
    assert single.model.opt.tolerance == cart.opt.tolerance


def test_other_precisions_are_refused(cart: cardan.MjModel) -> None:
    with pytest.raises(ValueError, match="no batches in float16"):
        Batch(cart, 1, dtype="float16")
