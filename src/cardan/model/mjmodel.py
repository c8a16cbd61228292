"""MjModel: the compiled model. Its fields come from the table `MODEL`."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np

from cardan.compat import VERSIONS
from cardan.files import FileName
from cardan.jit.binding.functions import ProgramTable
from cardan.jit.binding.objects import FIRST_PROGRAM, MODEL_ADDRESS, MOST_PROGRAMS, PROGRAM_WORDS, Native
from cardan.jit.driver.program import addresses
from cardan.jit.front.stage import HERE, Form
from cardan.jit.memory.layout import buffer_without, scalars_of
from cardan.jit.memory.struct import StructMemory
from cardan.jit.memory.view import InterpretedView
from cardan.model import option_flags
from cardan.model.attributes import (
    ArrayAttribute,
    FieldGroup,
    assign_group,
    copy_group,
    group_class,
    listing,
    not_settable,
    scalar_property,
    set_array,
    standalone_memory,
)
from cardan.model.computed import add_views, empty_field, no_field, read_only, shown_array, size_names, without_memory
from cardan.model.derived import DERIVATIONS, attach_derived, copy_derived, share_derived
from cardan.model.fields_derived import MODEL_VIEWS
from cardan.model.fields_later import FLAGS, RENAMED_ARRAYS
from cardan.model.fields_options import RENAMED_OPTIONS
from cardan.model.fields_own import REMEMBERED
from cardan.model.named import ModelNames
from cardan.model.pickling import packed, unpack
from cardan.model.plugin_life import number_plugins
from cardan.model.renumbered import RENUMBERED, RETYPED, settled, widened
from cardan.model.renumbered import attribute as renumbered_attribute
from cardan.model.tables import MODEL, SIZE_NAMES
from cardan.model.user_memory import user_buffers
from cardan.model.vfs import MjVfs

_OPTIONS = group_class("MjOption", MODEL, "opt.", "Physics options (spec: modelling, option).")
_STATISTICS = group_class("MjStatistic", MODEL, "stat.", "Model statistics at qpos0.")
VISUAL_GROUPS = {
    prefix: group_class(prefix[4:-1].strip("_").capitalize(), MODEL, prefix, "Visual options.")
    for prefix in MODEL.prefixes
    if prefix.startswith("vis.") and prefix != "vis."
}
TEXT_FIELDS = tuple(f.name for f in MODEL.fields if f.dtype == "char" and f.name != "plugin_attr")

SIZES = dict.fromkeys(SIZE_NAMES, 0)
_SIZE_SLOTS = np.array([MODEL.slot[name] for name in SIZE_NAMES])

_READERS: dict[str, Callable[..., Any]] = {}
# modules that register readers when they are imported; they are at a higher level
_READERS_STAND_IN = {
    **dict.fromkeys(("empty", "xml_path", "xml_string"), "cardan.api.loading"),
    **dict.fromkeys(("binary_path", "to_xml"), "cardan.api.saving"),
    "png": "cardan.render.renderer",
}


class MjOption(_OPTIONS):
    """Physics options (spec: modelling, option).

    ``MjOption()`` makes default options that do not belong to any model.
    """

    def __init__(self) -> None:
        self._show(standalone_memory(MODEL))
        defaults = _default_options()
        for name in self._names:
            setattr(self, name, getattr(defaults, name))


for _new, _old in RENAMED_OPTIONS.items():
    setattr(MjOption, _new, getattr(MjOption, _old))
for _name in ("disableflags", "enableflags"):
    setattr(MjOption, _name, getattr(option_flags, _name))
MjOption._setters = {
    name: member.fset
    for name in MjOption._names
    if isinstance(member := getattr(MjOption, name), property) and member.fset is not None
}


@lru_cache(maxsize=1)
def _default_options() -> MjOption:
    """Return the options of an empty model; the result is shared and must not be changed."""
    return _reader("empty")().opt


class MjStatistic(_STATISTICS):
    """Model statistics at qpos0. ``MjStatistic()`` makes statistics, all zero, that do not belong to any model."""

    def __init__(self) -> None:
        self._show(standalone_memory(MODEL))


class MjVisual:
    """Visual options, in groups (``m.vis.map.znear``). Changing a copy does not change the model."""

    __slots__ = ("_groups",)

    _groups: dict[str, FieldGroup]

    def __init__(self) -> None:
        raise TypeError("MjVisual: visual options are made by models; copy those of one with copy.copy(m.vis)")

    @classmethod
    def _of(cls, groups: dict[str, FieldGroup]) -> Self:
        """Make visual options from their groups."""
        new = object.__new__(cls)
        new._groups = groups
        return new

    def __copy__(self) -> Self:
        return self._of({name: copy.copy(group) for name, group in self._groups.items()})

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return self._of, (self._groups,)

    def __repr__(self) -> str:
        return listing(self, "MjVisual", sorted(self._groups))

    def _take(self, other: MjVisual) -> None:
        """Copy all values of other visual options."""
        for name, group in self._groups.items():
            copy_group(group, other._groups[name])

    def __eq__(self, other: object) -> bool:
        return self._groups == other._groups if isinstance(other, MjVisual) else NotImplemented

    __hash__ = None  # type: ignore[assignment]


def _visual_group(name: str) -> property:
    def put(self: MjVisual, value: Any) -> None:
        assign_group(self._groups[name], value, f"MjVisual.{name}")

    return property(lambda self: self._groups[name], put, doc=f"The group {name.strip('_')} of the visual options.")


for _prefix, _cls in VISUAL_GROUPS.items():
    _cls.__module__, _cls.__qualname__ = __name__, f"MjVisual.{_cls.__name__}"
    setattr(MjVisual, _cls.__name__, _cls)  # MjVisual.Map, ...
    setattr(MjVisual, _prefix[4:-1], _visual_group(_prefix[4:-1]))


_NUMBERS = frozenset(
    f"opt.{name}"
    for name in (
        *("timestep", "impratio", "tolerance", "ls_tolerance", "noslip_tolerance", "mpr_tolerance"),
        *("iterations", "ls_iterations", "mpr_iterations", "o_margin"),
    )
)
"""Options that stages read at run time and that do not affect which stages a model needs."""
_DECIDING = [
    slot
    for name, slot in scalars_of(MODEL).items()
    if name in FLAGS or name == "ngravcomp" or (name.startswith("opt.") and name not in _NUMBERS)
]
"""Slots of the options and flags that determine which stages a model needs."""


def _leaving(programs: ProgramTable) -> Callable[[str], None]:
    """Make the function to call when an option is set. It discards the programs, except for options in `_NUMBERS`."""

    def changed(name: str) -> None:
        if name not in _NUMBERS:
            programs.leave()

    return changed


def register_reader(kind: str, reader: Callable[..., Any]) -> None:
    """Register a function of a higher package that reads or writes models.

    `kind` is a key such as ``"xml_path"``.
    """
    _READERS[kind] = reader


def _reader(kind: str) -> Callable[..., Any]:
    if kind not in _READERS:
        import_module(_READERS_STAND_IN[kind])
    return _READERS[kind]


class LaterCode:
    """Element of a linked list, in chronological order, of all functions written to the tables of a model.

    While a program runs, another thread may write functions to tables, and the program then calls these functions. A
    program therefore keeps a reference to the list's last element at the time it was made, and so to all later ones.
    """

    __slots__ = ("_code", "_next")

    def __init__(self) -> None:
        self._code: Any = None
        self._next: LaterCode | None = None

    def add(self, code: Any) -> LaterCode:
        """Add functions, and return the new last element of the list."""
        self._code, self._next = code, LaterCode()
        return self._next


class MjModel(Native, ModelNames):
    """A compiled model: sizes, options, and one array for each field (names and shapes as in MuJoCo's mjModel).

    Array attributes are views of the model's memory: writing to their elements changes the model; assigning to an
    attribute copies the values into the array.

    Args:
        sizes: sizes by name (``nq``, ``nbody``, ...); missing sizes are 0.
    """

    address: int  # address of the slot table, for native stages
    _memory: StructMemory
    _views: dict[tuple[str, str | int], Any]  # of named access
    _texts: dict[str, bytes]  # names and similar texts, which don't change
    _programs: ProgramTable
    _form: Form  # form of the native code that runs on the model
    _numbered: dict[Callable[..., Any], int]  # functions to which the model's tables refer by number
    _native_code: dict[
        str, tuple[Any, list[int]]
    ]  # functions in each table, and their addresses, which keep them loaded
    _later_code: LaterCode
    _source: Any  # tree from which the model was compiled, for writing XML
    _plugins: tuple[str, ...]  # name of the plugin of each plugin instance
    _mesh_poses: dict[int, Any]  # poses of geoms with a mesh, and of the meshes, for writing XML

    def __init__(self, sizes: Mapping[str, int]) -> None:
        if not isinstance(sizes, Mapping):
            raise TypeError("MjModel(): models are made by from_xml_path and from_xml_string")
        unknown = sizes.keys() - SIZES.keys()
        if unknown:
            raise ValueError(f"unknown model sizes: {', '.join(sorted(unknown))}")
        self._begin(sizes, ())

    def _begin(self, sizes: Mapping[str, int], filled: Collection[str]) -> None:
        full = SIZES | {name: int(value) for name, value in sizes.items()}
        buffers: dict[str | None, np.ndarray] = user_buffers(MODEL, (), full)
        if filled and not buffers:
            buffers = {None: buffer_without(MODEL, full, filled)}
        memory = StructMemory(MODEL, full, buffers=buffers)
        memory.slots[_SIZE_SLOTS, 0] = [*full.values()]
        self._adopt(memory)

    @classmethod
    def for_filling(cls, sizes: Mapping[str, int], filled: Collection[str]) -> MjModel:
        """Make a model as the constructor does, but leave the arrays named in ``filled`` uninitialised.

        The caller must fill these arrays.
        """
        model = cls.__new__(cls)
        model._begin(sizes, filled)
        return model

    def _adopt(self, memory: StructMemory) -> None:
        self._native = np.zeros(FIRST_PROGRAM + PROGRAM_WORDS * MOST_PROGRAMS, np.int64)
        self.__dict__.update(_memory=memory, address=memory.address, _programs=ProgramTable(self._native))
        self.__dict__.update(_views={}, _texts={}, _native_code={}, _later_code=LaterCode(), _form=HERE, _numbered={})
        self.__dict__.update(_finalized=False, _source=None, _mesh_poses={}, _plugins=())

    def references(self, functions: Iterable[Callable[..., Any]]) -> list[int]:
        """Return the entries for functions in the model's tables: addresses of native code, compiled if necessary.

        If worlds are interleaved, the entries are the functions' numbers in `_numbered`, from 1.
        """
        if not self._form.is_interleaved:
            return addresses(functions, self._form)
        return [self._numbered.setdefault(function, len(self._numbered) + 1) for function in functions]

    def put_functions(self, field: str, functions: tuple[tuple[int, Callable[..., Any] | int], ...]) -> None:
        """Write a table of functions that stages call, and keep the functions' native code loaded.

        ``field`` is one of `derived.ADDRESSES`. ``functions`` contains pairs: a position, and a function or the address
        of a native function. All other positions get their default.
        """
        if self._native_code.get(field, ())[:1] == (functions,):
            return
        table = DERIVATIONS[field](self)
        entries = [function for _, function in functions if not isinstance(function, int)]
        known = dict(zip(entries, self.references(entries), strict=True))
        addresses = [f if isinstance(f, int) else known[f] for _, f in functions]
        for (place, _), address in zip(functions, addresses, strict=True):
            table[place] = address
        current = self._memory.arrays[field]
        self._keep_code((functions, addresses))
        self._native_code[field] = functions, addresses
        current[:] = table  # a single assignment, because other threads may be stepping

    def put_function(self, field: str, place: int, function: Callable[..., Any] | int) -> None:
        """Write one entry of a table of functions: a function or an address (see `put_functions`)."""
        (address,) = [function] if isinstance(function, int) else self.references([function])
        kept = self._native_code.get(field, ((), []))[1]
        self._keep_code(address)
        self._native_code[field] = None, [*kept, address]
        self._memory.arrays[field][place] = address

    def _keep_code(self, code: Any) -> None:
        """Keep functions loaded as long as any program exists that may call them (see `LaterCode`)."""
        with self._programs.lock:
            self._later_code = self._later_code.add(code)

    @property
    def compat(self) -> str:
        """Version of MuJoCo whose behaviour the model has: ``"3.1"`` or ``"4.0"``."""
        return VERSIONS[self._memory.sizes["is_4_0"]]

    def settings(self) -> bytes:
        """Return the values of all options that determine which stages the model needs, as bytes."""
        return self._memory.slots[_DECIDING].tobytes()

    def name_plugins(self, names: Iterable[str]) -> None:
        """Set the plugin of each plugin instance by name. The numbers in ``m.plugin`` are looked up in the registry."""
        self._plugins = tuple(names)
        number_plugins(self)

    def finalize(self) -> None:
        """Compute and attach the derived index tables. Call this when all arrays are filled."""
        attach_derived(self)
        self._finish()

    def _finish(self) -> None:
        self._finalized = True
        self._native[MODEL_ADDRESS] = self.address

    @property
    def _address(self) -> int:
        """Address of the model, under the name that MuJoCo's package uses."""
        return self.address

    @classmethod
    def over(cls, base: MjModel, memory: StructMemory) -> MjModel:
        """Make the model of a batch's world over existing memory. It shares derived tables with the model `base`."""
        model = cls.__new__(cls)
        model._adopt(memory)
        model._form = base._form
        model._source, model._mesh_poses, model._plugins = base._source, base._mesh_poses, base._plugins
        share_derived(model, base)
        model._finalized = True
        return model

    @property
    def view(self) -> InterpretedView:
        """View of the model for stages that run in the interpreter."""
        if "_view" not in self.__dict__:
            self.__dict__["_view"] = InterpretedView(self._memory)
        return self.__dict__["_view"]

    def _changed(self, name: str) -> None:
        """Do nothing: setting a scalar field of a model has no side effects."""

    def __getattr__(self, name: str) -> Any:
        """Return an array or group of options, and store it as an attribute, so that later requests find it there."""
        make = GROUPS.get(name)
        if make is not None:
            value = make(self)
        elif name in ARRAYS:
            memory = self.__dict__["_memory"]
            if memory.sizes["is_4_0"] and name in REPLACED:
                return REPLACED[name](self)
            value = shown_array(memory, name)
            if name in REMEMBERED and memory.sizes["nstick"] == 0:
                value = without_memory(value)
        elif name in RENAMED_ARRAYS:
            value = getattr(self, RENAMED_ARRAYS[name])
        else:
            value = empty_field(self, name)
            if value is None:
                raise no_field(type(self).__name__, name)
        return self.__dict__.setdefault(name, value)

    _size_fields: ClassVar[tuple[str, ...]]
    """Names of all sizes, as in MuJoCo 4.0, whose client MJX reads them."""

    @property
    def _sizes(self) -> np.ndarray:
        """Values of all sizes (nsize,), in the order of `_size_fields`."""
        return read_only(np.array([getattr(self, name) for name in self._size_fields]))

    def __dir__(self) -> list[str]:
        return dir(type(self))  # without the private attributes of instances

    def _set_gravcomp(self, enabled: bool) -> None:
        """Switch gravity compensation on or off, through the number of bodies that have it."""
        number = max(1, int(np.count_nonzero(self.body_gravcomp))) if enabled else 0
        self._memory.scalars["ngravcomp"][0] = self._memory.sizes["ngravcomp"] = number
        self._programs.leave()

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ARRAYS or name in RENAMED_ARRAYS:
            value = settled(value)
            set_array(getattr(self, name), name, value)
        elif name in GROUPS:
            assign_group(getattr(self, name), value, f"MjModel.{name}")
        elif name in FLAGS:
            self._memory.scalars[name][0] = self._memory.sizes[name] = int(bool(value))
            self._programs.leave()
        elif name == "flg_gravcomp":
            self._set_gravcomp(bool(value))
        elif name in SIZE_NAMES:
            raise AttributeError(f"MjModel.{name} is a size and can't be set")
        elif name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            raise not_settable(self, name)

    @classmethod
    def from_xml_path(
        cls,
        filename: FileName,
        assets: Mapping[str, bytes] | None = None,
        vfs: MjVfs | None = None,
        *,
        compat: str | None = None,
    ) -> MjModel:
        """Read and compile an MJCF or URDF file.

        Args:
            filename: path of the file.
            assets: contents of files by name; they take precedence over files on disk.
            vfs: the same as a `MjVfs`; excludes ``assets``.
            compat: version of MuJoCo whose behaviour the model has, ``"3.1"`` or ``"4.0"``; None: the default of the
                process (`set_compat`).

        Raises:
            ValueError: the file breaks a rule of the language; the message states where, and what would be right.
        """
        return _reader("xml_path")(os.fsdecode(filename), assets, vfs, compat)

    @classmethod
    def from_xml_string(
        cls,
        xml: str | bytes,
        assets: Mapping[str, bytes] | None = None,
        vfs: MjVfs | None = None,
        *,
        compat: str | None = None,
    ) -> MjModel:
        """Read and compile a model given as a string; arguments and errors as in `from_xml_path`."""
        return _reader("xml_string")(xml, assets, vfs, compat)

    @classmethod
    def from_binary_path(cls, filename: FileName, assets: Mapping[str, bytes] | None = None) -> MjModel:
        """Read a binary model file, as written by `mj_saveModel`.

        Args:
            filename: path of the file.
            assets: contents of files by name; they take precedence over files on disk.

        Raises:
            ValueError: the file has another format or version, or is truncated or damaged.
        """
        return _reader("binary_path")(os.fsdecode(filename), assets)

    def to_xml(self) -> str:
        """Return the model as MJCF text in the canonical subset, with the current values of its fields.

        Raises:
            ValueError: the model was not compiled from XML, or contains a NaN.
        """
        return _reader("to_xml")(self)

    def _repr_png_(self) -> bytes:
        """Return an image of the model at qpos0 as a PNG file, for notebooks."""
        return _reader("png")(self)

    def __copy__(self) -> MjModel:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> MjModel:
        new = MjModel(self._memory.sizes)
        new._memory.copy_from(self._memory)
        new._source, new._mesh_poses, new._plugins = self._source, self._mesh_poses, self._plugins
        copy_derived(new, self)
        new._finish()
        return new

    def __getstate__(self) -> dict[str, Any]:
        return {"memory": packed(self._memory), "plugins": self._plugins}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._adopt(StructMemory(MODEL, state["memory"]["sizes"]))
        unpack(self._memory, state["memory"])
        self.name_plugins(state["plugins"])
        self.finalize()


ARRAYS = frozenset(f.name for f in MODEL.members("") if not f.is_scalar).difference(TEXT_FIELDS)
"""Arrays that are attributes of the model."""

GROUPS: dict[str, Callable[[MjModel], Any]] = {
    "opt": lambda m: MjOption._of(m._memory, _leaving(m._programs)),
    "stat": lambda m: MjStatistic._of(m._memory),
    "vis": lambda m: MjVisual._of({prefix[4:-1]: cls._of(m._memory) for prefix, cls in VISUAL_GROUPS.items()}),
}
"""Functions that make the groups of fields, by attribute."""


def _text_property(name: str, doc: str) -> property:
    def get(m: MjModel) -> bytes:
        if name not in m._texts:
            m._texts[name] = m._memory.arrays[name].tobytes()
        return m._texts[name]

    return property(get, doc=doc)


def _eq_data(m: MjModel) -> np.ndarray:
    """Return the data of equality constraints: (neq, 11), in a process with compat 4.0 (neq, 12)."""
    return widened(m._memory.arrays["eq_data"], m._memory.arrays["eq_relative"])


for _field in MODEL.members(""):
    if _field.is_scalar:
        setattr(MjModel, _field.name, scalar_property(_field))
    elif _field.name in TEXT_FIELDS:
        setattr(MjModel, _field.name, _text_property(_field.name, _field.doc))
    elif _field.name == "eq_data":
        setattr(MjModel, "eq_data", property(_eq_data, doc=_field.doc))  # noqa: B010
    elif _field.name in RENUMBERED or _field.name in RETYPED:
        setattr(MjModel, _field.name, renumbered_attribute(_field.name, _field.doc))
    else:
        setattr(MjModel, _field.name, ArrayAttribute(_field.name, _field.doc))
REPLACED = add_views(MjModel, MODEL, MODEL_VIEWS, constants=True)
"""Functions that compute the fields whose shapes differ in models of compat 4.0."""
MjModel._size_fields = size_names(MODEL, MODEL_VIEWS)
for _group in ("opt", "stat", "vis"):
    setattr(MjModel, _group, ArrayAttribute(_group, "Options of one kind."))
