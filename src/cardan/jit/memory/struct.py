"""Structures in memory: a table of slots that native code and Python share.

A structure is a list of fields. Its instances own a *slot table*: three 64-bit words a field. For an array the words
are address, length and second dimension; for a scalar the first word holds the value itself. Native stages get the
address of the slot table and nothing else; the NumPy views of the Python classes look at the same memory.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from cardan.jit.memory.fields import DTYPES, Field, dimension

if TYPE_CHECKING:
    from _collections_abc import dict_items, dict_keys, dict_values

WORDS = 3
ALIGNMENT = 64


class Struct:
    """Description of a structure: its fields, their slots and its groups.

    Args:
        name: name of the structure (``Model`` or ``Data``); known to the compiler of stages.
        fields: rows in slot order. New rows go to the end, so that compiled stages stay valid.
        readonly: whether stages may only read the structure.
        registered: whether it is one of the structures that kernels know by name.
    """

    registry: ClassVar[dict[str, Struct]] = {}

    def __init__(self, name: str, fields: Iterable[Field], *, readonly: bool, registered: bool = True) -> None:
        self.name = name
        self.fields: tuple[Field, ...] = tuple(fields)
        self.readonly = readonly
        self.slot: dict[str, int] = {field.name: i for i, field in enumerate(self.fields)}
        self.by_name: dict[str, Field] = {field.name: field for field in self.fields}
        if len(self.slot) != len(self.fields):
            raise ValueError(f"structure {name}: a field name stands twice")
        prefixes: dict[str, None] = {}
        for field in self.fields:
            parts = field.name.split(".")
            for depth in range(1, len(parts)):
                prefixes[".".join(parts[:depth]) + "."] = None
        self.prefixes: tuple[str, ...] = tuple(prefixes)
        self._members: dict[str, list[Field]] = {}
        if registered:
            Struct.registry[name] = self

    @cached_property
    def single(self) -> Struct:
        """The same structure with its numbers (``f8``) in single precision; every field has the same slot."""
        fields = [field._replace(dtype="f4") if field.dtype == "f8" else field for field in self.fields]
        return Struct(self.name, fields, readonly=self.readonly, registered=False)

    def members(self, prefix: str) -> list[Field]:
        """Fields directly in the group `prefix` (``"opt."``; ``""`` is the top level)."""
        if prefix not in self._members:
            n = len(prefix)
            self._members[prefix] = [f for f in self.fields if f.name.startswith(prefix) and "." not in f.name[n:]]
        return self._members[prefix]


_REGISTERING = "cardan.model.tables"


def structures() -> dict[str, Struct]:
    """The structures that stages see, by name; the module of a higher floor that describes them is imported first."""
    if "Model" not in Struct.registry:
        import_module(_REGISTERING)
    return Struct.registry


def aligned_buffer(nbytes: int) -> np.ndarray:
    """A zeroed byte buffer whose address is a multiple of 64 (cache lines, vector loads)."""
    raw = np.zeros(nbytes + ALIGNMENT, np.uint8)
    offset = -raw.ctypes.data % ALIGNMENT
    return raw[offset : offset + nbytes]


def capacity_of(field: Field, growable: frozenset[str]) -> str | None:
    """The capacity that the length of a field depends on, or None if its size is fixed."""
    for dim in field.shape:
        if isinstance(dim, str):
            for factor in dim.split("*"):
                if factor in growable:
                    return factor
    return None


def fields_of(struct: Struct, growable: frozenset[str], capacity: str | None) -> tuple[Field, ...]:
    """The array fields that depend on a capacity (None: those of fixed size)."""
    return _by_capacity(struct, growable)[capacity]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the arrays of one buffer stand.

    Attributes:
        places: shape, element type and offset of each array, by its name.
        slots: indices of their slots.
        rows: contents of their slots, addresses relative to the buffer.
        nbytes: size of the buffer.
    """

    places: dict[str, tuple[tuple[int, ...], np.dtype, int]]
    slots: np.ndarray
    rows: np.ndarray
    nbytes: int


def layout_of(struct: Struct, growable: frozenset[str], capacity: str | None, sizes: Mapping[str, int]) -> Layout:
    """Lay out the arrays of a capacity (None: all of fixed size) one after the other, each at a multiple of 8 bytes.

    ``sizes`` are the values of all sizes that the shapes mention, and perhaps more.
    """
    names = _mentioned(struct, growable, capacity)
    return _layout(struct, growable, capacity, tuple([sizes[name] for name in names]))


