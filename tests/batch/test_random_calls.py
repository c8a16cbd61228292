"""Random calls on a batch, in random worlds: each world stays, bit by bit, a single MjData with a model of its own."""

from __future__ import annotations

import warnings
from copy import copy
from pathlib import Path

import numpy as np
import pytest
from models import EXAMPLES

import cardan
from cardan.batch import DATA_FIELDS, Batch
from cardan.enums import mjtState

XML = """
<mujoco>
  <option timestep="0.005"/>
  <size nuserdata="2"/>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body name="hand" mocap="true" pos="0 0 1"><geom size=".02" contype="0" conaffinity="0"/></body>
    <body name="cart" pos="0 0 .5">
      <joint name="slide" type="slide" axis="1 0 0" damping="0.1" range="-1 1" limited="true"/>
      <geom type="box" size=".1 .2 .1"/>
      <site name="from" pos="0 0 .1"/>
      <body name="pole"><joint name="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .6" size=".03"/>
        <site name="to" pos="0 0 .6"/>
      </body>
    </body>
    <body name="ball" pos="0.3 0 .1"><freejoint/><geom size=".1"/></body>
  </worldbody>
  <tendon><spatial name="string" stiffness="3"><site site="from"/><site site="to"/></spatial></tendon>
  <equality><connect body1="hand" body2="ball" anchor="0 0 0" active="false"/></equality>
  <actuator><motor joint="slide"/><general joint="hinge" dyntype="filter" dynprm="0.1"/></actuator>
  <sensor><accelerometer site="to"/><touch site="from"/></sensor>
  <keyframe><key time="3" qpos=".1 .2 .3 0 .1 1 0 0 0" act=".1" ctrl=".2 .3" mpos="0 0 2"/></keyframe>
</mujoco>
"""
# addresses, and what depends on the memory that a data happens to have
PRIVATE = {"plugin_data", "timer", "maxuse"}
ROWS = ("efc_type", "efc_J", "efc_pos", "efc_aref", "efc_force", "efc_state")
STATE = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "userdata", "qacc_warmstart")
VALUES = ("body_mass", "body_inertia", "geom_friction", "dof_damping", "actuator_gear", "geom_size", "tendon_stiffness")
SPEC = int(mjtState.mjSTATE_INTEGRATION)


def to_stage(m: cardan.MjModel, d: cardan.MjData, stage: int) -> None:
    """The forward dynamics up to a stage."""
    if stage == 3:
        cardan.mj_forward(m, d)
        return
    if stage >= 1:
        cardan.mj_fwdPosition(m, d)
        cardan.mj_sensorPos(m, d)
    if stage == 2:
        cardan.mj_fwdVelocity(m, d)
        cardan.mj_sensorVel(m, d)


