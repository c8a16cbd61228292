"""Native computations at the initial configuration: inverse weights, poses of cameras and lights, extent of the model.

The structure `INITIAL` shares arrays with the data, whose position stages have run at ``qpos0``, and with the model,
which receives the results. All other arrays are scratch.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.compiler.mobility import find_mobilities, weigh_actuators, weigh_tendons
from cardan.constants import mjMINVAL
from cardan.enums import mjtJoint
from cardan.enums.codes import GEOM_PLANE
from cardan.jit import Field, Struct, StructMemory, kernel
from cardan.jit.driver.program import call, native_over
from cardan.jit.memory.struct import Link
from cardan.maths.quaternion import mul_quat, quat2mat, rot_vec_quat
from cardan.maths.vector import add3, get3, get4, norm3, set3, set9, sub3
from cardan.model import internals
from cardan.model.kernel_views import Model
from cardan.model.tables import MODEL

if TYPE_CHECKING:
    from cardan.compiler.constants import Scratch
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel


_LEAST = 1e-5
_EXTENT_OF_A_POINT = 2.0
_RADIUS_OF_INFINITE_PLANE, _RADIUS_IN_4_0 = 1.0, 0.01
_RADIUS_OF_PLANE = 0.1  # relative to its longer half side


@kernel
def _reach(s: Any, body: int, place: Any, radius: float) -> None:
    """Enlarge a body's radius ``s.size`` about its centre of mass to contain the ball of `radius` about `place`."""
    s.size[body] = max(s.size[body], norm3(sub3(place, get3(s.xipos, body))) + radius)


@kernel
def _enclose(s: Any, place: Any, radius: float) -> None:
    """Enlarge the box ``s.low``, ``s.high`` to contain the ball of `radius` about `place`."""
    s.low[0] = min(s.low[0], place[0] - radius)
    s.low[1] = min(s.low[1], place[1] - radius)
    s.low[2] = min(s.low[2], place[2] - radius)
    s.high[0] = max(s.high[0], place[0] + radius)
    s.high[1] = max(s.high[1], place[1] + radius)
    s.high[2] = max(s.high[2], place[2] + radius)


@kernel
def _radius(m: Model, geom: int) -> float:
    """Return a geom's radius for computing the model's extent. Planes count as small balls."""
    if m.geom_type[geom] != GEOM_PLANE:
        return m.geom_rbound[geom]
    side = max(m.geom_size[geom, 0], m.geom_size[geom, 1])
    if side > 0.0:
        return _RADIUS_OF_PLANE * side
    return _RADIUS_IN_4_0 if m.is_4_0 else _RADIUS_OF_INFINITE_PLANE


@kernel
def find_extent(m: Model, s: Any) -> None:
    """Compute the sizes of bodies and the box around all objects.

    The size of a body is the distance from its centre of mass to the farthest of its geoms, its joints and the joints
    of its children. The size of a flex body is the length of the longest edge at its vertices.
    """
    for body in range(m.nbody):
        s.size[body] = 0.0
    for k in range(3):
        s.low[k] = inf
        s.high[k] = -inf
    for body in range(1, m.nbody):
        _enclose(s, get3(s.xpos, body), 0.0)
        _enclose(s, get3(s.xipos, body), 0.0)
    for geom in range(m.ngeom):
        if m.geom_piece[geom] > 0:  # a convex piece, almost inside the bounds of its geom
            continue
        place = get3(s.geom_xpos, geom)
        if m.geom_rbound[geom] > 0.0:
            _reach(s, m.geom_bodyid[geom], place, m.geom_rbound[geom])
        _enclose(s, place, _radius(m, geom))
    for joint in range(m.njnt):
        place, body = get3(s.xanchor, joint), m.jnt_bodyid[joint]
        _reach(s, body, place, 0.0)
        _reach(s, m.body_parentid[body], place, 0.0)
        _enclose(s, place, 0.0)
    for site in range(m.nsite):
        _enclose(s, get3(s.site_xpos, site), 0.0)
    for flex in range(m.nflex):
        for edge in range(m.flex_edgeadr[flex], m.flex_edgeadr[flex] + m.flex_edgenum[flex]):
            for k in range(2):
                body = m.flex_vertbodyid[m.flex_vertadr[flex] + m.flex_edge[edge, k]]
                s.size[body] = max(s.size[body], m.flexedge_length0[edge])
    if s.low[0] > s.high[0]:  # the world is empty
        for k in range(3):
            s.low[k] = 0.0
            s.high[k] = 0.0


