"""Base class of all structs. Attributes are generated from the table of the language."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from cardan.errors import MjcfError, MjcfTypeError, suggestion
from cardan.spec.mjspec.values import EXACT_LENGTHS, as_single, to_tree, to_user
from cardan.spec.schema.rows import Type
from cardan.spec.schema.shared import ORIENTATION

if TYPE_CHECKING:
    from cardan.spec.element import Element
    from cardan.spec.mjspec.settings import DefaultEntry
    from cardan.spec.mjspec.specification import Specification
    from cardan.spec.schema.rows import Attribute, ElementRow

AnyStruct = TypeVar("AnyStruct")

# attributes of the language that structs represent in another way
_HANDLED = frozenset({"name", "class", "axisangle", "xyaxes", "zaxis", "euler"})
# assigned before others, whose meaning depends on them
_FIRST = ("type", "trntype", "objtype", "reftype")
_FORMATS = tuple(row.name for row in ORIENTATION)


class Form(NamedTuple):
    """Name of an attribute in structs, and conversion of its values from the tree (``get``) and to it (``put``)."""

    name: str
    get: Callable[[Any], Any]
    put: Callable[[Any], Any] = lambda value: value


class Field:
    """Descriptor of a struct's attribute, stored as an attribute of the struct's element or of a child element.

    ``part`` is the tag of the child element that holds the attribute, or None for the element itself. ``single``:
    real numbers have single precision.
    """

    def __init__(self, row: Attribute, name: str | Form, part: str | None = None, single: bool = False) -> None:
        self.row = row
        self.single = single
        self.name, self.form = (name, None) if isinstance(name, str) else (name.name, name)
        self.part = part
        self.__doc__ = row.meaning

    def __get__(self, struct: Struct | None, owner: type | None = None) -> Any:
        if struct is None:
            return self
        value = struct.read(self.row, self.part)
        if self.form is not None:
            return self.form.get(value)
        if self.row.polynomial and struct.spec.compat == "4.0":
            value = (*np.ravel(value), *(0.0,) * (3 - np.size(value)))
        return to_user(self.row, value, lambda new: self.__set__(struct, new), self.single, struct.plain)

    def __set__(self, struct: Struct, value: Any) -> None:
        if self.single and self.row.high is not None:
            value = as_single(value)
        struct.write(self.row, self.name, value if self.form is None else self.form.put(value), self.part)


def fields(
    row: ElementRow,
    drop: tuple[str, ...] = (),
    part: str | None = None,
    prefix: str = "",
    single: Container[str] = (),
    **names: str | Form,
) -> Callable[[type[AnyStruct]], type[AnyStruct]]:
    """Class decorator: add a field for each attribute of ``row`` that the class does not define.

    Args:
        row: row of the element, or of a child element.
        drop: attributes to leave out, because the struct has them in another form.
        part: tag of the child element, None for the element itself.
        prefix: prefix of the fields' names.
        single: attributes of the language whose real numbers have single precision.
        names: names (or `Form`) of the attributes that have another name in MuJoCo's struct.
    """
    names.setdefault("user", "userdata")

    def decorate(cls: type[AnyStruct]) -> type[AnyStruct]:
        for attribute in row.attributes.values():
            field = Field(attribute, names.get(attribute.name, prefix + attribute.name), part, attribute.name in single)
            if attribute.name not in _HANDLED and attribute.name not in drop and not hasattr(cls, field.name):
                setattr(cls, field.name, field)
        return cls

    return decorate


def _wrong_type(error: MjcfError) -> MjcfTypeError:
    """Return the same error as an error that is also a TypeError."""
    made = MjcfTypeError.__new__(MjcfTypeError, *error.args)
    made.__dict__.update(error.__dict__)
    return made


def _array(struct: type[Struct], name: str, value: Any) -> Any:
    """Return the value of a keyword argument, with zeros for missing sizes.

    Raises:
        ValueError: an array has a wrong number of entries.
    """
    field = getattr(struct, name, None)
    length = EXACT_LENGTHS.get(field) if isinstance(field, property) else None
    if length is not None and len(value) != length:
        raise ValueError(f"{name} should have length {length}, got {len(value)}.")
    row = field.row if isinstance(field, Field) else None
    if row is None or row.type is not Type.REAL or row.high is None or row.scalar or isinstance(value, str | bytes):
        return value
    if not (isinstance(value, Sequence | np.ndarray) and np.ndim(value) == 1) or row.polynomial:
        return value
    low, high = (1, 3) if name == "size" and row.high == 3 else (row.low, row.high)
    if not low <= len(value) <= high:
        wanted = f"{high}" if low == high else f"{low} to {high}"
        raise ValueError(f"{name} should be a list/array of size {wanted}.")
    return [*value, *(0.0,) * (high - len(value))] if low < high == 3 and name == "size" else value


class Struct:
    """One element of a model specification, with MuJoCo's attribute names.

    ``element`` is the corresponding element of the tree, ``spec`` the specification that contains it.
    """

    element: Any  # the tree's Element, or a DefaultEntry
    spec: Specification
    kind: str | None = None  # kind of object, the key in `specification.KINDS`
    plain: ClassVar[bool] = False  # whether keywords and truth values are plain numbers
    absent: ClassVar[Mapping[Any, str]] = {}  # attributes that only MuJoCo's struct has, and why they are missing

    def __init__(self, spec: Specification, element: Element | DefaultEntry) -> None:
        object.__setattr__(self, "spec", spec)
        object.__setattr__(self, "element", element)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.element!r}>"

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is type(self) and other.element is self.element)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self.element)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(self._no_attribute(name))

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(type(self), name):
            raise AttributeError(self._no_attribute(name))
        object.__setattr__(self, name, value)

    def _no_attribute(self, name: str) -> str:
        if name in self.absent:
            return f"{type(self).__name__}.{name} is not supported: {self.absent[name]}"
        return f"{type(self).__name__} has no attribute '{name}'" + suggestion(name, self.attribute_names())

    @classmethod
    @cache
    def attribute_names(cls) -> tuple[str, ...]:
        """Names of the attributes that can be set."""
        names = {name: item for base in cls.__mro__ for name, item in vars(base).items()}
        settable = ((n, isinstance(item, Field) or getattr(item, "fset", None)) for n, item in names.items())
        return tuple(sorted(name for name, can in settable if can and not name.startswith("_")))

    def represent(self, spec: Specification, element: Element) -> None:
        """Represent another element, to which this struct's element was copied: both have the same content."""
        type(self).__init__(self, spec, element)

    def part(self, tag: str, make: bool = False) -> Any:
        """Return the child element with a tag. If there is none, return None or, with ``make``, add one."""
        found = self.element.child(tag)
        return self.element.add(tag) if found is None and make else found

    def read(self, row: Attribute, part: str | None = None) -> Any:
        """Return the resolved value of an attribute in the tree's form. ``part`` is as in `write`.

        If the child element is missing, return the attribute's default.
        """
        holder = self.element if part is None else self.part(part)
        if holder is None:
            return row.default
        values = holder.resolved()
        return values.get(row.name, row.default) if row.alias is None else row.from_alias(values[row.alias])

    def write(self, row: Attribute, name: str, value: Any, part: str | None = None) -> None:
        """Set an attribute of the element or, if ``part`` is given, of the child with this tag. Raises MjcfError.

        A missing child is added. ``name`` is the attribute's name in the struct, for messages; ``value`` is in the form
        of structs. An orientation replaces orientations in other formats.
        """
        element = self.element
        if part is None and row.name not in element.row.attributes:
            raise element.error(f"this kind of element has no {row.name}", name)
        try:
            converted = to_tree(row, value)
        except TypeError as error:
            raise _wrong_type(element.error(str(error), name)) from None
        except ValueError as error:
            raise element.error(str(error), name) from None
        if row.is_noted(converted):
            self.spec.tree.uses_later = True
        holder = element if part is None else self.part(part, make=True)
        holder[row.name] = converted
        if row.name in _FORMATS:
            for other in _FORMATS:
                if other != row.name and other in holder.attributes:
                    holder[other] = None

    def assign(self, values: Mapping[str, Any]) -> None:
        """Set several attributes by name, as the keyword arguments of methods that add elements.

        The value None changes nothing. ``axisangle``, ``ieuler`` and the like set the orientation. Fewer sizes than a
        geom or site can have are extended by zeros.

        Raises:
            TypeError: an attribute is unknown, or a value has a wrong type.
            ValueError: an array has a wrong number of entries, or there are two orientations.
        """
        known = type(self).attribute_names()
        given = {name: value for name, value in values.items() if value is not None}
        for name in values:
            if name not in known and name not in _HANDLED and self._alternative(name) is None:
                raise TypeError(self._no_attribute(name))
        for prefix in ("", "i"):
            words = [prefix + row.name for row in ORIENTATION[1:]]
            if sum(word in given for word in words) > 1:
                raise ValueError(f"Only one of: {', '.join(words[:-1])}, or {words[-1]} can be set.")
        for name in sorted(given, key=lambda name: name not in _FIRST) if len(given) > 1 else given:
            holder, attribute = self._alternative(name) or (self, name)
            setattr(holder, attribute, _array(type(holder), attribute, given[name]))

    def _alternative(self, name: str) -> tuple[Any, str] | None:
        """Return the struct of an orientation and the attribute for a keyword like ``euler`` or ``ieuler``, or None."""
        if name in _FORMATS[1:] and hasattr(type(self), "alt"):
            return self.alt, name
        if name[1:] in _FORMATS[1:] and name[:1] == "i" and hasattr(type(self), "ialt"):
            return self.ialt, name[1:]
        return None

    def pending(self) -> MjcfError | None:
        """Return an error about missing parts of an incomplete element, or None. The caller raises the error."""
        return None


