"""Modules of MuJoCo's package: for each, the names of Cardan that it contains."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import cardan
from cardan.enums.base import MjEnumType
from cardan.face import public_names
from cardan.jit.binding.functions import Binding
from cardan.model import internals
from cardan.model.mjdata import MjContactList, MjSolverStatList, MjTimerStatList, MjWarningStatList
from cardan.model.named import view_classes
from cardan.spec.mjspec.values import VECTORS

# docstrings in the format of MuJoCo's functions: the signature first, then the text

TYPES = {
    "MjModel": "mujoco._structs.MjModel",
    "MjData": "mujoco._structs.MjData",
    "np.ndarray": "numpy.ndarray[numpy.float64]",
    "Any": "object",
    "Callback": "object",
}
"""Names that MuJoCo uses for types, by the names in Cardan's annotations."""


def document(functions: Iterable[Callable[..., Any]]) -> None:
    """Insert the signature at the beginning of the docstring of each function."""
    for function in functions:
        binding = getattr(function, "__self__", None)
        native = isinstance(binding, Binding)
        text = (function.__doc__ or "").rstrip()
        head = f"{function.__name__}{_signature(binding.function if native else function)}"
        if not text.startswith(head):
            text = f"{head}\n\n{inspect.cleandoc(text)}\n"
            if native:
                binding.document(text)
            else:
                function.__doc__ = text


def _signature(function: Callable[..., Any]) -> str:
    """Return the signature of a function as text, such as ``(m: mujoco._structs.MjModel) -> None``."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return "(*args, **kwargs)"
    arguments = []
    for parameter in signature.parameters.values():
        default = "" if parameter.default is inspect.Parameter.empty else f" = {parameter.default!r}"
        arguments.append(f"{parameter.name}: {_type_name(parameter.annotation)}{default}")
    return f"({', '.join(arguments)}) -> {_type_name(signature.return_annotation)}"


def _type_name(annotation: Any) -> str:
    """Return the name of an annotated type in MuJoCo's docstrings."""
    if annotation is inspect.Parameter.empty:
        return "object"
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return " | ".join(TYPES.get(part.strip(), part.strip()) for part in text.split("|"))


# modules -----------------------------------------------------------------------

NAME = "mujoco"


def version() -> str:
    """Return the version of MuJoCo whose interface the process has: "3.1.6" or "4.0.0"."""
    return cardan.mj_versionString()


MOST_ROWS = 10_000_000
"""Largest number of contacts, or of constraint rows, that a program may request: about 6 GB."""


class Submodule(NamedTuple):
    """A module of MuJoCo's package.

    Attributes:
        source: name of Cardan's module with the same content, or empty.
        prefixes: if `source` is empty, prefixes of those names in `cardan` that the module contains.
        kind: type of the objects in the module.
        others: longer prefixes of names that are not in the module, although they have one of its `prefixes`.
        is_package: whether the module has submodules.
        later: feature that the module needs and Cardan does not have yet, or empty.
    """

    source: str = ""
    prefixes: tuple[str, ...] = ()
    kind: type | tuple[type, ...] = object
    others: tuple[str, ...] = ()
    is_package: bool = False
    later: str = ""


def _realloc_con_efc(d: cardan.MjData, ncon: int, nefc: int) -> None:
    """Allocate `ncon` contacts and `nefc` constraint rows in the data, and mark all of them as used.

    If a number exceeds `MOST_ROWS`, raise FatalError, and leave the data without contacts and rows.
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


SUBMODULES: dict[str, Submodule] = {
    "batch": Submodule("cardan.batch"),
    "rollout": Submodule("cardan.rollout"),
    "minimize": Submodule("cardan.minimize"),
    "msh2obj": Submodule("cardan.msh2obj"),
    "_callbacks": Submodule(prefixes=("get_mj", "set_mj", "mj_resetCallbacks")),
    "_constants": Submodule(prefixes=("mj", "MJTNUM_"), kind=(int, float, str, tuple)),
    "_enums": Submodule(prefixes=("mjt", "mjr"), kind=MjEnumType),
    "_errors": Submodule("cardan.errors"),
    "_functions": Submodule(prefixes=("mj_", "mjd_", "mju_", "mjv_")),
    "_render": Submodule(prefixes=("mjr_", "Mjr")),
    "_specs": Submodule(prefixes=("MjSpec", "Mjs", "MjVisualH", "MjVisualR", *(cls.__name__ for cls in VECTORS))),
    "_structs": Submodule(prefixes=("Mj", "_Mj"), kind=type, others=("MjSpec", "Mjs", "Mjr")),
    "renderer": Submodule("cardan.render.renderer"),
    "gl_context": Submodule("cardan.render.gl_context"),
    "rendering": Submodule(is_package=True),
    "rendering.classic": Submodule(is_package=True),
    "rendering.classic.renderer": Submodule("cardan.render.renderer"),
    "rendering.classic.gl_context": Submodule("cardan.render.gl_context"),
    "viewer": Submodule("cardan.viewer"),
    "_simulate": Submodule(later="the window of the C library's viewer"),
    "egl.egl_ext": Submodule("cardan.as_mujoco.egl_ext"),
    **{name: Submodule("cardan.render.gl_context", is_package=True) for name in ("egl", "glfw", "osmesa")},
}
"""The submodules of MuJoCo's package."""


