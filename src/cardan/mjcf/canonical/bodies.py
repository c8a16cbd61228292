"""Canonical tree: the kinematic tree with inertias, joints, geoms, sites, cameras and lights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cardan.maths.pose import compose, unit_quat
from cardan.maths.quaternion import neg_quat, rot_vec_quat
from cardan.maths.types import Pose
from cardan.maths.vector import cross, norm3, scale3, sub3
from cardan.mjcf.canonical.scribe import Scribe, fields, plain
from cardan.model import internals
from cardan.model.lights import light_type
from cardan.spec.element import Element
from cardan.spec.schema.body import BODY, CAMERA_ROW, GEOM_ROW, INERTIAL, JOINT_ROW, LIGHT_ROW, SITE_ROW
from cardan.spec.schema.keywords import CAMERA_OUTPUT, LIGHT, SLEEP

_BODY = fields("body_", "pos quat gravcomp")
_INERTIAL = fields("body_", "mass", pos="ipos", quat="iquat", diaginertia="inertia")
_JOINT = fields(
    "jnt_",
    "type group pos axis limited range margin stiffness",
    solreflimit="solref",
    solimplimit="solimp",
    actuatorfrclimited="actfrclimited",
    actuatorfrcrange="actfrcrange",
    actuatorgravcomp="actgravcomp",
)
_DOF = fields("dof_", "damping frictionloss armature", solreffriction="solref", solimpfriction="solimp")
_GEOM = fields(
    "geom_",
    "type contype conaffinity condim priority friction solmix solref solimp margin gap group size pos quat rgba "
    "surfacevel adhesion",
    material="matid",
    castshadow="castshadow",
    stick="stick",
    lagged="lagged",
)
_BITS = fields("geom_", "contype conaffinity")
# attributes that determine the inertia, of which a compiled model has only the result
_MASS = ("mass", "density", "shellinertia", "fitscale")
_SITE = fields("site_", "type group size pos quat rgba", material="matid", mesh="dataid")
_CAMERA = fields("cam_", "mode projection fovy ipd resolution pos quat", target="targetbodyid")
_LIGHT = fields(
    "light_",
    "mode type castshadow active pos dir attenuation cutoff exponent ambient diffuse specular bulbradius",
    target="targetbodyid",
    texture="texid",
    intensity="intensity",
    range="range",
    softness="softness",
)
_GIVEN_POLICIES = {number: word for word, number in SLEEP.items() if word != "auto"}
"""Sleep policies that users give, by number."""
_STEPS, _EPSILON = 40, 2.0**-52
_SCALAR_JOINTS = ("hinge", "slide")


def put_bodies(scribe: Scribe) -> None:
    """Add all bodies, each inside its parent, with their joints, geoms, sites, cameras and lights."""
    m = scribe.m
    elements = [scribe.tree.worldbody]
    owners: dict[tuple[str, int], list[int]] = {}
    for kind, field in _OWNERS.items():
        for number, body in enumerate(getattr(m, field).tolist()):
            if kind != "geom" or not m.geom_piece[number]:  # convex pieces follow from their mesh
                owners.setdefault((kind, body), []).append(number)
    for body in range(m.nbody):
        if body:
            elements.append(_put_body(scribe, elements[m.body_parentid[body]], body))
        else:
            scribe.put_plugin(scribe.origins.find("body", 0), elements[0], int(m.body_plugin[0]))
        for kind, put in _PARTS.items():
            for number in owners.get((kind, body), ()):
                put(scribe, elements[body], number)


def written(value: tuple[float, ...], unit: Callable[[Any], Any] = unit_quat) -> tuple[float, ...]:
    """Return a vector that the reader normalises to exactly ``value``, a unit quaternion or axis.

    If no such vector is found, return ``value``. Poses that are equal must remain equal to the last bit, since the
    order in bounding volume trees depends on which poses are equal.
    """
    for step in range(_STEPS):
        for scale in (1.0 + step * _EPSILON, 1.0 - 0.5 * step * _EPSILON):
            scaled = tuple(component * scale for component in value)
            if unit(scaled) == value:
                return scaled
    return value


def _unit3(axis: tuple[float, float, float]) -> tuple[float, float, float]:
    """Return the unit vector along an axis, as the reader computes it. Return a zero vector unchanged."""
    return scale3(axis, 1.0 / norm3(axis)) if any(axis) else axis


def _put_body(scribe: Scribe, parent: Element, body: int) -> Element:
    """Add one body with its inertia; return the new element."""
    m, origin = scribe.m, scribe.origins.find("body", body)
    values = scribe.read(BODY, _BODY, body)
    values |= {"name": scribe.name("body", body), "mocap": m.body_mocapid[body] >= 0}
    pose = (values["pos"], values["quat"])
    values["quat"] = written(values["quat"])
    if origin is not None:
        values |= {name: origin.attributes.get(name) for name in ("childclass", "simple")}
    tree = int(m.body_treeid[body])
    if tree >= 0 and m.tree_sleep_policy[tree] in _GIVEN_POLICIES and m.body_treeid[m.body_parentid[body]] < 0:
        values["sleep"] = _GIVEN_POLICIES[int(m.tree_sleep_policy[tree])]
    scribe.put_user(values, "body_user", body)
    element = scribe.put(parent, "body", values)
    put_inertial(scribe, element, body, pose)
    scribe.put_plugin(origin, element, int(m.body_plugin[body]))
    return element


def put_inertial(scribe: Scribe, element: Element, body: int, pose: Pose | None = None) -> None:
    """Add the inertia of a body. ``pose``: the body's own pose, if not that of ``element``."""
    inertial = scribe.read(INERTIAL, _INERTIAL, body)
    values = scribe.read(BODY, _BODY, body) if pose is None else {}
    pose = pose or (values["pos"], values["quat"])
    # keep a body without geoms and inertia as it is: its inertial frame has special values
    empty = not inertial["mass"] and not any(inertial["diaginertia"]) and (inertial["pos"], inertial["quat"]) == pose
    inertial["quat"] = written(inertial["quat"])
    if not empty or scribe.m.body_geomnum[body]:
        scribe.put(element, "inertial", inertial, keep=("diaginertia",))


