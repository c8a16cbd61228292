"""Joints and their degrees of freedom (spec: modeling, "joint" and "freejoint")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardan.compiler.nodes import Joint
from cardan.compiler.orientation import SHORTEST, frames_pose
from cardan.maths.pose import Vec3, compose
from cardan.maths.quaternion import rot_vec_quat
from cardan.maths.vector import norm3, scale3
from cardan.spec.schema.body import JOINT_ROW
from cardan.spec.schema.keywords import JOINT

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.nodes import Body, Placed
    from cardan.spec.element import Element

DOFS: dict[str, int] = {"free": 6, "ball": 3, "slide": 1, "hinge": 1}
_LARGEST_DOFS = 6
_FREE: dict[str, Any] = {**JOINT_ROW.defaults, "type": "free", "limited": "false"}


def add_joints(build: Build, body: Body) -> None:
    """Enter the joints of a body and check that they fit together."""
    for placed in body.content.get("joint", ()):
        element = placed[0]
        values = {**_FREE, **element.attributes} if element.tag == "freejoint" else element.resolved()
        _add_joint(build, body, placed, values)
    _check_together(body)


def _check_together(body: Body) -> None:
    """At most six degrees of freedom, nothing beside a free joint, no rotation after a ball."""
    types = [joint.type for joint in body.joints]
    if "free" in types:
        if body.parent is None or body.parent.id:
            raise body.element.error("a free joint may stand only in a child of the world body")
        if len(types) > 1:
            raise body.element.error("a body with a free joint cannot have other joints")
    if sum(DOFS[word] for word in types) > _LARGEST_DOFS:
        raise body.element.error(f"more than {_LARGEST_DOFS} degrees of freedom in one body")
    if "ball" in types and {"ball", "hinge"} & set(types[types.index("ball") + 1 :]):
        raise body.element.error("a ball joint must not be followed by another rotation")


def _add_joint(build: Build, body: Body, placed: Placed, values: dict[str, Any]) -> None:
    """One joint: columns ``jnt_*``, ``dof_*`` and initial positions."""
    element, frames = placed
    word = values["type"]
    pos, axis = _place(build, element, frames, values)
    joint = Joint(build.enter("joint", element.name), word, pos, axis, len(build.columns["dof_bodyid"]), DOFS[word])
    body.joints.append(joint)
    limited = _limited(build, element, word, values)
    # the range of a joint without limits stays as it is written, as in the reference
    unit = build.angle if limited and word in ("hinge", "ball") else 1.0
    build.put(
        jnt_type=JOINT[word],
        jnt_qposadr=len(build.columns["qpos0"]),
        jnt_dofadr=joint.dofadr,
        jnt_bodyid=body.id,
        jnt_group=values["group"],
        jnt_limited=limited,
        jnt_actfrclimited=_force_limited(build, element, word, values),
        jnt_actgravcomp=values["actuatorgravcomp"],
        jnt_solref=values["solreflimit"],
        jnt_solimp=values["solimplimit"],
        jnt_pos=pos,
        jnt_axis=axis,
        jnt_stiffness=values["stiffness"],
        jnt_range=(values["range"][0] * unit, values["range"][1] * unit),
        jnt_actfrcrange=values["actuatorfrcrange"],
        jnt_margin=values["margin"],
        springdamper=_springdamper(element, values["springdamper"]),
    )
    build.user("jnt", element, values["user"])
    _put_dofs(build, body, joint, values)
    _put_positions(build, body, joint, values)


def _force_limited(build: Build, element: Element, word: str, values: dict[str, Any]) -> bool:
    """Whether the total actuator force is limited: only forces of scalar joints can be."""
    limited, bounds = values["actuatorfrclimited"], values["actuatorfrcrange"]
    scalar = word in ("slide", "hinge")
    asked = build.is_limited(element, limited, bounds, "actuatorfrcrange", "actuatorfrclimited", ordered=scalar)
    return asked and scalar


def _place(build: Build, element: Element, frames: tuple[Element, ...], values: dict[str, Any]) -> tuple[Vec3, Vec3]:
    """Position and axis in the body; those of free and ball joints are fixed by convention."""
    word = values["type"]
    pose = frames_pose(build, frames)
    pos = (0.0, 0.0, 0.0) if word == "free" else compose(pose, (values["pos"], (1.0, 0.0, 0.0, 0.0)))[0]
    if word in ("free", "ball"):
        return pos, (0.0, 0.0, 1.0)
    axis = rot_vec_quat(values["axis"], pose[1]) if frames else values["axis"]
    length = norm3(axis)
    if length <= SHORTEST:
        raise element.error("an axis of zero length has no direction", "axis")
    return pos, scale3(axis, 1.0 / length)


def _limited(build: Build, element: Element, word: str, values: dict[str, Any]) -> bool:
    """Whether the joint has limits; a free joint never has, those of a ball are an angle from zero."""
    if word == "free":
        return False
    limited = build.is_limited(element, values["limited"], values["range"], "range", "limited", ordered=word != "ball")
    if limited and word == "ball" and values["range"][0] != 0.0:
        raise element.error("the range of a ball joint must start at 0", "range")
    return limited


def _springdamper(element: Element, pair: tuple[float, float]) -> tuple[float, float]:
    """Time constant and damping ratio: both positive, or both zero."""
    if any(pair) and not (pair[0] > 0.0 and pair[1] > 0.0):
        raise element.error("time constant and damping ratio must both be positive", "springdamper")
    return pair


def _put_dofs(build: Build, body: Body, joint: Joint, values: dict[str, Any]) -> None:
    """The degrees of freedom of a joint."""
    for _ in range(joint.dofnum):
        build.put(
            dof_bodyid=body.id,
            dof_jntid=joint.id,
            dof_solref=values["solreffriction"],
            dof_solimp=values["solimpfriction"],
            dof_frictionloss=values["frictionloss"],
            dof_armature=values["armature"],
            dof_damping=values["damping"],
        )


def _put_positions(build: Build, body: Body, joint: Joint, values: dict[str, Any]) -> None:
    """Initial and spring-rest positions of a joint."""
    initial, rest = build.columns["qpos0"], build.columns["qpos_spring"]
    if joint.type in ("slide", "hinge"):
        unit = build.angle if joint.type == "hinge" else 1.0
        initial.append(values["ref"] * unit)
        rest.append(values["springref"] * unit)
        return
    place = (*body.pos, *body.quat) if joint.type == "free" else (1.0, 0.0, 0.0, 0.0)
    initial.extend(place)
    rest.extend(place)