class Walk:
    """A batch, a model and a data a world, and calls on all of them."""

    def __init__(self, m: cardan.MjModel, count: int, seed: int) -> None:
        self.m, self.rng, self.b = m, np.random.default_rng(seed), Batch(m, count, 2)
        self.models = [copy(m) for _ in range(count)]
        self.datas = [cardan.MjData(own) for own in self.models]

    def chosen(self) -> np.ndarray:
        """Some worlds, also none and all."""
        return np.flatnonzero(self.rng.random(len(self.b)) < self.rng.choice([0, 0.6, 1]))

    def singles(self, ids: np.ndarray) -> list[tuple[cardan.MjModel, cardan.MjData]]:
        return [(self.models[i], self.datas[i]) for i in ids]

    def step(self, ids: np.ndarray) -> None:
        nstep, stage = int(self.rng.integers(5)), int(self.rng.integers(4))
        self.b.step(ids, nstep, stage)
        for m, d in self.singles(ids):
            if nstep:
                cardan.mj_step(m, d, nstep)
            to_stage(m, d, stage)

    def halves(self, ids: np.ndarray) -> None:
        ctrl = self.rng.uniform(-1, 1, (len(ids), self.m.nu))
        self.b.step1(ids)
        self.b.ctrl[ids] = ctrl
        self.b.step2(ids)
        for (m, d), u in zip(self.singles(ids), ctrl, strict=True):
            cardan.mj_step1(m, d)
            d.ctrl[:] = u
            cardan.mj_step2(m, d)

    def forward_inverse(self, ids: np.ndarray) -> None:
        stage = int(self.rng.integers(4))
        self.b.forward(ids, stage)
        self.b.inverse(ids)
        for m, d in self.singles(ids):
            to_stage(m, d, stage)
            cardan.mj_inverse(m, d)

    def reset(self, ids: np.ndarray) -> None:
        stage, keys = int(self.rng.integers(4)), self.rng.integers(-1, self.m.nkey, len(ids))
        self.b.reset(ids, keys, stage)
        for (m, d), key in zip(self.singles(ids), keys.tolist(), strict=True):
            cardan.mj_resetData(m, d) if key < 0 else cardan.mj_resetDataKeyframe(m, d, key)
            to_stage(m, d, stage)

    def write(self, ids: np.ndarray) -> None:
        name = str(self.rng.choice(STATE))
        field = getattr(self.b, name)
        field[ids] += 0.1 * self.rng.normal(size=(len(ids), *field.shape[1:]))
        for i in ids:
            getattr(self.datas[i], name)[...] = field[i]

    def exchange(self, ids: np.ndarray) -> None:
        spec = int(self.rng.integers(SPEC + 1))
        rows = self.b.get_state(spec)
        expected = np.zeros((len(self.b), cardan.mj_stateSize(self.m, spec)))
        for m, d, row in zip(self.models, self.datas, expected, strict=True):
            cardan.mj_getState(m, d, row, spec)
        np.testing.assert_array_equal(rows, expected)
        source = self.rng.integers(0, len(self.b), len(ids))
        self.b.set_state(rows[source], spec, ids)
        for (m, d), k in zip(self.singles(ids), source, strict=True):
            cardan.mj_setState(m, d, expected[k], spec)

    def randomise(self, ids: np.ndarray) -> None:
        name = str(self.rng.choice(VALUES))
        values = self.b.expand(name)
        values[ids] *= self.rng.uniform(0.9, 1.1, (len(ids), *values.shape[1:]))
        self.b.set_const(ids)
        for i in ids:
            getattr(self.models[i], name)[...] = values[i]
            cardan.mj_setConst(self.models[i], cardan.MjData(self.models[i]))

    def options(self, ids: np.ndarray) -> None:
        name, top = (("integrator", 4), ("cone", 2), ("jacobian", 2), ("solver", 3))[self.rng.integers(4)]
        values = self.b.expand(f"opt.{name}")
        values[ids] = self.rng.integers(0, top, len(ids))
        for i in ids:
            setattr(self.models[i].opt, name, int(values[i]))

    def rollout(self, ids: np.ndarray) -> None:
        nstep, every = int(self.rng.integers(1, 6)), int(self.rng.integers(1, 3))
        control = self.rng.uniform(-1, 1, (len(ids), nstep, self.m.nu))
        record = ["qpos", "sensordata", "ncon", "time", "eq_active"]
        found = self.b.rollout(nstep, control, record=record, ids=ids, every=every)
        for k, (m, d) in enumerate(self.singles(ids)):
            for n in range(nstep):
                d.ctrl[:] = control[k, n]
                cardan.mj_step(m, d)
                if (n + 1) % every == 0:
                    for name in record:
                        np.testing.assert_array_equal(found[name][k, (n + 1) // every - 1], getattr(d, name), name)

    def questions(self, ids: np.ndarray) -> None:
        body, point = self.rng.integers(0, self.m.nbody, len(ids)), self.rng.normal(size=(len(ids), 3))
        jacobians = self.b.jac(body, point, ids)
        dist, geom = self.b.ray(point[:, None], [[0.1, 0.2, -1.0]], ids=ids)
        for k, (m, d) in enumerate(self.singles(ids)):
            cardan.mj_kinematics(m, d)
            cardan.mj_comPos(m, d)
            expected, hit = np.zeros((2, 3, m.nv)), np.zeros(1, np.int32)
            cardan.mj_jac(m, d, expected[0], expected[1], point[k], int(body[k]))
            assert np.array_equal(jacobians[0][k], expected[0]) and np.array_equal(jacobians[1][k], expected[1])
            if m.nflex:
                cardan.mj_flex(m, d)
            assert dist[k, 0] == cardan.mj_ray(m, d, point[k], np.array([0.1, 0.2, -1]), None, 1, -1, hit)
            assert geom[k, 0] == hit[0]

    def diverge(self, ids: np.ndarray) -> None:
        bad = float(self.rng.choice([np.nan, np.inf, 1e12]))
        self.b.qvel[ids, 0] = bad
        self.b.step(ids)
        for m, d in self.singles(ids):
            d.qvel[0] = bad
            cardan.mj_step(m, d)

    def call(self) -> str:
        """One call; returns its name."""
        names = ("step", "step", "halves", "forward_inverse", "reset", "write", "exchange")
        name = str(self.rng.choice([*names, "randomise", "options", "rollout", "questions", "diverge"]))
        getattr(self, name)(self.chosen())
        return name

    def check(self, after: str) -> None:
        """All fields, contacts and rows of each world."""
        for i, (m, d) in enumerate(zip(self.models, self.datas, strict=True)):
            own = self.b.data(i)
            for name in sorted(DATA_FIELDS - PRIVATE):
                np.testing.assert_array_equal(getattr(self.b, name)[i], getattr(d, name), f"{name} after {after}")
            for name in ROWS:
                np.testing.assert_array_equal(getattr(own, name), getattr(d, name), f"{name} after {after}")
            for name in ("geom", "dist", "pos", "frame"):
                np.testing.assert_array_equal(getattr(own.contact, name), getattr(d.contact, name), name)
            np.testing.assert_array_equal(self.b.warning[i, :, 1], [w.number for w in d.warning])
            kept = self.b.get_model(i)
            for name in ("body_subtreemass", "dof_invweight0", "body_invweight0", "tendon_length0"):
                np.testing.assert_array_equal(getattr(kept, name), getattr(m, name), name)
            assert kept.stat.meaninertia == m.stat.meaninertia and kept.stat.extent == m.stat.extent


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("source", [XML, EXAMPLES / "humanoid.xml"], ids=["cart", "humanoid"])
def test_worlds_stay_single_simulations(source: str | Path, seed: int) -> None:
    load = cardan.MjModel.from_xml_path if isinstance(source, Path) else cardan.MjModel.from_xml_string
    walk = Walk(load(str(source)), 4, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(30):
            walk.check(walk.call())
