"""Structures in memory: a table of slots that native code and Python share.

A structure is a list of fields. Its instances own a *slot table*: three 64-bit words a field. For an array the words
are address, length and second dimension; for a scalar the first word holds the value itself. Native stages get the
address of the slot table and nothing else; the NumPy views of the Python classes look at the same memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from ctypes import addressof, c_char
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib import import_module
from math import prod
from struct import Struct as Packer
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import numpy as np

from cardan.jit.memory.fields import DTYPES, Field, dimension

if TYPE_CHECKING:
    from _collections_abc import dict_items, dict_keys, dict_values

WORDS = 3
_WORDS = Packer(f"{WORDS}q")
_pack_into: Callable[..., None] = _WORDS.pack_into
ALIGNMENT = 64
_LARGEST = 2.0**53  # bytes; beyond it nothing is laid out, since there is no such memory


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
    def words_of(self) -> dict[str, tuple[int, np.dtype]]:
        """Where in the slot table each array's slot begins, in bytes, and the array's element type."""
        return {field.name: (8 * WORDS * slot, field.numpy_dtype) for slot, field in enumerate(self.fields)}

    @cached_property
    def is_attached(self) -> bool:
        """Whether all arrays are made elsewhere."""
        return all(field.is_scalar or field.is_attached for field in self.fields)

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


_at: Callable[..., c_char] = c_char.from_buffer
_PLACE = c_char()
_NOWHERE = addressof(_PLACE)
"""Stands for the address of an array without elements."""


def address_of(array: np.ndarray) -> int:
    """Address of the first element of an array, if there is one, in a fifth of the time of ``array.ctypes.data``."""
    try:
        return addressof(_at(array))
    except (TypeError, ValueError):  # empty, not in one piece, or not writable
        return array.__array_interface__["data"][0] if array.nbytes else _NOWHERE


def aligned_buffer(nbytes: int) -> np.ndarray:
    """A zeroed byte buffer whose address is a multiple of 64 (cache lines, vector loads)."""
    return _aligned(np.zeros(nbytes + ALIGNMENT, np.uint8), nbytes)


def _aligned(raw: np.ndarray, nbytes: int) -> np.ndarray:
    """The part of a buffer that begins at a multiple of 64."""
    offset = -address_of(raw) % ALIGNMENT
    return raw[offset : offset + nbytes]


def buffer_without(struct: Struct, sizes: Mapping[str, int], filled: Collection[str]) -> np.ndarray:
    """A buffer for the arrays of fixed size, zero but for those of the names ``filled``, which the caller fills."""
    layout = layout_of(struct, frozenset(), None, sizes)
    buffer, start = _aligned(np.empty(layout.nbytes + ALIGNMENT, np.uint8), layout.nbytes), 0
    for offset, nbytes in sorted(layout.places.extent(name) for name in filled):
        buffer[start:offset] = 0
        start = offset + nbytes
    buffer[start:] = 0
    return buffer


_NOTHING = np.empty(0, np.uint8)


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


Place = tuple[tuple[int, ...], np.dtype, int]
"""Shape, element type and offset of an array in a buffer."""


class Places(Mapping[str, Place]):
    """Where arrays of one buffer stand, by their names: of hundreds of arrays few are ever looked for.

    Attributes:
        offsets: offset of each array, by its number.
    """

    __slots__ = ("_counts", "_plan", "_shapes", "offsets")

    def __init__(self, plan: _Plan, shapes: list[list[int]], offsets: list[int]) -> None:
        self._plan = plan
        self._shapes = shapes
        self._counts: list[int] | None = None
        self.offsets = offsets

    @property
    def counts(self) -> list[int]:
        """How many elements each array has, by its number."""
        if self._counts is None:
            self._counts = [prod(shape) for shape in self._shapes]
        return self._counts

    def __getitem__(self, name: str) -> Place:
        plan = self._plan
        i = plan.index[name]
        return tuple(self._shapes[i][: plan.ndim[i]]), plan.dtypes[i], self.offsets[i]

    def extent(self, name: str) -> tuple[int, int]:
        """Offset of an array and its bytes."""
        shape, dtype, offset = self[name]
        return offset, prod(shape) * dtype.itemsize

    def __contains__(self, name: object) -> bool:
        return name in self._plan.index

    def __iter__(self) -> Iterator[str]:
        return iter(self._plan.index)

    def __len__(self) -> int:
        return len(self._plan.index)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the arrays of one buffer stand.

    Attributes:
        places: shape, element type and offset of each array, by its name.
        slots: indices of their slots.
        rows: contents of their slots, addresses relative to the buffer.
        nbytes: size of the buffer.
    """

    places: Places
    slots: np.ndarray
    rows: np.ndarray
    nbytes: int


