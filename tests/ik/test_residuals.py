"""Jacobians of tasks, constraints and distances, against differences."""

import ik_mechanisms as mechanisms
import numpy as np
import pytest

import cardan
from cardan import ik
from cardan.ik.evaluation import evaluate
from cardan.ik.pairs import pairs_of
from cardan.ik.problem import Problem
from cardan.ik.residuals import find_hessian
from cardan.jit.driver.program import call, native_over
from cardan.model import internals

STEP = 1e-6


@native_over("Model", "Ik")
def gradient(m, d, _i, _j):
    """Compute H and g from the rows of the last `evaluate`."""
    find_hessian(d)
    return 0


class Probe:
    """Residuals, Jacobian and rows of a problem at any configuration."""

    def __init__(self, m, tasks, targets=None, avoid=()):
        self.m = m
        self.problem = Problem(m, tasks, pairs_of(m, avoid), True, None)
        rows, _ = self.problem.rows.target_rows(targets or [None] * len(tasks))
        self.problem.prepare(1)
        self.problem.attach(target=rows)
        self.problem.set_options(reach=10.0, pair_gain=1.0, margin=-1.0)
        self.memory = self.problem.workers[0]

    def at(self, q):
        """Evaluate the problem."""
        self.memory.arrays["qpos"][:] = q
        call(evaluate, internals.memory(self.m), self.memory, 1, 0)
        return self

    def __getitem__(self, name):
        return self.memory.arrays["ik." + name].copy()

    def number(self, name):
        return self.memory.scalars["ik." + name].item()

    def moved(self, q, dof, step):
        """Configuration after a small motion of a dof."""
        velocity, moved = np.zeros(self.m.nv), np.array(q)
        velocity[dof] = step
        cardan.mj_integratePos(self.m, moved, velocity, 1.0)
        return moved

    def differences(self, q, value):
        """Central differences of a value along all active dofs, as columns."""
        found = []
        for dof in self.problem.dof:
            ahead, behind = (value(self.at(self.moved(q, dof, s))) for s in (STEP, -STEP))
            found.append((ahead - behind) / (2 * STEP))
        return np.array(found).T


def random_qpos(m, random):
    q = random.uniform(-0.5, 0.5, m.nq)
    for joint in np.flatnonzero(m.jnt_type <= 1):
        adr = m.jnt_qposadr[joint] + (3 if m.jnt_type[joint] == 0 else 0)
        q[adr : adr + 4] = random.normal(size=4)
        q[adr : adr + 4] /= np.linalg.norm(q[adr : adr + 4])
    return q


def pose(random):
    quat = random.normal(size=4)
    return np.concatenate([random.uniform(-1, 1, 3), quat / np.linalg.norm(quat)])


POINT = (0.1, -0.2, 0.3)
TASKS = {
    "body": (ik.FrameTask("low", offset=POINT, position_cost=2.0, orientation_cost=0.5), pose),
    "geom": (ik.FrameTask("fist", "geom", (1.0, 2.0, 0.0), (0.3, 0.2, 0.1)), pose),
    "site": (ik.FrameTask("tip", "site", orientation_cost=0.0), lambda random: random.uniform(-1, 1, 3)),
    "turn": (ik.FrameTask("tip", "site", position_cost=0.0), pose),
    "relative": (ik.RelativeFrameTask("tip", "site", "low", "body", offset=POINT), pose),
    "line": (ik.PointOnLineTask("low", offset=POINT, root_name="fist", root_type="geom"), lambda r: r.normal(size=6)),
    "plane": (ik.PointOnPlaneTask("tip", "site", offset=POINT), lambda r: r.normal(size=6)),
    "look": (ik.LookAtTask("tip", "site", axis=(1, 2, 3), offset=POINT), lambda r: 3 * r.normal(size=3)),
    "look from": (ik.LookAtTask("tip", "site", root_name="low"), lambda r: 3 * r.normal(size=3)),
    "com": (ik.ComTask((1.0, 2.0, 3.0)), lambda r: r.normal(size=3)),
    "com of a part": (ik.ComTask(body="right"), lambda r: r.normal(size=3)),
}


