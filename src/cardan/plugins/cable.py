"""The plugin ``mujoco.elasticity.cable``: inextensible rods that resist bending and twisting.

The bodies of one instance form rods. Each body is a segment, attached to the previous segment, its parent. Let w be the
rotation vector of a segment in the frame of its parent: the integrated curvature and twist of the rod between them.
With its rest value w0, the torque on the segment, in the parent's frame, is

    K (w0 - w),    K = diag(G J, E Iy, E Iz) / L

The opposite torque acts on the parent. The two torques cancel for every dof that moves both bodies, so only the dofs of
the segment's own joints are affected. L is the distance between the two bodies. J, Iy and Iz follow from the cross
section of the segment's first geom: a capsule, cylinder or box along the X axis (other geoms have no stiffness).

Attributes: `twist`, shear modulus G, Pa; `bend`, Young's modulus E, Pa; `flat`, "true" if the stress-free rod is
straight (w0 = 0; otherwise, w0 is as in the model); `vmax`, torque at which the colour of a segment is saturated, N m.

Sources: M. Bergou, M. Wardetzky, S. Robinson, B. Audoly, E. Grinspun, Discrete elastic rods (2008); W. C. Young,
Roark's formulas for stress and strain, table of torsion constants: the rectangle; results of MuJoCo.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from cardan.dynamics.jacobian import rotation_column
from cardan.enums.codes import GEOM_BOX, GEOM_CAPSULE, GEOM_CYLINDER
from cardan.jit import kernel
from cardan.maths.quaternion import mul_quat, neg_quat, quat2vel, rot_vec_quat, sub_quat
from cardan.maths.types import Vec3, Vec4
from cardan.maths.vector import dot3
from cardan.model import internals
from cardan.model.kernel_views import Data, Model
from cardan.plugins.registry import Config, Plugin, PluginMemory, config_of, indices_of, number, numbers_of

STRIDE = 6
"""Count of numbers per segment: three stiffnesses (N m) and the rotation vector at rest (rad)."""


def section(kind: int, size: np.ndarray) -> tuple[float, float, float]:
    """Return the torsion constant and the second moments of area (about Y and Z) of a geom's cross section, m^4.

    They are 0 for geoms other than capsules, cylinders and boxes.
    """
    if kind in (GEOM_CAPSULE, GEOM_CYLINDER):
        moment = 0.25 * pi * size[0] ** 4
        return 2.0 * moment, moment, moment
    if kind != GEOM_BOX:
        return 0.0, 0.0, 0.0
    y, z = size[1], size[2]
    a, b = max(y, z), min(y, z)
    torsion = a * b**3 * (16.0 / 3.0 - 3.36 * b / a * (1.0 - (b / a) ** 4 / 12.0))
    return torsion, 4.0 * y * z**3 / 3.0, 4.0 * y**3 * z / 3.0


def moduli(config: Config) -> tuple[float, float, bool]:
    """Return the shear modulus, Young's modulus, and whether the stress-free rod is straight.

    Raises:
        ValueError: a modulus or `vmax` is not a number.
    """
    number(config, "vmax", 0.0)
    return number(config, "twist", 0.0), number(config, "bend", 0.0), config.get("flat") == "true"


def init(m: Any, d: Any, instance: int) -> PluginMemory:
    """Return the memory of an instance: bodies of its segments as indices, stiffnesses and rest values as numbers.

    Raises:
        ValueError: a segment has no geom, or is at the origin of its parent.
    """
    shear, young, flat = moduli(config_of(m, instance))
    numbers, indices = [], []
    for body in np.flatnonzero(m.body_plugin == instance).tolist():
        parent = int(m.body_parentid[body])
        if m.body_plugin[parent] != instance:
            continue
        length = float(np.linalg.norm(m.body_pos[body]))
        if m.body_geomnum[body] == 0 or length == 0.0:
            missing = "a geom" if length else "a distance from its parent"
            raise ValueError(f"mujoco.elasticity.cable: body {body} needs {missing}, to be a segment of a cable")
        geom = m.body_geomadr[body]
        torsion, about_y, about_z = section(int(m.geom_type[geom]), m.geom_size[geom])
        curvature = (0.0, 0.0, 0.0) if flat else quat2vel(tuple(m.body_quat[body].tolist()), 1.0)
        numbers += [shear * torsion / length, young * about_y / length, young * about_z / length, *curvature]
        indices.append(body)
    return PluginMemory(np.array(numbers), np.array([len(indices), *indices], np.int64))


@kernel
def torque_of(d: Data, at: int, parent: int, body: int) -> Vec3:
    """Torque on segment `body` from its `parent`, world frame. The numbers of the segment begin at index `at`."""
    here = (d.xquat[body, 0], d.xquat[body, 1], d.xquat[body, 2], d.xquat[body, 3])
    before = (d.xquat[parent, 0], d.xquat[parent, 1], d.xquat[parent, 2], d.xquat[parent, 3])
    bent = sub_quat(here, before)
    local = (
        d.work.plugin_number[at] * (d.work.plugin_number[at + 3] - bent[0]),
        d.work.plugin_number[at + 1] * (d.work.plugin_number[at + 4] - bent[1]),
        d.work.plugin_number[at + 2] * (d.work.plugin_number[at + 5] - bent[2]),
    )
    return rot_vec_quat(local, before)


@kernel
def compute(m: Model, d: Data, instance: int, capability: int) -> None:
    """Add the torques between the segments of an instance to qfrc_passive."""
    first = indices_of(d, instance)
    start = numbers_of(d, instance)
    for k in range(d.work.plugin_index[first]):
        body = d.work.plugin_index[first + 1 + k]
        torque = torque_of(d, start + STRIDE * k, m.body_parentid[body], body)
        for dof in range(m.body_dofadr[body], m.body_dofadr[body] + m.body_dofnum[body]):
            d.qfrc_passive[dof] += dot3(rotation_column(d, dof), torque)


def rainbow(share: float) -> Vec4:
    """Return the RGBA colour for `share`, from 0 (blue) through cyan, green and yellow to 1 (red)."""
    x = 4.0 * min(1.0, max(0.0, share))
    if x < 1.0:
        return (0.0, x, 1.0, 1.0)
    if x < 2.0:
        return (0.0, 1.0, 2.0 - x, 1.0)
    return (x - 2.0, 1.0, 0.0, 1.0) if x < 3.0 else (1.0, 4.0 - x, 0.0, 1.0)


def _torques(m: Any, d: Any, memory: PluginMemory) -> dict[int, np.ndarray]:
    """Return, by body, the torque on each segment from its previous segment, in the frame of the body."""
    torques = {}
    for k, body in enumerate(memory.indices[1:].tolist()):
        before, here = tuple(d.xquat[m.body_parentid[body]].tolist()), tuple(d.xquat[body].tolist())
        stiffness, rest = memory.numbers[STRIDE * k : STRIDE * k + 3], memory.numbers[STRIDE * k + 3 : STRIDE * k + 6]
        local = stiffness * (rest - np.array(sub_quat(here, before)))
        turn = mul_quat(neg_quat(here), before)
        torques[body] = np.array(rot_vec_quat(tuple(local.tolist()), turn))
    return torques


def visualize(m: Any, d: Any, opt: Any, scn: Any, instance: int) -> None:
    """Colour the first geom of each segment by the magnitude of the mean of the torques at its two ends.

    The colour is saturated at `vmax`. If `vmax` is 0, do nothing. The colours remain in the model, as in MuJoCo.
    """
    most = number(config_of(m, instance), "vmax", 0.0)
    if most <= 0.0:
        return
    torques = _torques(m, d, internals.plugin_data(d)[instance])
    after = {int(m.body_parentid[body]): torque for body, torque in torques.items()}
    for body in np.flatnonzero(m.body_plugin == instance).tolist():
        ends = [part[body] for part in (torques, after) if body in part]
        if ends and m.body_geomnum[body]:
            m.geom_rgba[m.body_geomadr[body]] = rainbow(float(np.linalg.norm(sum(ends))) / len(ends) / most)


CABLE = Plugin(
    "mujoco.elasticity.cable",
    ("twist", "bend", "flat", "vmax"),
    ("passive",),
    validate=moduli,
    init=init,
    compute=compute,
    visualize=visualize,
)
