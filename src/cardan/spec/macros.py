"""Macros of the kinematic tree, replaced by other elements: ``composite``, ``replicate`` and ``flexcomp``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cardan.spec.element import Element
    from cardan.spec.tree import ModelTree

MACROS = ("composite", "replicate", "flexcomp")
"""Tags of the macros, in the order in which they are expanded."""


def expand_macros(tree: ModelTree, tag: str) -> None:
    """Replace every macro with this tag by its elements, inner macros before outer ones. Raises MjcfError.

    A macro that needs a missing feature stays in the tree. Such a tree can't be compiled.
    """
    macros = [element for element in tree.worldbody.descendants() if element.tag == tag]
    if tree.uses_later:
        macros = [macro for macro in macros if not _needs_later(macro)]
    if not macros:
        return
    if tag == "composite":
        from cardan.spec.composite.expand import expand
    elif tag == "replicate":
        from cardan.spec.replicate import expand
    else:
        from cardan.spec.flexcomp.expand import expand
    depth = {macro: sum(around.tag == tag for around in macro.around()) for macro in macros}
    for macro in sorted(macros, key=depth.__getitem__, reverse=True):
        expand(macro)
    tree.changed()


def _needs_later(macro: Element) -> bool:
    """Return whether a macro or one of its parts needs a missing feature."""
    return macro.row.kind == "flex" and any(
        attribute.missing_feature(part.attributes.get(attribute.name))
        for part in (macro, *macro.children)
        for attribute in part.row.attributes.values()
    )
