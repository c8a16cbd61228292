"""Derivatives of a step by extrapolated differences, how sure they are, and what discrete things change beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

import cardan
from cardan.enums import mjtIntegrator

WIDTHS = (2e-5, 5e-6, 1e-6, 2e-7, 2e-4)
"""Widths of differences, in the order in which they are tried."""
SURE = 2e-8
"""Relative uncertainty at which no other width is tried."""
SHARES = (1.0, 0.5, 0.25)
"""Points of a difference, in units of its width, on both sides."""
CORNER = 1e-6
"""Relative difference of the derivatives of both sides from which a function has a corner."""
FLOOR = 1e-4
"""Least size of a column of the Jacobian, relative to the largest entry of these rows, in which errors are given."""
INPUTS = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat", "eq_active")
STAGES = (0.5, 0.5, 1.0)
"""Times of the stages of RK4 after the first, in steps."""

Parts = dict[str, np.ndarray]


@dataclass(frozen=True)
class Point:
    """A step from one state.

    Attributes:
        parts: the results, "state" and "sensors".
        inner: what the step computes on the way, by topic: where it has a corner, so may the results.
        piece: what is decided: contacts, rows and their zones, wrapping, clamps.
    """

    parts: Parts
    inner: Parts
    piece: bytes


def decisions(e: cardan.MjData) -> bytes:
    """What is decided in a forward pass: contacts, constraint rows and their zones, wrapping, clamped actuators."""
    m = e.model
    low, high = m.actuator_ctrlrange.T
    weak, strong = m.actuator_forcerange.T
    least, most = m.actuator_actrange.T
    act = e.act[m.actuator_actadr] if m.na else np.zeros(m.nu)
    clamps = (e.ctrl > low, e.ctrl < high, e.actuator_force > weak, e.actuator_force < strong, act > least, act < most)
    rows = (e.contact.geom[: e.ncon], e.efc_type[: e.nefc], e.efc_id[: e.nefc], e.efc_state[: e.nefc])
    return b"|".join(np.ascontiguousarray(a).tobytes() for a in (*rows, e.ten_wrapnum, e.wrap_obj, *clamps))


def on_the_way(e: cardan.MjData) -> Parts:
    """What a forward pass computes before the solver, by topic."""
    contact = e.contact
    geometry = (contact.dist[: e.ncon], contact.pos[: e.ncon], contact.frame[: e.ncon])
    return {
        "contacts": np.concatenate([np.ravel(a) for a in geometry]),
        "tendons": e.ten_length.copy(),
        "actuators": np.concatenate([e.actuator_length, e.actuator_force, e.act_dot]),
        "passive forces": e.qfrc_passive.copy(),
    }


class Stepper:
    """Steps from states around the one of a data."""

    def __init__(self, d: cardan.MjData) -> None:
        self.m, self.d, self.e = d.model, d, cardan.MjData(d.model)
        self.several = self.m.opt.integrator == mjtIntegrator.mjINT_RK4
        self.stage = cardan.MjData(self.m) if self.several else self.e
        self.warm = d.qacc_warmstart.copy()
        self.base = self._advance(0, 0.0).qpos.copy()
        self.warm = self.e.qacc.copy()
        self.here = self.step(0, 0.0)

    def _move(self, e: cardan.MjData, column: int, width: float) -> None:
        m, d = self.m, self.d
        e.time = d.time
        for name in INPUTS:
            getattr(e, name)[...] = getattr(d, name)
        e.qacc_warmstart[:] = self.warm
        nv, na = m.nv, m.na
        if column < nv:
            along = np.zeros(nv)
            along[column] = 1.0
            cardan.mj_integratePos(m, e.qpos, along, width)
        elif column < 2 * nv:
            e.qvel[column - nv] += width
        elif column < 2 * nv + na:
            e.act[column - 2 * nv] += width
        else:
            e.ctrl[column - 2 * nv - na] += width

    def _advance(self, column: int, width: float) -> cardan.MjData:
        self._move(self.e, column, width)
        cardan.mj_step(self.m, self.e)
        return self.e

    def step(self, column: int, width: float) -> Point:
        """A step from the state moved along one input: positions (nv), velocities, activations, controls."""
        m, e = self.m, self._advance(column, width)
        turned = np.zeros(m.nv)
        cardan.mj_differentiatePos(m, turned, 1.0, self.base, e.qpos)
        parts = {"state": np.concatenate([turned, e.qvel, e.act]), "sensors": e.sensordata.copy()}
        if not self.several:
            return Point(parts, on_the_way(e), decisions(e))
        pieces, inner = self._stages(column, width)
        return Point(parts, inner, pieces)

    def _stages(self, column: int, width: float) -> tuple[bytes, Parts]:
        """What is decided in, and on the way of, each forward pass of RK4, which a step does not leave behind."""
        m, e, h = self.m, self.stage, self.m.opt.timestep
        self._move(e, column, width)
        cardan.mj_forward(m, e)
        start = e.qpos.copy(), e.qvel.copy(), e.act.copy()
        pieces, inner = [decisions(e)], [on_the_way(e)]
        for share in STAGES:
            velocity, acceleration, rate = e.qvel.copy(), e.qacc.copy(), e.act_dot.copy()
            e.qpos[:] = start[0]
            cardan.mj_integratePos(m, e.qpos, velocity, share * h)
            e.qvel[:] = start[1] + share * h * acceleration
            e.act[:] = start[2] + share * h * rate
            cardan.mj_forward(m, e)
            pieces.append(decisions(e))
            inner.append(on_the_way(e))
        return b"/".join(pieces), {name: np.concatenate([stage[name] for stage in inner]) for name in inner[0]}


def size_of(column: np.ndarray, floor: float) -> float:
    """The largest number of a column, but at least `floor`."""
    return max(float(np.abs(column).max(initial=0.0)), floor, 1e-300)


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference of two vectors."""
    return float(np.abs(a - b).max(initial=0.0))


