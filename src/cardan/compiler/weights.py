"""Inverse inertia at ``qpos0``: the mobility of degrees of freedom, bodies and tendons (mjModel: *_invweight0)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cardan.compiler.initial import MASSLESS, NOT_FINITE, ONLY_SLIDES, find_constants, initial_memory
from cardan.compiler.mobility import weigh_rows
from cardan.errors import FatalError, MjcfError
from cardan.jit.driver.direct import call
from cardan.model import internals

if TYPE_CHECKING:
    from cardan.compiler.scratch import Scratch
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

FloatArray = np.ndarray


class Inertia:
    """The joint-space inertia of a data, with the factors computed by `factor_m`.

    Attributes:
        memory: the structure of the initial configuration (`initial`).
    """

    def __init__(self, m: MjModel, d: MjData | Scratch) -> None:
        self._model = m
        self.memory = initial_memory(m, d)

    def weights(self, rows: FloatArray) -> FloatArray:
        """Compute J M^-1 J' for each single row of J (n, nv)."""
        row, weight = np.array(rows, np.float64, order="C"), np.zeros(len(rows))
        self.memory.attach("row", row.reshape(-1))
        self.memory.attach("row_weight", weight)
        call(weigh_rows, internals.memory(self._model), self.memory, len(row))
        return _finite(weight)

    def set_constants(self) -> None:
        """Set masses, inverse weights of dofs, bodies and tendons, lengths of tendons and transmissions, view poses.

        Fields: ``body_subtreemass``, ``dof_M0``, ``dof_invweight0``, ``body_invweight0``, ``tendon_length0``,
        ``tendon_invweight0``, ``actuator_length0``, ``actuator_acc0``, ``cam_*0``, ``light_*0``. The inverse weight of
        dofs is the diagonal of M^-1, averaged over the translations and over the rotations of a free or ball joint. The
        inverse weight of a body is the mean translational and rotational one at its centre of mass.

        Raises:
            FatalError: a moving body has no mass.
            MjcfError: the inertia has no inverse.
        """
        m = self._model
        wrong = call(find_constants, internals.memory(m), self.memory)
        if wrong == MASSLESS:
            sliding = np.flatnonzero((m.body_simple == ONLY_SLIDES) & (m.body_mass == 0.0))
            body = sliding[sliding > 0][0]
            raise FatalError(f"mj_setConst: moving body {body} has mass 0; it must be positive")
        if wrong == NOT_FINITE:
            raise _no_inverse()


def _finite(values: FloatArray) -> FloatArray:
    """Return the numbers if they are finite. Raises MjcfError otherwise."""
    if not np.isfinite(values).all():
        raise _no_inverse()
    return values


def _no_inverse() -> MjcfError:
    """Return the error about an inertia that cannot be inverted."""
    return MjcfError(
        "the inertia of a kinematic tree is so far from positive definite that its inverse overflows; "
        "is an armature negative?"
    )