def _put_joint(scribe: Scribe, body: Element, joint: int) -> None:
    """Add one joint. If a ``freejoint`` of the source has only default properties, it remains a ``freejoint``."""
    m = scribe.m
    dof, adr = int(m.jnt_dofadr[joint]), int(m.jnt_qposadr[joint])
    values = scribe.read(JOINT_ROW, _JOINT, joint) | scribe.read(JOINT_ROW, _DOF, dof)
    values |= {"name": scribe.name("joint", joint), "axis": written(values["axis"], _unit3)}
    scribe.put_user(values, "jnt_user", joint)
    origin = scribe.origins.find("joint", joint)
    if values["type"] in _SCALAR_JOINTS:
        values |= {"ref": float(m.qpos0[adr]), "springref": float(m.qpos_spring[adr])}
    # a freejoint has only a name and a group
    own = ("name", "group", "type", "pos", "axis")
    given = {name: value for name, value in values.items() if name not in own and value is not None}
    is_plain = all(value == JOINT_ROW.defaults[name] or value is False for name, value in given.items())
    if values["type"] == "free" and origin is not None and origin.tag == "freejoint" and is_plain:
        scribe.put(body, "freejoint", values)
    else:
        scribe.put(body, "joint", values, origin)


def _mesh_frame_undone(scribe: Scribe, geom: int) -> Pose:
    """Return the pose of a mesh geom as the user writes it: the model's pose without the pose of the mesh's frame.

    If the geom's original pose still gives the model's pose to the last bit, return the original pose.
    """
    m = scribe.m
    wanted = (plain(m.geom_pos[geom]), plain(m.geom_quat[geom]))
    if geom not in internals.mesh_poses(m):
        return wanted
    own, mesh = internals.mesh_poses(m)[geom]
    if compose(own, mesh) == wanted:
        return own
    back = neg_quat(mesh[1])
    return compose(wanted, (rot_vec_quat(scale3(mesh[0], -1.0), back), back))


def _surface_velocity_undone(scribe: Scribe, geom: int) -> tuple[float, ...]:
    """Return the surface velocity of a mesh geom as the user writes it: in the frame without that of the mesh."""
    found = plain(scribe.m.geom_surfacevel[geom])
    if geom not in internals.mesh_poses(scribe.m):
        return found
    pos, quat = internals.mesh_poses(scribe.m)[geom][1]
    linear, angular = rot_vec_quat(found[:3], quat), rot_vec_quat(found[3:], quat)
    return (*sub3(linear, cross(angular, pos)), *angular)


