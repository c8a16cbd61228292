"""Stages that reset data to the model's default state."""

from __future__ import annotations

from cardan.constants import mjMINAWAKE
from cardan.enums.codes import CHART_QUAT, GAIN_SO3
from cardan.jit import OK, kernel, stage
from cardan.model.histories import start_histories
from cardan.model.kernel_views import Data, Model
from cardan.model.tables import COUNT_BYTES

FULLY_AWAKE = -1 - mjMINAWAKE
"""Value of `tree_asleep` for a tree that has just moved."""
EVERYTHING = 31
"""Value of `work.unsettled` if no stage has seen the present spans yet."""


@kernel
def _set_patterns(m: Model, d: Data) -> None:
    """Copy the sparsity patterns of the dof-dof and body-dof matrices from the model to the data."""
    for dof in range(m.nv):
        d.D_rowadr[dof] = m.aux.D_rowadr[dof]
        d.D_rownnz[dof] = m.aux.D_rowadr[dof + 1] - m.aux.D_rowadr[dof]
    for k in range(m.nD):
        d.D_colind[k] = m.aux.D_colind[k]
    for body in range(m.nbody):
        d.B_rowadr[body] = m.aux.B_rowadr[body]
        d.B_rownnz[body] = m.aux.B_rowadr[body + 1] - m.aux.B_rowadr[body]
    for k in range(m.nB):
        d.B_colind[k] = m.aux.B_colind[k]


@kernel
def _clear_statistics(d: Data) -> None:
    """Set the used entries of the solver's statistics, and the number of used entries, to 0."""
    for k in range(d.work.statistics_used):
        d.solver.improvement[k] = 0.0
        d.solver.gradient[k] = 0.0
        d.solver.lineslope[k] = 0.0
        d.solver.nactive[k] = 0
        d.solver.nchange[k] = 0
        d.solver.neval[k] = 0
        d.solver.nupdate[k] = 0
    d.work.statistics_used = 0


@kernel
def set_neutral_quaternions(m: Model, d: Data) -> None:
    """Set the controls of orientation servos that are quaternions to the identity; they must be 0 already."""
    for i in range(m.nactuator):
        if m.actuator_gaintype[i] == GAIN_SO3 and m.actuator_ctrlspec[i] == CHART_QUAT:
            d.ctrl[m.actuator_ctrladr[i]] = 1.0


@kernel
def wake_everything(m: Model, d: Data) -> None:
    """Wake all trees: one span contains everything (see `cardan.dynamics.awake`), and no rest is left."""
    for tree in range(m.ntree):
        d.tree_asleep[tree] = FULLY_AWAKE
    ends = (m.nbody, m.njnt, m.nv, m.ngeom, m.nsite, m.ntree, m.nq)
    for k in range(7):
        d.work.span[0, 2 * k] = 0
        d.work.span[0, 2 * k + 1] = ends[k]
    for body in range(m.nbody):
        for k in range(4):
            d.work.rest_mass[body, k] = 0.0
    d.work.nspan = 1
    d.work.nrest = 0
    d.work.spans_known = 1
    d.work.unsettled = EVERYTHING


@kernel
def _set_defaults(m: Model, d: Data) -> None:
    """Set the values of the default state that are not zero."""
    for i in range(m.nq):
        d.qpos[i] = m.qpos0[i]
    for i in range(m.neq):
        d.eq_active[i] = m.eq_active0[i]
    wake_everything(m, d)
    for body in range(m.nbody):
        mocap = m.body_mocapid[body]
        if 0 <= mocap < m.nmocap:
            for k in range(3):
                d.mocap_pos[mocap, k] = m.body_pos[body, k]
            for k in range(4):
                d.mocap_quat[mocap, k] = m.body_quat[body, k]
    set_neutral_quaternions(m, d)
    for i in range(m.nplugin):
        d.plugin[i] = m.plugin[i]
    for i in range(len(d.work.plugin_handle)):
        d.plugin_data[i] = d.work.plugin_handle[i]
    _set_patterns(m, d)
    if m.nhistory > 0:
        start_histories(m, d)


@stage
def start_data(m: Model, d: Data) -> int:
    """Set the default state in new memory, which is already zero.

    Zeros are not written again: pages of memory that are never written take no physical memory.
    """
    d.maxuse_arena = COUNT_BYTES
    _set_defaults(m, d)
    return OK


@kernel
def _clear_scalars(d: Data) -> None:
    """Set time and counts to 0, and `maxuse_arena` to the bytes that are always in use."""
    d.time = 0.0
    d.ne = 0
    d.nf = 0
    d.nl = 0
    d.nefc = 0
    d.nnzJ = 0
    d.ncon = 0
    d.maxuse_con = 0
    d.maxuse_efc = 0
    d.maxuse_arena = COUNT_BYTES
    d.work.left_out = 0
    d.nisland = 0
    d.solver_nisland = 0
    d.work.is_settling = 0
    d.work.has_lengths = 0


@stage
def reset_data(m: Model, d: Data) -> int:
    """Set all fields to 0, then the default state: ``qpos0``, mocap poses, active equalities (spec: mj_resetData)."""
    for i in range(len(d.work.buffer)):
        d.work.buffer[i] = 0.0
    for i in range(len(d.work.buffer_i8)):
        d.work.buffer_i8[i] = 0
    for i in range(len(d.work.buffer_i4)):
        d.work.buffer_i4[i] = 0
    for i in range(len(d.work.buffer_u1)):
        d.work.buffer_u1[i] = 0
    return reset_cleared(m, d)


@stage
def reset_cleared(m: Model, d: Data) -> int:
    """Set the default state in data in which the caller has set all arrays of fixed size to 0."""
    _clear_statistics(d)
    _clear_scalars(d)
    _set_defaults(m, d)
    return OK
