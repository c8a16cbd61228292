"""MjData: the state of a simulation, and all results computed from the state. Its fields come from the table `DATA`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import numpy as np

from cardan.constants import mjNISLAND, mjNSOLVER
from cardan.enums.data import mjtTimer, mjtWarning
from cardan.enums.numbering import is_later, outward
from cardan.errors import FatalError
from cardan.jit.binding.objects import CALL_IDENTITY, Native
from cardan.jit.driver.program import Program
from cardan.jit.front.precision import single_constant
from cardan.jit.front.stage import SINGLE, Form
from cardan.jit.memory.struct import StructMemory
from cardan.jit.memory.view import InterpretedView
from cardan.model.attributes import ArrayAttribute, not_settable, scalar_property, set_array
from cardan.model.computed import add_views, empty_field, no_field, shown_array
from cardan.model.derived import ADDRESSES, share_derived
from cardan.model.fields_derived import DATA_VIEWS, OF_FLEXES
from cardan.model.fields_own import MEMORY_WIDTH
from cardan.model.mjmodel import MjModel
from cardan.model.named import DataNames
from cardan.model.pickling import packed, unpack
from cardan.model.plugin_life import begin_instances, copy_instances
from cardan.model.records import Record, RecordList
from cardan.model.renumbered import settled
from cardan.model.reset import start_data
from cardan.model.sleepers import begin_asleep
from cardan.model.tables import CAPACITIES, COUNTERS, DATA, LIMITED, MODEL, SIZE_NAMES, bytes_of_one
from cardan.model.user_memory import user_buffers

INITIAL_CAPACITY = {"ncon": 16, "nefc": 64, "nnzJ": 256, "nefc_dual": 0, "nisland": 0}
INITIAL_CAPACITY |= {"nJ": 256, "nH": 256, "ncandidate": 32, "nB_dual": 0, "nAR": 0, "nsolution": 0}
# fixed size: the solver's statistics have their own buffer, whose unused pages are never touched
INITIAL_CAPACITY |= {"nstatistic": mjNISLAND * mjNSOLVER}
# initial capacities if the user limits memory: a few hundred bytes, so that the limit decides
SMALLEST_CAPACITY = INITIAL_CAPACITY | {"ncon": 1, "nefc": 1, "nnzJ": 16}
mjNTIMER = int(mjtTimer.mjNTIMER)
PLUGIN_BUFFERS = ("plugin_number", "plugin_index", "plugin_start", "plugin_handle", "plugin_remembered")
OTHER_BUFFERS = ("buffer_i8", "buffer_i4", "buffer_u1")
"""Buffers of integers. They are used only if worlds are interleaved (`cardan.jit.memory.lanes`), else empty."""


class MjContact(Record):
    """Contact, found by collision detection and completed when constraints are made.

    ``MjContact()`` makes a contact that is all zero and does not belong to any data.
    """

    __slots__ = ()

    _struct, _prefix = DATA, "contact."

    @property
    def geom1(self) -> int:
        """Id of the first geom."""
        return self._columns["contact.geom"].item(self._row, 0)

    @geom1.setter
    def geom1(self, value: int) -> None:
        self.geom[0] = value

    @property
    def geom2(self) -> int:
        """Id of the second geom."""
        return self._columns["contact.geom"].item(self._row, 1)

    @geom2.setter
    def geom2(self, value: int) -> None:
        self.geom[1] = value


class MjWarningStat(Record):
    """Number of warnings of one kind, and the information stored with the latest of them."""

    __slots__ = ()

    _struct, _prefix = DATA, "warning."


class MjTimerStat(Record):
    """Cumulative duration and number of calls of a timed part."""

    __slots__ = ()

    _struct, _prefix = DATA, "timer."


class MjSolverStat(Record):
    """Statistics of one solver iteration."""

    __slots__ = ()

    _struct, _prefix = DATA, "solver."


class MjContactList(RecordList):
    """The contacts of the last collision detection."""

    record_class = MjContact

    @property
    def geom1(self) -> np.ndarray:
        """Ids of the first geoms (ncon,)."""
        return self.geom[:, 0]

    @property
    def geom2(self) -> np.ndarray:
        """Ids of the second geoms (ncon,)."""
        return self.geom[:, 1]


class MjWarningStatList(RecordList):
    """Number of warnings of each kind, and the information of the latest warning of each kind."""

    record_class = MjWarningStat


class MjTimerStatList(RecordList):
    """Duration and number of calls of each timed part."""

    record_class = MjTimerStat


class MjSolverStatList(RecordList):
    """Statistics of the solver's iterations, ordered by island."""

    record_class = MjSolverStat