@kernel
def find_means(m: Model, s: Any) -> None:
    """Compute the model's centre and extent, and the means of dof inertias, body masses and body sizes.

    The world body is excluded. If the model has no dofs or no bodies, the corresponding means are not changed.
    """
    inertia = mass = size = extent = 0.0
    for dof in range(m.nv):
        inertia += s.diagonal[dof]
    for body in range(1, m.nbody):
        mass += m.body_mass[body]
        size += max(s.size[body], _LEAST)
    for k in range(3):
        s.center[k] = 0.5 * (s.low[k] + s.high[k])
        extent = max(extent, s.high[k] - s.low[k])
    count = m.nbody - 1
    if m.nv > 0:
        s.mean[0] = inertia / m.nv
    if count > 0:
        s.mean[1] = mass / count
        s.mean[2] = size / count
    s.mean[3] = max(extent if extent > 0.0 else _EXTENT_OF_A_POINT, 2.0 * s.mean[2])


_FREE, _BALL = int(mjtJoint.mjJNT_FREE), int(mjtJoint.mjJNT_BALL)
ONLY_SLIDES = 2
"""Value of ``body_simple`` for a body that only slides. Its translational inverse weight is 1 / mass."""
MASSLESS, NOT_FINITE = 1, 2
"""Error codes of `find_constants`: a sliding body has no mass; an inverse weight is not finite."""
_LARGEST = 1.7e308

_OF_DATA = Link({
    **{name: name for name in ("xpos", "xquat", "xipos", "xanchor", "site_xpos", "geom_xpos", "subtree_com")},
    **{name: name for name in ("cinert", "cdof")},
    "inertia": "qM",
    "factor": "qLD",
    "pivot_inv": "qLDiagInv",
    **{name: name for name in ("ten_length", "ten_J", "ten_J_rownnz", "ten_J_rowadr", "ten_J_colind")},
    **{name: name for name in ("actuator_length", "actuator_moment")},
})  # fmt: skip
_POSES = ("cam_pos", "cam_poscom", "cam_mat", "light_pos", "light_poscom", "light_dir")
_OF_MODEL = Link({
    "subtreemass": "body_subtreemass",
    "diagonal": "dof_M0",
    "dof_weight": "dof_invweight0",
    "body_weight": "body_invweight0",
    "center": "stat.center",
    **{f"{name}0": f"{name}0" for name in _POSES},
    **{name: name for name in ("tendon_length0", "tendon_invweight0", "actuator_length0", "actuator_acc0")},
})  # fmt: skip
_MEANS = tuple(f"stat.{name}" for name in ("meaninertia", "meanmass", "meansize", "extent"))
_MEAN_SLOTS = [MODEL.slot[name] for name in _MEANS]

