"""Access by name or id: ``m.geom("floor").size``, ``m.joint(2).damping``, ``d.body("torso").xpos``.

A call returns a view of one element. The view's attributes are made from the table of fields: all fields with the
element's prefix and first dimension, and slices of other fields that begin at an address of the element (``qpos`` of a
joint, ``data`` of a sensor). The attributes are NumPy views: writing or assigning to them changes the model or data.
Each element has one cached view, by name or by id, and each attribute one cached array.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

import numpy as np

from cardan.enums import mjtObj
from cardan.jit.memory.fields import Field, Struct
from cardan.jit.memory.struct import StructMemory
from cardan.model.attributes import listing
from cardan.model.binding import bound, signature
from cardan.model.computed import read_only, views_of
from cardan.model.declared import DataFields, ModelFields
from cardan.model.fields_derived import BOOLEAN, DATA_VIEWS, MODEL_VIEWS
from cardan.model.fields_later import RENAMED_ARRAYS
from cardan.model.renumbered import RENUMBERED, RETYPED, in_process, retyped, widened
from cardan.model.sparsity import DOF_WIDTH, QPOS_WIDTH
from cardan.model.tables import DATA, MODEL

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel


NAME_FIELDS: dict[str, str] = {f.name[5:-3]: f.name for f in MODEL.members("") if f.name.startswith("name_")}
"""Field with the addresses of names, by kind of element (``"jnt"``: ``"name_jntadr"``)."""

SHORT_KINDS = {"joint": "jnt", "camera": "cam", "texture": "tex", "material": "mat", "equality": "eq"}
"""Short names of kinds of elements, as used in the names of fields."""


def _kind(obj: mjtObj) -> str:
    lower = obj.name.removeprefix("mjOBJ_").lower()
    return "body" if obj == mjtObj.mjOBJ_XBODY else SHORT_KINDS.get(lower, lower)


KIND_OF_OBJECT: dict[int, str] = {
    obj.value: kind for obj in mjtObj.__members__.values() if (kind := _kind(obj)) in NAME_FIELDS
}
"""Kind of element by mjtObj."""


def read_names(m: MjModel, kind: str) -> list[str]:
    """Return the names of all elements of a kind (``"geom"``) in the order of ids; ``""`` for unnamed elements."""
    text = m.names
    return [text[a : text.index(b"\0", a)].decode() for a in getattr(m, NAME_FIELDS[kind]).tolist()]


class NameBook:
    """Names and ids of one kind of element of a model."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.ids = {name: i for i, name in enumerate(names) if name}

    def id_of(self, which: str | int) -> int:
        """Return the id of an element given by name or by id.

        Raises:
            KeyError: no element has this name; the message lists the names.
            IndexError: the id does not exist.
        """
        if isinstance(which, str):
            if which not in self.ids:
                raise KeyError(f"Invalid name '{which}'. Valid names: {sorted(self.ids)}")
            return self.ids[which]
        if not 0 <= which < len(self.names):
            raise IndexError(f"Invalid index {which}. Valid indices from 0 to {len(self.names) - 1}")
        return which


def name_book(m: MjModel, kind: str) -> NameBook:
    """Return the names and ids of a kind of element, cached with the model."""
    books = m.__dict__.setdefault("_name_books", {})
    if kind not in books:
        books[kind] = NameBook(read_names(m, kind))
    return books[kind]


Span = Callable[["MjModel", int], tuple[int, int]]


# dimensions of which one element can have several entries
_MANY = ("nq", "nv", "nflexvert", "nflexedge", "nflexelem", "nflexevpair", "nflextexcoord")
# fields without an owner, although their first dimension has one: addresses in sparse matrices, names
_STRUCTURAL = ("name_", "D_", "B_", "dof_", "jnt_", "efc_", "island_")


def _one(m: MjModel, i: int) -> tuple[int, int]:
    return i, i + 1


def _joint_span(address: str, widths: tuple[int, ...]) -> Span:
    def span(m: MjModel, i: int) -> tuple[int, int]:
        start = int(getattr(m, address)[i])
        return start, start + widths[int(m.jnt_type[i])]

    return span


def _counted(address: str, *counts: str) -> Span:
    def span(m: MjModel, i: int) -> tuple[int, int]:
        start = max(int(getattr(m, address)[i]), 0)
        return start, start + int(np.prod([getattr(m, count)[i] for count in counts]))

    return span