class ArenaHeld(BaseException):
    """Exception raised if the arena must grow while a stage that called a Python function uses the arena's addresses.

    The exception ends the Python function and the stage; then the arena grows, and the stage runs again.
    """

    def __init__(self, capacity: str, need: int) -> None:
        super().__init__(f"the arena of {capacity} must grow to {need} while a stage uses it")
        self.capacity, self.need = capacity, need


def new_memory(model: MjModel, sizes: Mapping[str, int]) -> StructMemory:
    """Allocate memory, filled with 0, for new data of a model. No size may be smaller than in `data_sizes`."""
    struct = model._form.struct(DATA)
    memory = StructMemory(struct, sizes, CAPACITIES, buffers=user_buffers(struct, CAPACITIES, sizes))
    attach_private(memory, {name: np.zeros(size) for name, size in private_sizes(memory.sizes).items()})
    memory.arrays["plugin"][:] = model._memory.arrays["plugin"]
    return memory


class _StackIsFull:
    """Descriptor that replaces an address needed by programs while the stack is full. Reading it raises FatalError."""

    def __get__(self, data: MjData | None, owner: type) -> int:
        if data is None or "_memory" not in data.__dict__:
            raise AttributeError("_resume_address")
        if is_later():
            raise FatalError(
                f"mj_stackAlloc: out of memory, stack overflow\n  max = {data.narena}, available = 0 (d.pstack was set "
                f"to {data.pstack})"
            )
        raise FatalError(
            f"mj_stackAlloc: insufficient memory: max = {data.narena} bytes, available = 0 bytes (d.pstack was set to "
            f"{data.pstack})"
        )


def data_sizes(model: MjModel) -> dict[str, int]:
    """Return all sizes of new data of a model: the model's sizes, and the initial capacities of the arena."""
    first = SMALLEST_CAPACITY if model.narena > 0 else INITIAL_CAPACITY
    return {name: model._memory.sizes[name] for name in SIZE_NAMES} | first