@pytest.mark.parametrize("name", TASKS)
def test_jacobians_are_derivatives_of_the_residuals(name):
    m, random = mechanisms.model(mechanisms.TREE), np.random.default_rng(len(name))
    task, target = TASKS[name]
    for _ in range(3):
        q = random_qpos(m, random)
        probe = Probe(m, [task], [target(random)])
        expected = probe.differences(q, lambda p: p["r"])
        np.testing.assert_allclose(probe.at(q)["J"], expected, rtol=1e-7, atol=1e-8)
        assert np.isclose(probe.number("cost"), 0.5 * np.sum(probe["r"] ** 2), rtol=1e-12)


def test_gradient_of_a_posture():
    m, random = mechanisms.model(mechanisms.TREE), np.random.default_rng(3)
    costs = np.array([1, 2, 3, 4, 4, 4, 0.5, 0.5, 0.5, 1, 2, 3, 4.0])
    q, goal = random_qpos(m, random), random_qpos(m, random)
    tasks = [ik.PostureTask(tuple(costs)), ik.FrameTask("tip", "site")]
    probe = Probe(m, tasks, [goal, pose(random)])
    expected = probe.differences(q, lambda p: np.array([p.number("cost")]))[0]
    probe.at(q)
    call(gradient, internals.memory(m), probe.memory)
    np.testing.assert_allclose(probe["g"], expected, rtol=1e-6, atol=1e-7)


def test_rows_of_constraints_are_derivatives():
    m, random = mechanisms.model(mechanisms.FOUR_BAR), np.random.default_rng(4)
    q = random.uniform(-0.5, 0.5, m.nq)
    probe = Probe(m, [ik.FrameTask("middle", "site"), ik.FrameTask("follower")], [pose(random), pose(random)])
    expected = probe.differences(q, lambda p: -p["b"])
    assert probe.at(q).number("nequal") == 4
    np.testing.assert_allclose(probe["A"], expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    "constraint",
    [
        '<weld body1="low" body2="slider" relpose=".1 .2 .3 .9 .1 .2 .3" torquescale=".7"/>',
        '<connect site1="tip" site2="under"/>',
        '<weld site1="under" site2="tip"/>',
        '<tendon tendon1="cable" tendon2="pulley" polycoef=".1 .5 .3 0 0"/>',
        '<tendon tendon1="cable"/>',
    ],
)
def test_rows_of_other_constraints_are_derivatives(constraint):
    xml = mechanisms.TREE.replace(
        '<geom size=".05" pos="-.1 0 0"/>', '<geom size=".05"/><site name="under" pos=".1 .2 0"/>'
    )
    tendons = """<tendon><spatial name="cable"><site site="tip"/><site site="under"/></spatial>
      <fixed name="pulley"><joint joint="h1" coef="2"/><joint joint="slide" coef="1"/></fixed></tendon>"""
    m = mechanisms.model(xml.replace("</mujoco>", f"{tendons}<equality>{constraint}</equality></mujoco>"))
    random = np.random.default_rng(5)
    q = random_qpos(m, random)
    probe = Probe(m, [ik.FrameTask("tip", "site"), ik.FrameTask("low")], [pose(random), pose(random)])
    expected = probe.differences(q, lambda p: -p["b"])
    np.testing.assert_allclose(probe.at(q)["A"], expected, rtol=1e-7, atol=1e-8)


def test_rows_of_distances_are_derivatives():
    m, random = mechanisms.model(mechanisms.TREE), np.random.default_rng(6)
    pairs = [("fist", "base"), ("fist", "chest"), ("base", "chest")]
    for _ in range(3):
        q = random_qpos(m, random)
        q[2] = 1.2
        probe = Probe(m, [ik.FrameTask("tip", "site")], [pose(random)], pairs)
        expected = probe.differences(q, lambda p: -p["b"])
        np.testing.assert_allclose(probe.at(q)["A"], expected, rtol=1e-4, atol=1e-5)