def layout_of(struct: Struct, growable: frozenset[str], capacity: str | None, sizes: Mapping[str, int]) -> Layout:
    """Lay out the arrays of a capacity (None: all of fixed size) one after the other, each at a multiple of 8 bytes.

    ``sizes`` are the values of all sizes that the shapes mention, and perhaps more.
    """
    plan = _plan(struct, growable, capacity)
    return _layout(plan, tuple([sizes[name] for name in plan.sizes]))


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """What the layouts of one capacity's arrays have in common, whatever the sizes are.

    Attributes:
        index: number of each array, by its name.
        slots: its slot; dtypes, itemsize, ndim: its element type, that type's bytes, its number of dimensions.
        sizes: names of the sizes that shapes mention.
        products: factors of each different dimension: numbers of sizes, or numbers themselves.
        extents: for each array the number among `products` of each of its dimensions, up to the most that any has;
            beyond its own that of the number 1.
    """

    index: dict[str, int]
    slots: np.ndarray
    dtypes: list[np.dtype]
    itemsize: np.ndarray
    ndim: list[int]
    sizes: tuple[str, ...]
    products: tuple[int | str, ...]
    extents: np.ndarray


@cache
def _plan(struct: Struct, growable: frozenset[str], capacity: str | None) -> _Plan:
    """The plan of a capacity's arrays."""
    fields = fields_of(struct, growable, capacity)
    products = tuple(dict.fromkeys((1, *(dim for field in fields for dim in field.shape))))
    number = {dim: k for k, dim in enumerate(products)}
    deepest = max((2, *(len(field.shape) for field in fields)))
    extents = [[*(number[dim] for dim in field.shape), *[0] * (deepest - len(field.shape))] for field in fields]
    factors = (factor for dim in products if isinstance(dim, str) for factor in dim.split("*"))
    dtypes = [DTYPES[field.dtype] for field in fields]
    return _Plan(
        {field.name: k for k, field in enumerate(fields)},
        np.array([struct.slot[field.name] for field in fields], np.int64),
        dtypes,
        np.array([dtype.itemsize for dtype in dtypes], np.float64),
        [len(field.shape) for field in fields],
        tuple({factor: None for factor in factors if not factor.isdigit()}),
        products,
        np.array(extents, np.int64).reshape(-1, deepest),
    )


@lru_cache(maxsize=512)
def _layout(plan: _Plan, values: tuple[int, ...]) -> Layout:
    """The layout for values of the sizes that the shapes mention."""
    sizes = dict(zip(plan.sizes, values, strict=True))
    # real numbers: sizes that somebody mistyped must not wrap around before they are found too large
    extent = np.array([sizes[d] if d in sizes else dimension(d, sizes) for d in plan.products], np.float64)
    shapes = extent[plan.extents]
    ends = (np.ceil(shapes.prod(axis=1) * plan.itemsize / 8.0) * 8.0).cumsum()
    total = ends[-1] if len(ends) else 0.0
    rows = np.zeros((len(shapes), WORDS), np.int64)
    if total < _LARGEST:
        rows[1:, 0] = ends[:-1]
        rows[:, 1:] = shapes[:, : WORDS - 1]
    whole = shapes.astype(np.int64).tolist()
    return Layout(Places(plan, whole, rows[:, 0].tolist()), plan.slots, rows, int(total))


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