_TEXTURE_SPAN = _counted("tex_adr", "tex_height", "tex_width", "tex_nchannel")


class Kind(NamedTuple):
    """Kind of element, and how its fields are found."""

    name: str  # in `NAME_FIELDS` (``"jnt"``)
    methods: tuple[str, ...]  # names of the access methods
    title: str  # kind in the names of the view classes (``"Joint"``)
    prefixes: tuple[str, ...]  # removed from the fields' names; if two names collide, the later prefix wins
    spans: dict[str, Span]  # range of the element's part of a field, by the field's first dimension
    data_methods: tuple[str, ...]  # names of the access methods of MjData; empty if it has no fields of this kind
    data_prefixes: tuple[str, ...]  # as `prefixes`, for fields of MjData; "" matches all names (see `fields_of`)


def _described(
    name: str, spans: dict[str, Span], *others: str, prefixes: Sequence[str] = (), data: Sequence[str] = ()
) -> Kind:
    """Make a kind with the access methods `name` and `others`; ``data`` are prefixes of its fields in MjData."""
    methods = (name, *others)
    title = name if name == "tendon" else methods[-1]
    return Kind(
        name, methods, title.capitalize(), (*prefixes,) or (f"{name}_",), spans, methods if data else (), (*data,)
    )


_JOINT_SPANS = {"njnt": _one, "nq": _joint_span("jnt_qposadr", QPOS_WIDTH), "nv": _joint_span("jnt_dofadr", DOF_WIDTH)}


def _texcoord_span(m: MjModel, i: int) -> tuple[int, int]:
    start = int(m.flex_texcoordadr[i])
    return (start, start + int(m.flex_vertnum[i])) if start >= 0 else (0, 0)


def _corner_span(address: str, count: str, extra: int) -> Span:
    def span(m: MjModel, i: int) -> tuple[int, int]:
        start = max(int(getattr(m, address)[i]), 0)
        return start, start + int(getattr(m, count)[i]) * (int(m.flex_dim[i]) + extra)

    return span


_FLEX_SPANS = {
    "nflex": _one,
    "nflexvert": _counted("flex_vertadr", "flex_vertnum"),
    "nflexedge": _counted("flex_edgeadr", "flex_edgenum"),
    "nflexelem": _counted("flex_elemadr", "flex_elemnum"),
    "nflexelemdata": _corner_span("flex_elemdataadr", "flex_elemnum", 1),
    "nflexshelldata": _corner_span("flex_shelldataadr", "flex_shellnum", 0),
    "nflexevpair": _counted("flex_evpairadr", "flex_evpairnum"),
    "nflextexcoord": _texcoord_span,
}


_ACTUATOR_SPANS = {
    "nactuator": _one,
    "nu": _counted("actuator_ctrladr", "actuator_ctrlnum"),
    "nout": _counted("actuator_outadr", "actuator_outnum"),
}


KINDS: tuple[Kind, ...] = (
    _described("body", {"nbody": _one}, data=("",)),
    _described("jnt", _JOINT_SPANS, "joint", prefixes=("jnt_", "dof_", ""), data=("",)),
    _described("geom", {"ngeom": _one}, data=("geom_",)),
    _described("site", {"nsite": _one}, data=("site_",)),
    _described("cam", {"ncam": _one}, "camera", data=("cam_",)),
    _described("light", {"nlight": _one}, data=("light_",)),
    _described("flex", _FLEX_SPANS, prefixes=("flex_", "flex"), data=("flex",)),
    _described("mesh", {"nmesh": _one}),
    _described("skin", {"nskin": _one}),
    _described("hfield", {"nhfield": _one, "nhfielddata": _counted("hfield_adr", "hfield_nrow", "hfield_ncol")}),
    _described("tex", {"ntex": _one, "ntexdata": _TEXTURE_SPAN}, "texture"),
    _described("mat", {"nmat": _one}, "material"),
    _described("pair", {"npair": _one}),
    _described("exclude", {"nexclude": _one}),
    _described("eq", {"neq": _one}, "equality"),
    _described("tendon", {"ntendon": _one}, "ten", data=("ten_",)),
    _described("actuator", _ACTUATOR_SPANS, data=("actuator_", "")),
    _described("sensor", {"nsensor": _one, "nsensordata": _counted("sensor_adr", "sensor_dim")}, data=("sensor",)),
    _described("numeric", {"nnumeric": _one, "nnumericdata": _counted("numeric_adr", "numeric_size")}),
    _described("text", {"ntext": _one, "ntextdata": _counted("text_adr", "text_size")}),
    _described("tuple", {"ntuple": _one, "ntupledata": _counted("tuple_adr", "tuple_size")}),
    _described("key", {"nkey": _one}, "keyframe"),
)

