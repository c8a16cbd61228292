"""Layout of the state by element, so that keyframes and running simulations keep their values when a tree is edited."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import nan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardan.spec.element import Element
    from cardan.spec.tree import ModelTree

Part = list[tuple["Element", int]]
Parts = dict[str, Part]

# numbers in qpos and qvel by type of joint
_JOINT_SIZES = {"free": (7, 6), "ball": (4, 3), "slide": (1, 1), "hinge": (1, 1)}
_STATEFUL = ("qpos", "qvel", "act", "mpos", "mquat", "ctrl")  # parts of a keyframe


def bodies_of(tree: ModelTree) -> Iterator[Element]:
    """Yield all bodies in model order: depth first, the world first."""
    return bodies_in(tree.worldbody)


def bodies_in(top: Element) -> Iterator[Element]:
    """Yield a body and all bodies inside it, depth first."""
    stack = [top]
    while stack:
        body = stack.pop()
        yield body
        stack.extend([child for child, _ in body.content("body")][::-1])


def layout(tree: ModelTree) -> Parts:
    """Return the layout of each part of the state: the elements in model order, with the number of entries of each."""
    parts: Parts = {name: [] for name in (*_STATEFUL, "body", "equality")}
    for body in bodies_of(tree):
        parts["body"].append((body, 1))
        if body.attributes.get("mocap"):
            parts["mpos"].append((body, 3))
            parts["mquat"].append((body, 4))
        for joint, _ in body.content("joint", "freejoint"):
            word = "free" if joint.tag == "freejoint" else joint.resolved()["type"]
            nq, nv = _JOINT_SIZES[word]
            parts["qpos"].append((joint, nq))
            parts["qvel"].append((joint, nv))
    actuators = tree.section("actuator").children
    if actuators:
        for actuator, controls, activations in zip(actuators, *_actuator_sizes[0](actuators), strict=True):
            parts["ctrl"].append((actuator, controls))
            parts["act"].append((actuator, activations))
    parts["equality"] = [(element, 1) for element in tree.section("equality").children]
    return parts


_actuator_sizes: list[Callable[[Sequence[Element]], tuple[list[int], list[int]]]] = []


def register_actuator_sizes(count: Callable[[Sequence[Element]], tuple[list[int], list[int]]]) -> None:
    """Register the function, defined in a higher layer, that counts controls and activations of actuators."""
    _actuator_sizes[:] = [count]


def size(part: Part) -> int:
    """Return the total number of entries of one part of the state."""
    return sum(count for _, count in part)


def pieces(part: Part, values: Sequence[float]) -> dict[Element, Sequence[float]]:
    """Split the values of one part of the state by element."""
    found, start = {}, 0
    for element, count in part:
        found[element] = values[start : start + count]
        start += count
    return found


def rearranged(part: Part, known: dict[Element, Sequence[float]], missing: float = nan) -> tuple[float, ...]:
    """Join the elements' values into the vector of a part of the state.

    The entries of an element without values, or with a wrong number of values, become ``missing``.
    """
    values: list[float] = []
    for element, count in part:
        own = known.get(element, ())
        values.extend(own if len(own) == count else (missing,) * count)
    return tuple(values)


def key_pieces(key: Element, parts: Parts) -> dict[str, dict[Element, Sequence[float]]]:
    """Split a keyframe's values by part of the state and element. Leave out parts with a wrong number of values."""
    given = {name: values for name in _STATEFUL if (values := key.attributes.get(name))}
    return {name: pieces(parts[name], values) for name, values in given.items() if len(values) == size(parts[name])}


def rewrite_key(key: Element, known: dict[str, dict[Element, Sequence[float]]], parts: Parts) -> None:
    """Rewrite a keyframe for the new layout ``parts``. ``known`` has the keyframe's values, from `key_pieces`."""
    for name, by_element in known.items():
        key.attributes[name] = rearranged(parts[name], by_element)


@contextmanager
def keys_kept(tree: ModelTree) -> Iterator[None]:
    """Return a context manager for a change to a tree: keyframes keep the values of all remaining elements.

    The keyframes are rewritten when they are next needed (see `settle_keys`), so that many changes take linear time.
    """
    if not tree.edited_keys:
        keys = tree.section("keyframe").children
        before = layout(tree) if keys else {}
        tree.edited_keys = [(key, key_pieces(key, before)) for key in keys]
    yield


def settle_keys(tree: ModelTree) -> None:
    """Rewrite the keyframes of a tree that was changed since `keys_kept` split their values by element."""
    after = layout(tree)
    edited, tree.edited_keys = tree.edited_keys, []
    for key, known in edited:
        rewrite_key(key, known, after)
