"""Options, visual settings and statistics: from sections of the tree to ``m.opt``, ``m.vis`` and ``m.stat``."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.compiler.columns import fill_columns
from cardan.jit.memory.layout import scalars_of
from cardan.model import internals
from cardan.model.mjmodel import MjModel
from cardan.model.tables import MODEL
from cardan.spec.defaults import given_over
from cardan.spec.schema.keywords import CONE, DISABLE_FLAGS, ENABLE_FLAGS, INTEGRATOR, JACOBIAN, SOLVER, disabled_in
from cardan.spec.tree import ModelTree

if TYPE_CHECKING:
    from cardan.spec.element import Element

_WORDS: dict[str, dict[str, int]] = {"integrator": INTEGRATOR, "cone": CONE, "jacobian": JACOBIAN, "solver": SOLVER}
_GROUPS = ("opt.", "vis.", "stat.")
_MEANS_OVER_NOTHING = {"stat.meaninertia": 1.0, "stat.meanmass": 1.0, "stat.meansize": 0.2}
"""Means in ``m.stat`` for a model without dofs or bodies."""


def put_settings(tree: ModelTree, m: MjModel) -> None:
    """Fill ``m.opt`` and ``m.vis``. Set the means in ``m.stat`` to those of a model without dofs and bodies."""
    (slots, words, head), memory = _default(tree.compat), internals.memory(m)
    memory.slots[slots] = words
    memory.buffer[: len(head)] = head
    groups: dict[str, dict[str, Any]] = {}
    option, visual = tree.section("option"), tree.section("visual")
    flag = part(option, "flag")
    if option.attributes or flag.attributes:
        groups["opt."] = _option_values(_given(option), flag.resolved() if flag.attributes else {}, tree.compat)
    for child in visual.children:
        if child.attributes:
            groups[_prefix(child)] = _given(child)
    if groups:
        put_fields(m, {prefix + name: value for prefix, group in groups.items() for name, value in group.items()})


def _prefix(visual: Element) -> str:
    """Return the prefix of the fields for a part of ``visual``, like ``vis.map.``."""
    return f"vis.{'global_' if visual.tag == 'global' else visual.tag}."


def _given(element: Element) -> dict[str, Any]:
    """Return the values of the attributes that an element sets explicitly, with vectors at full length."""
    row = element.row
    return given_over(row.defaults_in(element.tree.compat), element.attributes, row.partial)


def put_fields(m: MjModel, values: dict[str, Any]) -> None:
    """Set fields of the model by name. Skip other names: they are attributes from which options are derived."""
    fields = {name: MODEL.by_name[name] for name in values if name in MODEL.by_name}
    internals.memory(m).set_scalars({name: values[name] for name, field in fields.items() if field.is_scalar})
    fill_columns(internals.memory(m), {name: values[name] for name, field in fields.items() if not field.is_scalar})


@cache
def _default(version: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the default settings of a version: slots of scalars, values of scalars, and the start of the buffer.

    The buffer of every model starts with the arrays of settings, which have fixed sizes.
    """
    tree, m = ModelTree(compat=version), MjModel({})
    option = tree.section("option")
    options = _option_values(option.resolved(), part(option, "flag").resolved(), version)
    values = {f"opt.{name}": value for name, value in options.items()}
    values |= _MEANS_OVER_NOTHING
    for child in tree.section("visual").children:
        values |= {_prefix(child) + name: value for name, value in child.resolved().items()}
    put_fields(m, values)
    slots = np.array([slot for name, slot in scalars_of(MODEL).items() if name.startswith(_GROUPS)])
    arrays = [name for name in internals.memory(m).arrays.home if name.startswith(_GROUPS)]
    places = internals.memory(m).arrays.buffers[None][0].places
    end = next(places[name][2] for name in places if name not in arrays)
    return slots, internals.memory(m).slots[slots], internals.memory(m).buffer[:end].copy()


def part(section: Element, tag: str) -> Element:
    """Return a child of a settings section, like ``flag`` of ``option``. These children always exist."""
    found = section.child(tag)
    assert found is not None
    return found


def _option_values(values: dict[str, Any], flags: dict[str, bool], version: str) -> dict[str, Any]:
    """Convert attributes of ``option`` and its flags to fields of ``mjOption``: keywords to numbers, flags to bits.

    ``values`` is changed in place and returned.
    """
    for name, words in _WORDS.items():
        if name in values:
            values[name] = words[values[name]]
    if flags:
        values["disableflags"] = disabled_in(
            version, sum(bit for name, bit in DISABLE_FLAGS.items() if not flags[name])
        )
        values["enableflags"] = sum(bit for name, bit in ENABLE_FLAGS.items() if flags[name])
    values["disableactuator"] = sum(1 << group for group in set(values.get("actuatorgroupdisable") or ()))
    return values
