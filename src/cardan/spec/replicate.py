"""The macro ``<replicate>``: copies of a part of the kinematic tree, and of the elements that refer to it.

Each copy becomes a ``frame`` element in place of the macro. Copy ``i`` is displaced from the previous copy by the
rotated offset (see `_poses`), and rotated by ``i`` times the Euler angles. Names get a suffix: the separator and the
number of the copy, with as many digits as the count has. Elements of other sections that refer to copied elements
(actuators, tendons, sensors, ...) are also copied, to the end of their section. The order of operations was derived
from results of the reference. Relations between copied elements and other elements are kept, one for each copy; the
reference drops or rejects some of these.
"""

from __future__ import annotations

from collections.abc import Callable
from math import radians
from typing import TYPE_CHECKING, Any

from cardan.maths.pose import euler2quat
from cardan.maths.quaternion import rot_vec_quat
from cardan.maths.vector import add3, scale3
from cardan.spec.element import Element
from cardan.spec.schema.body import FRAME
from cardan.spec.tree import Named, names_of

if TYPE_CHECKING:
    from cardan.spec.tree import ModelTree

Rename = Callable[[str], str]

# sections whose elements are copied with the elements they refer to; later ones may refer to earlier ones
_SECTIONS = ("deformable", "contact", "tendon", "equality", "actuator", "sensor")

_MOST_ELEMENTS = 500_000


def expand(macro: Element) -> None:
    """Replace one macro (without inner macros) by copies of its content. Copy elements that refer to the content."""
    parent = macro.parent
    assert parent is not None
    values = macro.resolved()
    count: int = values["count"]
    inside = sum(1 for _ in macro.descendants())
    if count * inside > _MOST_ELEMENTS:
        raise macro.error(f"{count} copies of {inside} elements are more than {_MOST_ELEMENTS}", "count")
    names = names_of(macro.children)
    suffixes = [f"{values['sep'] or ''}{i:0{len(str(count))}d}" for i in range(count)]
    renames = [_appending(suffix) for suffix in suffixes]
    frames = [_copied_frame(macro, parent, pose, names, rename)
              for pose, rename in zip(_poses(macro, values), renames, strict=True)]  # fmt: skip
    at = parent.children.index(macro)
    parent.children[at : at + 1] = frames
    copy_relations(macro.tree, names, renames, keep=False)


def _appending(suffix: str) -> Rename:
    return lambda name: name + suffix


def copy_relations(tree: ModelTree, names: Named, renames: list[Rename], keep: bool) -> None:
    """Copy the elements that refer to an element in ``names``: one copy for each function in ``renames``.

    The copies follow at the end of the section of the original.

    Args:
        tree: the tree.
        names: kinds and names of the elements that have been copied. The named referring elements are added.
        renames: functions from the name of an element to the name of its copy.
        keep: whether the original referring elements remain in the tree.
    """
    for tag in _SECTIONS:
        section = tree.section(tag)
        concerned = [
            element
            for element in section.children
            if any(part.referred(row) in names for part in (element, *element.children) for row in part.row.references)
        ]
        if not concerned:
            continue
        if not keep:
            section.children = [element for element in section.children if element not in concerned]
        for element in concerned:
            if element.name and element.row.kind:
                names.add((element.row.kind, element.name))
        for rename in renames:
            for element in concerned:
                copy = _renamed_copy(element, section, names, rename)
                for child in element.children:
                    _renamed_copy(child, copy, names, rename)
                if not keep:
                    tree.first_copies.setdefault(element, copy)


def _poses(macro: Element, values: dict[str, Any]) -> list[dict[str, Any]]:
    """Return position and orientation of each copy, as attributes of a frame.

    The offset from copy i - 1 to copy i is rotated by the orientation of copy i - 2 (MuJoCo 3.1) or i - 1 (4.0).
    """
    compiler = macro.tree.section("compiler")
    unit = radians(1.0) if compiler["angle"] == "degree" else 1.0
    back = 1 if macro.tree.compat == "4.0" else 2
    pos, euler = (0.0, 0.0, 0.0), values["euler"]
    poses = []
    for i in range(values["count"]):
        if i:
            turn = euler2quat(scale3(euler, max(i - back, 0) * unit), compiler["eulerseq"])
            pos = add3(pos, rot_vec_quat(values["offset"], turn))
        poses.append({"pos": pos, "euler": scale3(euler, float(i))})
    return poses


def _copied_frame(macro: Element, parent: Element, pose: dict[str, Any], names: Named, rename: Rename) -> Element:
    """Return one copy of the macro's content, inside a frame."""
    frame = Element(FRAME, macro.tree, parent, pose, macro.source, macro.line)
    if "childclass" in macro.attributes:
        frame.attributes["childclass"] = macro.attributes["childclass"]
    for child in macro.children:
        copy_renamed(child, frame, names, rename)
    return frame


def copy_renamed(root: Element, parent: Element, names: Named, rename: Rename, until: Element | None = None) -> Element:
    """Append a copy of ``root`` and its content to ``parent``, without the element ``until`` and all later ones.

    Return the copy. ``rename`` renames the copied elements, and references to elements in ``names`` (kinds and names).
    If keyframes are still to be completed, the first copy of each element is recorded in the tree.
    """
    tree, made = root.tree, None
    stack = [(root, parent)]
    while stack:
        element, into = stack.pop()
        if element is until:
            break
        copy = _renamed_copy(element, into, names, rename)
        made = made or copy
        if until is None and tree.late_keys:
            tree.first_copies.setdefault(element, copy)
        stack.extend((child, copy) for child in element.children[::-1])
    assert made is not None
    return made


def _renamed_copy(element: Element, parent: Element, names: Named, rename: Rename) -> Element:
    """Append a copy of an element, without children. ``rename`` changes its name and its references to ``names``."""
    attributes = dict(element.attributes)
    if element.name:
        attributes["name"] = rename(element.name)
    for row in element.row.references:
        if element.referred(row) in names:
            attributes[row.name] = rename(attributes[row.name])
    copy = Element(element.row, element.tree, parent, attributes, element.source, element.line)
    parent.children.append(copy)
    return copy
