"""Constants of the initial configuration (spec: computation; API reference: mj_setConst).

All constants here are functions of the model at ``qpos0``. The stages of the pipeline run once at ``qpos0``, and
inverse weights, lengths, anchors and statistics are computed from their results.
"""

from __future__ import annotations

from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.compiler.initial import MASSLESS, NOT_FINITE, ONLY_SLIDES, find_constants, initial_memory, set_means
from cardan.compiler.mobility import weigh_rows
from cardan.compiler.relations import set_equality_data
from cardan.compiler.settings import put_fields
from cardan.compiler.sleep import find_policies, put_given_policies
from cardan.constants import mjMINVAL
from cardan.dynamics.com import com_pos
from cardan.dynamics.inertia import crb, crb_with_tendons, factor_m
from cardan.dynamics.kinematics import kinematics
from cardan.dynamics.orientation import has_so3_transmissions, so3_transmission
from cardan.dynamics.reflected import has_tendon_inertia
from cardan.dynamics.tendon import has_spatial_tendons, has_tendons, spatial_tendon_stage, tendon
from cardan.dynamics.transmission import has_spatial_transmissions, spatial_transmission, transmission
from cardan.enums import mjtJoint
from cardan.enums.codes import BIAS_AFFINE, GAIN_FIXED, GAIN_PID, GAIN_SO3
from cardan.errors import FatalError, MjcfError
from cardan.jit import Program
from cardan.jit.driver.program import call
from cardan.jit.memory.layout import address_of
from cardan.jit.memory.struct import StructMemory
from cardan.jit.memory.view import InterpretedView
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.reset import start_data
from cardan.model.sparsity import dof_chain
from cardan.model.tables import CAPACITIES, DATA
from cardan.plugins.registry import looks_at_data, make_instance

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel


def _row_weights(m: MjModel, memory: StructMemory, rows: np.ndarray) -> np.ndarray:
    """Compute J M^-1 J' for each row J of a matrix (n, nv); result (n,). `factor_m` must have run.

    ``memory`` is the structure of the initial configuration (`initial_memory`). Raises MjcfError if a result is not
    finite.
    """
    row, weight = np.array(rows, np.float64, order="C"), np.zeros(len(rows))
    memory.attach("row", row.reshape(-1))
    memory.attach("row_weight", weight)
    call(weigh_rows, internals.memory(m), memory, len(row))
    if not np.isfinite(weight).all():
        raise MjcfError(_NO_INVERSE)
    return weight


def _set_weights(m: MjModel, memory: StructMemory) -> None:
    """Set masses, inverse weights, lengths of tendons and transmissions, and initial poses of cameras and lights.

    Fields: ``body_subtreemass``, ``dof_M0``, ``dof_invweight0``, ``body_invweight0``, ``tendon_length0``,
    ``tendon_invweight0``, ``actuator_length0``, ``actuator_acc0``, ``cam_*0``, ``light_*0``. The inverse weight of a
    dof is the dof's diagonal entry of M^-1. In free and ball joints, it is replaced by the mean over the translations
    or over the rotations. A body has a mean translational and a mean rotational inverse weight at its centre of mass.

    Raises:
        FatalError: a moving body has no mass.
        MjcfError: the inertia has no inverse.
    """
    wrong = call(find_constants, internals.memory(m), memory)
    if wrong == MASSLESS:
        sliding = np.flatnonzero((m.body_simple == ONLY_SLIDES) & (m.body_mass == 0.0))
        body = sliding[sliding > 0][0]
        raise FatalError(f"mj_setConst: moving body {body} has mass 0; it must be positive")
    if wrong == NOT_FINITE:
        raise MjcfError(_NO_INVERSE)


@cache
def _start() -> Program:
    """Return the program that sets the default state of the data, including mocap poses."""
    return Program([start_data])


class Scratch:
    """A substitute for MjData without contacts and constraints. Its attributes are the fields of fixed size."""

    def __init__(self, m: MjModel) -> None:
        self._memory = StructMemory(DATA, internals.sizes(m) | dict.fromkeys(CAPACITIES, 0))
        self._memory.attach("work.plugin_handle", np.zeros(0))
        self.address = self._memory.address
        self._resume = np.zeros(5, np.int64)
        self._resume_address = address_of(self._resume)
        _start().run(m, self)

    @cached_property
    def view(self) -> InterpretedView:
        """View of the data that stages receive if JIT compilation is disabled."""
        return InterpretedView(self._memory)

    def __getattr__(self, name: str) -> np.ndarray:
        return self._memory.arrays[name]


USUAL_STAGES = (kinematics, com_pos, tendon, crb, factor_m, transmission)
"""Position stages that nearly all models need."""

