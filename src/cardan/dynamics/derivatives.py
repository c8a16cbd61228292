"""Derivatives of smooth forces by velocity, for the implicit integrators (spec: computation, numerical integration).

This module adds the derivatives of dampers and actuators; `fluid_derivatives` and `coriolis_derivatives` add theirs.
`qDeriv` is stored in compressed rows. Row i has entries for the ancestors and descendants of dof i in the tree
(`D_rownnz`, `D_rowadr`, `D_colind`). Entries that couple dofs of different branches are left out.

Matrices with this pattern are factorised as A = U L from the leaves to the root, which creates no fill-in. U is upper
triangular with a unit diagonal, L lower triangular; the stored diagonal is that of L.
"""

from __future__ import annotations

from cardan.dynamics.actuation import actuator_disabled, is_bad
from cardan.dynamics.inertia import sound_pivot
from cardan.dynamics.tendon import tendon_moment
from cardan.enums.codes import BIAS_AFFINE, DSBL_ACTUATION, DSBL_PASSIVE, GAIN_AFFINE, GAIN_MUSCLE
from cardan.jit import OK, kernel, stage
from cardan.maths.types import Array1, ConstArray1
from cardan.maths.vector import MINVAL
from cardan.model.kernel_views import Data, Model


@kernel
def _diagonal(m: Model, dof: int) -> int:
    """Address of the diagonal entry of row `dof` in qDeriv."""
    return m.aux.M_to_D[m.aux.M_rowadr[dof]]


@kernel
def _next_entry(m: Model, row: int, column: int, k: int) -> int:
    """Return the first entry of a row of qDeriv, from `k` on, whose column is at least `column`, or the row's end."""
    while k < m.aux.D_rowadr[row + 1] and m.aux.D_colind[k] < column:
        k += 1
    return k


@kernel
def _add_actuator(m: Model, d: Data, actuator: int, slope: float) -> None:
    """Add moment' slope moment to the entries that qDeriv stores."""
    start, stop = m.aux.moment_rowadr[actuator], m.aux.moment_rowadr[actuator + 1]
    for i in range(start, stop):
        row = m.aux.moment_colind[i]
        scaled = slope * d.actuator_moment[actuator, row]
        k = m.aux.D_rowadr[row]
        for j in range(start, stop):
            column = m.aux.moment_colind[j]
            k = _next_entry(m, row, column, k)
            if k < m.aux.D_rowadr[row + 1] and m.aux.D_colind[k] == column:
                d.qDeriv[k] += scaled * d.actuator_moment[actuator, column]


@kernel
def _add_tendon(m: Model, d: Data, tendon: int, slope: float) -> None:
    """Add J' slope J to the entries that qDeriv stores."""
    start, stop = m.aux.ten_rowadr[tendon], m.aux.ten_rowadr[tendon + 1]
    for i in range(start, stop):
        row = m.aux.ten_colind[i]
        scaled = slope * tendon_moment(m, d, tendon, i)
        k = m.aux.D_rowadr[row]
        for j in range(start, stop):
            column = m.aux.ten_colind[j]
            k = _next_entry(m, row, column, k)
            if k < m.aux.D_rowadr[row + 1] and m.aux.D_colind[k] == column:
                d.qDeriv[k] += scaled * tendon_moment(m, d, tendon, j)


@kernel
def _gain_input(m: Model, d: Data, actuator: int) -> float:
    """Control before it is limited to its range (0 if it is bad), or the current activation."""
    number = m.actuator_actnum[actuator]
    if number > 0:
        return d.act[m.actuator_actadr[actuator] + number - 1]
    if is_bad(d.ctrl[actuator]):
        return 0.0
    return d.ctrl[actuator]


@kernel
def _force_slope(m: Model, d: Data, actuator: int) -> float:
    """Derivative of an actuator's force by its velocity."""
    slope = 0.0
    if m.actuator_biastype[actuator] == BIAS_AFFINE:
        slope += m.actuator_biasprm[actuator, 2]
    if m.actuator_gaintype[actuator] == GAIN_AFFINE:
        slope += m.actuator_gainprm[actuator, 2] * _gain_input(m, d, actuator)
    elif m.actuator_gaintype[actuator] == GAIN_MUSCLE:
        slope += d.work.actuator_gain_slope[actuator] * _gain_input(m, d, actuator)
    return slope


