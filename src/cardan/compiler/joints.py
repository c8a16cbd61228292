"""Joints and their degrees of freedom (spec: modeling, "joint" and "freejoint")."""

from __future__ import annotations

from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

from cardan.compiler.columns import Resolved, bases_of, split_powers, table
from cardan.compiler.nodes import Joint, attached, from_columns
from cardan.compiler.orientation import frames_pose
from cardan.maths.pose import compose
from cardan.maths.quaternion import rot_vec_quat
from cardan.maths.types import Vec3
from cardan.maths.vector import norm3
from cardan.spec.orientation import SHORTEST
from cardan.spec.schema.body import JOINT_ROW
from cardan.spec.schema.keywords import JOINT

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.nodes import Attached, Body

DOFS: dict[str, int] = {"free": 6, "ball": 3, "slide": 1, "hinge": 1}
_POSITIONS: dict[str, int] = {"free": 7, "ball": 4, "slide": 1, "hinge": 1}
_LARGEST_DOFS = 6
_SCALAR = frozenset(("slide", "hinge"))
_FREE: dict[str, Any] = {**JOINT_ROW.defaults, "type": "free", "limited": "false"}
_ORIGIN, _UP, _UNTURNED = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0)
_JOINT = table(
    *("jnt", "group", "margin", "stiffness"),
    type=("type", JOINT),
    actgravcomp="actuatorgravcomp",
    actfrcrange="actuatorfrcrange",
    solref="solreflimit",
    solimp="solimplimit",
)
_DOF = table("dof", "armature", "damping", "frictionloss", solref="solreffriction", solimp="solimpfriction")


def add_joints(build: Build) -> None:
    """Add the joints of all bodies, record them in the bodies, and check that the joints of a body are compatible."""
    found = attached(build.bodies, "joint")
    if not found.elements:
        return
    joints = Resolved(found.elements, bases_of(found.elements, {"freejoint": _FREE}))
    words = joints["type"]
    columns, (pos, axis) = _joint_columns(build, found, joints, words)
    initial, rest = _positions(build, joints, words)
    types = found.repeated(words)
    widths = [*map(DOFS.__getitem__, types)]
    dofs = [*accumulate(widths, initial=0)]
    places = [*accumulate(map(_POSITIONS.__getitem__, types), initial=0)]
    first = build.put_attached("joint", "jnt", found, columns)
    build.columns.update(
        jnt_qposadr=places[:-1],
        jnt_dofadr=dofs[:-1],
        qpos0=_placed_positions(found, found.repeated(initial)),
        qpos_spring=_placed_positions(found, found.repeated(rest)),
    )
    members = (types, found.repeated(pos), found.repeated(axis), dofs[:-1], widths)
    own = from_columns(Joint, range(first, first + len(types)), *members)
    start = 0
    for body, count in found.counts:
        body.joints = own[start : start + count]
        start += count
        _check_together(body)
    _put_dofs(build, found, joints, widths)


def _joint_columns(
    build: Build, found: Attached, joints: Resolved, words: list[str]
) -> tuple[dict[str, list[Any]], tuple[list[Vec3], list[Vec3]]]:
    """Return the columns of joints (without addresses and bodies), and joint positions and axes in body frames."""
    pos, axis = _places(build, found, joints, words)
    limited = _limits(build, joints, words)
    for element, pair in zip(joints.elements, joints["springdamper"], strict=True):
        if any(pair) and not (pair[0] > 0.0 and pair[1] > 0.0):
            raise element.error("time constant and damping ratio must both be positive", "springdamper")
    # the range of a joint without limits is stored as written, as in the reference
    unit = build.angle
    ranges = [
        (bounds[0] * unit, bounds[1] * unit) if holds and word in ("hinge", "ball") else bounds
        for bounds, holds, word in zip(joints["range"], limited, words, strict=True)
    ]
    columns = joints.columns(_JOINT) | {
        "jnt_limited": limited,
        "jnt_actfrclimited": _force_limits(build, joints, words),
        "jnt_pos": pos,
        "jnt_axis": axis,
        "jnt_range": ranges,
        "jnt_user": build.users("jnt", joints),
        "springdamper": joints["springdamper"],
    }
    split_powers(columns, "jnt_stiffness")
    return columns, (pos, axis)


def _put_dofs(build: Build, found: Attached, joints: Resolved, widths: list[int]) -> None:
    """Fill the columns of degrees of freedom."""
    owner = [number for number, width in enumerate(widths) for _ in range(width)]
    scalar = len(owner) == len(widths)
    own = joints.columns(_DOF)
    split_powers(own, "dof_damping")
    columns = {name: found.repeated(column) for name, column in own.items()}
    if not scalar:
        columns = {name: [*map(column.__getitem__, owner)] for name, column in columns.items()}
    bodies = build.columns["jnt_bodyid"]
    build.columns.update(columns, dof_jntid=owner, dof_bodyid=bodies[:] if scalar else [bodies[k] for k in owner])