@dataclass(frozen=True)
class Fan:
    """Values of a function at 0 and at three points on both sides, from the outermost on."""

    width: float
    middle: np.ndarray
    up: tuple[np.ndarray, ...]
    down: tuple[np.ndarray, ...]

    @cached_property
    def centred(self) -> tuple[np.ndarray, float]:
        """Derivative by centred differences, extrapolated twice (Romberg), and its uncertainty."""
        one, two, three = (
            (high - low) / (2.0 * share * self.width)
            for share, high, low in zip(SHARES, self.up, self.down, strict=True)
        )
        once, again = (4.0 * two - one) / 3.0, (4.0 * three - two) / 3.0
        return (16.0 * again - once) / 15.0, distance(again, once)

    def _side(self, points: tuple[np.ndarray, ...], sign: float) -> tuple[np.ndarray, float]:
        one, two, three = (
            sign * (point - self.middle) / (share * self.width) for share, point in zip(SHARES, points, strict=True)
        )
        once, again = 2.0 * two - one, 2.0 * three - two
        return (4.0 * again - once) / 3.0, distance(again, once)

    @cached_property
    def forward(self) -> tuple[np.ndarray, float]:
        """Derivative from above, extrapolated twice, and its uncertainty."""
        return self._side(self.up, 1.0)

    @cached_property
    def backward(self) -> tuple[np.ndarray, float]:
        """Derivative from below."""
        return self._side(self.down, -1.0)

    def is_cornered(self, floor: float) -> bool:
        """Whether the derivatives from above and from below differ by more than they are unsure."""
        (above, doubt1), (below, doubt2) = self.forward, self.backward
        return distance(above, below) > CORNER * size_of(above, floor) + doubt1 + doubt2


def fans(points: list[Point], here: Point, width: float, inner: bool = False) -> dict[str, Fan]:
    """The fans of the results, or of what is computed on the way, of six steps: up and down in turn."""
    chosen = [point.inner if inner else point.parts for point in (*points, here)]
    return {
        name: Fan(width, chosen[-1][name], *(tuple(values[name] for values in chosen[k:-1:2]) for k in (0, 1)))
        for name in chosen[-1]
    }


@dataclass(frozen=True)
class Difference:
    """A column by differences.

    Attributes:
        fan: the evaluations, for each part of the results those that are surest.
        doubt: uncertainty of the derivatives by them, for each part.
        changing: whether something that is decided changed within the differences of all widths.
        corners: topics that have a corner at the state, on the way to the results.
    """

    fan: dict[str, Fan]
    doubt: dict[str, float]
    changing: bool
    corners: tuple[str, ...]


def difference(stepper: Stepper, column: int, floors: dict[str, float]) -> Difference:
    """A column of the Jacobian by differences.

    Args:
        stepper: steps from states around one.
        column: the input: positions (nv), velocities, activations, controls.
        floors: size of a column below which it counts as 0, for each part of the results.
    """
    here = stepper.here
    found: dict[str, list[Fan]] = {name: [] for name in here.parts}
    corners: set[str] = set()
    for width in WIDTHS:
        points = [stepper.step(column, sign * share * width) for share in SHARES for sign in (1.0, -1.0)]
        if any(point.piece != here.piece for point in points):
            continue
        outcome = fans(points, here, width)
        for name, fan in outcome.items():
            found[name].append(fan)
        sharp = [name for name, fan in fans(points, here, width, inner=True).items() if fan.is_cornered(1e-3)]
        corners.update(sharp)
        sure = [fan.centred[1] <= SURE * size_of(fan.centred[0], floors[name]) for name, fan in outcome.items()]
        if not sharp and all(sure):
            break
    best = {name: surest(tries, floors[name]) for name, tries in found.items() if tries}
    chosen = {name: fan for name, (fan, _) in best.items()}
    doubt = {name: unsure for name, (_, unsure) in best.items()}
    return Difference(chosen, doubt, not best, tuple(sorted(corners)))


def surest(tries: list[Fan], floor: float) -> tuple[Fan, float]:
    """The fan whose derivative is surest, and how sure it is.

    One that is less sure than `SURE` by itself has to agree with one of another width: with luck, noise may agree with
    itself.
    """
    best = min(tries, key=lambda fan: fan.centred[1])
    if len(tries) == 1 or best.centred[1] <= SURE * size_of(best.centred[0], floor):
        return best, best.centred[1]
    least = float("inf")
    for fan in tries:
        for other in tries:
            doubt = max(fan.centred[1], other.centred[1], distance(fan.centred[0], other.centred[0]))
            if other is not fan and doubt < least:
                best, least = fan if fan.centred[1] < other.centred[1] else other, doubt
    return best, least