class Named(Struct):
    """A struct with a name and, if the language defines it, a default class."""

    @property
    def name(self) -> str:
        """Name of the element, empty if it has none."""
        return self.element.attributes.get("name") or ""

    @name.setter
    def name(self, value: str) -> None:
        if not isinstance(value, str):
            raise self.element.error(f"expected text, found {value!r}", "name")
        self.spec.check_name(self.element, value)
        self.element["name"] = value or None

    @property
    def classname(self) -> Any:
        """Default class of the element (``MjsDefault``). Assign a class or a name to change it."""
        return self.spec.find_default(self.element.default_class.name)

    @classname.setter
    def classname(self, value: Any) -> None:
        name = getattr(value, "name", value)
        if name not in self.spec.tree.defaults:
            known = suggestion(str(name), self.spec.tree.defaults.names())
            raise self.element.error(f"there is no default class '{name}'{known}", "classname")
        self.element["class"] = name

    @property
    def info(self) -> str:
        """Place of the element's definition, for error messages: file and line, or a text that the program sets."""
        source, line = self.element.source, self.element.line
        return source or "" if line is None else f"{source}:{line}"

    @info.setter
    def info(self, value: str) -> None:
        self.element.source, self.element.line = value or None, None

    @property
    def signature(self) -> int:
        """Signature of the model to which the specification was compiled (`MjModel.signature`).

        It is 0 before the first compilation, and after elements were added, removed or moved.
        """
        return self.spec.signature

    @property
    def compiler(self) -> Any:
        """Compiler settings of the specification in which the element was defined."""
        return self.spec.origin(self).compiler

    @property
    def id(self) -> int:
        """Id of the element in the most recently compiled model, or -1 if that model does not contain it."""
        return self.spec.id_of(self.element)


def struct_class(name: str, row: ElementRow, base: type[Struct] = Named, plain: bool = False, **options: Any) -> Any:
    """Make a struct class ``name``, derived from ``base``, that has only the attributes of ``row``.

    ``plain`` is as in `Struct`. ``options`` are arguments of `fields`.
    """
    meaning = row.meaning[:1].upper() + row.meaning[1:]
    content = {"__doc__": f"{meaning}.", "__module__": __name__, "plain": plain}
    return fields(row, **options)(type(name, (base,), content))
