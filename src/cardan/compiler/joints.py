"""Joints and their degrees of freedom (spec: modeling, "joint" and "freejoint")."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple

from cardan.compiler.nodes import ELEMENT_OF, Joint, alike, unnamed
from cardan.compiler.orientation import SHORTEST, frames_pose
from cardan.maths.pose import Vec3, compose
from cardan.maths.quaternion import rot_vec_quat
from cardan.maths.vector import norm3, scale3
from cardan.spec.repeated import runs
from cardan.spec.schema.body import JOINT_ROW
from cardan.spec.schema.keywords import JOINT

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.nodes import Body, Placed
    from cardan.spec.defaults import DefaultClass
    from cardan.spec.element import Element

DOFS: dict[str, int] = {"free": 6, "ball": 3, "slide": 1, "hinge": 1}
_POSITIONS: dict[str, int] = {"free": 7, "ball": 4, "slide": 1, "hinge": 1}
_LARGEST_DOFS = 6
_SCALAR = frozenset(("slide", "hinge"))
_FREE: dict[str, Any] = {**JOINT_ROW.defaults, "type": "free", "limited": "false"}


class _Kind(NamedTuple):
    """What joints with the same attributes have in common.

    Attributes:
        type: the word; pos, axis: in the body.
        joint: values of the columns ``jnt_*``.
        dof: values of the columns ``dof_*``.
        initial, rest: position at first and of springs at rest; None where the body's pose tells.
        user: user values.
    """

    type: str
    pos: Vec3
    axis: Vec3
    joint: dict[str, Any]
    dof: dict[str, Any]
    initial: tuple[float, ...] | None
    rest: tuple[float, ...] | None
    user: Any


class _Set(NamedTuple):
    """What the joints of a body have in common with those of others that give the same attributes.

    Attributes:
        placed: the joints that were read.
        inherited: the default class in force in the body.
        kinds: of each joint; user: its user values.
        dofs, positions: first degree of freedom and first position of each, from those of the body on.
        owner: for each degree of freedom, which of the joints it belongs to.
        initial, rest: positions of all joints at first and of springs at rest; None where the body's pose tells.
    """

    placed: list[Placed]
    inherited: DefaultClass
    kinds: list[_Kind]
    user: list[Any]
    dofs: list[int]
    positions: list[int]
    owner: list[int]
    initial: tuple[float, ...] | None
    rest: tuple[float, ...] | None


def add_joints(build: Build) -> None:
    """Enter the joints of all bodies, and check that those of each fit together.

    Bodies of cloths and particles have the joints of the body before: these are read once.
    """
    kinds: list[_Kind] = []
    last: _Set | None = None
    for run in runs(build.bodies, ELEMENT_OF):
        pattern = run[0].element.pattern
        for body in run:
            placed = body.parts("joint")
            if not placed:
                break
            inherited = placed[0][0].default_class
            if last is None or inherited is not last.inherited or not _are_alike(placed, last.placed):
                last = _set_of(build, placed, inherited)
            _enter(build, body, placed, last)
            _check_together(body)
            kinds += last.kinds
            if last.initial is None or last.rest is None or pattern is None:
                continue
            if not any(pattern.differences(part) for part, _ in run[0].content["joint"]):
                _repeat(build, run[1:], placed, last)
                kinds += last.kinds * (len(run) - 1)
                break
    build.put_alike([kind.joint for kind in kinds])
    build.put_alike([row for kind in kinds for row in [kind.dof] * DOFS[kind.type]])


def _are_alike(placed: list[Placed], others: list[Placed]) -> bool:
    """Whether the joints of two bodies give the same attributes, in the same frames."""
    if placed is others:
        return True
    if len(placed) != len(others):
        return False
    for (element, frames), (other, around) in zip(placed, others, strict=True):
        if frames != around or not alike(element, other):
            return False
    return True


def _set_of(build: Build, placed: list[Placed], inherited: DefaultClass) -> _Set:
    """The joints of a body."""
    kinds = [_kind_of(build, which) for which in placed]
    widths = [DOFS[kind.type] for kind in kinds]
    starts = [*accumulate(widths, initial=0)]
    places = [*accumulate((_POSITIONS[kind.type] for kind in kinds), initial=0)]
    initial = [kind.initial for kind in kinds if kind.initial is not None]
    rest = [kind.rest for kind in kinds if kind.rest is not None]
    return _Set(
        placed,
        inherited,
        kinds,
        [build.checked_user("jnt", element, kind.user) for (element, _), kind in zip(placed, kinds, strict=True)],
        starts[:-1],
        places[:-1],
        [number for number, width in enumerate(widths) for _ in range(width)],
        (*chain.from_iterable(initial),) if len(initial) == len(kinds) else None,
        (*chain.from_iterable(rest),) if len(rest) == len(kinds) else None,
    )


def _enter(build: Build, body: Body, placed: list[Placed], found: _Set) -> None:
    """Enter the joints of a body: their ids and addresses, and initial positions."""
    columns = build.columns
    dofadr, qposadr = len(columns["dof_bodyid"]), len(columns["qpos0"])
    ids = [build.enter("joint", name) for name in body.names(placed)]
    first = ids[0]
    columns["jnt_qposadr"] += [qposadr + start for start in found.positions]
    columns["jnt_dofadr"] += [dofadr + start for start in found.dofs]
    columns["jnt_bodyid"] += [body.id] * len(ids)
    columns["jnt_user"] += found.user
    columns["dof_bodyid"] += [body.id] * len(found.owner)
    columns["dof_jntid"] += [first + number for number in found.owner]
    place = (*body.pos, *body.quat)
    columns["qpos0"] += place if found.initial is None else found.initial
    columns["qpos_spring"] += place if found.rest is None else found.rest
    body.joints = [
        Joint(number, kind.type, kind.pos, kind.axis, dofadr + start, DOFS[kind.type])
        for number, kind, start in zip(ids, found.kinds, found.dofs, strict=True)
    ]


def _repeat(build: Build, bodies: Sequence[Body], placed: list[Placed], found: _Set) -> None:
    """Enter the joints of bodies that repeat another one, whose joints were entered last."""
    assert found.initial is not None and found.rest is not None
    columns, count, width = build.columns, len(bodies), len(found.owner)
    dofadr, qposadr = len(columns["dof_bodyid"]), len(columns["qpos0"])
    first = build.enter_all("joint", [name for body in bodies for name in body.names(placed)])
    dofs = [range(dofadr + start, dofadr + start + width * count, width) for start in found.dofs]
    step = len(found.initial)
    places = [range(qposadr + start, qposadr + start + step * count, step) for start in found.positions]
    columns["jnt_qposadr"] += chain.from_iterable(zip(*places, strict=True))
    columns["jnt_dofadr"] += chain.from_iterable(zip(*dofs, strict=True))
    columns["jnt_bodyid"] += [body.id for body in bodies for _ in placed]
    columns["jnt_user"] += found.user * count
    columns["dof_bodyid"] += [body.id for body in bodies for _ in found.owner]
    columns["dof_jntid"] += [start + number
                             for start in range(first, first + len(placed) * count, len(placed))
                             for number in found.owner]  # fmt: skip
    columns["qpos0"] += found.initial * count
    columns["qpos_spring"] += found.rest * count
    common = [(kind.type, kind.pos, kind.axis, start, DOFS[kind.type])
             for kind, start in zip(found.kinds, found.dofs, strict=True)]  # fmt: skip
    for number, body in enumerate(bodies):
        joint, dof = first + number * len(placed), dofadr + number * width
        body.joints = [
            Joint(joint + k, word, pos, axis, dof + start, dofnum)
            for k, (word, pos, axis, start, dofnum) in enumerate(common)
        ]


def _kind_of(build: Build, placed: Placed) -> _Kind:
    """The kind of a joint; those in frames are one of a kind."""
    element, frames = placed
    if frames:
        return _kind(build, placed)
    key = element.row, id(element.default_class), unnamed(element)
    kind = build.joint_kinds.get(key)
    if kind is None:
        kind = build.joint_kinds[key] = _kind(build, placed)
    return kind


def _kind(build: Build, placed: Placed) -> _Kind:
    """What the attributes of a joint mean. Raises MjcfError for values that no joint can have."""
    element, frames = placed
    values = {**_FREE, **element.attributes} if element.tag == "freejoint" else element.resolved()
    word = values["type"]
    pos, axis = _place(build, element, frames, values)
    limited = _limited(build, element, word, values)
    # the range of a joint without limits stays as it is written, as in the reference
    unit = build.angle if limited and word in ("hinge", "ball") else 1.0
    joint = {
        "jnt_type": JOINT[word],
        "jnt_group": values["group"],
        "jnt_limited": limited,
        "jnt_actfrclimited": _force_limited(build, element, word, values),
        "jnt_actgravcomp": values["actuatorgravcomp"],
        "jnt_solref": values["solreflimit"],
        "jnt_solimp": values["solimplimit"],
        "jnt_pos": pos,
        "jnt_axis": axis,
        "jnt_stiffness": values["stiffness"],
        "jnt_range": (values["range"][0] * unit, values["range"][1] * unit),
        "jnt_actfrcrange": values["actuatorfrcrange"],
        "jnt_margin": values["margin"],
        "springdamper": _springdamper(element, values["springdamper"]),
    }
    dof = {
        "dof_solref": values["solreffriction"],
        "dof_solimp": values["solimpfriction"],
        "dof_frictionloss": values["frictionloss"],
        "dof_armature": values["armature"],
        "dof_damping": values["damping"],
    }
    return _Kind(word, pos, axis, joint, dof, *_positions(build, word, values), values["user"])


def _check_together(body: Body) -> None:
    """At most six degrees of freedom, nothing beside a free joint, no rotation after a ball."""
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


def _force_limited(build: Build, element: Element, word: str, values: dict[str, Any]) -> bool:
    """Whether the total actuator force is limited: only forces of scalar joints can be."""
    limited, bounds = values["actuatorfrclimited"], values["actuatorfrcrange"]
    scalar = word in _SCALAR
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


def _positions(build: Build, word: str, values: dict[str, Any]) -> tuple[Any, Any]:
    """Initial and spring-rest positions of a joint; None: the pose of the body."""
    if word == "free":
        return None, None
    if word == "ball":
        return (1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    unit = build.angle if word == "hinge" else 1.0
    return (values["ref"] * unit,), (values["springref"] * unit,)