# flat fields that the view of one element shows as a matrix: number of rows, factors of the row length
RECTANGLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "hfield_data": ("hfield_nrow", ("hfield_ncol",)),
    "tex_rgb": ("tex_height", ("tex_width", "tex_nchannel")),
}


_JOINT_4_0 = {"solref": "jnt_solref", "solimp": "jnt_solimp"}
"""Attributes of joints that are those of the limit in MuJoCo 4.0; in 3.1.6, they are those of friction, by dof."""


class ElementView:
    """Fields of one element of a model or of its data, identified by `id` and `name`.

    The model or data stores its views. To avoid a reference cycle, a view refers only to the memory.
    """

    __slots__ = ("_id", "_memory", "_name", "_owner", "_parts", "_spans")
    _attributes: tuple[str, ...] = ()

    def __init__(
        self, memory: StructMemory, spans: dict[str, tuple[int, int]], index: int, name: str, owner: Any
    ) -> None:
        self._memory = memory
        self._owner = owner  # weak reference to the model or data, for fields that are computed
        self._spans = spans
        self._id = index
        self._name = name
        self._parts: dict[str, np.ndarray] = {}

    def _span(self, field: Field) -> tuple[int, int]:
        """Return the range of the element's part of a field."""
        dim = field.shape[0]
        if dim in self._spans:
            return self._spans[dim]  # type: ignore[index]
        rows = f"{field.name.rsplit('_', 1)[0]}_row"  # a row of a sparse matrix
        m = self._owner()
        start = int(getattr(m, rows + "adr")[self._id])
        return start, start + int(getattr(m, rows + "nnz")[self._id])

    @property
    def id(self) -> int:
        """Id of the element within its kind."""
        return self._id

    @property
    def name(self) -> str:
        """Name of the element, or ``""``."""
        return self._name

    def __repr__(self) -> str:
        return listing(self, type(self).__name__, dir(self))

    def __dir__(self) -> list[str]:
        return sorted((*self._attributes, "id", "name"))

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._memory is other._memory and self._id == other._id

    def __hash__(self) -> int:
        return hash((type(self), id(self._memory), self._id))


def holds_many(field: Field) -> bool:
    """Return whether an element's part of a field keeps the field's first dimension.

    If the element has one row of a matrix, its part is a vector. Rows of degrees of freedom, vertices, ... remain a
    matrix, and a single number remains an array.
    """
    return len(field.shape) == 1 or field.shape[0] in _MANY


def _part(view: ElementView, field: Field) -> np.ndarray:
    """Return an element's part of a field, and cache it."""
    start, stop = view._spans[field.shape[0]]  # type: ignore[index]
    arrays = view._memory.arrays
    array = arrays[field.name]
    if field.name in RECTANGLES:
        rows, columns = RECTANGLES[field.name]
        width = prod(int(arrays[name][view._id]) for name in columns)
        part = array[start:stop].reshape(int(arrays[rows][view._id]), width)
        if view._memory.sizes["is_4_0"]:
            part = part.reshape([int(arrays[name][view._id]) for name in (rows, *columns)])
    elif not holds_many(field) and stop - start == 1:
        part = array[start]
    else:
        part = array[start:stop]
    if field.name in BOOLEAN and view._memory.sizes["is_4_0"]:
        part = part.view(bool)
    view._parts[field.name] = part
    return part


def _computed_attribute(field: Field) -> property:
    """Return the attribute of an element's view for a computed field: the element's rows."""

    def get(view: ElementView) -> np.ndarray:
        start, stop = view._span(field)
        values = getattr(view._owner(), field.name)
        return values[start:stop] if holds_many(field) else values[start]

    def put(view: ElementView, value: Any) -> None:
        get(view)[...] = value

    return property(get, put, doc=field.doc)


def _frozen(own: property) -> property:
    """Return the read-only form of an attribute."""
    return property(lambda view: read_only(own.fget(view)), doc=own.__doc__)  # type: ignore[misc]


