"""Bounding volume hierarchy over the faces of a mesh, split at the faces' circumcentres."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.compiler.box_tree import BoxTree, box_tree

if TYPE_CHECKING:
    from cardan.compiler.meshes.surface import Surface


def face_tree(surface: Surface) -> BoxTree:
    """Build the tree over all faces."""
    return box_tree(*surface.boxes())