@lru_cache(maxsize=512)
def _layout(struct: Struct, growable: frozenset[str], capacity: str | None, values: tuple[int, ...]) -> Layout:
    """The layout for values of the sizes that the shapes mention."""
    sizes = dict(zip(_mentioned(struct, growable, capacity), values, strict=True))
    fields = fields_of(struct, growable, capacity)
    extent = {dim: dimension(dim, sizes) for dim in {dim: None for field in fields for dim in field.shape}}
    places: dict[str, tuple[tuple[int, ...], np.dtype, int]] = {}
    rows: list[tuple[int, int, int]] = []
    nbytes = 0
    for field in fields:
        shape = tuple([extent[dim] for dim in field.shape])
        dtype = DTYPES[field.dtype]
        places[field.name] = (shape, dtype, nbytes)
        rows.append((nbytes, shape[0], shape[1] if len(shape) > 1 else 1))
        nbytes += -(-math.prod(shape) * dtype.itemsize // 8) * 8
    slots = np.array([struct.slot[name] for name in places], np.int64)
    return Layout(places, slots, np.array(rows, np.int64).reshape(-1, WORDS), nbytes)


@cache
def _mentioned(struct: Struct, growable: frozenset[str], capacity: str | None) -> tuple[str, ...]:
    """The sizes that the shapes of a capacity's arrays mention."""
    dims = (dim for field in fields_of(struct, growable, capacity) for dim in field.shape if isinstance(dim, str))
    return tuple({factor: None for dim in dims for factor in dim.split("*") if not factor.isdigit()})


@cache
def _by_capacity(struct: Struct, growable: frozenset[str]) -> dict[str | None, tuple[Field, ...]]:
    """The array fields by the capacity that they depend on (None: fixed size)."""
    found: dict[str | None, list[Field]] = {home: [] for home in (None, *growable)}
    for field in struct.fields:
        if not field.is_scalar and not field.is_attached:
            found[capacity_of(field, growable)].append(field)
    return {home: tuple(fields) for home, fields in found.items()}


@cache
def home_of(struct: Struct, growable: frozenset[str]) -> dict[str, str | None]:
    """The capacity (None: fixed size) in whose buffer an array stands, by the name of the array."""
    return {f.name: home for home in (None, *growable) for f in fields_of(struct, growable, home)}


@cache
def scalars_of(struct: Struct) -> dict[str, int]:
    """Slots of the scalar fields."""
    return {field.name: i for i, field in enumerate(struct.fields) if field.is_scalar}


class Views(dict[str, np.ndarray]):
    """Views of memory by field name, each made when it is first asked for: a structure has hundreds of fields.

    Who looks at all of them gets all of them.
    """

    def make(self, name: str) -> np.ndarray:
        """The view of a field; KeyError if there is no such field."""
        raise KeyError(name)

    def names(self) -> Collection[str]:
        """Names of all fields that `make` can make."""
        return ()

    def __missing__(self, name: str) -> np.ndarray:
        return self.setdefault(name, self.make(name))

    def complete(self) -> Self:
        """Make all views."""
        for name in self.names():
            self[name]
        return self

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in self.names()

    def __iter__(self) -> Iterator[str]:
        self.complete()
        return super().__iter__()

    def keys(self) -> dict_keys[str, np.ndarray]:
        """Names of all views."""
        self.complete()
        return super().keys()

    def values(self) -> dict_values[str, np.ndarray]:
        """All views."""
        self.complete()
        return super().values()

    def items(self) -> dict_items[str, np.ndarray]:
        """All views with their names."""
        self.complete()
        return super().items()


class Arrays(Views):
    """Arrays of a structure, in their buffers.

    Attributes:
        home: the capacity (None: fixed size) in whose buffer an array stands, by the array's name.
        buffers: layout and memory of each buffer.
    """

    def __init__(self, home: dict[str, str | None]) -> None:
        super().__init__()
        self.home = home
        self.buffers: dict[str | None, tuple[Layout, np.ndarray]] = {}

    def make(self, name: str) -> np.ndarray:
        """The view of an array."""
        layout, buffer = self.buffers[self.home[name]]
        shape, dtype, offset = layout.places[name]
        return np.ndarray(shape, dtype, buffer.data, offset)

    def names(self) -> Collection[str]:
        """Names of the arrays that aren't attached."""
        return self.home

    def replace(self, capacity: str | None, layout: Layout, buffer: np.ndarray) -> None:
        """Put the arrays of a capacity into another buffer."""
        if capacity in self.buffers:
            for name in layout.places:
                self.pop(name, None)
        self.buffers[capacity] = layout, buffer


class Scalars(Views):
    """Scalars of a structure in its slot table, as arrays of one number."""

    def __init__(self, struct: Struct, slots: np.ndarray) -> None:
        super().__init__()
        self.struct = struct
        self.slots = slots

    def make(self, name: str) -> np.ndarray:
        """The view of a scalar."""
        slot = scalars_of(self.struct)[name]
        return self.slots[slot, :1].view(self.struct.fields[slot].numpy_dtype)[:1]

    def names(self) -> Collection[str]:
        """Names of the scalars."""
        return scalars_of(self.struct)


class StructMemory:
    """Memory of one instance: slot table, array storage and scalar views.

    Fields whose names are in `growable` get storage of their own, replaced when a capacity grows; all other arrays
    stand in one buffer.

    Args:
        struct: the description.
        sizes: values of all sizes that the shapes mention, capacities included.
        growable: names of capacities (sizes) that may grow; arrays that mention one live in the arena.
        slots: the slot table, if it stands in memory of the caller's.
        buffers: storage by capacity (None: arrays of fixed size), laid out as `layout_of` says; made if not given.
    """

    def __init__(
        self,
        struct: Struct,
        sizes: Mapping[str, int],
        growable: Iterable[str] = (),
        slots: np.ndarray | None = None,
        buffers: Mapping[str | None, np.ndarray] = MappingProxyType({}),
    ) -> None:
        self.struct = struct
        self.sizes = dict(sizes)
        self.growable = frozenset(growable)
        self.slots = np.zeros((len(struct.fields), WORDS), np.int64) if slots is None else slots
        self.arrays = Arrays(home_of(struct, self.growable))
        self.scalars = Scalars(struct, self.slots)
        self.elsewhere: set[str] = set()  # arrays that have a place in a buffer, but were attached from elsewhere
        self.buffer = self._place(None, buffers.get(None))
        self.arena: dict[str, np.ndarray] = {
            capacity: self._place(capacity, buffers.get(capacity)) for capacity in self.growable
        }

    @property
    def address(self) -> int:
        """Address of the slot table: what native stages receive."""
        return self.slots.ctypes.data

    @property
    def arena_nbytes(self) -> int:
        """Bytes held by the growable arrays."""
        return sum(buffer.nbytes for buffer in self.arena.values())

    def take_values(self, other: StructMemory) -> None:
        """Copy all values but attached ones from `other`, which has the same sizes, maybe in another precision."""
        for field in self.struct.fields:
            if field.is_scalar:
                self.scalars[field.name][...] = other.scalars[field.name]
            elif not field.is_attached:
                self.arrays[field.name][...] = other.arrays[field.name]

    def grow(self, capacity: str, size: int) -> None:
        """Enlarge the arrays that are sized by `capacity`, keeping their contents."""
        old = {f.name: self.arrays[f.name] for f in fields_of(self.struct, self.growable, capacity)}
        self.sizes[capacity] = size
        self.arena[capacity] = self._place(capacity)
        for name, array in old.items():
            new = self.arrays[name]
            new[tuple(slice(0, n) for n in array.shape)] = array

    def attach(self, name: str, array: np.ndarray) -> None:
        """Make the field `name` (of first dimension ``"any"``) refer to `array`, which is kept alive."""
        field = self.struct.by_name[name]
        array = np.ascontiguousarray(array, field.numpy_dtype)
        self.arrays[name] = array
        if name in self.arrays.home:
            self.elsewhere.add(name)
        columns = array.shape[1] if array.ndim > 1 else 1
        self.slots[self.struct.slot[name]] = array.ctypes.data, array.shape[0], columns

    def set_scalars(self, values: Mapping[str, float]) -> None:
        """Set many scalars, by name, at once."""
        slot, by_name = self.struct.slot, self.struct.by_name
        groups: dict[str, tuple[list[int], list[float]]] = {}
        for name, value in values.items():
            slots, numbers = groups.setdefault(by_name[name].dtype, ([], []))
            slots.append(slot[name])
            numbers.append(value)
        for dtype, (slots, numbers) in groups.items():
            self.slots.view(DTYPES[dtype])[slots, 0] = numbers

    def copy_from(self, other: StructMemory) -> None:
        """Copy all values from `other`, which has the same sizes up to capacities."""
        for capacity in self.growable:
            if self.sizes[capacity] < other.sizes[capacity]:
                self.grow(capacity, other.sizes[capacity])
        self.buffer[:] = other.buffer
        for name in other.elsewhere:
            self.arrays[name][...] = other.arrays[name]
        scalars = list(scalars_of(self.struct).values())
        self.slots[scalars] = other.slots[scalars]
        for capacity in self.growable:
            for field in fields_of(self.struct, self.growable, capacity):
                array = other.arrays[field.name]
                self.arrays[field.name][tuple(slice(0, n) for n in array.shape)] = array

    def _place(self, capacity: str | None, buffer: np.ndarray | None = None) -> np.ndarray:
        """Put the arrays of a capacity (None: fixed size) into a buffer, or a new one; point their slots at it."""
        layout = layout_of(self.struct, self.growable, capacity, self.sizes)
        if buffer is None:
            buffer = aligned_buffer(layout.nbytes)
        self.arrays.replace(capacity, layout, buffer)
        rows = layout.rows.copy()
        rows[:, 0] += buffer.ctypes.data
        self.slots[layout.slots] = rows
        return buffer
