"""Expanding the composites of a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.spec.composite.kinds import KINDS, REMOVED, Kind
from cardan.spec.composite.request import Composite, read_composite, size_of_geom
from cardan.spec.composite.skin import is_finer

if TYPE_CHECKING:
    from cardan.spec.element import Element


def expand(macro: Element) -> None:
    """Put the elements of one composite in its place. Raises MjcfError."""
    parent = macro.parent
    assert parent is not None
    _check_classes(macro)
    word = macro["type"]
    if word in REMOVED:
        raise macro.error(f"composites of the type '{word}' are deprecated: use '{REMOVED[word]}'", "type")
    kind = KINDS[word]
    composite = read_composite(macro, kind.geom, kind.tendon_fix, kind.covers)
    _check(composite, kind)
    kind.build(composite)
    at = parent.children.index(macro)
    parent.children[at : at + 1] = composite.build.members


def _check_classes(macro: Element) -> None:
    """Raise MjcfError unless the default classes around the composite exist."""
    around = macro.parent
    while around is not None:
        name = around.attributes.get("childclass")
        if name and name not in macro.tree.defaults:
            raise around.error(f"unknown default class '{name}'", "childclass")
        around = around.parent


def _check(composite: Composite, kind: Kind) -> None:
    """Raise MjcfError for what no type, or not this type, may have."""
    macro, geom = composite.macro, composite.geom
    bodies = composite.counts[0] * composite.counts[1] * composite.counts[2]
    if bodies > kind.most:
        raise macro.error(f"{bodies} bodies are more than {kind.most}", "count")
    plugin = macro.child("plugin")
    if plugin is not None and not kind.elastic:
        raise plugin.error(f"composites of the type '{macro['type']}' have no plugins: cables and particles may")
    shape = geom.values.get("type", "sphere")
    if kind.shapes and shape not in kind.shapes:
        words = ", ".join(kind.shapes)
        raise geom.origin.error(f"the geoms of a {macro['type']} may be {words}, not '{shape}'", "type")
    if kind.skinned and composite.skin is not None and min(composite.counts[:2]) < 3 and is_finer(composite.skin):
        raise composite.skin.origin.error(
            f"a finer skin needs counts of at least 3 3, got {composite.counts}", "subgrid"
        )
    if len((macro["curve"] or "").split()) > 3:
        raise macro.error("a curve has at most three functions", "curve")
    if composite.points is None and not any(macro["size"]):
        raise macro.error("one of the sizes must not be 0", "size")
    largest = max(size_of_geom(composite))
    if kind.spaced and composite.points is None and composite.spacing < largest:
        message = f"the spacing must be at least the size of the geoms, {largest:g}, got {composite.spacing:g}"
        raise macro.error(message, "spacing")
