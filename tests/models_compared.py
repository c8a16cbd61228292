"""Compiled models of both engines side by side: one line of text for each field in which they differ.

Differences are relative to the value, at least to 1. By their meaning are compared the hull graph and trees of bounding
boxes where rounding decides how they are split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from reference import NEWER, UNREADABLE

from cardan.compiler.meshes.qhull import library
from cardan.model.tables import MODEL

COMPILE, SINGLE, LENGTH_RANGE = 1e-9, 2.0**-22, 1e-4

# memory is laid out differently here
OTHER_MEMORY = ("narena", "nbuffer")


def value_of(owner: Any, dotted: str) -> Any:
    """Value of a field by its dotted name."""
    for part in dotted.split("."):
        owner = getattr(owner, part)
    return owner


def hulls(m: Any) -> list[tuple[np.ndarray, ...]]:
    """Of each mesh's hull: vertices, faces, and the lists of neighbours one after the other; nothing without a hull."""
    found = []
    for start in m.mesh_graphadr:
        vertices, faces = m.mesh_graph[start : start + 2] if start >= 0 else (0, 0)
        parts = m.mesh_graph[start + 2 : start + 2 + 3 * vertices + 6 * faces]
        adr, vertex, edge, face = np.split(parts, np.cumsum([vertices, vertices, vertices + 3 * faces])[:3])
        found.append((vertex, face, adr, edge))
    return found


def hull_differences(expected: Any, found: Any) -> Iterator[str]:
    """The hull graph: the same vertices and faces in the same order.

    So are the neighbours if Qhull's program is there; without it they may be in another order around a vertex.
    """
    for mesh, (left, right) in enumerate(zip(hulls(expected), hulls(found), strict=True)):
        for name, one, other in zip(("vertices", "faces", "starts", "neighbours"), left, right, strict=True):
            if name == "neighbours" and library() is None:
                one, other = (np.sort(part + len(part) * np.cumsum(part < 0)) for part in (one, other))
            if not np.array_equal(one, other):
                yield f"mesh_graph of {expected.mesh(mesh).name}: other {name}"


def face_tree_differences(m: Any) -> Iterator[str]:
    """Trees over faces by their meaning: each face is one leaf, each box holds its vertices."""
    for mesh in range(m.nmesh):
        start, count = int(m.mesh_bvhadr[mesh]), int(m.mesh_bvhnum[mesh])
        leaves = np.sort(m.bvh_nodeid[start : start + count][m.bvh_nodeid[start : start + count] >= 0])
        if not np.array_equal(leaves, np.arange(m.mesh_facenum[mesh])):
            yield f"bvh_nodeid of {m.mesh(mesh).name}: not every face once"
        vertices = m.mesh_vert[m.mesh_vertadr[mesh] :][: m.mesh_vertnum[mesh]].astype(float)
        faces = m.mesh_face[m.mesh_faceadr[mesh] :][: m.mesh_facenum[mesh]]
        low, high = tree_bounds(m, start, count, vertices[faces])
        center, half = np.split(m.bvh_aabb[start : start + count], 2, axis=1)
        reach = np.maximum(high - center, center - low) - half
        wrong = np.flatnonzero(np.any((np.abs(reach) > 1e-5) & (half > 0), axis=1))
        if wrong.size:
            yield f"bvh_aabb of {m.mesh(mesh).name}: node {start + wrong[0]} off by {np.abs(reach[wrong[0]]).max():.2g}"


