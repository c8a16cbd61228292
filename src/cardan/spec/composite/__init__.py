"""The macro ``<composite>``: objects made of many bodies (spec: modeling, "Composite objects").

``expand_composites`` puts bodies, joints, geoms, sites, tendons, constraints and skins in the place of each composite
of a tree, as if the user had written them. ``request`` reads a composite; there is a module a family of types, with the
types in the table of ``kinds``; ``plugin`` makes them elastic; ``skin`` and ``shell_skin`` make skins; ``builder`` adds
elements to the tree.

What each type makes, in which order and under which names, was found by asking the reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardan.spec.tree import ModelTree


def expand_composites(tree: ModelTree) -> None:
    """Replace every ``composite`` element of the tree by what it stands for. Raises MjcfError."""
    macros = [element for element in tree.worldbody.descendants() if element.tag == "composite"]
    if macros:
        from cardan.spec.composite.expand import expand

        for macro in macros:
            expand(macro)
        tree.changed()


__all__ = ["expand_composites"]
