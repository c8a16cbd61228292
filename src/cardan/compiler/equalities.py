"""Data of equality constraints that depends on the initial configuration: anchors and relative poses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.enums import mjtEq
from cardan.maths.quaternion import mul_quat, neg_quat, normalize4, rot_vec_quat
from cardan.maths.vector import add3, sub3

if TYPE_CHECKING:
    from cardan.compiler.scratch import Scratch
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel


def set_equality_data(m: MjModel, d: MjData | Scratch) -> None:
    """Set the second anchors of connect constraints, and the relative poses of weld constraints without one."""
    for i in range(m.neq):
        kind = int(m.eq_type[i])
        if kind in _SETTERS:
            _SETTERS[kind](m, d, i)


def _poses(m: MjModel, d: MjData | Scratch, i: int) -> list[tuple]:
    """Return positions and orientations of the two bodies."""
    bodies = (m.eq_obj1id[i], m.eq_obj2id[i])
    return [(tuple(d.xpos[b].tolist()), tuple(d.xquat[b].tolist())) for b in bodies]


def _set_connect(m: MjModel, d: MjData | Scratch, i: int) -> None:
    """Compute the anchor in the second body from the anchor in the first body."""
    (pos1, quat1), (pos2, quat2) = _poses(m, d, i)
    point = add3(pos1, rot_vec_quat(tuple(m.eq_data[i, :3].tolist()), quat1))
    m.eq_data[i, 3:6] = rot_vec_quat(sub3(point, pos2), neg_quat(quat2))


def _set_weld(m: MjModel, d: MjData | Scratch, i: int) -> None:
    """Compute the anchor and the orientation of the second body relative to the first; a given pose is kept."""
    data = m.eq_data[i]
    if data[6:10].any():
        data[6:10] = normalize4(tuple(data[6:10].tolist()))
        return
    (pos1, quat1), (pos2, quat2) = _poses(m, d, i)
    back = neg_quat(quat1)
    anchor = add3(pos2, rot_vec_quat(tuple(data[:3].tolist()), quat2))
    data[3:6] = rot_vec_quat(sub3(anchor, pos1), back)
    data[6:10] = normalize4(mul_quat(back, quat2))


_SETTERS = {int(mjtEq.mjEQ_CONNECT): _set_connect, int(mjtEq.mjEQ_WELD): _set_weld}
