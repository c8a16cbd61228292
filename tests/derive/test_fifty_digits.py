"""A block that slides or sticks on a plane: exact derivatives against those of the same step in 50 digits.

The block is a point mass with one contact, so that a step is a dozen formulas (spec: computation; reduced primal
problem, reference acceleration, impedance, friction cones). Differences over 1e-20 then have 28 correct digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, getcontext

import numpy as np
import pytest
from derivatives_compared import exact_jacobian

import cardan

Vector = list[Decimal]
MASS, RADIUS, STEP, GEAR = 2.0, 0.1, 0.004, 3.0
FRICTION = (0.6, 0.4)
SOLREF = (0.05, 0.7)
SOLIMP = (0.7, 0.95, 0.01)
GRAVITY = Decimal.from_float(-9.81)
TINY = Decimal("1e-20")


@pytest.fixture(autouse=True)
def _fifty_digits():
    before = getcontext().prec
    getcontext().prec = 50
    yield
    getcontext().prec = before


@dataclass(frozen=True)
class Contact:
    """What a contact has besides the state: its cone, and the regularisations of its rows at an impedance."""

    elliptic: bool
    regular: Vector
    impedance: Decimal


def model(cone: str) -> cardan.MjModel:
    """A point mass over a plane, with a motor along each axis."""
    axes = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}
    joints = "".join(f'<joint name="{name}" type="slide" axis="{axis}"/>' for name, axis in axes.items())
    motors = "".join(f'<motor joint="{name}" gear="{GEAR}"/>' for name in axes)
    friction = f'friction="{FRICTION[0]} {FRICTION[1]}"'
    contact = f'{friction} solref="{SOLREF[0]} {SOLREF[1]}" solimp="{SOLIMP[0]} {SOLIMP[1]} {SOLIMP[2]} .5 2"'
    return cardan.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{STEP}" cone="{cone}" tolerance="0" iterations="200" ls_tolerance="1e-12"/>
        <worldbody><geom name="floor" type="plane" size="1 1 1"/><body pos="0 0 {RADIUS}">{joints}
        <geom name="ball" size="{RADIUS}" mass="{MASS}"/></body></worldbody>
        <contact><pair geom1="floor" geom2="ball" condim="3" {contact}/></contact>
        <actuator>{motors}</actuator></mujoco>"""
    )


def impedance(depth: Decimal) -> Decimal:
    """d(r) with midpoint 1/2 and power 2."""
    low, high, width = (Decimal(x) for x in SOLIMP)
    x = min(depth / width, Decimal(1))
    return low + (high - low) * (2 * x * x if x < Decimal("0.5") else 1 - 2 * (1 - x) ** 2)


