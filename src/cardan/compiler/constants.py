"""Constants of the initial configuration (spec: computation; API reference: mj_setConst).

All constants here are functions of the model at ``qpos0``. The stages of the pipeline run once at ``qpos0``, and
inverse weights, lengths, anchors and statistics are computed from their results.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.compiler.equalities import set_equality_data
from cardan.compiler.initial import set_means
from cardan.compiler.scratch import Scratch
from cardan.compiler.settings import put_fields
from cardan.compiler.weights import Inertia
from cardan.constants import mjMINVAL
from cardan.dynamics.com import com_pos
from cardan.dynamics.inertia import crb, factor_m
from cardan.dynamics.kinematics import kinematics
from cardan.dynamics.tendon import has_spatial_tendons, spatial_tendon, tendon
from cardan.dynamics.transmission import has_spatial_transmissions, spatial_transmission, transmission
from cardan.jit import Program
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.plugins.registry import looks_at_data, make_instance

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.model.mjmodel import MjModel

USUAL_STAGES = (kinematics, com_pos, tendon, crb, factor_m, transmission)
"""Position stages that nearly all models need."""

_PROGRAMS: dict[tuple[Any, ...], Program] = {}


def set_const(m: MjModel, d: MjData | Scratch) -> None:
    """Recompute all constants of the model that depend on ``qpos0``, after a change of the model.

    Args:
        m: the model, changed in place.
        d: a data of the model, used as scratch; afterwards its ``qpos`` and derived fields are those of ``qpos0``.
    """
    d.qpos[:] = m.qpos0
    run_position_stages(m, d)
    inertia = Inertia(m, d)
    inertia.set_constants()
    if m.nflex:
        from cardan.compiler.flexes.constants import set_flex_constants

        set_flex_constants(m, d, inertia)
    if m.neq:
        set_equality_data(m, d)
    set_means(m, inertia.memory)
    if m.ntendon:
        _set_tendon_springs(m, d)


def complete_constants(build: Build, m: MjModel) -> None:
    """Compute the constants of a newly compiled model, and the values that the user gave relative to them.

    Raises:
        PluginError: a plugin rejects the model.
    """
    d = _data(m)
    given = build.tree.section("statistic").resolved()
    set_const(m, d)
    put_fields(m, {f"stat.{name}": value for name, value in given.items() if value is not None})
    _apply_springdampers(build, m)
    if any(bias[2] > 0.0 for bias in build.columns["actuator_biasprm"]):
        _apply_damping_ratios(m, d)
    if m.nu:
        from cardan.compiler.lengthrange import set_length_ranges

        set_length_ranges(build, m)


def _data(m: MjModel) -> MjData | Scratch:
    """Return memory for the stages. It is a full MjData only if plugins may read it or flexes need room that grows.

    Instances of plugins are created once in any case, since they may reject the model.

    Raises:
        PluginError: a plugin rejects the model.
    """
    if any(map(looks_at_data, internals.plugins(m))) or (m.nflex and _needs_edges(m)):
        return MjData(m)
    d = Scratch(m)
    for instance in range(m.nplugin):
        make_instance(m, d, instance)
    return d


def _needs_edges(m: MjModel) -> bool:
    """Return whether any flex needs the Jacobian of its edges."""
    from cardan.compiler.flexes.constants import need_jacobian

    return bool(need_jacobian(m).any())


def run_position_stages(m: MjModel, d: MjData | Scratch) -> None:
    """Run kinematics, inertia, tendons and transmissions, as far as the model needs them."""
    tendons = spatial_tendon if has_spatial_tendons(m) else tendon
    transmissions = (transmission, spatial_transmission) if has_spatial_transmissions(m) else (transmission,)
    stages = (kinematics, com_pos, tendons, crb, factor_m, *transmissions)
    if stages not in _PROGRAMS:
        _PROGRAMS[stages] = Program(stages)
    _PROGRAMS[stages].run(m, d)


def _set_tendon_springs(m: MjModel, d: MjData | Scratch) -> None:
    """Set the rest lengths of tendon springs that are to follow from the spring positions of joints."""
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
    """Compute stiffness and damping from time constant, damping ratio and the joint's inertia at ``qpos0``."""
    for joint, (timeconst, ratio) in enumerate(build.columns["springdamper"]):
        if not timeconst:
            continue
        first = m.jnt_dofadr[joint]
        dofs = slice(first, first + (6, 3, 1, 1)[m.jnt_type[joint]])
        inertia = 1.0 / max(mjMINVAL, float(np.mean(m.dof_invweight0[dofs])))
        m.jnt_stiffness[joint] = inertia / (timeconst * ratio) ** 2
        m.dof_damping[dofs] = 2.0 * inertia / timeconst


def _apply_damping_ratios(m: MjModel, d: MjData | Scratch) -> None:
    """Compute the damping of position servos from their damping ratio, stored as a positive ``biasprm[2]``."""
    for i in range(m.nu):
        gain, bias = m.actuator_gainprm[i], m.actuator_biasprm[i]
        if m.actuator_gaintype[i] == 0 and m.actuator_biastype[i] == 1 and bias[2] > 0.0 and gain[0] == -bias[1]:
            moment = np.asarray(d.actuator_moment)[i]
            moved = np.abs(moment) > mjMINVAL
            mass = float(np.sum(m.dof_M0[moved] / moment[moved] ** 2))
            bias[2] *= -2.0 * np.sqrt(gain[0] * mass)