def _put_geom(scribe: Scribe, body: Element, geom: int) -> None:
    """Add one geom. Sizes that follow from a mesh or height field are not written."""
    m, origin = scribe.m, scribe.origins.find("geom", geom)
    values = scribe.read(GEOM_ROW, _GEOM, geom)
    values["name"] = scribe.name("geom", geom)
    values["fluidshape"] = "ellipsoid" if m.geom_fluid[geom, 0] else "none"
    if m.geom_fluid[geom, 0]:
        values["fluidcoef"] = plain(m.geom_fluid[geom, 1:6])
    if scribe.has_pieces(geom):
        values |= scribe.read(GEOM_ROW, _BITS, geom + 1)
    data, plugin = int(m.geom_dataid[geom]), int(m.geom_plugin[geom])
    if data >= 0:
        kind = "hfield" if values["type"] == "hfield" else "mesh"
        values |= {kind: scribe.name(kind, data)}
        values["size"] = None
        if kind == "mesh":
            values["pos"], values["quat"] = _mesh_frame_undone(scribe, geom)
            if m.geom_surfacevel[geom].any():
                values["surfacevel"] = _surface_velocity_undone(scribe, geom)
            if values["type"] == "sdf" and _is_exact(scribe, origin, data):
                values["type"], plugin = "mesh", -1
    values["quat"] = written(values["quat"])
    scribe.put_user(values, "geom_user", geom)
    if origin is not None:
        known = origin.resolved()
        values |= {name: known[name] for name in _MASS}
    scribe.put_plugin(origin, scribe.put(body, "geom", values, origin), plugin)


def _is_exact(scribe: Scribe, origin: Element | None, mesh: int) -> bool:
    """Return whether a geom of type sdf has type mesh in the source, and a mesh with ``convex="exact"``.

    ``origin`` is the geom's element in the source; None counts as type mesh.
    """
    element = scribe.source.find("mesh", scribe.name("mesh", mesh) or "")
    written = origin["type"] if origin is not None else "mesh"
    return element is not None and element["convex"] == "exact" and written == "mesh"


def _put_site(scribe: Scribe, body: Element, site: int) -> None:
    """Add one site."""
    values = scribe.read(SITE_ROW, _SITE, site)
    values |= {"name": scribe.name("site", site), "quat": written(values["quat"])}
    scribe.put_user(values, "site_user", site)
    scribe.put(body, "site", values, scribe.origins.find("site", site))


def _put_camera(scribe: Scribe, body: Element, camera: int) -> None:
    """Add one camera, with its field of view or the size of its sensor."""
    m = scribe.m
    values = scribe.read(CAMERA_ROW, _CAMERA, camera)
    values |= {"name": scribe.name("camera", camera), "quat": written(values["quat"])}
    keep: tuple[str, ...] = ()
    if m.cam_sensorsize[camera, 1]:
        intrinsic = plain(m.cam_intrinsic[camera])
        values |= {"sensorsize": plain(m.cam_sensorsize[camera]), "focal": intrinsic[:2], "principal": intrinsic[2:]}
        if intrinsic[1]:
            values["fovy"] = None
        keep = ("resolution",)
    bits = int(m.cam_output[camera])
    values["output"] = tuple(word for word, bit in CAMERA_OUTPUT.items() if bits & bit) or None
    scribe.put_user(values, "cam_user", camera)
    scribe.put(body, "camera", values, scribe.origins.find("camera", camera), keep)


def _put_light(scribe: Scribe, body: Element, light: int) -> None:
    """Add one light."""
    values = scribe.read(LIGHT_ROW, _LIGHT, light)
    values["type"] = next(word for word, kind in LIGHT.items() if kind == light_type(scribe.m, light))
    values |= {"name": scribe.name("light", light), "dir": written(values["dir"], _unit3)}
    scribe.put(body, "light", values, scribe.origins.find("light", light))


_OWNERS = {
    "joint": "jnt_bodyid",
    "geom": "geom_bodyid",
    "site": "site_bodyid",
    "camera": "cam_bodyid",
    "light": "light_bodyid",
}
_PARTS = {"joint": _put_joint, "geom": _put_geom, "site": _put_site, "camera": _put_camera, "light": _put_light}