_NO_INVERSE = (
    "the inertia of a kinematic tree is so far from positive definite that its inverse overflows; "
    "is an armature negative?"
)
_PROGRAMS: dict[tuple[Any, ...], Program] = {}
_TRIPLES = {int(mjtJoint.mjJNT_FREE): 2, int(mjtJoint.mjJNT_BALL): 1}  # groups of three dofs of a joint


def set_const(m: MjModel, d: MjData | Scratch) -> None:
    """Recompute all constants of the model that depend on ``qpos0``, in place, after a change of the model.

    ``d`` is used as scratch memory: its ``qpos`` becomes ``qpos0``, and its derived fields are recomputed.
    """
    d.qpos[:] = m.qpos0
    run_position_stages(m, d)
    memory = initial_memory(m, d)
    _set_weights(m, memory)
    if m.ntendon and has_tendon_inertia(m):
        _set_coupled_weights(m, d, memory)
    if m.nflex:
        from cardan.compiler.flexes.constants import set_flex_constants

        set_flex_constants(m, d, lambda rows: _row_weights(m, memory, rows))
    if m.neq:
        set_equality_data(m, d)
    set_means(m, memory)
    if m.ntendon:
        if has_tendon_inertia(m):
            _leave_out_tendons(m, d)
        _set_tendon_springs(m, d)
    find_policies(m)


def complete_constants(build: Build, m: MjModel) -> None:
    """Compute the constants of a newly compiled model, and then values that depend on the constants, such as damping.

    Raises:
        MjcfError: a length range cannot be found, or the inertia has no inverse.
        PluginError: a plugin rejects the model.
    """
    d = _data(m)
    put_given_policies(build, m)
    given = build.tree.section("statistic").resolved()
    set_const(m, d)
    put_fields(m, {f"stat.{name}": value for name, value in given.items() if value is not None})
    _apply_springdampers(build, m)
    if any(bias[2] > 0.0 for bias in build.columns["actuator_biasprm"]):
        _apply_damping_ratios(m, d)
    if m.nactuator:
        from cardan.compiler.lengthrange import set_length_ranges

        set_length_ranges(build, m)


def _data(m: MjModel) -> MjData | Scratch:
    """Return the data for running stages: a full MjData if plugins or flexes need it, else a `Scratch`.

    The function creates the plugin instances in both cases, because a plugin may reject the model.

    Raises:
        PluginError: a plugin rejects the model.
    """
    if any(map(looks_at_data, internals.plugins(m))):
        return MjData(m)
    if m.nflex:
        from cardan.compiler.flexes.constants import need_jacobian

        if need_jacobian(m).any():
            return MjData(m)
    d = Scratch(m)
    for instance in range(m.nplugin):
        make_instance(m, d, instance)
    return d


def run_position_stages(m: MjModel, d: MjData | Scratch) -> None:
    """Run the stages for kinematics, inertia, tendons and transmissions at ``d.qpos``."""
    tendons = spatial_tendon_stage(m) if has_spatial_tendons(m) else tendon
    transmissions = (transmission, spatial_transmission) if has_spatial_transmissions(m) else (transmission,)
    if has_so3_transmissions(m):
        transmissions = (*transmissions, so3_transmission)
    inertia = crb_with_tendons if has_tendons(m) else crb
    stages = (kinematics, com_pos, tendons, inertia, factor_m, *transmissions)
    if stages not in _PROGRAMS:
        _PROGRAMS[stages] = Program(stages)
    _PROGRAMS[stages].run(m, d)


def _set_coupled_weights(m: MjModel, d: MjData | Scratch, memory: StructMemory) -> None:
    """Set ``dof_invweight0`` and ``body_invweight0`` where tendons couple dofs: means of J M^-1 J'."""
    kinds, starts = m.jnt_type.tolist(), m.jnt_dofadr.tolist()
    cdof, xipos, centre = (internals.array(d, name) for name in ("cdof", "xipos", "subtree_com"))
    simple, last, parents = m.body_simple.tolist(), internals.array(m, "aux.body_lastdof"), m.dof_parentid.tolist()
    weights = _row_weights(m, memory, np.eye(m.nv))
    for kind, dof in zip(kinds, starts, strict=True):
        for first in (dof, dof + 3)[: _TRIPLES.get(kind, 0)]:
            weights[first : first + 3] = weights[first : first + 3].mean()
    for body in range(1, m.nbody):
        dofs = slice(m.body_dofadr[body], m.body_dofadr[body] + m.body_dofnum[body])
        if simple[body] == ONLY_SLIDES:
            weights[dofs] = m.dof_invweight0[dofs]
            continue
        jacobian, moving = np.zeros((6, m.nv)), dof_chain(parents, int(last[body]))
        arm = xipos[body] - centre[m.body_rootid[body]]
        jacobian[:3, moving] = cdof[moving, 3:].T + np.cross(cdof[moving, :3], arm).T
        jacobian[3:, moving] = cdof[moving, :3].T
        m.body_invweight0[body] = _row_weights(m, memory, jacobian).reshape(2, 3).mean(axis=1)
    m.dof_invweight0[:] = weights