INITIAL = Struct(
    "Initial",
    [
        *(Field(name, "f8", ("any", 3), "as in the data") for name in ("xpos", "xipos", "xanchor", "subtree_com")),
        *(Field(name, "f8", ("any", 3), "as in the data") for name in ("site_xpos", "geom_xpos")),
        Field("xquat", "f8", ("any", 4), "as in the data"),
        Field("cinert", "f8", ("any", 10), "inertia of each body, as in the data"),
        Field("cdof", "f8", ("any", 6), "motion axis of each dof, as in the data"),
        Field("inertia", "f8", ("any",), "inertia matrix (nM,)"),
        Field("factor", "f8", ("any",), "L' D L factor of the inertia matrix (nM,)"),
        Field("pivot_inv", "f8", ("any",), "reciprocals of D (nv,)"),
        Field("subtreemass", "f8", ("any",), "mass of each body with all its descendants, written"),
        Field("diagonal", "f8", ("any",), "diagonal of the inertia matrix, written"),
        Field("dof_weight", "f8", ("any",), "inverse weight of each dof, written"),
        Field("body_weight", "f8", ("any", 2), "translational and rotational inverse weight of each body, written"),
        Field("center", "f8", ("any",), "centre of the model, written"),
        *(Field(f"{part}_pos0", "f8", ("any", 3), "relative to the body, written") for part in ("cam", "light")),
        *(Field(f"{part}_poscom0", "f8", ("any", 3), "relative to a centre of mass") for part in ("cam", "light")),
        Field("cam_mat0", "f8", ("any", 9), "orientation of each camera, written"),
        Field("light_dir0", "f8", ("any", 3), "direction of each light, written"),
        Field("arm", "f8", ("any", 3), "scratch: centre of mass of each body, relative to that of its tree"),
        Field("articulated", "f8", ("any", 6), "scratch: articulated inertia of each body, six rows each"),
        Field("mobility", "f8", ("any", 6), "scratch: mobility of each body, six rows each"),
        Field("force", "f8", ("any", 6), "scratch: articulated inertia times axis of each dof, over its pivot"),
        Field("pivot", "f8", ("any",), "scratch: pivot of each dof: articulated inertia along its axis, plus armature"),
        Field("size", "f8", ("any",), "scratch: radius of each body about its centre of mass"),
        Field("low", "f8", ("any",), "scratch: low corner of the box around all objects (3,)"),
        Field("high", "f8", ("any",), "scratch: high corner"),
        Field("mean", "f8", ("any",), "means of inertia, mass and size, and the extent, written (4,)"),
        Field("row", "f8", ("any",), "rows of nv values, concatenated"),
        Field("row_weight", "f8", ("any",), "x M^-1 x' of each row, written"),
        *(Field(name, "f8", ("any",), "as in the data") for name in ("ten_length", "ten_J")),
        *(Field(name, "i4", ("any",), "as in the data") for name in ("ten_J_rownnz", "ten_J_rowadr", "ten_J_colind")),
        *(Field(name, "f8", ("any",), "as in the data") for name in ("actuator_length", "actuator_moment")),
        Field("tendon_length0", "f8", ("any",), "length of each tendon, written"),
        Field("tendon_invweight0", "f8", ("any",), "inverse weight of each tendon, written"),
        Field("actuator_length0", "f8", ("any",), "length of each transmission, written"),
        Field("actuator_acc0", "f8", ("any",), "acceleration that a unit force causes, written"),
    ],
    readonly=False,
)


def initial_memory(m: MjModel, d: MjData | Scratch) -> StructMemory:
    """Return the structure `INITIAL` for a model and its data."""
    memory = StructMemory(INITIAL, {})
    memory.link(internals.memory(d), _OF_DATA)
    memory.link(internals.memory(m), _OF_MODEL)
    nbody, nv = m.nbody, m.nv
    memory.attach_new(
        {"arm": nbody, "articulated": 6 * nbody, "mobility": 6 * nbody, "force": nv, "pivot": nv}
        | {"size": nbody, "low": 3, "high": 3, "mean": 4, "row": nv}
    )
    return memory


def set_means(m: MjModel, memory: StructMemory) -> None:
    """Fill ``m.stat``. The lengths of flex edges must have been computed. A mean over no values is not changed."""
    scalars, mean = internals.memory(m).slots.view(np.float64)[:, 0], memory.arrays["mean"]
    mean[:] = scalars[_MEAN_SLOTS]
    call(find_statistics, internals.memory(m), memory)
    scalars[_MEAN_SLOTS] = mean


@native_over("Model", "Initial")
def find_statistics(m: Model, s: Any, _unused: int, _neither: int) -> int:
    """Compute the extent of the model, and means of its inertia, mass and size. Return 0.

    `s` is the structure `INITIAL`; the integers `_unused` and `_neither` are required by `native_over`.
    """
    find_extent(m, s)
    find_means(m, s)
    return 0


@native_over("Model", "Initial")
def find_constants(m: Model, s: Any, _unused: int, _neither: int) -> int:
    """Compute body masses, inverse weights, lengths, and poses of cameras and lights.

    Returns `MASSLESS` or `NOT_FINITE` on failure, else 0. `s` is the structure `INITIAL`; the integers `_unused` and
    `_neither` are required by `native_over`.
    """
    _sum_masses(m, s)
    for dof in range(m.nv):
        s.diagonal[dof] = s.inertia[m.dof_Madr[dof]]
    _place_views(m, s)
    for body in range(m.nbody):
        set3(s.arm, body, sub3(get3(s.xipos, body), get3(s.subtree_com, m.body_rootid[body])))
    find_mobilities(m, s)
    if not _free_sliding(m, s):
        return MASSLESS
    _share_weights(m, s)
    weigh_tendons(m, s)
    weigh_actuators(m, s)
    return 0 if _finite_weights(m, s) else NOT_FINITE


