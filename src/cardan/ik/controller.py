"""Control loops of a single configuration: a step without the checks and tables of `velocity`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.ik.control import find_velocities
from cardan.ik.solving import new_problem, targets_of
from cardan.jit.driver.program import call
from cardan.model import internals

if TYPE_CHECKING:
    from cardan.ik.tasks import Task
    from cardan.model import MjModel


class Controller:
    """Steps of a control loop, as by `velocity`, in a few microseconds.

    Arguments are those of `velocity`. Limits, pairs and costs are read once, when the controller is made. A controller
    is for one thread at a time.

    Attributes:
        error: largest errors of the tasks at the last configuration, (2,): m and rad.

    Args:
        m: model.
        tasks: a task, or a list of tasks.
        dt: time in which a velocity acts, s.
        targets: targets of the tasks, a row each; None: those of the tasks.
        limits: whether joint limits hold.
        velocity_limits: largest velocities, see `velocity`.
        avoid: pairs of geoms that keep a distance, see `solve`.
        margin: smallest distance of these pairs, m.
        detection: distance beyond the margin, m, from which a pair is considered.
        limit_gain: share of the distance to a joint limit that a step may use.
        pair_gain: share of the distance to the margin by which a pair may approach in a step.
        damping: damping of all dofs.
        joints: names or ids of the joints that may move.

    Raises:
        ValueError: an argument does not fit the model.
    """

    def __init__(
        self,
        m: MjModel,
        tasks: Sequence[Task] | Task,
        dt: float,
        targets: Any = None,
        *,
        limits: bool = True,
        velocity_limits: Any = None,
        avoid: Any = (),
        margin: float = 0.005,
        detection: float = 0.05,
        limit_gain: float = 0.95,
        pair_gain: float = 0.85,
        damping: float = 1e-12,
        joints: Iterable[str | int] | None = None,
    ) -> None:
        self._problem = new_problem(m, tasks, avoid, limits, joints)
        self._problem.set_limits()
        self._problem.set_speeds(velocity_limits)
        self._problem.prepare(1)
        self._problem.set_options(
            damping=damping, margin=margin, reach=margin + detection, limit_gain=limit_gain, pair_gain=pair_gain, dt=dt
        )
        self._given, self._found = np.zeros((1, m.nq)), np.zeros((1, m.nv))
        errors, self._ok = np.zeros((1, 2)), np.zeros(1, np.uint8)
        self.error = errors[0]
        self._problem.attach(given=self._given, found=self._found, error=errors, ok=self._ok)
        self._model, self._memory = internals.memory(m), self._problem.workers[0]
        self.set_targets(targets)

    def set_targets(self, targets: Any = None) -> None:
        """Set the targets of the tasks, a row each (see `solve`).

        Raises:
            ValueError: a target is missing or does not fit its task, or there are several rows.
        """
        rows, _ = targets_of(self._problem, targets)
        if len(rows) != 1:
            raise ValueError(f"a controller has one target for each task, got {len(rows)} rows")
        self._problem.attach(target=rows)

    def velocity(self, q: np.ndarray) -> np.ndarray:
        """Return the velocity (nv,) at configuration `q` (nq,)."""
        self._given[0] = q
        call(find_velocities, self._model, self._memory, 0, 1)
        return self._found[0].copy()

    @property
    def ok(self) -> bool:
        """Whether the last velocity meets all constraints."""
        return bool(self._ok[0])