def forces(contact: Contact, acceleration: Vector, state: Vector) -> Vector:
    """Force on the mass (normal, then both directions of friction) at an acceleration in the same frame."""
    distance, velocity = state[0] - Decimal(RADIUS), state[3:6]
    high = Decimal(SOLIMP[1])
    b = 2 / (high * Decimal(SOLREF[0]))
    k = 1 / (high * Decimal(SOLREF[0]) * Decimal(SOLREF[1])) ** 2
    imp = impedance(-distance)
    scale = ((1 - imp) / imp) / ((1 - contact.impedance) / contact.impedance)
    regular = [scale * r for r in contact.regular]
    if contact.elliptic:
        normal = acceleration[0] + b * velocity[0] + k * imp * distance
        sides = [acceleration[i] + b * velocity[i] for i in (1, 2)]
        return cone_force(normal, sides, regular)
    total = [Decimal(0)] * 3
    for row, r in enumerate(regular):
        mu = Decimal(FRICTION[row // 2]) * (1 - 2 * (row % 2))
        jacobian = [Decimal(1), mu * (row < 2), mu * (row >= 2)]
        speed = sum(j * v for j, v in zip(jacobian, velocity, strict=True))
        left = sum(j * a for j, a in zip(jacobian, acceleration, strict=True)) + b * speed + k * imp * distance
        total = [t + j * max(-left / r, Decimal(0)) for t, j in zip(total, jacobian, strict=True)]
    return total


def cone_force(normal: Decimal, sides: Vector, regular: Vector) -> Vector:
    """Minus the gradient of the cost of an elliptic cone."""
    mu = Decimal(FRICTION[0]) * (regular[1] / regular[0]).sqrt()
    scaled = [Decimal(friction) * side for friction, side in zip(FRICTION, sides, strict=True)]
    n, t = mu * normal, (scaled[0] ** 2 + scaled[1] ** 2).sqrt()
    if n >= mu * t:
        return [Decimal(0)] * 3
    if mu * n + t <= 0:
        return [-normal / regular[0], *(-side / r for side, r in zip(sides, regular[1:], strict=True))]
    weight = 1 / (regular[0] * mu**2 * (1 + mu**2)) * (n - mu * t)
    return [-weight * mu, *(weight * mu * x * Decimal(f) / t for x, f in zip(scaled, FRICTION, strict=True))]


def solve(residual: Callable[[Vector], Vector], x: Vector) -> Vector:
    """The root of a system of three equations: Newton's method, with a Jacobian by differences."""
    for _ in range(40):
        r = residual(x)
        if max(map(abs, r)) < Decimal("1e-44"):
            return x
        columns = [residual([v + TINY * (i == k) for i, v in enumerate(x)]) for k in range(3)]
        rows = [[(columns[k][i] - r[i]) / TINY for k in range(3)] + [r[i]] for i in range(3)]
        for k in range(3):
            rows[k] = [value / rows[k][k] for value in rows[k]]
            rows = [
                [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)] if i != k else rows[i]
                for i in range(3)
            ]
        x = [v - row[3] for v, row in zip(x, rows, strict=True)]
    raise AssertionError("Newton's method has not converged")


def step(contact: Contact, inputs: Vector, guess: Vector) -> Vector:
    """Position and velocity after a step (normal, then sides) from these and the controls."""
    mass, h = Decimal(MASS), Decimal(STEP)
    outer = [Decimal(GEAR) * u for u in inputs[6:]]
    outer[0] += mass * GRAVITY

    def residual(a: Vector) -> Vector:
        pushed = forces(contact, a, inputs)
        return [mass * x - o - f for x, o, f in zip(a, outer, pushed, strict=True)]

    acceleration = solve(residual, guess)
    velocity = [v + h * a for v, a in zip(inputs[3:6], acceleration, strict=True)]
    return [*(q + h * v for q, v in zip(inputs[:3], velocity, strict=True)), *velocity]


@pytest.mark.parametrize("motion", ["slides", "sticks", "lifts"])
@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_block_on_a_plane(cone: str, motion: str) -> None:
    m = model(cone)
    d = cardan.MjData(m)
    d.qpos[2] = -0.004
    d.qvel[:] = {"slides": (0.8, -0.3, -0.05), "sticks": (0.001, 0.0005, -0.02), "lifts": (0.3, 0.1, 0.6)}[motion]
    d.ctrl[:] = 0.3, 0.1, -0.2
    cardan.mj_forward(m, d)
    assert d.ncon == 1
    frame = d.contact.frame[0].reshape(3, 3)
    assert np.array_equal(np.abs(frame), np.eye(3)[[2, 0, 1]]) or np.array_equal(np.abs(frame), np.eye(3)[[2, 1, 0]])
    order = np.abs(frame).argmax(axis=1)
    # the frame's sides may point backwards: the problem is symmetric
    place = np.concatenate([order, 3 + order, 6 + order])
    inputs = [Decimal(float(x)) for x in np.concatenate([d.qpos + [0, 0, RADIUS], d.qvel, d.ctrl])[place]]
    contact = Contact(cone == "elliptic", [Decimal(float(r)) for r in d.efc_R], impedance(Decimal(RADIUS) - inputs[0]))
    guess = [Decimal(float(a)) for a in d.qacc[order]]
    np.testing.assert_allclose(
        np.array(step(contact, inputs, guess), float)[3:], (d.qvel + STEP * d.qacc)[order], rtol=1e-10, atol=1e-12
    )
    expected = np.zeros((6, 9))
    for k in range(9):
        up, down = (
            step(contact, [x + sign * TINY * (i == k) for i, x in enumerate(inputs)], guess) for sign in (1, -1)
        )
        column = np.array([(a - b) / (2 * TINY) for a, b in zip(up, down, strict=True)], float)
        expected[np.concatenate([order, 3 + order]), place[k]] = column
    np.testing.assert_allclose(exact_jacobian(m, d), expected, rtol=1e-10, atol=1e-10)
