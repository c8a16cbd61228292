"""Columns: the values of one attribute for many elements, and the conversion of columns to fields of the model.

Most elements specify few attributes and share a default class with others. An attribute that no element specifies has
a single value, or one per default class, so that its column is cheap to build.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from struct import Struct, pack_into
from struct import error as NotPackable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.jit.memory.layout import fields_of
from cardan.model.tables import MODEL

if TYPE_CHECKING:
    from cardan.jit.memory.struct import StructMemory
    from cardan.spec.defaults import DefaultClass
    from cardan.spec.element import Element

_FEW = 4  # with up to this many rows, equality of all rows is not checked
_CODES = {"f8": "d", "f4": "f", "i4": "i", "u1": "B", "char": "s"}
_FIELDS = fields_of(MODEL, frozenset(), None)
_ROW_OF = {field.name: (_CODES[field.dtype], k, len(field.shape) == 1) for k, field in enumerate(_FIELDS)}
"""Map from each field to its number format, its index among the arrays, and whether it has a single dimension."""


def fill_columns(memory: StructMemory, columns: Mapping[str, Any]) -> None:
    """Write columns to the model's fields of the same names. Columns that are not fields are skipped.

    A column is a list of rows: numbers, or tuples of numbers. A column of text is a sequence of bytes. Short columns
    are packed with `struct`, which takes a third of the time of an assignment to an array.

    Raises:
        ValueError: the number of values in a column does not match its field.
    """
    layout, home = memory.arrays.buffers[None]
    offsets, counts, buffer = layout.places.offsets, layout.places.counts, home.data
    for name, column in columns.items():
        row = _ROW_OF.get(name)
        if row is None or not column:
            continue
        code, number, is_vector = row
        offset, count = offsets[number], counts[number]
        if code == "s":
            pack_into(f"{count}s", buffer, offset, bytes(column))
            continue
        try:
            if is_vector:
                _packer(code, count).pack_into(buffer, offset, *column)
            elif (
                len(column) > _FEW
                and (first := column[0]) is column[-1]
                and len(column) * len(first) == count
                and not [row for row in column if row is not first]
            ):
                data = _packer(code, len(first)).pack(*first)
                buffer[offset : offset + len(data) * len(column)] = data * len(column)
            else:
                _packer(code, count).pack_into(buffer, offset, *chain.from_iterable(column))
        except (NotPackable, OverflowError):  # not Python numbers, out of range for the type, or too few
            _assign(memory.arrays[name], name, column)


def _assign(array: np.ndarray, name: str, column: Sequence[Any]) -> None:
    values = np.array(column if array.ndim == 1 else [*chain.from_iterable(column)])
    if values.size != array.size:
        raise ValueError(f"{name} has the shape {array.shape}, but its column holds {values.size} numbers")
    array[...] = values.reshape(array.shape)


@lru_cache(maxsize=1024)
def _packer(code: str, count: int) -> Struct:
    """Return a `Struct` that packs `count` numbers of the type `code`."""
    return Struct(f"{count}{code}")


Table = dict[str, tuple[str, Mapping[str, int] | None]]
"""Map from each field to an attribute, whose values it holds, and the numbers of the attribute's keywords or None."""


def table(prefix: str, *same: str, **others: str | tuple[str, Mapping[str, int]]) -> Table:
    """Make the table of fields that are copied from attributes, for `Resolved.columns`.

    ``prefix`` is the first word of the fields' names, like ``geom``. ``same`` are attributes that are copied to the
    field ``<prefix>_<attribute>``. ``others`` maps other fields, without the prefix, to the name of the attribute, or
    to its name and a map from its keywords to integers.
    """
    rows: Table = {f"{prefix}_{name}": (name, None) for name in same}
    for field, source in others.items():
        rows[f"{prefix}_{field}"] = (source, None) if isinstance(source, str) else source
    return rows


def split_powers(columns: dict[str, list[Any]], *names: str) -> None:
    """Split columns of polynomials: linear coefficients stay, higher ones become the column ``<name>poly``.

    Columns without higher coefficients are left as they are.
    """
    for name in names:
        column = columns[name]
        if any(isinstance(value, tuple) for value in column):
            rows = [(*value, 0.0)[:3] if isinstance(value, tuple) else (value, 0.0, 0.0) for value in column]
            columns[name] = [row[0] for row in rows]
            columns[name + "poly"] = [row[1:] for row in rows]


