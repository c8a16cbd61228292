"""Inverse inertia at ``qpos0``: how easily degrees of freedom, bodies and tendons move (mjModel: *_invweight0)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.compiler.initial import MASSLESS, NOT_FINITE, ONLY_SLIDES, find_constants, initial_memory
from cardan.compiler.mobility import solve_rows, weigh_rows
from cardan.dynamics.jacobian import is_sparse
from cardan.errors import FatalError, MjcfError
from cardan.jit.driver.direct import call

if TYPE_CHECKING:
    from cardan.compiler.scratch import Scratch
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

FloatArray = np.ndarray
_CHUNK = 64  # tendons whose Jacobians are made dense at a time


class Inertia:
    """The joint-space inertia of a data, with its factors: those that `factor_m` has left there.

    Attributes:
        memory: what is known of the initial configuration (`initial`).
    """

    def __init__(self, m: MjModel, d: MjData | Scratch) -> None:
        self._model = m
        self.memory = initial_memory(m, d)

    def solve(self, rows: FloatArray) -> FloatArray:
        """M^-1 times each row (n, nv)."""
        row = np.array(rows, np.float64, order="C")
        self.memory.attach("row", row.reshape(-1))
        call(solve_rows, self._model._memory, self.memory, len(row))
        return _finite(row)

    def weights(self, rows: FloatArray) -> FloatArray:
        """J M^-1 J' for each row J (n, nv) alone."""
        row, weight = np.array(rows, np.float64, order="C"), np.zeros(len(rows))
        self.memory.attach("row", row.reshape(-1))
        self.memory.attach("row_weight", weight)
        call(weigh_rows, self._model._memory, self.memory, len(row))
        return _finite(weight)

    def set_constants(self) -> None:
        """Fields ``body_subtreemass``, ``dof_M0``, ``dof_invweight0``, ``body_invweight0``, and poses of views.

        The third is the diagonal of M^-1, averaged over the translations and over the rotations of a free or ball
        joint; the fourth is the mean translational and rotational inverse weight of each body at its centre of mass.

        Raises:
            FatalError: a body that moves has no mass.
            MjcfError: the inertia has no inverse.
        """
        m = self._model
        wrong = call(find_constants, m._memory, self.memory)
        if wrong == MASSLESS:
            sliding = np.flatnonzero((m.body_simple == ONLY_SLIDES) & (m.body_mass == 0.0))
            body = sliding[sliding > 0][0]
            raise FatalError(f"mj_setConst: moving body {body} has mass 0; it must be positive")
        if wrong == NOT_FINITE:
            raise _no_inverse()


def tendon_weights(m: MjModel, d: MjData | Scratch, inertia: Inertia) -> FloatArray:
    """Inverse weights of the lengths of tendons (ntendon,), from either storage of `ten_J`."""
    if not is_sparse(m):
        return inertia.weights(np.asarray(d.ten_J))
    parts = (range(start, min(start + _CHUNK, m.ntendon)) for start in range(0, m.ntendon, _CHUNK))
    return np.concatenate([inertia.weights(_jacobian(m, d, part)) for part in parts])


def _jacobian(m: MjModel, d: MjData | Scratch, chosen: range) -> FloatArray:
    """Rows of the Jacobian of tendon lengths (n, nv), from compressed ones."""
    part = slice(chosen.start, chosen.stop)
    count, adr = np.asarray(d.ten_J_rownnz)[part], np.asarray(d.ten_J_rowadr)[part]
    entry = np.arange(count.sum()) + np.repeat(adr - (np.cumsum(count) - count), count)
    rows = np.zeros((len(chosen), m.nv))
    place = np.repeat(np.arange(len(chosen)), count), np.asarray(d.ten_J_colind).ravel()[entry]
    rows[place] = np.asarray(d.ten_J).ravel()[entry]
    return rows


def _finite(values: FloatArray) -> FloatArray:
    """Numbers, when they are numbers. Raises MjcfError otherwise."""
    if not np.isfinite(values).all():
        raise _no_inverse()
    return values


def _no_inverse() -> MjcfError:
    """The error that an inertia is no inertia."""
    return MjcfError(
        "the inertia of a kinematic tree is so far from positive definite that its inverse overflows; "
        "is an armature negative?"
    )