LISTS = (MjContactList, MjSolverStatList, MjTimerStatList, MjWarningStatList)
"""Classes of lists of structures."""


ALWAYS = ("_callbacks", "_constants", "_enums", "_errors", "_functions", "_render", "_specs", "_structs")
"""Submodules that ``import mujoco`` imports."""


@cache
def _content() -> dict[str, Any]:
    """Return all public names of `cardan`."""
    return {name: getattr(cardan, name) for name in public_names()}


def fill(module: ModuleType) -> None:
    """Fill ``mujoco`` or a module ``mujoco.*`` with the names that MuJoCo's module contains.

    If Cardan does not have the module yet, all its names raise an error that names the missing feature.
    """
    name = module.__name__.partition(".")[2]
    if not name:
        _fill_package(module)
        return
    submodule = SUBMODULES[name]
    if submodule.later:
        module.__dict__["__getattr__"] = _names_the_feature(module.__name__, submodule.later)
        return
    if not submodule.source and not submodule.prefixes:
        module.__dict__["__getattr__"] = _part_of(module.__name__)
        return
    if submodule.source:
        source = importlib.import_module(submodule.source)
        names = getattr(source, "__all__", None) or [key for key in vars(source) if not key.startswith("_")]
        vars(module).update({key: getattr(source, key) for key in names})
        module.__doc__ = source.__doc__
        return
    names = [key for key in _content() if key.startswith(submodule.prefixes) and not key.startswith(submodule.others)]
    content = {key: _content()[key] for key in names if isinstance(_content()[key], submodule.kind)}
    vars(module).update(content)
    if name in ("_functions", "_callbacks"):
        document(content.values())
    if name == "_functions":
        vars(module)["_realloc_con_efc"] = _realloc_con_efc
    elif name == "_structs":
        vars(module).update({cls.__name__: cls for cls in view_classes()})
        vars(module).update({f"_{cls.__name__}": cls for cls in LISTS})
        vars(module).update({key: _content()[key] for key in ("MjrRect", "mjv_averageCamera", "mjv_camera2GLCamera")})
    module.__doc__ = f"The part of cardan that is in {NAME}.{name}."


def _names_the_feature(module: str, feature: str) -> Callable[[str], Any]:
    """Return a `__getattr__` for a module that needs a missing feature; it raises an error that names the feature."""

    def missing(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"{module}.{name} is not supported yet ({feature}); docs/status.md lists what is")

    return missing


def _part_of(package: str) -> Callable[[str], Any]:
    """Return a `__getattr__` for a package that contains only modules: it imports them."""

    def part(name: str) -> Any:
        whole = f"{package}.{name}"
        if whole.removeprefix(f"{NAME}.") not in SUBMODULES:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return importlib.import_module(whole)

    return part


def _fill_package(module: ModuleType) -> None:
    """Fill the package itself: all public names of `cardan` except its modules, and MuJoCo's version.

    Also import the submodules in `ALWAYS`.
    """
    vars(module).update({key: value for key, value in _content().items() if not isinstance(value, ModuleType)})
    module.__doc__ = cardan.__doc__
    vars(module).update(__version__=version(), __file__=cardan.__file__)
    module.__dict__["__getattr__"] = _of_package
    for name in ALWAYS:
        vars(module)[name] = importlib.import_module(f"{NAME}.{name}")


def _of_package(name: str) -> Any:
    """Return submodule `name`, importing it first. For any other name, raise the error of `cardan.__getattr__`."""
    if name in SUBMODULES:
        return importlib.import_module(f"{NAME}.{name}")
    return cardan.__getattr__(name)