def _leave_out_tendons(m: MjModel, d: MjData | Scratch) -> None:
    """Set ``dof_M0`` to the diagonal of the inertia matrix without the inertia of tendons, as in MuJoCo."""
    if (crb,) not in _PROGRAMS:
        _PROGRAMS[crb,] = Program((crb,))
    _PROGRAMS[crb,].run(m, d)
    m.dof_M0[:] = internals.array(d, "qM")[m.dof_Madr]
    run_position_stages(m, d)


def _set_tendon_springs(m: MjModel, d: MjData | Scratch) -> None:
    """Set the automatic rest lengths (-1) of tendon springs to the tendons' lengths at ``qpos_spring``."""
    automatic = [i for i, (low, high) in enumerate(m.tendon_lengthspring.tolist()) if low == high == -1.0]
    if automatic:
        moves = m.qpos_spring.tobytes() != m.qpos0.tobytes()
        if moves:
            d.qpos[:] = m.qpos_spring
            run_position_stages(m, d)
        m.tendon_lengthspring[automatic] = d.ten_length[automatic, None]
        if moves:
            d.qpos[:] = m.qpos0
            run_position_stages(m, d)


def _apply_springdampers(build: Build, m: MjModel) -> None:
    """Compute stiffness and damping of joints from their attribute ``springdamper`` and the inertia at ``qpos0``."""
    for joint, (timeconst, ratio) in enumerate(build.columns["springdamper"]):
        if not timeconst:
            continue
        first = m.jnt_dofadr[joint]
        dofs = slice(first, first + (6, 3, 1, 1)[m.jnt_type[joint]])
        inertia = 1.0 / max(mjMINVAL, float(np.mean(m.dof_invweight0[dofs])))
        m.jnt_stiffness[joint] = inertia / (timeconst * ratio) ** 2
        m.dof_damping[dofs] = 2.0 * inertia / timeconst


def _apply_damping_ratios(m: MjModel, d: MjData | Scratch) -> None:
    """Replace the damping ratio of position servos (a positive ``biasprm[2]``) by the damping that it implies."""
    gain, bias = m.actuator_gainprm, m.actuator_biasprm
    kinds = internals.array(m, "actuator_gaintype")
    simple = (kinds == GAIN_FIXED) & (gain[:, 0] == -bias[:, 1])
    affine = (simple | (kinds == GAIN_PID)) & (internals.array(m, "actuator_biastype") == BIAS_AFFINE)
    for servo in np.flatnonzero((kinds == GAIN_SO3) & (bias[:, 2] > 0.0)).tolist():
        outs = slice(m.actuator_outadr[servo], m.actuator_outadr[servo] + m.actuator_outnum[servo])
        weight = np.mean(_row_weights(m, initial_memory(m, d), internals.array(d, "actuator_moment")[outs]))
        bias[servo, 2] *= -2.0 * np.sqrt(gain[servo, 0] / weight) if weight > mjMINVAL else 0.0
    servos = np.flatnonzero(affine & (bias[:, 2] > 0.0))
    if len(servos):
        moments = internals.array(d, "actuator_moment")[m.actuator_outadr[servos]]
        mass = _operational_masses(m, d, moments) if m.is_4_0 else _summed_masses(m, moments)
        bias[servos, 2] *= -2.0 * np.sqrt(-bias[servos, 1] * mass)


def _summed_masses(m: MjModel, moments: np.ndarray) -> np.ndarray:
    """Return, for each row of ``moments``, the sum of ``dof_M0`` / moment^2 over the dofs with non-zero moments."""
    masses = [m.dof_M0[moved] / row[moved] ** 2 for row, moved in zip(moments, np.abs(moments) > mjMINVAL, strict=True)]
    return np.array([*map(np.sum, masses)])


def _operational_masses(m: MjModel, d: MjData | Scratch, moments: np.ndarray) -> np.ndarray:
    """Return the operational-space inertia 1 / (J M^-1 J') of each row J of ``moments``; 0 if J is zero."""
    weights = _row_weights(m, initial_memory(m, d), moments)
    moved = weights > mjMINVAL
    return np.where(moved, 1.0, 0.0) / np.where(moved, weights, 1.0)