@kernel
def _sum_masses(m: Model, s: Any) -> None:
    for body in range(m.nbody):
        s.subtreemass[body] = m.body_mass[body]
    for body in range(m.nbody - 1, 0, -1):
        s.subtreemass[m.body_parentid[body]] += s.subtreemass[body]


@kernel
def _from_centre(s: Any, body: int, target: int, place: Any) -> Any:
    """Return a point of a body relative to a centre of mass, in world axes.

    `place` is the point relative to the body's origin, in world axes. The centre is that of the subtree of `target`, or
    of the body's own subtree if `target` is -1.
    """
    return sub3(add3(get3(s.xpos, body), place), get3(s.subtree_com, target if target >= 0 else body))


@kernel
def _place_views(m: Model, s: Any) -> None:
    """Compute ``cam_*0`` and ``light_*0``: poses of cameras and lights relative to bodies and centres of mass."""
    for cam in range(m.ncam):
        body = m.cam_bodyid[cam]
        quat = get4(s.xquat, body)
        place = rot_vec_quat(get3(m.cam_pos, cam), quat)
        set3(s.cam_pos0, cam, place)
        set3(s.cam_poscom0, cam, _from_centre(s, body, m.cam_targetbodyid[cam], place))
        set9(s.cam_mat0, cam, quat2mat(mul_quat(quat, get4(m.cam_quat, cam))))
    for light in range(m.nlight):
        body = m.light_bodyid[light]
        quat = get4(s.xquat, body)
        place = rot_vec_quat(get3(m.light_pos, light), quat)
        set3(s.light_pos0, light, place)
        set3(s.light_poscom0, light, _from_centre(s, body, m.light_targetbodyid[light], place))
        set3(s.light_dir0, light, rot_vec_quat(get3(m.light_dir, light), quat))


@kernel
def _free_sliding(m: Model, s: Any) -> bool:
    """Set the inverse weights of bodies that only slide. Return False if one of these bodies has no mass."""
    for body in range(1, m.nbody):
        if m.body_simple[body] == ONLY_SLIDES:
            if m.body_mass[body] == 0.0:
                return False
            weight = 1.0 / max(m.body_mass[body], mjMINVAL)
            s.body_weight[body, 0] = weight
            s.body_weight[body, 1] = 0.0
            for dof in range(m.body_dofadr[body], m.body_dofadr[body] + m.body_dofnum[body]):
                s.dof_weight[dof] = weight
    return True


@kernel
def _share(s: Any, dof: int) -> None:
    """Replace the inverse weights of dof `dof` and the two dofs after it by their mean."""
    mean = (s.dof_weight[dof] + s.dof_weight[dof + 1] + s.dof_weight[dof + 2]) / 3.0
    s.dof_weight[dof] = mean
    s.dof_weight[dof + 1] = mean
    s.dof_weight[dof + 2] = mean


@kernel
def _share_weights(m: Model, s: Any) -> None:
    """Average the inverse weights over the three translations and over the three rotations of free and ball joints."""
    for joint in range(m.njnt):
        kind, dof = m.jnt_type[joint], m.jnt_dofadr[joint]
        if kind in (_FREE, _BALL):
            _share(s, dof)
        if kind == _FREE:
            _share(s, dof + 3)


@kernel
def _finite_weights(m: Model, s: Any) -> bool:
    for tendon in range(m.ntendon):
        if not abs(s.tendon_invweight0[tendon]) <= _LARGEST:
            return False
    for i in range(m.nout):
        if not abs(s.actuator_acc0[i]) <= _LARGEST:
            return False
    for dof in range(m.nv):
        if not abs(s.dof_weight[dof]) <= _LARGEST:
            return False
    for body in range(m.nbody):
        if not (abs(s.body_weight[body, 0]) <= _LARGEST and abs(s.body_weight[body, 1]) <= _LARGEST):
            return False
    return True
