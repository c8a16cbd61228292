"""Memory layout of the arrays of a structure: buffers by capacity, and the offsets of arrays for given sizes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from ctypes import addressof, c_char
from dataclasses import dataclass
from functools import cache, lru_cache
from math import prod

import numpy as np

from cardan.jit.memory.fields import DTYPES, WORDS, Field, Struct, dimension

ALIGNMENT = 64
_LARGEST = 2.0**53  # bytes: no memory is larger, so larger layouts are refused

_at: Callable[..., c_char] = c_char.from_buffer
_PLACE = c_char()
_NOWHERE = addressof(_PLACE)
"""Valid address that is used for arrays without elements."""


def address_of(array: np.ndarray) -> int:
    """Return the address of an array's first element, five times as fast as ``array.ctypes.data``."""
    try:
        return addressof(_at(array))
    except (TypeError, ValueError):  # empty, not in one piece, or not writable
        return array.__array_interface__["data"][0] if array.nbytes else _NOWHERE


def aligned_buffer(nbytes: int) -> np.ndarray:
    """Allocate a byte buffer, filled with 0, whose address is a multiple of 64 (cache lines, vector loads)."""
    return _aligned(np.zeros(nbytes + ALIGNMENT, np.uint8), nbytes)


def _aligned(raw: np.ndarray, nbytes: int) -> np.ndarray:
    offset = -address_of(raw) % ALIGNMENT
    return raw[offset : offset + nbytes]


def buffer_without(struct: Struct, sizes: Mapping[str, int], filled: Collection[str]) -> np.ndarray:
    """Allocate a buffer for the arrays of fixed size, filled with 0 except for the arrays `filled`.

    The caller must fill the arrays `filled`. `sizes` are the values of all sizes in the shapes of `struct`.
    """
    layout = layout_of(struct, frozenset(), None, sizes)
    buffer, start = _aligned(np.empty(layout.nbytes + ALIGNMENT, np.uint8), layout.nbytes), 0
    for offset, nbytes in sorted(layout.places.extent(name) for name in filled):
        buffer[start:offset] = 0
        start = offset + nbytes
    buffer[start:] = 0
    return buffer


def capacity_of(field: Field, growable: frozenset[str]) -> str | None:
    """Return the capacity that the length of a field depends on, or None if its size is fixed."""
    for dim in field.shape:
        if isinstance(dim, str):
            for factor in dim.split("*"):
                if factor in growable:
                    return factor
    return None


def fields_of(struct: Struct, growable: frozenset[str], capacity: str | None) -> tuple[Field, ...]:
    """List the array fields of `struct` whose length depends on `capacity` (None: array fields of fixed size).

    `growable` are the names of all capacities.
    """
    return _by_capacity(struct, growable)[capacity]


Place = tuple[tuple[int, ...], np.dtype, int]
"""Shape, element type and offset of an array in a buffer."""


class Places(Mapping[str, Place]):
    """Shapes and offsets of the arrays of one buffer, by name. Entries are made on demand, because few are ever used.

    Attributes:
        offsets: offset of each array in bytes, by the array's number.
    """

    __slots__ = ("_counts", "_plan", "_shapes", "offsets")

    def __init__(self, plan: _Plan, shapes: list[list[int]], offsets: list[int]) -> None:
        self._plan = plan
        self._shapes = shapes
        self._counts: list[int] | None = None
        self.offsets = offsets

    @property
    def counts(self) -> list[int]:
        """Number of elements of each array, by the array's number."""
        if self._counts is None:
            self._counts = [prod(shape) for shape in self._shapes]
        return self._counts

    def __getitem__(self, name: str) -> Place:
        plan = self._plan
        i = plan.index[name]
        return tuple(self._shapes[i][: plan.ndim[i]]), plan.dtypes[i], self.offsets[i]

    def extent(self, name: str) -> tuple[int, int]:
        """Return offset and size of an array, in bytes."""
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
    """Layout of the arrays of one buffer.

    Attributes:
        places: shape, element type and offset of each array, by name.
        slots: indices of the arrays' slots.
        rows: contents of these slots, with addresses relative to the buffer.
        nbytes: size of the buffer.
    """

    places: Places
    slots: np.ndarray
    rows: np.ndarray
    nbytes: int


def layout_of(struct: Struct, growable: frozenset[str], capacity: str | None, sizes: Mapping[str, int]) -> Layout:
    """Lay out the arrays of `capacity` (None: of fixed size) one after the other, each at a multiple of 8 bytes.

    ``sizes`` has the values of all sizes that the shapes mention; it may contain others.
    """
    plan = _plan(struct, growable, capacity)
    return _layout(plan, tuple([sizes[name] for name in plan.sizes]))


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """The part of a layout that does not depend on the sizes.

    Attributes:
        index: number of each array, by its name.
        slots: slot of each array.
        dtypes: element type of each array.
        itemsize: size in bytes of each array's element type.
        ndim: number of dimensions of each array.
        sizes: names of the sizes that shapes mention.
        products: the distinct dimensions of all arrays, as in `Field.shape`; the first is the number 1.
        extents: for each array, the index into `products` of each dimension; padded with the index of the number 1.
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
    sizes = dict(zip(plan.sizes, values, strict=True))
    # in real numbers, so that huge sizes don't wrap around before they are refused
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
    found: dict[str | None, list[Field]] = {home: [] for home in (None, *growable)}
    for field in struct.fields:
        if not field.is_scalar and not field.is_attached:
            found[capacity_of(field, growable)].append(field)
    return {home: tuple(fields) for home, fields in found.items()}


@cache
def home_of(struct: Struct, growable: frozenset[str]) -> dict[str, str | None]:
    """Return, by array name, the capacity (None: fixed size) whose buffer contains the array."""
    return {f.name: home for home in (None, *growable) for f in fields_of(struct, growable, home)}


@cache
def scalars_of(struct: Struct) -> dict[str, int]:
    """Return the slots of the scalar fields."""
    return {field.name: i for i, field in enumerate(struct.fields) if field.is_scalar}


@cache
def inner_of(struct: Struct, names: tuple[str, ...]) -> tuple[np.dtype, list[int]]:
    """Return the element type that several attached fields share, and the second dimension of each field."""
    fields = [struct.by_name[name] for name in names]
    return fields[0].numpy_dtype, [int(field.shape[1]) if len(field.shape) > 1 else 1 for field in fields]
