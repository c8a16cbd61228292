"""Both engines side by side on one model: forward dynamics of many states, and single steps along trajectories."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np
from data_compared import (
    DATA_FIELDS,
    SMOOTH,
    SOLVER,
    STATE_FIELDS,
    contact_difference,
    data_differences,
    fields_before_contacts,
    has_iterative_contacts,
    order_of,
)
from models_random import random_inputs, random_state
from mujoco import mjtSolver, mjtStage
from reference import copy_state

import cardan

STEP, CONVEX_STEP, SOFT_STEP = 1e-8, 1e-6, 1e-6
# contacts this far apart count as close; where the own result is nearer to the solver's optimum
CLOSE, UNCONVERGED = 1e-5, 1e-6
# how far vertices of flexes are moved, as a share of the edges' mean length
FLEX_SHARE = 0.2
# rows that nothing can move have this stiffness: their forces, and the cost, are rounding errors times it
IMMOVABLE = 1e14
# entries of such rows, if they are not 0
NOISE = 1e-13


@dataclass
class Comparison:
    """What came out of comparing states: lines of difference, and how well contacts agree.

    Attributes:
        states: number of states compared.
        exact: of these, with equal contacts; in these every field is compared.
        tied: of these, with equal contacts only from poses that are equal to the last bit.
        close: with the same pairs of geoms, contacts apart by less than 1e-5; up to the contacts all is compared.
        other: with contacts further apart or of other geoms.
        lines: differences beyond the tolerances.
        worst: largest difference of a step from states with equal contacts.
    """

    states: int = 0
    exact: int = 0
    tied: int = 0
    close: int = 0
    other: int = 0
    lines: list[str] = field(default_factory=list)
    worst: float = 0.0

    def count(self, rm: Any, rd: Any, d: Any, what: str) -> bool:
        """Sort one state into its class; True if contacts are equal."""
        apart = contact_difference(rd, d)
        self.states += 1
        exact, close = apart <= SMOOTH, SMOOTH < apart <= CLOSE
        self.exact, self.close, self.other = self.exact + exact, self.close + close, self.other + (apart > CLOSE)
        if not exact and not has_iterative_contacts(rm, rd) and not has_iterative_contacts(rm, d):
            self.lines.append(f"{what} contacts: {apart:.2g}, {rd.ncon} there and {d.ncon} here")
        return exact


def settled(rm: Any, seed: int, steps: int) -> mujoco.MjData:
    """A state that the reference reaches from a random one."""
    rng = np.random.default_rng(seed)
    rd = mujoco.MjData(rm)
    rd.qvel[:] = 0.3 * rng.standard_normal(rm.nv)
    rd.ctrl[:] = 0.3 * rng.standard_normal(rm.nu)
    mujoco.mj_step(rm, rd, steps)
    rd.qvel[:] += 0.1 * rng.standard_normal(rm.nv)
    return rd


def residual(rm: Any, rd: Any, d: Any) -> float:
    """Largest entry of the gradient of the solver's cost at a result: M qacc - qfrc_smooth - qfrc_constraint."""
    product = np.zeros(rm.nv)
    mujoco.mj_mulM(rm, rd, product, np.array(d.qacc))
    return float(np.max(np.abs(product - d.qfrc_smooth - d.qfrc_constraint), initial=0))


POSES = (
    *("xpos", "xquat", "xmat", "xipos", "ximat", "xanchor", "xaxis"),
    *("geom_xpos", "geom_xmat", "site_xpos", "site_xmat"),
)


def forward_from_poses(m: Any, rd: Any, d: Any) -> None:
    """Contacts and what follows, from poses equal to the reference's to the last bit, after `mj_forward`.

    Iterative searches on flat faces, and which corners of a box count, may depend on that bit.
    """
    for name in POSES:
        getattr(d, name)[...] = np.reshape(getattr(rd, name), np.shape(getattr(d, name)))
    cardan.mj_collision(m, d)
    cardan.mj_makeConstraint(m, d)
    cardan.mj_transmission(m, d)
    cardan.mj_forwardSkip(m, d, int(mjtStage.mjSTAGE_POS), 0)


def is_beyond_rounding(rm: Any, rd: Any) -> bool:
    """Whether the reference's result hangs on rounding errors: a bad state, or rows that nothing can move.

    Such rows have a Jacobian of rounding errors; the reference leaves them out where these are 0.
    """
    if rd.warning.number.any() or np.any(rd.efc_D > IMMOVABLE):
        return True
    if mujoco.mj_isSparse(rm) or not rm.nv:
        return False
    effect = np.max(np.abs(rd.efc_J.reshape(-1, rm.nv)[: rd.nefc]), axis=1, initial=0)
    return bool(np.any((effect > 0) & (effect < NOISE)))


