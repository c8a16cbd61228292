"""Search for the range of an actuator's lengths by simulation (spec: modeling, length range).

A force pulls at the transmission while velocities decay. When the motion has settled, the length is measured. Contacts,
passive forces, gravity, friction loss and actuators are off, so that only limits and geometry determine the result. In
MuJoCo 4.0 integrators then leave out damping, too, which matters where the motion has not settled.
"""

from __future__ import annotations

from math import ceil, exp
from typing import TYPE_CHECKING, NamedTuple

from cardan.dynamics.actuation import actuation_stage
from cardan.dynamics.bias import fwd_acceleration
from cardan.dynamics.inertia import solve_m
from cardan.enums import mjtDisableBit, mjtIntegrator
from cardan.enums.flags import PASSIVE_PARTS
from cardan.jit import OK, kernel, stage
from cardan.maths.vector import MINVAL
from cardan.model import internals
from cardan.model.kernel_views import Data, Model
from cardan.model.mjdata import MjData
from cardan.step.pipeline import FWD_POSITION, FWD_VELOCITY, SINGLE_STEP, SOLVE
from cardan.step.plan import plan_of
from cardan.step.programs import make_program
from cardan.step.run import run

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

_OFF = (
    mjtDisableBit.mjDSBL_CONTACT
    | mjtDisableBit.mjDSBL_PASSIVE
    | mjtDisableBit.mjDSBL_GRAVITY
    | mjtDisableBit.mjDSBL_FRICTIONLOSS
    | mjtDisableBit.mjDSBL_ACTUATION
)
_SHORTEST_TIMECONST = 0.01
_MOST_STEPS = 10_000_000
# indices in work.range_setting
ACCEL, MAXFORCE, DECAY, START = 0, 1, 2, 3


class Search(NamedTuple):
    """Settings of the search, named like the attributes of ``compiler/lengthrange``."""

    accel: float
    maxforce: float
    timeconst: float
    timestep: float
    inttotal: float
    interval: float


@kernel
def _pull(m: Model, d: Data, out: int) -> float:
    """Set `work.range_row` to M^-1 times the actuator's moments; return the norm of this vector."""
    for dof in range(m.nv):
        d.work.range_row[dof] = 0.0
    for k in range(m.aux.moment_rowadr[out], m.aux.moment_rowadr[out + 1]):
        dof = m.aux.moment_colind[k]
        d.work.range_row[dof] = d.actuator_moment[out, dof]
    solve_m(m, d, d.work.range_row)
    total = 0.0
    for dof in range(m.nv):
        total += d.work.range_row[dof] * d.work.range_row[dof]
    return total**0.5


@kernel
def _moment_norm(m: Model, d: Data, out: int) -> float:
    """Return the norm of the joint forces of an actuator that applies a unit force."""
    total = 0.0
    for k in range(m.aux.moment_rowadr[out], m.aux.moment_rowadr[out + 1]):
        moment = d.actuator_moment[out, m.aux.moment_colind[k]]
        total += moment * moment
    return total**0.5


@stage
def decay_velocity(m: Model, d: Data) -> int:
    """Multiply all velocities by `work.range_setting[DECAY]`."""
    for dof in range(m.nv):
        d.qvel[dof] *= d.work.range_setting[DECAY]
    return OK


@stage
def pull_actuator(m: Model, d: Data) -> int:
    """Measure the length of the selected actuator, and apply the force that changes its length.

    Reads actuator_length, actuator_moment, qLD. Writes work.range_found (2,), the smallest and largest length after the
    time `work.range_setting[START]`, and qfrc_applied (nv,). This force causes an acceleration with the norm
    `work.range_setting[ACCEL]`. If `work.range_setting[MAXFORCE]` is positive, it limits the norm of the force.
    """
    out = d.work.range_actuator
    if d.time + m.opt.timestep > d.work.range_setting[START]:  # the time after the step, as in the reference
        length = d.actuator_length[out]
        d.work.range_found[0] = min(d.work.range_found[0], length)
        d.work.range_found[1] = max(d.work.range_found[1], length)
    force = d.work.range_setting[ACCEL] / max(MINVAL, _pull(m, d, out))
    if d.work.range_setting[MAXFORCE] > 0.0:
        most = d.work.range_setting[MAXFORCE] / max(MINVAL, _moment_norm(m, d, out))
        force = min(most, max(-most, force))
    for k in range(m.aux.moment_rowadr[out], m.aux.moment_rowadr[out + 1]):
        dof = m.aux.moment_colind[k]
        d.qfrc_applied[dof] = force * d.actuator_moment[out, dof]
    return OK


class LengthSearch:
    """Search for the length ranges of actuators on a copy of a model. Raises ValueError if it needs too many steps."""

    def __init__(self, m: MjModel, how: Search) -> None:
        self.how = how
        self.m = m = m.__copy__()
        off = int(_OFF) | (int(PASSIVE_PARTS) if m.is_4_0 else 0)
        internals.set_number(m, "opt.disableflags", internals.number(m, "opt.disableflags") | off)
        if how.timestep > 0.0:
            m.opt.timestep = how.timestep
        if m.opt.integrator in (mjtIntegrator.mjINT_RK4, mjtIntegrator.mjINT_DISCRETE):
            m.opt.integrator = int(mjtIntegrator.mjINT_EULER)
        if not how.inttotal <= _MOST_STEPS * m.opt.timestep:
            raise ValueError(f"inttotal {how.inttotal:g} s would take too many steps of {m.opt.timestep:g} s")
        self.steps = max(0, ceil(how.inttotal / m.opt.timestep - 1e-9))
        forces = (pull_actuator, actuation_stage(m), fwd_acceleration, SOLVE)
        simulation = (decay_velocity, *FWD_POSITION, *FWD_VELOCITY, *forces, *SINGLE_STEP)
        self.program = make_program(m, plan_of(m, simulation))

    def extreme(self, out: int, side: int) -> tuple[float, float]:
        """Return an actuator's smallest (side 0) or largest (side 1) length, and how much measured lengths varied.

        If the search has no steps, or its interval is negative, both values are 0.
        """
        if self.steps == 0 or self.how.interval < 0.0:
            return 0.0, 0.0
        m, how = self.m, self.how
        d = MjData(m)
        arrays = internals.memory(d).arrays
        decay = exp(-m.opt.timestep / max(_SHORTEST_TIMECONST, how.timeconst))
        accel = how.accel if side else -how.accel
        arrays["work.range_setting"][:] = accel, how.maxforce, decay, how.inttotal - how.interval
        arrays["work.range_found"][:] = float("inf"), -float("inf")
        internals.set_number(d, "work.range_actuator", out)
        run(self.program, m, d, self.steps)
        low, high = arrays["work.range_found"].tolist()
        return (high if side else low), high - low
