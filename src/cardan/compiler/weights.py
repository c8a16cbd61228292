"""Inverse inertia at ``qpos0``: how easily degrees of freedom, bodies and tendons move (mjModel: *_invweight0)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.compiler.mobility import MOBILITY, find_mobilities, solve_rows, weigh_rows
from cardan.constants import mjMINVAL
from cardan.dynamics.jacobian import is_sparse
from cardan.errors import FatalError, MjcfError
from cardan.jit import StructMemory
from cardan.jit.driver.direct import call

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

FloatArray = np.ndarray
_ONLY_SLIDES = 2  # body_simple of a body that slides along its principal axes: it counts as free to move
_FREE, _BALL = 0, 1  # types of joints


class Inertia:
    """The joint-space inertia of a data, with its factors: those that `factor_m` has left there.

    Attributes:
        diagonal: diagonal of M (nv,).
    """

    def __init__(self, m: MjModel, d: MjData) -> None:
        self._model = m
        self.diagonal = d.qM[m.dof_Madr]
        memory = self._memory = StructMemory(MOBILITY, {})
        memory.attach("factor", d.qLD)
        memory.attach("pivot_inv", d.qLDiagInv)

    def solve(self, rows: FloatArray) -> FloatArray:
        """M^-1 times each row (n, nv)."""
        row = np.array(rows, np.float64, order="C")
        self._memory.attach("row", row.reshape(-1))
        call(solve_rows, self._model._memory, self._memory, len(row))
        return _finite(row)

    def weights(self, rows: FloatArray) -> FloatArray:
        """J M^-1 J' for each row J (n, nv) alone."""
        row, weight = np.array(rows, np.float64, order="C"), np.zeros(len(rows))
        self._memory.attach("row", row.reshape(-1))
        self._memory.attach("row_weight", weight)
        call(weigh_rows, self._model._memory, self._memory, len(row))
        return _finite(weight)

    def set_weights(self, d: MjData) -> None:
        """Fields ``dof_invweight0`` and ``body_invweight0`` of the model.

        The former is the diagonal of M^-1, averaged over the translations and over the rotations of a free or ball
        joint; the latter is the mean translational and rotational inverse weight of each body at its centre of mass.
        """
        m, memory = self._model, self._memory
        dofs, bodies = np.zeros(m.nv), np.zeros((m.nbody, 2))
        memory.attach("cinert", d.cinert)
        memory.attach("cdof", d.cdof)
        memory.attach("arm", d.xipos - d.subtree_com[m.body_rootid])
        memory.attach("articulated", np.empty((6 * m.nbody, 6)))
        memory.attach("mobility", np.empty((6 * m.nbody, 6)))
        memory.attach("force", np.empty((m.nv, 6)))
        memory.attach("pivot", np.empty(m.nv))
        memory.attach("dof_weight", dofs)
        memory.attach("body_weight", bodies)
        call(find_mobilities, m._memory, memory)
        sliding = m.body_simple == _ONLY_SLIDES
        sliding[0] = False
        bodies[sliding, 0] = 1.0 / _mass(m, np.flatnonzero(sliding))
        bodies[sliding, 1] = 0.0
        sliding_dofs = sliding[m.dof_bodyid]
        dofs[sliding_dofs] = bodies[m.dof_bodyid[sliding_dofs], 0]
        for kind, parts in ((_FREE, (0, 3)), (_BALL, (0,))):
            for adr in m.jnt_dofadr[m.jnt_type == kind].tolist():
                for part in parts:
                    dofs[adr + part : adr + part + 3] = dofs[adr + part : adr + part + 3].mean()
        m.dof_invweight0[:] = _finite(dofs)
        m.body_invweight0[:] = _finite(bodies)


def _mass(m: MjModel, bodies: np.ndarray) -> FloatArray:
    """Masses of bodies that slide, `mjMINVAL` at least."""
    massless = bodies[m.body_mass[bodies] == 0.0]
    if len(massless):
        raise FatalError(f"mj_setConst: moving body {massless[0]} has mass 0; it must be positive")
    return np.maximum(m.body_mass[bodies], mjMINVAL)


def tendon_jacobian(m: MjModel, d: MjData) -> FloatArray:
    """Jacobian of tendon lengths (ntendon, nv), from either storage of `ten_J`."""
    jacobian = np.asarray(d.ten_J)
    if not is_sparse(m):
        return jacobian
    rows = np.zeros((m.ntendon, m.nv))
    values, cols = jacobian.ravel(), np.asarray(d.ten_J_colind).ravel()
    for row, adr, number in zip(rows, d.ten_J_rowadr, d.ten_J_rownnz, strict=True):
        row[cols[adr : adr + number]] = values[adr : adr + number]
    return rows


def _finite(values: FloatArray) -> FloatArray:
    """Numbers, when they are numbers. Raises MjcfError otherwise."""
    if not np.isfinite(values).all():
        raise MjcfError("the inertia of a kinematic tree is so far from positive definite that its inverse overflows; "
                        "is an armature negative?")  # fmt: skip
    return values
