"""Conflicts between the global settings of an attached model and those of the model that attaches it.

``compiler conflict`` decides: the attaching model's settings are kept (``warning``, the default), both models' are
merged (``merge``), or a difference is an error (``error``). Source: MuJoCo 4.0, programming, "Attribute merging".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cardan.spec.schema.settings import VISUAL

if TYPE_CHECKING:
    from cardan.spec.element import Element
    from cardan.spec.tree import ModelTree

_SECTIONS = ("option", "size", "visual")
_PICTURES = frozenset(VISUAL.children)
_MERGED_VISUALS = ("znear", "zfar", "realtime")
"""Settings of rendering that are compared. All other settings of rendering are taken from the attaching model."""
_LEAST = frozenset(
    ("timestep", "tolerance", "ls_tolerance", "noslip_tolerance", "ccd_tolerance", "mpr_tolerance", "sleep_tolerance")
    + ("znear", "realtime")
)
"""Settings whose smaller value ``merge`` keeps, for precision and stability."""
_LARGEST = frozenset(
    ("iterations", "ls_iterations", "noslip_iterations", "ccd_iterations", "mpr_iterations")
    + ("sdf_iterations", "sdf_initpoints", "memory", "nkey", "nuserdata", "nuser_body", "nuser_jnt", "nuser_geom")
    + ("nuser_site", "nuser_cam", "nuser_tendon", "nuser_actuator", "nuser_sensor", "zfar")
)
"""Settings whose larger value ``merge`` keeps, for sufficient resources."""


def settle_conflicts(element: Element, model: ModelTree) -> None:
    """Settle the differences between the global settings of a model and of a model that it attaches.

    Args:
        element: the element ``<model>`` that names the attached model; the settings of its tree may change.
        model: the attached model.

    Raises:
        MjcfError: settings that differ can't be merged, or ``compiler conflict`` forbids the difference.
    """
    tree = element.tree
    policy = tree.section("compiler").resolved().get("conflict") or "warning"
    changes: list[tuple[Element, str, Any]] = []
    for part, other in _parts(tree, model):
        ours = part.resolved()
        for name, theirs in other.attributes.items():
            if name not in ours or theirs == ours[name] or (part.row.tag in _PICTURES and name not in _MERGED_VISUALS):
                continue
            label = f"{part.tag} {name}"
            differ = f"{label} is {_text(theirs)} in the attached model, {_text(ours[name])} in this one"
            if policy == "merge":
                merged = _merged(part, name, theirs)
                if merged is None:
                    raise element.error(f"{differ}: the two can't be merged")
                changes.append((part, name, merged))
            elif policy == "error" and name in part.attributes:
                raise element.error(f"{differ}; compiler conflict='error' forbids this")
            elif policy == "warning":
                element.warn(f"{differ}, which is kept")
    for part, name, merged in changes:
        part.attributes[name] = merged


def _parts(tree: ModelTree, model: ModelTree) -> Iterator[tuple[Element, Element]]:
    """Yield pairs of corresponding elements of both models: sections with global settings, and their parts."""
    for tag in _SECTIONS:
        section, other = tree.section(tag), model.section(tag)
        yield section, other
        for part in other.children:
            own = section.child(part.tag)
            if own is not None:
                yield own, part


def _merged(part: Element, name: str, theirs: Any) -> Any:
    """Return the merged value of a setting, or None if the values can't be merged.

    ``part`` is the attaching model's element, and ``theirs`` is the attached model's value.
    """
    ours = part.attributes.get(name)
    if ours is None:
        return theirs
    if part.tag == "flag":
        return theirs if theirs != part.row.defaults[name] else ours  # switched from its default in either model
    if name == "actuatorgroupdisable":
        return tuple(sorted({*ours, *theirs}))
    if name in _LEAST:
        return min(ours, theirs)
    if name in _LARGEST:
        return max(ours, theirs)
    return None


def _text(value: Any) -> str:
    """Format the value of a setting for a message."""
    return " ".join(f"{v:g}" for v in value) if isinstance(value, tuple) else str(value)
