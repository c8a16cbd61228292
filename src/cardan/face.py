"""Lookup of the public names of the package: a module is imported when one of its names is first used."""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from cardan.compat import VERSIONS, get_compat

_OF_OTHERS = {
    "cardan.batch": ("Batch", "SimulationError"),
    "cardan.compat": ("get_compat", "set_compat"),
    "cardan.errors": ("FatalError", "UnexpectedError"),
    "cardan.jit.front.stage": ("kernel", "stage"),
}
"""Public names of modules in which not all names are public."""

_API = (
    *("pipeline", "loading", "names", "state", "support", "products", "saving", "rays", "derivatives", "defaults"),
    *("mju_vectors", "mju_quaternions", "mju_scalars", "mju_matrices", "mju_bands", "mju_boxqp", "mju_sparse"),
    *("asset_files", "callbacks", "collisions", "histories", "limits", "log", "mjspec"),
)
HOMES: tuple[str, ...] = (
    *("cardan.enums", "cardan.constants", *_OF_OTHERS, "cardan.model", *(f"cardan.api.{name}" for name in _API)),
    *("cardan.visual", "cardan.render"),
)
"""Modules whose names (``__all__``, if they have it) are public."""

SUBMODULES = ("rollout", "viewer")
"""Public modules that programs may use without importing them by name."""

_PARTS = (
    *("api", "batch", "collision", "compiler", "constants", "constraint", "derive", "dynamics", "enums", "errors"),
    *(
        "formats",
        "ik",
        "jit",
        "maths",
        "mjcf",
        "model",
        "plugins",
        "render",
        "sensor",
        "soft",
        "solver",
        "spec",
        "step",
    ),
    *("tangents", "view", "visual", "torch", "jax"),
)
"""Subpackages and modules that programs may access as attributes of the package without importing them."""

# modules in which names of a kind are searched first; other and missing names are searched in all modules
_FIRST = (
    (r"mjt\w+", ("cardan.enums",)),
    (r"mj[A-Z]\w+", ("cardan.constants",)),
    (r"Mjv\w+|mjv_\w+|MjrRect", ("cardan.visual",)),
    (r"Mjr\w+|mjr_\w+|Renderer|GLContext", ("cardan.render",)),
    (r"Mjs\w*|MjSpec\w*", ("cardan.api.mjspec",)),
    (r"Mj\w+", ("cardan.model",)),
    (r"mj_\w+", ("cardan.api.pipeline", "cardan.api.names", "cardan.api.state", "cardan.api.support")),
    (r"mju_\w+", ("cardan.api.mju_vectors", "cardan.api.mju_quaternions", "cardan.api.mju_scalars")),
    (r"kernel|stage", ("cardan.jit.front.stage",)),
    (r"[gs]et_compat", ("cardan.compat",)),
)


_NOT_PUBLIC = ("LATER", "Any")


def _names_of(home: str) -> tuple[str, ...]:
    if home in _OF_OTHERS:
        return _OF_OTHERS[home]
    module = import_module(home)
    return tuple(
        getattr(module, "__all__", None)
        or (name for name in vars(module) if name[0] != "_" and name not in _NOT_PUBLIC)
    )


def _current(module: ModuleType, name: str) -> Any:
    """Return the object with a public name of a module, in the version of MuJoCo that the process uses.

    If the object differs between the versions, that of 4.0 is in the module's dictionary ``LATER``.
    """
    if get_compat() == VERSIONS[0]:
        return getattr(module, name)
    return vars(module).get("LATER", {}).get(name, getattr(module, name))


def versioned_names() -> set[str]:
    """Return the public names whose objects depend on the version of MuJoCo that the process uses."""
    return {name for home in HOMES for name in getattr(sys.modules.get(home), "LATER", ())}


def find(name: str) -> tuple[Any] | None:
    """Return a tuple that contains only the object with a public name, or None if the name does not exist."""
    if name in SUBMODULES:
        return (import_module(f"cardan.{name}"),)
    first = next((homes for pattern, homes in _FIRST if re.fullmatch(pattern, name)), ())
    for home in dict.fromkeys((*first, *(HOMES if first or not name.startswith("_") else ()))):
        if name in _names_of(home):
            return (_current(import_module(home), name),)
    if name in _PARTS:
        return (import_module(f"cardan.{name}"),)
    return None


@cache
def public_names() -> list[str]:
    """Return all public names."""
    return [*SUBMODULES, *(name for home in HOMES for name in _names_of(home))]


def absent(name: str) -> str:
    """Return the error message for a missing name."""
    from cardan.api.names import absent_feature

    feature = absent_feature(name)
    if feature is None:
        return f"module 'cardan' has no attribute {name!r}"
    return f"cardan.{name} is not supported yet ({feature}); docs/status.md lists what is"