def compared_state(rm: Any, seed: int, steps: int) -> mujoco.MjData:
    """A random state with random inputs; of odd seeds, one that the reference reaches from a random one.

    Flexes stay near their shape at qpos0: elements that are all over each other meet in the reference though they are
    apart (docs/differences.md). In fresh data, without what steps leave in fields that `mj_forward` does not write.
    """
    rd = mujoco.MjData(rm)
    if seed % 2:
        copy_state(settled(rm, seed, steps * (seed // 2 + 1)), rd)
    else:
        random_state(mujoco, rm, rd, seed)
    if rm.nflex and seed % 2 == 0:
        rd.qpos[:] = rm.qpos0
        away = FLEX_SHARE * float(np.mean(rm.flexedge_length0))
        mujoco.mj_integratePos(rm, rd.qpos, away * np.random.default_rng(seed).standard_normal(rm.nv), 1.0)
    random_inputs(rm, rd, seed)
    return rd


def converge(*engines: Any) -> None:
    """Have the solvers of models find the optimum, so that where they stop is no matter."""
    for model in engines:
        model.opt.tolerance, model.opt.iterations = 1e-14, 200
        model.opt.ls_iterations = max(50, model.opt.ls_iterations)
        if model.opt.solver == int(mjtSolver.mjSOL_CG):
            model.opt.solver = int(mjtSolver.mjSOL_NEWTON)  # the same optimum; the other stops before it


def compare_forward(rm: Any, m: Any, states: int = 10, steps: int = 40) -> Comparison:
    """Forward dynamics of random states: all fields."""
    result = Comparison()
    converge(rm, m)
    for seed in range(states):
        rd, d = compared_state(rm, seed, steps), cardan.MjData(m)
        if not np.all(np.isfinite(rd.qpos)):
            continue
        copy_state(rd, d)
        mujoco.mj_forward(rm, rd)
        if is_beyond_rounding(rm, rd):
            continue
        cardan.mj_forward(m, d)
        what = f"state {seed}"
        if not result.count(rm, rd, d, what):
            result.lines += data_differences(rd, d, fields_before_contacts(rm), (SMOOTH, SMOOTH), what)
            forward_from_poses(m, rd, d)
            if contact_difference(rd, d) > SMOOTH:
                continue
            result.tied += 1
        solver = UNCONVERGED if residual(rm, rd, d) < residual(rm, rd, rd) else SOLVER
        result.lines += data_differences(rd, d, DATA_FIELDS, (SMOOTH, solver), what)
    return result


Measure = Callable[[Any, Any], float]
NEARBY, SAMPLES = 1e-13, 500
"""Relative size and number of the changes of a state that show how far the reference's own steps scatter.

The size is that of the differences between the engines in what the solver starts from, `efc_aref` above all.
"""


def scatter(
    rm: Any, start: mujoco.MjData, expected: mujoco.MjData, enough: float, measure: Measure | None = None
) -> float:
    """How far steps of the reference are from its step, if the state it starts from changes by rounding errors.

    Conjugate gradients that stop before they converge amplify such changes along the iterations; some of them rarely,
    so that many samples are drawn, until one is far enough. `measure` is the distance of two data, else `largest`.
    """
    measure = measure or largest
    rng = np.random.default_rng(0)
    furthest = 0.0
    for _ in range(SAMPLES):
        rd = mujoco.MjData(rm)
        copy_state(start, rd)
        for values in (rd.qpos, rd.qvel, rd.qacc_warmstart):
            values *= 1 + NEARBY * rng.uniform(-1, 1, values.size)
        mujoco.mj_step(rm, rd)
        furthest = max(furthest, measure(expected, rd))
        if furthest >= enough:
            break
    return furthest


def unconverged(rm: Any, start: mujoco.MjData, expected: mujoco.MjData) -> float:
    """How far a step of the reference is from that with a solver that goes on until it stands still."""
    rd, limits = mujoco.MjData(rm), (rm.opt.tolerance, rm.opt.iterations)
    copy_state(start, rd)
    rm.opt.tolerance, rm.opt.iterations = 0, 20 * limits[1]
    mujoco.mj_step(rm, rd)
    rm.opt.tolerance, rm.opt.iterations = limits
    return largest(expected, rd)


def compare_steps(rm: Any, m: Any, steps: int, every: int = 1) -> Comparison:
    """One step from every state of a trajectory of the reference (or every so many), with random controls.

    Where contacts come in another order, steps with PGS are not compared, since it sweeps over them in their order.
    """
    result = Comparison()
    rd, d, start = mujoco.MjData(rm), cardan.MjData(m), mujoco.MjData(rm)
    rng = np.random.default_rng(1)
    rd.qvel[:] = 0.3 * rng.standard_normal(rm.nv)
    for step in range(steps):
        rd.ctrl[:] = 0.9 * rd.ctrl + 0.1 * rng.standard_normal(rm.nu)
        copy_state(rd, start)
        rd.actuator_moment[:] = 0  # those of slider-cranks add up there (docs/differences.md)
        mujoco.mj_step(rm, rd)
        if rd.warning.number.any():
            break
        if step % every == 0:
            compare_step(result, rm, m, (start, rd, d), f"step {step}")
    return result


def compare_step(
    result: Comparison,
    rm: Any,
    m: Any,
    data: tuple[Any, Any, Any],
    what: str,
    bars: tuple[float, float] = (STEP, SMOOTH),
) -> None:
    """Compare a step: of data with the state before it and after it, there, and of data for it here.

    `bars` are the largest differences of a step, and of the contacts of states whose steps are compared. If contacts
    come from iterative searches, steps may differ by 1e-6.
    """
    start, rd, d = data
    least, agreeing = bars
    copy_state(start, d)
    mujoco.mj_fwdPosition(rm, start)
    cardan.mj_fwdPosition(m, d)
    comparable = result.count(rm, start, d, what) or contact_difference(start, d) <= agreeing
    comparable &= not is_beyond_rounding(rm, start)
    if rm.opt.solver == int(mjtSolver.mjSOL_PGS) or rm.opt.noslip_iterations > 0:
        comparable &= order_of(start, d).is_same
    iterative = has_iterative_contacts(rm, start) or has_iterative_contacts(rm, rd)
    cardan.mj_step(m, d)
    if not comparable or (iterative and contact_difference(rd, d) > agreeing):  # of the last stage of RK4
        return
    bar, apart = max(least, CONVEX_STEP) if iterative else least, largest(rd, d)
    result.worst = max(result.worst, apart)
    if apart > bar and rm.opt.solver == int(mjtSolver.mjSOL_CG):
        bar = max(bar, 2 * scatter(rm, start, rd, 0.5 * apart))
    if apart > bar:
        bar = max(bar, 2 * unconverged(rm, start, rd))
    result.lines += data_differences(rd, d, STATE_FIELDS, (bar, bar), what)


def states_along(rm: Any, count: int, duration: float) -> list[mujoco.MjData]:
    """States of the reference at even times, s, from a slightly moved start, with random controls."""
    rd, rng = mujoco.MjData(rm), np.random.default_rng(1)
    rd.qvel[:] = 0.1 * rng.standard_normal(rm.nv)
    states = []
    for _ in range(count):
        rd.ctrl[:] = 0.3 * rng.standard_normal(rm.nu)
        mujoco.mj_step(rm, rd, max(1, round(duration / count / rm.opt.timestep)))
        states.append(mujoco.MjData(rm))
        copy_state(rd, states[-1])
    return states


def compare_settings(rm: Any, m: Any, states: list[mujoco.MjData], settings: tuple[int, int, int, int]) -> Comparison:
    """One step from each of the states with integrator, solver, cone and Jacobian as given; differences up to 1e-6.

    States in which the reference warns, or runs out of memory, are left out.
    """
    result = Comparison()
    for model in (rm, m):
        model.opt.integrator, model.opt.solver, model.opt.cone, model.opt.jacobian = settings
    for number, state in enumerate(states):
        start, rd, d = mujoco.MjData(rm), mujoco.MjData(rm), cardan.MjData(m)
        copy_state(state, start)
        copy_state(state, rd)
        try:
            mujoco.mj_step(rm, rd)
        except mujoco.FatalError:
            continue
        if not rd.warning.number.any():
            compare_step(result, rm, m, (start, rd, d), f"state {number}", (SOFT_STEP, CLOSE))
    return result


def largest(expected: Any, found: Any) -> float:
    """Largest difference of the state, relative to the largest entry of its field."""
    worst = 0.0
    for name in STATE_FIELDS:
        left, right = np.asarray(getattr(expected, name)), np.asarray(getattr(found, name))
        worst = max(worst, float(np.max(np.abs(left - right), initial=0)) / max(1.0, np.abs(left).max(initial=0)))
    return worst