def _attribute(field: Field) -> property:
    if field.name == "actuator_moment":  # dense, while the array of 4.0 is sparse
        return _in_version(_own_attribute(field), _frozen(_own_attribute(field)))
    later = next((row.field for row in MODEL_VIEWS if row.of_4_0 and row.field.name == field.name), None)
    return _own_attribute(field) if later is None else _in_version(_own_attribute(field), _computed_attribute(later))


def _in_version(own: property, later: property) -> property:
    """Return the property for a field that differs in models of compat 4.0: `own`, or in these models `later`."""

    def get(view: Any) -> Any:
        return (later if view._memory.sizes["is_4_0"] else own).fget(view)  # type: ignore[misc]

    def put(view: Any, value: Any) -> None:
        (later if view._memory.sizes["is_4_0"] else own).__set__(view, value)

    return property(get, put, doc=own.__doc__)


def _own_attribute(field: Field) -> property:
    if field.dtype == "char":
        return property(lambda view: _part(view, field).tobytes(), doc=field.doc)
    name = field.name

    def get(view: ElementView) -> np.ndarray:
        part = view._parts.get(name)
        return _part(view, field) if part is None else part

    if name == "eq_data":

        def get_wide(view: ElementView) -> np.ndarray:
            relative = view._memory.arrays["eq_relative"]
            return widened(get(view), relative[view._id : view._id + 1].reshape(()))

        def put_wide(view: ElementView, value: Any) -> None:
            get_wide(view)[...] = value

        return property(get_wide, put_wide, doc=field.doc)

    if name in RETYPED:

        def get_retyped(view: ElementView) -> np.ndarray:
            start, stop = view._spans[field.shape[0]]  # type: ignore[index]
            return retyped(view._owner(), name)[start:stop]

        def put_retyped(view: ElementView, value: Any) -> None:
            get_retyped(view)[...] = value

        return property(get_retyped, put_retyped, doc=field.doc)

    if name in RENUMBERED:

        def put_members(view: ElementView, value: Any) -> None:
            in_process(name, get(view))[...] = value

        return property(lambda view: in_process(name, get(view)), put_members, doc=field.doc)

    def put(view: ElementView, value: Any) -> None:
        get(view)[...] = value

    return property(get, put, doc=field.doc)


def _image(flat: property) -> property:
    """Return a property for the pixels of a texture (height, width, channels), from that for its rows."""

    def get(view: Any) -> np.ndarray:
        rows = flat.fget(view)  # type: ignore[misc]
        return rows.reshape(len(rows), int(view.width[0]) if len(rows) else 0, -1) if rows.size else rows

    def put(view: Any, value: Any) -> None:
        get(view)[...] = value

    return property(get, put, doc="Pixels (height, width, channels).")


def fields_of(struct: Struct, prefixes: tuple[str, ...], dims: tuple[str, ...]) -> dict[str, Field]:
    """Return the fields of an element, by their names in the element's view.

    These are the fields of `struct` that have a first dimension in `dims` and one of `prefixes`. The prefix "" matches
    all names except those with a prefix in `_STRUCTURAL`. The names in the view lack the prefix. If a field matches
    several prefixes, the first of these is removed.
    """
    chosen: dict[str, Field] = {}
    left = [f for f in struct.members("") if f.shape and f.shape[0] in dims]
    for prefix in prefixes:
        found = [f for f in left if f.name.startswith(prefix) and (prefix or not f.name.startswith(_STRUCTURAL))]
        taken = {f.name for f in found}
        chosen.update({f.name.removeprefix(prefix): f for f in found})
        left = [f for f in left if f.name not in taken]
    return chosen