@cache
def _inner_of(struct: Struct, names: tuple[str, ...]) -> tuple[np.dtype, list[int]]:
    """Element type of several attached fields, and the second dimension of each."""
    fields = [struct.by_name[name] for name in names]
    return fields[0].numpy_dtype, [int(field.shape[1]) if len(field.shape) > 1 else 1 for field in fields]


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
        attached: attached arrays that nobody has looked at yet: what makes their views.
    """

    def __init__(self, home: dict[str, str | None]) -> None:
        super().__init__()
        self.home = home
        self.buffers: dict[str | None, tuple[Layout, np.ndarray]] = {}
        self.attached: dict[str, Callable[[str], np.ndarray]] = {}

    def make(self, name: str) -> np.ndarray:
        """The view of an array."""
        if name in self.attached:
            return self.attached.pop(name)(name)
        layout, buffer = self.buffers[self.home[name]]
        shape, dtype, offset = layout.places[name]
        return np.ndarray(shape, dtype, buffer, offset)

    def names(self) -> Collection[str]:
        """Names of the arrays that have a place, or are attached and have no view yet."""
        return {**self.home, **self.attached} if self.attached else self.home

    def forget(self, layout: Layout) -> None:
        """Forget the views of the arrays of a layout: they are made again from their buffer."""
        for name in layout.places:
            self.pop(name, None)


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


class Link:
    """Which arrays of one structure are those of another: names there, by names here."""

    __slots__ = ("_slots", "names")

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = dict(names)
        self._slots: tuple[np.ndarray, np.ndarray] | None = None

    def slots(self, here: Struct, there: Struct) -> tuple[np.ndarray, np.ndarray]:
        """Slots of the arrays here and there; always of the same two structures."""
        if self._slots is None:
            mine = [here.slot[name] for name in self.names]
            self._slots = np.array(mine), np.array([there.slot[name] for name in self.names.values()])
        return self._slots


class Shared(NamedTuple):
    """Attached arrays that many instances share, by name, with the numbers and contents of their slots."""

    arrays: dict[str, np.ndarray]
    slots: np.ndarray
    rows: np.ndarray


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

    Attributes:
        address: address of the slot table: what native stages receive.
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
        self.address = address_of(self.slots)
        self.arrays = Arrays(home_of(struct, self.growable))
        self.scalars = Scalars(struct, self.slots)
        self.elsewhere: set[str] = set()  # arrays that have a place in a buffer, but were attached from elsewhere
        self.buffer = _NOTHING if struct.is_attached else self._place(None, buffers.get(None))
        self.arena: dict[str, np.ndarray] = {
            capacity: self._place(capacity, buffers.get(capacity)) for capacity in self.growable
        }

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
        """Enlarge the arrays that are sized by `capacity`, keeping their contents.

        An exception of a signal handler leaves them as they were, or enlarged.
        """
        layout = layout_of(self.struct, self.growable, capacity, {**self.sizes, capacity: size})
        buffer = aligned_buffer(layout.nbytes)
        for name in layout.places:
            old = self.arrays[name]
            shape, dtype, offset = layout.places[name]
            np.ndarray(shape, dtype, buffer, offset)[tuple(slice(0, n) for n in old.shape)] = old
        rows = layout.rows.copy()
        rows[:, 0] += address_of(buffer)
        self.arrays.forget(layout)
        # assignments alone: between them no signal handler runs
        self.arrays.buffers[capacity] = layout, buffer
        self.slots[layout.slots] = rows
        self.arena[capacity] = buffer
        self.sizes[capacity] = size

    def attach(self, name: str, array: np.ndarray) -> None:
        """Make the field `name` (of first dimension ``"any"``) refer to `array`, which is kept alive."""
        start, dtype = self.struct.words_of[name]
        if array.dtype is not dtype or not array.flags.c_contiguous:
            array = np.ascontiguousarray(array, dtype)
        arrays = self.arrays
        arrays[name] = array
        if arrays.attached:
            arrays.attached.pop(name, None)
        if name in arrays.home:
            self.elsewhere.add(name)
        shape = array.shape
        # this takes a tenth of the time of an assignment to a row of `slots`
        _pack_into(self.slots, start, address_of(array), shape[0], shape[1] if len(shape) > 1 else 1)

    def _point(self, name: str, address: int, length: int, inner: int) -> None:
        """Fill the slot of an array."""
        _pack_into(self.slots, self.struct.words_of[name][0], address, length, inner)

    def shared(self, names: Iterable[str]) -> Shared:
        """Attached arrays of this memory, for others to `share`."""
        arrays = {name: self.arrays[name] for name in names}
        slots = np.array([self.struct.slot[name] for name in arrays], np.int64)
        return Shared(arrays, slots, self.slots[slots])

    def share(self, shared: Shared) -> None:
        """Attach arrays of another memory at once."""
        self.slots[shared.slots] = shared.rows
        self.arrays.update(shared.arrays)  # last: the arrays of before are in use up to now

    def attach_new(self, lengths: Mapping[str, int]) -> None:
        """Attach new arrays of one element type, by their first dimensions; they are not initialised.

        Second dimensions are the fields' own.
        """
        names = tuple(lengths)
        dtype, columns = _inner_of(self.struct, names)
        step = max(1, 8 // dtype.itemsize)  # each begins at a multiple of 8 bytes
        places: dict[str, tuple[int, int, int]] = {}
        start = 0
        for name, n in zip(names, columns, strict=True):
            places[name] = start, lengths[name], n
            start += -(-lengths[name] * n // step) * step
        block = np.empty(start, dtype)
        address, itemsize = address_of(block), dtype.itemsize
        for name, (first, length, n) in places.items():
            self._point(name, address + first * itemsize, length, n)
        fields = self.struct.by_name  # no way back from the views to this memory: it ends with its last user

        def view(name: str) -> np.ndarray:
            start, length, n = places[name]
            array = block[start : start + length * n]
            return array.reshape(length, n) if len(fields[name].shape) > 1 else array

        self.arrays.attached |= dict.fromkeys(lengths, view)

    def link(self, other: StructMemory, link: Link) -> None:
        """Attach arrays of another memory, which must live as long as this one."""
        mine, theirs = link.slots(self.struct, other.struct)
        self.slots[mine] = other.slots[theirs]
        fields, names = self.struct.by_name, link.names

        def view(name: str) -> np.ndarray:
            array = other.arrays[names[name]]
            return array.reshape(-1) if array.ndim > 1 == len(fields[name].shape) else array

        self.arrays.attached |= dict.fromkeys(names, view)

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
        alone = not self.elsewhere and not other.elsewhere
        for capacity in self.growable:
            if alone and self.arrays.buffers[capacity][0] is other.arrays.buffers[capacity][0]:  # the layout
                self.arena[capacity][:] = other.arena[capacity]
                continue
            for field in fields_of(self.struct, self.growable, capacity):
                array = other.arrays[field.name]
                self.arrays[field.name][tuple(slice(0, n) for n in array.shape)] = array

    def _place(self, capacity: str | None, buffer: np.ndarray | None = None) -> np.ndarray:
        """Put the arrays of a capacity (None: fixed size) into a buffer, or a new one; point their slots at it."""
        layout = layout_of(self.struct, self.growable, capacity, self.sizes)
        if buffer is None:
            buffer = aligned_buffer(layout.nbytes)
        self.arrays.buffers[capacity] = layout, buffer
        if len(layout.slots):
            rows = layout.rows.copy()
            rows[:, 0] += address_of(buffer)
            self.slots[layout.slots] = rows
        return buffer