def tree_bounds(m: Any, start: int, count: int, corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest coordinates of the faces below each node of a tree: twice (count, 3)."""
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    leaf = m.bvh_nodeid[start : start + count]
    low[leaf >= 0], high[leaf >= 0] = (end(corners[leaf[leaf >= 0]], axis=1) for end in (np.min, np.max))
    children = m.bvh_child[start : start + count]
    levels = [np.zeros(min(count, 1), np.int64)]
    while levels[-1].size:
        levels[-1] = levels[-1][leaf[levels[-1]] < 0]
        levels.append(children[levels[-1]].ravel())
    for nodes in reversed(levels):
        low[nodes], high[nodes] = low[children[nodes]].min(axis=1), high[children[nodes]].max(axis=1)
    return low, high


def below(m: Any, start: int, node: int) -> list[int]:
    """Ids at the leaves below a node of the tree that starts at ``start``."""
    found, stack = [], [node]
    while stack:
        node = stack.pop()
        if m.bvh_nodeid[node] >= 0:
            found.append(int(m.bvh_nodeid[node]))
        else:
            stack += [start + int(child) for child in m.bvh_child[node]]
    return found


def texture_differences(expected: Any, found: Any) -> Iterator[str]:
    """Texels."""
    for texture in range(expected.ntex):
        count = int(expected.tex_height[texture] * expected.tex_width[texture])
        start = int(expected.tex_adr[texture])
        left, right = (m.tex_rgb[start : start + 3 * count].reshape(count, 3) for m in (expected, found))
        differing = int(np.any(left != right, axis=1).sum())
        if differing:
            yield f"tex_rgb of {expected.texture(texture).name}: {differing} texels"


TIED = 1e-13
"""Relative difference of lengths up to which the order of boxes in a tree is a matter of rounding."""


def is_tie(expected: Any, found: Any, start: int, node: int) -> bool:
    """Whether rounding decides how a node is split: on which of two equal sides, or between equal positions."""
    half = np.sort(expected.bvh_aabb[start + node, 3:])
    if half[2] - half[1] <= TIED * half[2]:
        return True
    axis = int(np.argmax(expected.bvh_aabb[start + node, 3:]))
    left = [set(below(m, start, start + int(m.bvh_child[start + node, 0]))) for m in (expected, found)]
    exchanged = expected.bvh_aabb[np.isin(expected.bvh_nodeid, list(left[0] ^ left[1])), axis]
    return bool(np.ptp(exchanged) <= TIED * half[2])


def split_difference(expected: Any, found: Any, start: int, count: int) -> int:
    """First node of a tree over geoms that is split otherwise though nothing is tied; -1 if there is none."""
    skipped: set[int] = set()
    for node in range(count):
        children = expected.bvh_child[start + node].tolist()
        if children[0] < 0:
            continue
        if node not in skipped:
            left = [sorted(below(m, start, start + children[0])) for m in (expected, found)]
            if left[0] == left[1]:
                continue
            if not is_tie(expected, found, start, node):
                return node
        skipped.update(children)
    return -1


def body_tree_differences(expected: Any, found: Any) -> Iterator[str]:
    """Trees over the geoms of bodies: the same boxes, but where rounding decides how they are split."""
    for body, (start, count) in enumerate(zip(expected.body_bvhadr, expected.body_bvhnum, strict=True)):
        same = slice(int(start), int(start) + int(count))
        if np.array_equal(expected.bvh_nodeid[same], found.bvh_nodeid[same]):
            names = ("bvh_depth", "bvh_child", "bvh_aabb")
        elif (node := split_difference(expected, found, int(start), int(count))) >= 0:
            yield f"bvh_nodeid of body {body}: node {node} is split otherwise"
            continue
        else:
            names = ("bvh_depth", "bvh_child")
        for name in names:
            excess = excess_of(name, getattr(expected, name)[same], getattr(found, name)[same])
            if not excess <= 1:
                yield f"{name} of body {body}: {excess:.2g} times the tolerance"


def tree_differences(expected: Any, found: Any) -> Iterator[str]:
    """Bounding volumes: of bodies, and those of faces by their meaning."""
    yield from body_tree_differences(expected, found)
    yield from face_tree_differences(found)


BY_MEANING: dict[str, Callable[[Any, Any], Iterator[str]]] = {
    "mesh_graph": hull_differences,
    "tex_rgb": texture_differences,
    "bvh_nodeid": tree_differences,
}
# what `tree_differences` compares as well, and places in the hull graph
WITH_THEM = ("bvh_depth", "bvh_child", "bvh_aabb", "nmeshgraph", "mesh_graphadr")


def excess_of(name: str, expected: Any, found: Any) -> float:
    """Largest difference of two arrays of the same shape, as a multiple of what is allowed."""
    expected, found = np.asarray(expected), np.asarray(found)
    tolerance = SINGLE if expected.dtype == np.float32 else COMPILE
    left, right = expected.astype(np.float64), found.astype(np.float64)
    scale = np.maximum(1.0, np.abs(left))
    if name == "bvh_aabb":
        scale = np.maximum(1.0, np.max(np.abs(left), initial=0))
    if name == "actuator_lengthrange":
        scale, tolerance = np.maximum(1e-3, np.ptp(left, axis=1)[:, None]), LENGTH_RANGE
    return float(np.max(np.abs(left - right) / scale, initial=0)) / tolerance


def compared_model_fields() -> Iterator[str]:
    skipped = {*OTHER_MEMORY, *UNREADABLE, *NEWER, *WITH_THEM}
    for row in MODEL.fields:
        if not row.is_attached and row.name not in skipped:
            yield row.name


MODEL_FIELDS = tuple(compared_model_fields())


def model_differences(expected: Any, found: Any) -> Iterator[str]:
    """Fields in which two compiled models differ, each with how many times the tolerance."""
    for name in MODEL_FIELDS:
        left, right = value_of(expected, name), value_of(found, name)
        if isinstance(left, bytes):
            if left != right:
                yield f"{name}: other text"
        elif name in BY_MEANING:
            if np.shape(expected.mesh_face) == np.shape(found.mesh_face):
                yield from BY_MEANING[name](expected, found)
        elif np.shape(left) != np.shape(right):
            yield f"{name}: shape {np.shape(right)}, not {np.shape(left)}"
        elif not (excess := excess_of(name, left, right)) <= 1.0:
            yield f"{name}: {excess:.2g} times the tolerance"