def _computed_attributes(owner: str, kind: Kind, prefixes: tuple[str, ...], known: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of an element's view for fields that are computed (see `fields_derived`)."""
    of_model = owner == "MjModel"
    rows = views_of(MODEL if of_model else DATA, MODEL_VIEWS if of_model else DATA_VIEWS, constants=of_model)
    dims = (*kind.spans, "nJten") if kind.name == "tendon" else tuple(kind.spans)
    table = Struct(owner, [row.field for row in rows if not row.field.is_scalar], readonly=True)
    fields = fields_of(table, (*prefixes, "ten_") if kind.name == "tendon" else prefixes, dims)
    return {short: _computed_attribute(field) for short, field in fields.items() if short not in known}


@cache
def view_class(name: str) -> type[ElementView]:
    """Return a class of views by its name. Each class is made when it is first used."""
    owner, kind = _VIEWS[name]
    struct, prefixes = (MODEL, kind.prefixes) if owner == "MjModel" else (DATA, kind.data_prefixes)
    fields = fields_of(struct, prefixes, tuple(kind.spans))
    body: dict[str, Any] = {"__slots__": (), "__doc__": f"One {kind.methods[-1]} of an {owner}."}
    body["_attributes"] = tuple(fields)
    body.update({short: _attribute(field) for short, field in fields.items()})
    if owner == "MjModel" and kind.name == "jnt":
        for short, field in _JOINT_4_0.items():
            body[short] = _in_version(body[short], _own_attribute(MODEL.by_name[field]))
    if owner == "MjModel" and kind.name == "tendon":
        body["_limited"] = body["limited"]  # a second name that MuJoCo's package has
    body.update(_computed_attributes(owner, kind, prefixes, body))
    for new, old in RENAMED_ARRAYS.items():
        if MODEL.by_name[old] in fields.values():
            short = next(short for short, field in fields.items() if field.name == old)
            body[new.removeprefix(old.removesuffix(short))] = _image(body[short]) if old == "tex_rgb" else body[short]
    return type(name, (ElementView,), body)


def _accessor(method: str, cls: str, kind: Kind, model_of: Callable[[Any], MjModel]) -> Callable[..., Any]:
    def find(self: Any, name: str | bytes | int) -> ElementView:
        m = model_of(self)
        text = name.decode() if isinstance(name, bytes | bytearray) else name
        which = text if isinstance(text, str) else _as_index(method, text)
        book = name_book(m, kind.name)
        i = book.id_of(which)
        views = self._views
        if (cls, i) not in views:
            spans = {dim: span(m, i) for dim, span in kind.spans.items()}
            views[cls, i] = view_class(cls)(self._memory, spans, i, book.names[i], ref(self))
        return views.setdefault((cls, which), views[cls, i])

    def access(self: Any, name: str | bytes | int = "") -> ElementView:
        try:
            return self._views[cls, name]
        except (KeyError, TypeError):
            return find(self, name)

    access.__name__ = access.__qualname__ = method
    access.__doc__ = f"View of one {kind.methods[-1]}, given by name or id (KeyError, IndexError if there is none)."
    return access


def _as_index(method: str, which: Any) -> int:
    try:
        return operator.index(which)
    except TypeError:
        raise TypeError(f"{method}(): expected a name or an id, got {which!r}") from None


class ModelNames(ModelFields):
    """Named access to the elements of a model."""

    def bind(self, specs: Any) -> Any:
        """Return the view of an element of a `MjSpec`, or of each element of a sequence; see `binding.bound`."""
        return bound(self, self, specs)  # type: ignore[arg-type]

    @property
    def signature(self) -> int:
        """Number that identifies the structure of the model; equals that of the `MjSpec` compiled to it."""
        return signature(self)  # type: ignore[arg-type]


class DataNames(DataFields):
    """Named access to the elements of a model's data."""

    def bind(self, specs: Any) -> Any:
        """Return the view of an element of a `MjSpec`, or of each element of a sequence; see `binding.bound`."""
        return bound(self, self.model, specs)  # type: ignore[attr-defined]

    @property
    def signature(self) -> int:
        """Number that identifies the structure of the data's model; see `MjModel.signature`."""
        return signature(self.model)  # type: ignore[attr-defined]


_VIEWS = {f"_MjModel{kind.title}Views": ("MjModel", kind) for kind in KINDS}
_VIEWS |= {f"_MjData{kind.title}Views": ("MjData", kind) for kind in KINDS if kind.data_methods}


def view_classes() -> list[type[ElementView]]:
    """Return all classes of views, for elements in models and in data."""
    return [view_class(name) for name in _VIEWS]


def _add_access() -> None:
    """Add the methods of named access to models and data."""
    for cls, (owner, kind) in _VIEWS.items():
        of_model = owner == "MjModel"
        for method in kind.methods if of_model else kind.data_methods:
            names, model_of = (ModelNames, lambda m: m) if of_model else (DataNames, lambda d: d.model)
            setattr(names, method, _accessor(method, cls, kind, model_of))


_add_access()
