"""Marks of the settings that a file gives explicitly: ``spec.authored`` and ``spec.compiler.authored``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cardan.enums.flags import marks_outward
from cardan.spec.schema.keywords import DISABLE_FLAGS, ENABLE_FLAGS
from cardan.spec.schema.settings import VISUAL

if TYPE_CHECKING:
    from cardan.spec.element import Element
    from cardan.spec.tree import ModelTree

# settings in the order of their bits; "" is a bit without a setting
_OPTION = (
    *("timestep", "impratio", "tolerance", "ls_tolerance", "noslip_tolerance", "ccd_tolerance", "sleep_tolerance"),
    *("gravity", "wind", "magnetic", "density", "viscosity", "o_margin", "o_solref", "o_solimp", "o_friction"),
    *("integrator", "cone", "jacobian", "solver", "iterations", "ls_iterations", "noslip_iterations"),
    *("ccd_iterations", "", "", "", "sdf_initpoints", "sdf_iterations"),
)
_COMPILER = (
    *("autolimits", "boundmass", "boundinertia", "settotalmass", "balanceinertia", "fitaabb", "angle", "eulerseq"),
    *("discardvisual", "usethread", "fusestatic", "inertiafromgeom", "inertiagrouprange", "saveinertial"),
    *("savecompiled", "savecanonical", "alignfree", "conflict", "passthrough", "", "meshdir", "texturedir"),
)
_VISUAL_FIRST = {"global": ("cameraid", "orthographic", "fovy", "ipd", "azimuth", "elevation", "linewidth", "glow",
                            "realtime", "offwidth", "offheight", "ellipsoidinertia", "bvactive")}  # fmt: skip


class MjsAuthored:
    """Settings that the file of a specification gives, as bits: a set bit means that the file has the setting.

    ``option``, ``visual_global``, ... have a bit for each setting in the order of MuJoCo's structures. The bits of
    ``disableflags``, ``enableflags`` and ``disableactuator`` are those of the settings themselves. Settings that a
    program changes later do not count.
    """

    def __init__(self, tree: ModelTree) -> None:
        option = tree.section("option")
        flags = _given(option.child("flag"))
        self.option = _bits(_OPTION, _given(option))
        marks = (sum(bit for flag, bit in bits.items() if flag in flags) for bits in (DISABLE_FLAGS, ENABLE_FLAGS))
        self.disableflags, self.enableflags = marks_outward(*marks)
        self.disableactuator = sum(1 << group for group in option.attributes.get("actuatorgroupdisable") or ())
        for tag, row in VISUAL.children.items():
            names = _VISUAL_FIRST.get(tag, tuple(row.attributes))
            setattr(self, f"visual_{tag}", _bits(names, _given(tree.section("visual").child(tag))))


def compiler_bits(tree: ModelTree) -> int:
    """Return the bits of the compiler settings that a tree gives."""
    return _bits(_COMPILER, _given(tree.section("compiler")))


def _given(element: Element | None) -> frozenset[str]:
    """Return the names of the explicit attributes of a settings element, with the current names of renamed ones."""
    given = set(() if element is None else element.attributes)
    return frozenset(given | {name.replace("mpr_", "ccd_") for name in given})


def _bits(names: tuple[str, ...], given: frozenset[str]) -> int:
    return sum(1 << bit for bit, name in enumerate(names) if name in given)