class Resolved:
    """Attribute values of several elements: explicit values, values of the default class, or MJCF's defaults.

    Attributes of actuators are not converted to the general form. While this object is used, the elements must not be
    changed. ``given`` holds the elements' explicit attributes. ``bases`` holds the values of all other attributes; the
    default is the result of `bases_of`.
    """

    __slots__ = ("_bases", "_distinct", "_explicit", "_partial", "elements", "given")

    def __init__(self, elements: Sequence[Element], bases: list[dict[str, Any]] | None = None) -> None:
        self.elements = elements
        self.given = [element.attributes for element in elements]
        self._bases = bases_of(elements) if bases is None else bases
        self._distinct = [*{id(base): base for base in self._bases}.values()]
        self._explicit: set[str] = set().union(*self.given)
        rows = {element.row for element in elements}
        self._partial: frozenset[str] = frozenset().union(*(row.partial for row in rows))

    def __len__(self) -> int:
        return len(self.elements)

    def __getitem__(self, name: str) -> list[Any]:
        """Return the values of an attribute, one for each element. Every element must know the attribute."""
        bases = self._bases
        if name not in self._explicit:
            if len(self._distinct) == 1:
                return [bases[0][name]] * len(bases)
            return [base[name] for base in bases]
        if len(self._distinct) == 1:
            default = bases[0][name]
            column = [given.get(name, default) for given in self.given]
        else:
            column = [
                given[name] if name in given else base[name] for given, base in zip(self.given, bases, strict=True)
            ]
        return self._completed(name, column) if name in self._partial else column

    def columns(self, table: Table) -> dict[str, list[Any]]:
        """Return the columns of the fields in a `table`, by field."""
        return {
            field: self[name] if numbers is None else [*map(numbers.__getitem__, self[name])]
            for field, (name, numbers) in table.items()
        }

    def _completed(self, name: str, column: list[Any]) -> list[Any]:
        """Complete short vectors with the last values of their defaults, in place; return the column."""
        for i, value in enumerate(column):
            below = self._bases[i].get(name)
            if below is not None and value is not None and len(value) < len(below):
                column[i] = value + below[len(value) :]
        return column

    def get(self, name: str, missing: Any) -> list[Any]:
        """Return the values of an attribute, one for each element; ``missing`` if an element has no such attribute."""
        if name not in self._explicit and not any(name in base for base in self._distinct):
            return [missing] * len(self._bases)
        column = [
            given[name] if name in given else base.get(name, missing)
            for given, base in zip(self.given, self._bases, strict=True)
        ]
        return self._completed(name, column) if name in self._partial else column

    def any(self, name: str) -> bool:
        """Return False if the attribute is certainly false in all elements. True means that it may be true in one."""
        return name in self._explicit or any(base[name] for base in self._distinct)

    def any_but(self, name: str, value: Any) -> bool:
        """Return False if the attribute is certainly `value` in all elements. True means that it may differ in one."""
        return name in self._explicit or any(base[name] != value for base in self._distinct)

    def check_finite(self, name: str) -> None:
        """Raise MjcfError if a real attribute of an element is NaN or infinite in any component."""
        for number, value in enumerate(self[name]):
            if not np.isfinite(value).all():
                raise self.elements[number].error(f"must be finite, not {value}", name)

    def one(self, number: int) -> dict[str, Any]:
        """Return the values of all attributes of one element."""
        return self.elements[number].resolved()


def rows_of(element: Element, values: Mapping[str, Any], name: str, width: int, dtype: Any = np.float64) -> np.ndarray:
    """Return the values of an attribute as an array (n, ``width``). Raises MjcfError if the last row is incomplete.

    ``name`` is the attribute's name, ``values`` are all attributes of the ``element``, and ``dtype`` is the data type
    of the array.
    """
    flat = values[name] or ()
    if len(flat) % width:
        raise element.error(f"the number of values must be a multiple of {width}, found {len(flat)}", name)
    return np.array(flat, dtype).reshape(-1, width)


def bases_of(
    elements: Sequence[Element], defaults: Mapping[str, dict[str, Any]] = MappingProxyType({})
) -> list[dict[str, Any]]:
    """Return, for each element, the attribute values of its default class, or MJCF's defaults if it has no class.

    ``defaults`` contains values to use in place of MJCF's defaults, by the element's tag.
    """
    bases: list[dict[str, Any]] = []
    for element, cls in zip(elements, classes_of(elements), strict=True):
        row = element.row
        usual = row.defaults_in(element.tree.compat)
        bases.append(defaults.get(row.tag, usual) if cls is None else cls.base(row))
    return bases


def classes_of(elements: Sequence[Element]) -> list[DefaultClass | None]:
    """Return the default classes of elements; None for elements that cannot have one."""
    classes: list[DefaultClass | None] = []
    around: Element | None = None
    inherited: DefaultClass | None = None
    for element in elements:
        if not element.row.entry:
            classes.append(None)
        elif element.attributes.get("class"):
            classes.append(element.default_class)
        else:
            if element.parent is not around or inherited is None:
                around, inherited = element.parent, element.default_class
            classes.append(inherited)
    return classes
