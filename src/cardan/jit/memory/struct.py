"""Structures in memory: a table of slots that native code and Python share.

A structure is a list of fields. Each instance owns a *slot table* with three 64-bit words for each field. For an array,
the words are address, length and second dimension; for a scalar, the first word holds the value. Native stages get the
address of the slot table and nothing else; the NumPy views of the Python classes refer to the same memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from struct import Struct as Packer
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from cardan.jit.memory.fields import DTYPES, WORDS, Struct
from cardan.jit.memory.layout import (
    Layout,
    address_of,
    aligned_buffer,
    fields_of,
    home_of,
    inner_of,
    layout_of,
    scalars_of,
)

if TYPE_CHECKING:
    from _collections_abc import dict_items, dict_keys, dict_values

_WORDS = Packer(f"{WORDS}q")
_pack_into: Callable[..., None] = _WORDS.pack_into
_NOTHING = np.empty(0, np.uint8)


class Views(dict[str, np.ndarray]):
    """Views of memory by field name. Each view is made on first use, because a structure has hundreds of fields.

    Iterating over `Views` makes all views.
    """

    def make(self, name: str) -> np.ndarray:
        """Return a new view of field `name`. Raises KeyError if the field does not exist."""
        raise KeyError(name)

    def names(self) -> Collection[str]:
        """Return the names of all fields for which `make` can make a view."""
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
        """Return the names of all views."""
        self.complete()
        return super().keys()

    def values(self) -> dict_values[str, np.ndarray]:
        """Return all views."""
        self.complete()
        return super().values()

    def items(self) -> dict_items[str, np.ndarray]:
        """Return all views with their names."""
        self.complete()
        return super().items()


class Arrays(Views):
    """Arrays of a structure, in their buffers.

    Attributes:
        home: by array name, the capacity (None: fixed size) whose buffer contains the array.
        buffers: layout and memory of each buffer.
        attached: by name, functions that make the views of attached arrays that have not been used yet.
    """

    def __init__(self, home: dict[str, str | None]) -> None:
        super().__init__()
        self.home = home
        self.buffers: dict[str | None, tuple[Layout, np.ndarray]] = {}
        self.attached: dict[str, Callable[[str], np.ndarray]] = {}

    def make(self, name: str) -> np.ndarray:
        """Return a new view of an array."""
        if name in self.attached:
            return self.attached.pop(name)(name)
        layout, buffer = self.buffers[self.home[name]]
        shape, dtype, offset = layout.places[name]
        return np.ndarray(shape, dtype, buffer, offset)

    def names(self) -> Collection[str]:
        """Return the names of all arrays in buffers, and of attached arrays that have no view yet."""
        return {**self.home, **self.attached} if self.attached else self.home

    def forget(self, layout: Layout) -> None:
        """Discard the views of the arrays of a layout, so that they are made again from the new buffer."""
        for name in layout.places:
            self.pop(name, None)


class Scalars(Views):
    """Scalars of a structure, as views of its slot table with one element each."""

    def __init__(self, struct: Struct, slots: np.ndarray) -> None:
        super().__init__()
        self.struct = struct
        self.slots = slots

    def make(self, name: str) -> np.ndarray:
        """Return a new view of a scalar."""
        slot = scalars_of(self.struct)[name]
        return self.slots[slot, :1].view(self.struct.fields[slot].numpy_dtype)[:1]

    def names(self) -> Collection[str]:
        """Return the names of the scalars."""
        return scalars_of(self.struct)


class Link:
    """Arrays that one structure shares with another. `names` maps names in this structure to names in the other."""

    __slots__ = ("_slots", "names")

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = dict(names)
        self._slots: tuple[np.ndarray, np.ndarray] | None = None

    def slots(self, here: Struct, there: Struct) -> tuple[np.ndarray, np.ndarray]:
        """Return the arrays' slots in both structures. Calls must pass the same structures: the result is cached."""
        if self._slots is None:
            mine = [here.slot[name] for name in self.names]
            self._slots = np.array(mine), np.array([there.slot[name] for name in self.names.values()])
        return self._slots


class Shared(NamedTuple):
    """Attached arrays that many instances share, by name, and the indices and contents of their slots."""

    arrays: dict[str, np.ndarray]
    slots: np.ndarray
    rows: np.ndarray


