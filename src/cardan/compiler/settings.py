"""Options, visual settings and statistics: from the tree's sections to the model's groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cardan.compiler.columns import fill_columns
from cardan.model.tables import MODEL
from cardan.spec.schema.keywords import CONE, DISABLE_FLAGS, ENABLE_FLAGS, INTEGRATOR, JACOBIAN, SOLVER

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel
    from cardan.spec.element import Element
    from cardan.spec.tree import ModelTree

_WORDS: dict[str, dict[str, int]] = {"integrator": INTEGRATOR, "cone": CONE, "jacobian": JACOBIAN, "solver": SOLVER}
_VISUAL = ("global", "quality", "headlight", "map", "scale", "rgba")


def put_settings(tree: ModelTree, m: MjModel) -> None:
    """Fill ``m.opt``, ``m.vis`` and what the user gave of ``m.stat``."""
    option = tree.section("option")
    groups = {"opt.": _option_values(option.resolved(), part(option, "flag").resolved())}
    visual = tree.section("visual")
    for name in _VISUAL:
        word = "global_" if name == "global" else name
        groups[f"vis.{word}."] = part(visual, name).resolved()
    given = tree.section("statistic").resolved()
    groups["stat."] = {name: value for name, value in given.items() if value is not None}
    values = {prefix + name: value for prefix, group in groups.items() for name, value in group.items()}
    # attributes of other names are those that options come from
    fields = {name: MODEL.by_name[name] for name in values if name in MODEL.by_name}
    m._memory.set_scalars({name: values[name] for name, field in fields.items() if field.is_scalar})
    fill_columns(m._memory, {name: values[name] for name, field in fields.items() if not field.is_scalar})


def part(section: Element, tag: str) -> Element:
    """A part of a settings section, which always exists."""
    found = section.child(tag)
    assert found is not None
    return found


def _option_values(values: dict[str, Any], flags: dict[str, bool]) -> dict[str, Any]:
    """Values of ``mjOption``: words as numbers, flags as bits."""
    for name, words in _WORDS.items():
        values[name] = words[values[name]]
    values["disableflags"] = sum(bit for name, bit in DISABLE_FLAGS.items() if not flags[name])
    values["enableflags"] = sum(bit for name, bit in ENABLE_FLAGS.items() if flags[name])
    values["disableactuator"] = sum(1 << group for group in set(values["actuatorgroupdisable"] or ()))
    return values
