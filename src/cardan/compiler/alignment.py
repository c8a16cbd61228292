"""Alignment of free bodies: the body's frame is moved into its inertial frame (spec of MuJoCo 3.2: freejoint, align).

The inertia of an aligned body is diagonal in its degrees of freedom. Objects attached to the body keep their poses in
the world; the configuration of the joint becomes the pose of the inertial frame. As in the reference, the coordinates
of flex vertices, skins, keyframes and constraint anchors are not transformed. These coordinates are then relative to
the new frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.maths.pose import IDENTITY, compose
from cardan.maths.quaternion import neg_quat, rot_vec_quat
from cardan.maths.types import Pose
from cardan.maths.vector import scale3

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.nodes import Body

_PLACED = ("geom", "site", "cam")


def align_free_bodies(build: Build) -> None:
    """Move the frame of each body for which `_is_aligned` is true into the body's inertial frame."""
    aligned = [body for body in build.bodies[1:] if _is_aligned(build, body)]
    if not aligned:
        return
    inverses = {body.id: _inverse((body.ipos, body.iquat)) for body in aligned}
    columns = build.columns
    for word in _PLACED:
        for number, body in enumerate(columns[f"{word}_bodyid"]):
            if body in inverses:
                pose = columns[f"{word}_pos"][number], columns[f"{word}_quat"][number]
                columns[f"{word}_pos"][number], columns[f"{word}_quat"][number] = compose(inverses[body], pose)
    for number, body in enumerate(columns["light_bodyid"]):
        if body in inverses:
            pos, direction = columns["light_pos"][number], columns["light_dir"][number]
            columns["light_pos"][number] = compose(inverses[body], (pos, IDENTITY[1]))[0]
            columns["light_dir"][number] = rot_vec_quat(direction, inverses[body][1])
    for body in aligned:
        body.pos, body.quat = compose((body.pos, body.quat), (body.ipos, body.iquat))
        body.ipos, body.iquat = IDENTITY
        adr = columns["jnt_qposadr"][body.joints[0].id]
        for name in ("qpos0", "qpos_spring"):
            columns[name][adr : adr + 7] = [*body.pos, *body.quat]


def _is_aligned(build: Build, body: Body) -> bool:
    """Return whether to align the frame of a body with its inertial frame.

    The body's only joint must be free, the body must have no children, and the two frames must differ. The joint's
    ``align`` must be "true", or "auto" with the compiler setting ``alignfree``.
    """
    if body.children or len(body.joints) != 1 or body.joints[0].type != "free":
        return False
    (joint, _), *_ = body.parts("joint")
    word = joint.attributes.get("align", "auto")
    wanted = build.settings["alignfree"] if word == "auto" else word == "true"
    return wanted and (body.ipos, body.iquat) != IDENTITY


def _inverse(pose: Pose) -> Pose:
    """Return the inverse of a pose."""
    turn = neg_quat(pose[1])
    return scale3(rot_vec_quat(pose[0], turn), -1.0), turn
