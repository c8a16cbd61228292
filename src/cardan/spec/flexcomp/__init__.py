"""The macro ``<flexcomp>``: a flex with the bodies and joints that carry its vertices (spec: modeling, "flexcomp")."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardan.spec.tree import ModelTree


def expand_flexcomps(tree: ModelTree) -> None:
    """Replace every ``flexcomp`` element of the tree by the elements that it represents. Raises MjcfError."""
    macros = [element for element in tree.worldbody.descendants() if element.tag == "flexcomp"]
    if macros:
        from cardan.spec.flexcomp.expand import Expansion

        for macro in macros:
            Expansion(macro).run()
        tree.changed()
