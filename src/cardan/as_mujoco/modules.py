"""Contents of the modules of the reference's package, and where Cardan defines them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import cardan
from cardan.as_mujoco.documentation import document
from cardan.face import public_names
from cardan.model import internals
from cardan.model.mjdata import MjContactList, MjSolverStatList, MjTimerStatList, MjWarningStatList
from cardan.model.named import view_classes

NAME = "mujoco"
VERSION = "3.1.6"
"""Version of the reference whose interface is provided."""


MOST_ROWS = 10_000_000
"""Largest number of contacts, or of constraint rows, that a program may request: about 6 GB."""


class Submodule(NamedTuple):
    """A module of the reference's package.

    Attributes:
        source: Cardan's module of the same content, or empty.
        holds: function that selects names of `cardan`, if the module has no source.
        is_package: whether the module has submodules.
        later: the missing feature, if the module's names are not available yet.
    """

    source: str = ""
    holds: Callable[[str, Any], bool] = lambda name, value: False
    is_package: bool = False
    later: str = ""


def _realloc_con_efc(d: cardan.MjData, ncon: int, nefc: int) -> None:
    """Allocate contacts and constraint rows in the data, and mark all of them as used.

    Raises:
        ValueError: a number is negative.
        FatalError: a number exceeds `MOST_ROWS`; then the data has no contacts and rows.
    """
    if min(ncon, nefc) < 0:
        raise ValueError(f"ncon and nefc must not be negative, got {ncon} and {nefc}")
    d.ncon = d.nefc = 0
    if max(ncon, nefc) > MOST_ROWS:
        raise cardan.FatalError("insufficient arena memory available")
    for capacity, size in (("ncon", ncon), ("nefc", nefc)):
        if size > internals.sizes(d)[capacity]:
            d.grow(capacity, size)
    d.ncon, d.nefc = ncon, nefc


def _is_function(name: str, value: Any) -> bool:
    return name.startswith(("mj_", "mjd_", "mju_", "mjv_"))


def _is_callback(name: str, value: Any) -> bool:
    return name.startswith(("get_mj", "set_mj")) or name == "mj_resetCallbacks"


def _is_enumeration(name: str, value: Any) -> bool:
    return name.startswith("mjt")


def _is_struct(name: str, value: Any) -> bool:
    return name.startswith(("Mj", "_Mj")) and isinstance(value, type) and not name.startswith(("MjSpec", "Mjr"))


def _is_constant(name: str, value: Any) -> bool:
    return name.startswith("mj") and isinstance(value, (int, float, str, tuple))


def _is_of_rendering(name: str, value: Any) -> bool:
    return name.startswith(("mjr_", "Mjr"))


SUBMODULES: dict[str, Submodule] = {
    "batch": Submodule("cardan.batch"),
    "rollout": Submodule("cardan.rollout"),
    "minimize": Submodule("cardan.minimize"),
    "msh2obj": Submodule("cardan.msh2obj"),
    "_callbacks": Submodule(holds=_is_callback),
    "_constants": Submodule(holds=_is_constant),
    "_enums": Submodule(holds=_is_enumeration),
    "_errors": Submodule("cardan.errors"),
    "_functions": Submodule(holds=_is_function),
    "_render": Submodule(holds=_is_of_rendering),
    "_structs": Submodule(holds=_is_struct),
    "renderer": Submodule("cardan.render.renderer"),
    "gl_context": Submodule("cardan.render.gl_context"),
    "viewer": Submodule("cardan.viewer"),
    "_simulate": Submodule(later="the window of the C library's viewer"),
    "egl.egl_ext": Submodule("cardan.as_mujoco.egl_ext"),
    **{name: Submodule("cardan.render.gl_context", is_package=True) for name in ("egl", "glfw", "osmesa")},
}
"""The submodules of the reference's package."""


LISTS = (MjContactList, MjSolverStatList, MjTimerStatList, MjWarningStatList)
"""Classes of lists of structures."""


ALWAYS = ("_callbacks", "_constants", "_enums", "_errors", "_functions", "_render", "_structs")
"""Submodules that ``import mujoco`` imports."""


@cache
def _content() -> dict[str, Any]:
    """Return all public names of `cardan`."""
    return {name: getattr(cardan, name) for name in public_names()}


def fill(module: ModuleType) -> None:
    """Add the names of a module of the reference's package to the module."""
    name = module.__name__.partition(".")[2]
    if not name:
        _fill_package(module)
        return
    submodule = SUBMODULES[name]
    if submodule.later:
        module.__dict__["__getattr__"] = _names_the_feature(module.__name__, submodule.later)
        return
    if submodule.source:
        source = importlib.import_module(submodule.source)
        names = getattr(source, "__all__", None) or [key for key in vars(source) if not key.startswith("_")]
        vars(module).update({key: getattr(source, key) for key in names})
        module.__doc__ = source.__doc__
        return
    content = {key: value for key, value in _content().items() if submodule.holds(key, value)}
    vars(module).update(content)
    if name in ("_functions", "_callbacks"):
        document(content.values())
    if name == "_functions":
        vars(module)["_realloc_con_efc"] = _realloc_con_efc
    elif name == "_structs":
        vars(module).update({cls.__name__: cls for cls in view_classes()})
        vars(module).update({f"_{cls.__name__}": cls for cls in LISTS})
    module.__doc__ = f"The part of cardan that is in {NAME}.{name}."


def _names_the_feature(module: str, feature: str) -> Callable[[str], Any]:
    """Make the `__getattr__` of a module whose feature is missing."""

    def missing(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"{module}.{name} is not supported yet ({feature}); docs/status.md lists what is")

    return missing


def _fill_package(module: ModuleType) -> None:
    """Fill the package itself: all public names of `cardan` except its modules, and the reference's version."""
    vars(module).update({key: value for key, value in _content().items() if not isinstance(value, ModuleType)})
    module.__doc__ = cardan.__doc__
    vars(module).update(__version__=VERSION, __file__=cardan.__file__)
    module.__dict__["__getattr__"] = _of_package
    for name in ALWAYS:
        vars(module)[name] = importlib.import_module(f"{NAME}.{name}")


def _of_package(name: str) -> Any:
    """Import a submodule that was not imported yet; for a missing name, raise an error that names the feature."""
    if name in SUBMODULES:
        return importlib.import_module(f"{NAME}.{name}")
    return cardan.__getattr__(name)
