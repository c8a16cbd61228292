"""Displacements of springs from rest, for joints of all types and for tendons with a dead band."""

from __future__ import annotations

from cardan.dynamics.kinematics import get_quat
from cardan.jit import kernel
from cardan.maths.quaternion import normalize4, sub_quat
from cardan.maths.types import Vec3
from cardan.model.kernel_views import Data, Model


@kernel
def translation_from_rest(m: Model, d: Data, adr: int) -> Vec3:
    """Displacement of a free joint from `qpos_spring`; `adr` is the address of its position in `qpos`."""
    rest = m.qpos_spring
    return (d.qpos[adr] - rest[adr], d.qpos[adr + 1] - rest[adr + 1], d.qpos[adr + 2] - rest[adr + 2])


@kernel
def rotation_from_rest(m: Model, d: Data, adr: int) -> Vec3:
    """Rotation vector (rad, body frame) from `qpos_spring`; `adr` is the address of a quaternion in `qpos`."""
    return sub_quat(normalize4(get_quat(d.qpos, adr)), get_quat(m.qpos_spring, adr))


@kernel
def tendon_extension(m: Model, d: Data, tendon: int) -> float:
    """Extension of a tendon beyond the range in which its spring rests: positive above the range, negative below."""
    length = d.ten_length[tendon]
    lower = m.tendon_lengthspring[tendon, 0]
    upper = m.tendon_lengthspring[tendon, 1]
    if length >= upper:  # >=, so that a range of a single length has a slope there
        return length - upper
    if length < lower:
        return length - lower
    return 0.0