@kernel
def _actuator_derivatives(m: Model, d: Data) -> None:
    for actuator in range(m.nu):
        if not actuator_disabled(m, actuator):
            slope = _force_slope(m, d, actuator)
            if slope != 0.0:
                _add_actuator(m, d, actuator, slope)


@kernel
def _damper_derivatives(m: Model, d: Data) -> None:
    for dof in range(m.nv):
        d.qDeriv[_diagonal(m, dof)] -= m.dof_damping[dof]
    for tendon in range(m.ntendon):
        if m.tendon_damping[tendon] > 0.0:
            _add_tendon(m, d, tendon, -m.tendon_damping[tendon])


@stage
def implicitfast_derivatives(m: Model, d: Data) -> int:
    """Compute the derivative of passive and actuator forces by velocity.

    Reads the results of `transmission`, `tendon` and `fwd_actuation`; writes qDeriv (nD,).
    """
    for k in range(m.nD):
        d.qDeriv[k] = 0.0
    if not m.opt.disableflags & DSBL_ACTUATION:
        _actuator_derivatives(m, d)
    if not m.opt.disableflags & DSBL_PASSIVE:
        _damper_derivatives(m, d)
    return OK


@kernel
def implicit_entry(m: Model, d: Data, dof: int, adr: int) -> float:
    """Entry of M - h qDeriv in the row of a dof, at the address `adr` of qM (qDeriv must be symmetric).

    If the inertia of a dof is diagonal, as for single bodies and vertices of flexes, only its diagonal entry is used.
    All couplings of such a dof are left out, both those within its body and those outside the pattern of qDeriv.
    """
    if m.dof_simplenum[dof] > 0 and adr > m.aux.M_rowadr[dof]:
        return 0.0
    return d.qM[adr] - m.opt.timestep * d.qDeriv[m.aux.M_to_D[adr]]


@kernel
def implicit_inertia(m: Model, d: Data) -> None:
    """Set qH to M - h qDeriv in the storage of qM, ready for `inertia.factor_ld`."""
    for dof in range(m.nv):
        for adr in range(m.aux.M_rowadr[dof], m.aux.M_rowadr[dof + 1]):
            d.qH[adr] = implicit_entry(m, d, dof, adr)


@kernel
def _entry(m: Model, row: int, column: int) -> int:
    """Address in `qDeriv` of the entry of two dofs of one chain; both are given by addresses in a row of `qM`."""
    if column >= row:
        return m.aux.M_to_D[m.aux.M_rowadr[m.aux.M_colind[row]] + column - row]
    return m.aux.M_to_DT[m.aux.M_rowadr[m.aux.M_colind[column]] + row - column]


@kernel
def factor_lu(m: Model, d: Data, lu: Array1) -> None:
    """Factorise a matrix with the pattern of `qDeriv` in place (nD,); pivots near 0 count the warning INERTIA."""
    for i in range(m.nv - 1, -1, -1):
        start, stop = m.aux.M_rowadr[i], m.aux.M_rowadr[i + 1]
        pivot = m.aux.M_to_D[start]
        if abs(lu[pivot]) < MINVAL:
            lu[pivot] = sound_pivot(d, lu[pivot], i)
        inverse = 1.0 / lu[pivot]
        for row in range(start + 1, stop):
            scale = lu[m.aux.M_to_DT[row]] * inverse
            lu[m.aux.M_to_DT[row]] = scale
            for column in range(start + 1, stop):
                lu[_entry(m, row, column)] -= scale * lu[m.aux.M_to_D[column]]


@kernel
def solve_lu(m: Model, lu: ConstArray1, x: Array1) -> None:
    """Replace x (nv,) by A^-1 x, with factors from `factor_lu`."""
    # U y = x, from the leaves to the root
    for i in range(m.nv - 1, -1, -1):
        value = x[i]
        for adr in range(m.aux.M_rowadr[i] + 1, m.aux.M_rowadr[i + 1]):
            x[m.aux.M_colind[adr]] -= lu[m.aux.M_to_DT[adr]] * value
    # L z = y, from the root to the leaves
    for i in range(m.nv):
        start = m.aux.M_rowadr[i]
        value = x[i]
        for adr in range(start + 1, m.aux.M_rowadr[i + 1]):
            value -= lu[m.aux.M_to_D[adr]] * x[m.aux.M_colind[adr]]
        x[i] = value / lu[m.aux.M_to_D[start]]