def private_sizes(sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes, by name, of private float arrays that are not in the buffer and that resets don't change.

    `sizes` are the sizes of a model or data.
    """
    nstate = 2 + sum(sizes[name] for name in ("nq", "nv", "na", "nhistory", "npluginstate"))
    nstate += MEMORY_WIDTH * sizes["nstick"]
    return {"work.timer_start": mjNTIMER, "work.good_state": nstate, "work.lost_state": nstate}


def attach_private(memory: StructMemory, arrays: Mapping[str, np.ndarray]) -> None:
    """Attach private arrays to the memory of data: the buffer, empty arrays, and `arrays` (see `private_sizes`)."""
    memory.attach("work.buffer", memory.buffer.view(memory.struct.by_name["work.buffer"].numpy_dtype))
    for name, array in arrays.items():
        memory.attach(name, array)
    for name in (*PLUGIN_BUFFERS, *OTHER_BUFFERS):
        memory.attach("work." + name, np.zeros(0))


class MjData(Native, DataNames):
    """State, inputs and results of one simulation (names and shapes as in MuJoCo's mjData).

    Array attributes are views of the data's memory. Contacts and constraint rows are in an arena that grows
    automatically: after a step, views of the arena that were made before it may show outdated memory.

    Args:
        model: the model, to which the data keeps a reference.
    """

    model: MjModel
    contact: MjContactList
    warning: MjWarningStatList
    timer: MjTimerStatList
    solver: MjSolverStatList
    address: int  # address of the slot table, for native stages
    _memory: StructMemory
    _plugin_data: list[Any]  # data of the plugin instances, as their plugins made them
    _resume: np.ndarray  # position of a stopped program: position in its list, steps done
    _arena_held: list[bool]  # one flag: a stage has called a Python function, so that the arena must not move
    _resume_address = _StackIsFull()

    def __init__(self, model: MjModel) -> None:
        self._adopt(model)
        Program([start_data], model._form).run(model, self)
        begin_instances(model, self)
        begin_asleep(model, self)

    def _adopt(self, model: MjModel, memory: StructMemory | None = None, call: np.ndarray | None = None) -> None:
        """Initialise the data with a model and `memory`. If `memory` is None, allocate it.

        `call` is the array of words that programs use: position in the list of stages, repetitions done, addresses of
        model and data, identity of the model.
        """
        if not isinstance(model, MjModel):
            raise TypeError(f"MjData(): model should be an MjModel, got {type(model).__name__}")
        if not model._finalized:
            raise ValueError("the model isn't finished: call its finalize() once all arrays are filled in")
        if memory is None:
            sizes = data_sizes(model)
            memory = new_memory(model, sizes)
        if call is None:
            call = np.zeros(5, np.int64)[:]  # a view, as other arrays of the data are
        call[2:] = model.address, memory.address, id(model)
        self._native = call
        self.__dict__.update(model=model, _memory=memory, address=memory.address, _views={}, _plugin_data=[])
        self.__dict__.update(_arena_held=[False], _resume=call[:2], _resume_address=call.ctypes.data)
        self._show_memory()
        self.__dict__.update(
            contact=MjContactList(memory, memory.scalars["ncon"].item),
            warning=MjWarningStatList(memory, rows=list(outward(mjtWarning))[:-1] if is_later() else None),
            timer=MjTimerStatList(memory),
            solver=MjSolverStatList(memory),
        )

    @classmethod
    def over(cls, model: MjModel, memory: StructMemory, call: np.ndarray) -> MjData:
        """Make the data of a batch's world over existing memory, whose contents are kept (arguments as in `_adopt`)."""
        data = cls.__new__(cls)
        data._adopt(model, memory, call)
        return data

    @property
    def _address(self) -> int:
        """Address of the data, under the name that MuJoCo's package uses."""
        return self.address

    @property
    def view(self) -> InterpretedView:
        """View of the data for stages run in the interpreter."""
        if "_view" not in self.__dict__:
            self.__dict__["_view"] = InterpretedView(self._memory)
        return self.__dict__["_view"]

    def grow(self, capacity: str, need: int) -> None:
        """Enlarge a capacity of the arena to 5/4 of `need`, 3/2 of its current size, or 16, whichever is largest.

        If the user limits the memory (``<size memory>``), a capacity of contacts or rows is only enlarged up to this
        limit, or to `need` if that is larger.

        Raises:
            ArenaHeld: a stage that has called a Python function uses the arena (`_arena_held`).
        """
        need, now = int(need), self._memory.sizes[capacity]
        size = max(need + need // 4, now + now // 2, 16)
        if capacity in LIMITED and self.model.narena > 0:
            size = max(need, min(size, self.model.narena // bytes_of_one(capacity)))
        if self._arena_held[0]:
            raise ArenaHeld(capacity, need)
        self._memory.grow(capacity, size)
        self.__dict__.pop("_view", None)
        self._show_memory()

    def _show_memory(self) -> None:
        """Write the sizes of buffer and arena, in bytes, to the public fields `nbuffer` and `narena`.

        If the model requests a size for the arena, `narena` is this size.
        """
        memory = self._memory
        memory.scalars["nbuffer"][0] = memory.buffer.nbytes
        memory.scalars["narena"][0] = self.model.narena or memory.arena_nbytes

    def _changed(self, name: str) -> None:
        """Handle an assignment to a scalar in `WATCHED`.

        If `pstack` is set so that the stack fills the arena, the next program fails, as in MuJoCo.
        """
        if name == "pstack":
            self.__dict__.pop("_resume_address", None)
            self._native[CALL_IDENTITY] = 0
            if self.pstack < self.narena:
                self.__dict__["_resume_address"] = self._resume.ctypes.data
                self._native[CALL_IDENTITY] = id(self.model)

    def __getattr__(self, name: str) -> Any:
        """Return an array, and store it as an attribute, so that later requests find it there."""
        if name not in ARRAYS:
            if (none := empty_field(self.model, name) if name in OF_FLEXES else None) is not None:
                return none
            raise no_field(type(self).__name__, name)
        memory = self.__dict__["_memory"]
        if memory.sizes["is_4_0"] and name in REPLACED:
            return REPLACED[name](self.model, self)
        return self.__dict__.setdefault(name, shown_array(memory, name))

    def __dir__(self) -> list[str]:
        return dir(type(self))  # without the private attributes of instances

    def __setattr__(self, name: str, value: Any) -> None:
        put = SCALAR_SETTERS.get(name)
        if put is not None:
            put(self, value)
        elif name in ARRAYS or name in ARENA_FIELDS:
            value = settled(value)
            set_array(getattr(self, name), name, value)
        elif name.startswith("_") or isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
        else:
            raise not_settable(self, name)

    def _copy_values(self, other: MjData) -> None:
        if self._arena_held[0]:
            raise RuntimeError("collision detection is running on this data: its callbacks can't replace the data")
        own = self._memory.arrays["plugin_data"].copy()
        self._memory.copy_from(other._memory)
        self._memory.arrays["plugin_data"][:] = own
        self.__dict__.pop("_view", None)
        copy_instances(self, self.model, other)

    def _copy_with(self, model: MjModel) -> MjData:
        new = MjData.__new__(MjData)
        new._adopt(model, new_memory(model, self._memory.sizes))
        begin_instances(model, new)
        new._copy_values(self)
        return new

    def __copy__(self) -> MjData:
        return self._copy_with(self.model)

    def __deepcopy__(self, memo: dict[int, Any]) -> MjData:
        return self._copy_with(deepcopy(self.model, memo))

    def __getstate__(self) -> dict[str, Any]:
        return {"model": self.model, "memory": packed(self._memory)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._adopt(state["model"])
        memory = self._memory
        begin_instances(self.model, self)
        own = {name: memory.arrays[name].copy() for name in ("plugin", "plugin_data")}  # of the running process
        for name in CAPACITIES:
            if state["memory"]["sizes"].get(name, 0) > memory.sizes[name]:
                memory.grow(name, state["memory"]["sizes"][name])
        unpack(memory, state["memory"])
        for name, values in own.items():
            memory.arrays[name][...] = values


def _arena_property(name: str, dims: tuple[int | str, ...], doc: str) -> property:
    """Make the property for an arena array. The property returns only the part of the array that is in use."""
    counters = [COUNTERS.get(dim) if isinstance(dim, str) else None for dim in dims]
    first = counters[0] if counters[1:] == [None] * (len(dims) - 1) else None

    def get(self: MjData) -> np.ndarray:
        memory = self._memory
        array = memory.arrays[name]
        if first is not None:  # the usual case: the number of rows is a counter
            rows = memory.scalars[first].item()
            if 0 < rows <= len(array):
                return array[:rows]
        used = [n if c is None else getattr(self, c) for c, n in zip(counters, array.shape, strict=True)]
        if 0 in used:
            return np.zeros(used, array.dtype)  # independent of the memory, which may be empty
        if any(u > n for u, n in zip(used, array.shape, strict=True)):
            return np.zeros(used, array.dtype)
        return array[tuple(slice(0, u) for u in used)]

    return property(get, doc=doc)


def _in_version(own: property, later: Callable[..., Any]) -> property:
    """Return the property for an arena array that `later` computes in models of compat 4.0."""

    def get(self: MjData) -> Any:
        return later(self.model, self) if self._memory.sizes["is_4_0"] else own.__get__(self)

    return property(get, doc=own.__doc__)


ARENA_FIELDS = frozenset(
    f.name for f in DATA.members("") if not f.is_scalar and any(dim in COUNTERS for dim in f.shape)
)

ARRAYS = frozenset(f.name for f in DATA.members("") if not f.is_scalar) - ARENA_FIELDS
"""Arrays whose addresses don't change."""

WATCHED = ("pstack",)
"""Scalars for which an assignment has side effects (see `MjData._changed`)."""

SCALAR_SETTERS: dict[str, Any] = {}
"""Setters of the scalar fields, by name."""

for _field in DATA.members(""):
    if _field.is_scalar:
        _property = scalar_property(_field, watched=_field.name in WATCHED)
        setattr(MjData, _field.name, _property)
        SCALAR_SETTERS[_field.name] = _property.fset
    elif _field.name in ARENA_FIELDS:
        setattr(MjData, _field.name, _arena_property(_field.name, _field.shape, _field.doc))
    else:
        setattr(MjData, _field.name, ArrayAttribute(_field.name, _field.doc))
REPLACED = add_views(MjData, DATA, DATA_VIEWS)
"""Functions that compute the fields whose shapes differ in models of compat 4.0."""
for _name in REPLACED.keys() & ARENA_FIELDS:
    setattr(MjData, _name, _in_version(getattr(MjData, _name), REPLACED[_name]))
for _list in ("contact", "warning", "timer", "solver"):
    setattr(MjData, _list, ArrayAttribute(_list, "Records of one kind."))
setattr(MjData, "model", ArrayAttribute("model", "The model."))  # noqa: B010 (its type is declared above)


TOLERANCES = ("opt.tolerance", "opt.noslip_tolerance", "opt.mpr_tolerance")
"""Options that are increased in single precision, like tolerances in code (`cardan.jit.front.precision`)."""


def model_in(form: Form, m: MjModel) -> MjModel:
    """Return a copy of a model for native code of another form (layout and precision).

    Don't pass the copy to public functions, whose code is for double precision.
    """
    memory = StructMemory(form.struct(MODEL), m._memory.sizes)
    memory.take_values(m._memory)
    if form.precision == SINGLE:
        for name in TOLERANCES:
            memory.scalars[name][0] = single_constant(m._memory.scalars[name].item())
    new = MjModel.__new__(MjModel)
    new._adopt(memory)
    new._form = form
    new._source, new._mesh_poses, new._plugins = m._source, m._mesh_poses, m._plugins
    share_derived(new, m, ADDRESSES)
    new._finalized = True
    return new


def data_in_double(m: MjModel, d: MjData) -> MjData:
    """Return a copy of data `d` in double precision; `m` is the model of the copy."""
    new = MjData(m)
    memory, old = new._memory, d._memory
    plugin_data = memory.arrays["plugin_data"].copy()
    for capacity in old.growable:
        if memory.sizes[capacity] != old.sizes[capacity]:
            memory.grow(capacity, old.sizes[capacity])
    memory.take_values(old)
    for name in private_sizes(m._memory.sizes):
        memory.arrays[name][:] = old.arrays[name]
    memory.arrays["plugin_data"][:] = plugin_data
    copy_instances(new, m, d)
    new._show_memory()
    return new