def _check_together(body: Body) -> None:
    """Check that the joints of a body are compatible; raise MjcfError if not.

    A body has at most six dofs. A free joint is the only joint of a child of the world. No rotation follows a ball
    joint.
    """
    types = [joint.type for joint in body.joints]
    if len(types) <= _LARGEST_DOFS and _SCALAR.issuperset(types):
        return
    if "free" in types:
        if body.parent is None or body.parent.id:
            raise body.element.error("a free joint may stand only in a child of the world body")
        if len(types) > 1:
            raise body.element.error("a body with a free joint cannot have other joints")
    if sum(DOFS[word] for word in types) > _LARGEST_DOFS:
        raise body.element.error(f"more than {_LARGEST_DOFS} degrees of freedom in one body")
    if "ball" in types and {"ball", "hinge"} & set(types[types.index("ball") + 1 :]):
        raise body.element.error("a ball joint must not be followed by another rotation")


def _force_limits(build: Build, joints: Resolved, words: list[str]) -> list[bool]:
    """Return for each joint whether its total actuator force is limited. Only hinges and slides can have this limit."""
    if not (joints.any_but("actuatorfrclimited", "auto") or joints.any_but("actuatorfrcrange", (0.0, 0.0))):
        return [False] * len(words)
    names = "actuatorfrcrange", "actuatorfrclimited"
    asked: list[bool] = []
    for element, word, flag, bounds in zip(joints.elements, words, joints[names[1]], joints[names[0]], strict=True):
        scalar = word in _SCALAR
        asked.append(build.is_limited(element, flag, bounds, *names, ordered=scalar) and scalar)
    return asked


def _places(build: Build, found: Attached, joints: Resolved, words: list[str]) -> tuple[list[Vec3], list[Vec3]]:
    """Return the positions and axes of all joints in the body frames.

    By convention, free joints are at the body's origin, and the axis of free and ball joints is z.
    """
    positions: list[Vec3] = []
    axes: list[Vec3] = []
    for word, pos, axis, around, element in zip(
        words, joints["pos"], joints["axis"], found.frames, joints.elements, strict=True
    ):
        if around:
            pose = frames_pose(build, around)
            pos, axis = compose(pose, (pos, (1.0, 0.0, 0.0, 0.0)))[0], rot_vec_quat(axis, pose[1])
        positions.append(_ORIGIN if word == "free" else pos)
        if word in _SCALAR:
            length = norm3(axis)
            if length <= SHORTEST:
                raise element.error("an axis of zero length has no direction", "axis")
            axes.append((axis[0] / length, axis[1] / length, axis[2] / length))
        else:
            axes.append(_UP)
    return positions, axes


def _limits(build: Build, joints: Resolved, words: list[str]) -> list[bool]:
    """Return whether each joint has limits. Free joints have no limits; the range of a ball joint must start at 0."""
    auto = build.settings["autolimits"]
    limits: list[bool] = []
    for element, word, flag, bounds in zip(joints.elements, words, joints["limited"], joints["range"], strict=True):
        if word in _SCALAR and flag == "auto" and auto:
            limits.append(bounds[0] < bounds[1])
            continue
        limited = word != "free" and build.is_limited(element, flag, bounds, "range", "limited", ordered=word != "ball")
        if limited and word == "ball" and bounds[0] != 0.0:
            raise element.error("the range of a ball joint must start at 0", "range")
        limits.append(limited)
    return limits


def _positions(build: Build, joints: Resolved, words: list[str]) -> tuple[list[Any], list[Any]]:
    """Return the joints' positions in ``qpos0`` and in ``qpos_spring``; None for free joints (the body's pose)."""
    columns: list[list[Any]] = []
    for name in ("ref", "springref"):
        column: list[Any] = []
        for word, value in zip(words, joints[name], strict=True):
            if word == "hinge":
                column.append((value * build.angle,))
            else:
                column.append((value,) if word == "slide" else _UNTURNED if word == "ball" else None)
        columns.append(column)
    return columns[0], columns[1]


def _placed_positions(found: Attached, positions: list[Any]) -> list[float]:
    """Concatenate all positions, with body poses in place of None; ``positions`` is one result of `_positions`."""
    if None in positions:
        positions = [
            (*body.pos, *body.quat) if own is None else own for body, own in zip(found.bodies, positions, strict=True)
        ]
    return [*chain.from_iterable(positions)]
