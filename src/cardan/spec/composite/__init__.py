"""The macro ``<composite>``: objects made of many bodies (spec: modeling, "Composite objects").

``expand_composites`` replaces each composite of a tree by bodies, joints, geoms, sites, tendons, constraints and skins,
as if the user had written them. ``request`` reads a composite and adds elements for it. Each family of types has a
module; ``expand`` has the table of types. ``skin`` makes the skins of sheets.

The elements of each type, their order and their names were derived from results of the reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardan.spec.tree import ModelTree


def expand_composites(tree: ModelTree) -> None:
    """Replace every ``composite`` element of the tree by the elements that it represents. Raises MjcfError."""
    macros = [element for element in tree.worldbody.descendants() if element.tag == "composite"]
    if macros:
        from cardan.spec.composite.expand import expand

        for macro in macros:
            expand(macro)
        tree.changed()