class StructMemory:
    """Memory of one instance: slot table, array storage and scalar views.

    Each capacity in `growable` has a buffer for the arrays whose sizes depend on the capacity. When the capacity grows,
    the buffer is replaced. All other arrays are in one buffer.

    Args:
        struct: the description.
        sizes: values of all sizes that the shapes mention, capacities included.
        growable: names of capacities (sizes) that may grow; arrays whose shapes mention one are in the arena.
        slots: memory for the slot table; allocated if not given.
        buffers: storage by capacity (None: arrays of fixed size), laid out by `layout_of`; made if not given.

    Attributes:
        address: address of the slot table: the argument of native stages.
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
        """Bytes allocated for the growable arrays."""
        return sum(buffer.nbytes for buffer in self.arena.values())

    def take_values(self, other: StructMemory) -> None:
        """Copy all values except attached arrays from `other`. Sizes must be the same; the precision may differ."""
        for field in self.struct.fields:
            if field.is_scalar:
                self.scalars[field.name][...] = other.scalars[field.name]
            elif not field.is_attached:
                self.arrays[field.name][...] = other.arrays[field.name]

    def grow(self, capacity: str, size: int) -> None:
        """Increase `capacity` to `size`: enlarge the arrays whose shapes mention it, and keep their contents.

        If a signal handler raises an exception, the arrays are either unchanged or enlarged.
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
        # plain assignments: no signal handler runs between them
        self.arrays.buffers[capacity] = layout, buffer
        self.slots[layout.slots] = rows
        self.arena[capacity] = buffer
        self.sizes[capacity] = size

    def attach(self, name: str, array: np.ndarray) -> None:
        """Make the array field `name` refer to `array`, or to a copy with the right type and order; keep it alive."""
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

    def shared(self, names: Iterable[str]) -> Shared:
        """Return attached arrays of this memory; other memories attach them with `share`."""
        arrays = {name: self.arrays[name] for name in names}
        slots = np.array([self.struct.slot[name] for name in arrays], np.int64)
        return Shared(arrays, slots, self.slots[slots])

    def share(self, shared: Shared) -> None:
        """Attach all shared arrays of another memory (see `shared`) in one step."""
        self.slots[shared.slots] = shared.rows
        self.arrays.update(shared.arrays)  # done last, because the previous arrays are in use until here

    def attach_new(self, lengths: Mapping[str, int]) -> None:
        """Allocate and attach uninitialised arrays of one element type, with the given first dimensions (`lengths`).

        The second dimensions are those of the fields.
        """
        names = tuple(lengths)
        dtype, columns = inner_of(self.struct, names)
        step = max(1, 8 // dtype.itemsize)  # each begins at a multiple of 8 bytes
        places: dict[str, tuple[int, int, int]] = {}
        start = 0
        for name, n in zip(names, columns, strict=True):
            places[name] = start, lengths[name], n
            start += -(-lengths[name] * n // step) * step
        block = np.empty(start, dtype)
        address, itemsize = address_of(block), dtype.itemsize
        for name, (first, length, n) in places.items():
            _pack_into(self.slots, self.struct.words_of[name][0], address + first * itemsize, length, n)
        fields = self.struct.by_name  # views have no reference to this memory, so that it is freed with its last user

        def view(name: str) -> np.ndarray:
            start, length, n = places[name]
            array = block[start : start + length * n]
            return array.reshape(length, n) if len(fields[name].shape) > 1 else array

        self.arrays.attached |= dict.fromkeys(lengths, view)

    def link(self, other: StructMemory, link: Link) -> None:
        """Attach the arrays of `other` that `link` names. `other` must live at least as long as this memory."""
        mine, theirs = link.slots(self.struct, other.struct)
        self.slots[mine] = other.slots[theirs]
        fields, names = self.struct.by_name, link.names

        def view(name: str) -> np.ndarray:
            array = other.arrays[names[name]]
            return array.reshape(-1) if array.ndim > 1 == len(fields[name].shape) else array

        self.arrays.attached |= dict.fromkeys(names, view)

    def set_scalars(self, values: Mapping[str, float]) -> None:
        """Set many scalars at once; `values` are the new values, by name."""
        slot, by_name = self.struct.slot, self.struct.by_name
        groups: dict[str, tuple[list[int], list[float]]] = {}
        for name, value in values.items():
            slots, numbers = groups.setdefault(by_name[name].dtype, ([], []))
            slots.append(slot[name])
            numbers.append(value)
        for dtype, (slots, numbers) in groups.items():
            self.slots.view(DTYPES[dtype])[slots, 0] = numbers

    def copy_from(self, other: StructMemory) -> None:
        """Copy all values from `other`. All sizes except capacities must be the same.

        Capacities that are smaller than those of `other` are increased.
        """
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
        """Put the arrays of a capacity (None: of fixed size) into `buffer` or a new buffer, and set their slots."""
        layout = layout_of(self.struct, self.growable, capacity, self.sizes)
        if buffer is None:
            buffer = aligned_buffer(layout.nbytes)
        self.arrays.buffers[capacity] = layout, buffer
        if len(layout.slots):
            rows = layout.rows.copy()
            rows[:, 0] += address_of(buffer)
            self.slots[layout.slots] = rows
        return buffer
