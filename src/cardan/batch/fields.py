"""Fields of a batch: attributes, parts of the state, and named access.

``batch.joint("hinge").qpos`` has the shape (nworld, 1), ``batch.body("pole").mass`` (nworld,). A view such as
``batch.joint("hinge")`` has the attributes of named access of both MjData and MjModel. If all worlds share a field of
the model, reading returns a repeated, read-only value, and assigning expands the field.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cardan.batch.arguments import as_mask, integer, selected, state_bits
from cardan.batch.back_end import ROWS, BackEnd
from cardan.batch.models import STRUCTURE, guess, unknown_field
from cardan.batch.stages import COUNTS
from cardan.jit.memory.fields import Field
from cardan.model import internals
from cardan.model.mjdata import ARRAYS
from cardan.model.mjmodel import MjModel
from cardan.model.named import KINDS, Kind, fields_of, holds_many, name_book
from cardan.model.tables import DATA, MODEL
from cardan.step.state import state_fields, state_size

if TYPE_CHECKING:
    import numpy.typing as npt

    from cardan.batch.batch import Batch
    from cardan.batch.gpu.split import SplitBackEnd

    Ids = npt.ArrayLike | None
    """Worlds of a call: ids, a mask, or None for all."""

DATA_FIELDS = frozenset((*(name for name in ARRAYS if not name.startswith(("D_", "B_"))), *COUNTS, "time"))
"""Names of the fields that `Batch.bind` takes."""

_OF_BATCHES = ("body", "joint", "geom", "site", "camera", "light", "tendon", "actuator", "sensor")
_OF_MODELS = ("equality", "pair", "material", "numeric", "keyframe")


class BatchView:
    """Named access to one element of the model in all worlds. `id` and `name` identify the element."""

    _batch: Batch
    _spans: dict[str, tuple[int, int]]
    id: int
    name: str
    _method: ClassVar[str] = ""
    _data_fields: ClassVar[dict[str, Field]] = {}
    _model_fields: ClassVar[dict[str, Field]] = {}

    def __init__(self, batch: Batch, index: int, name: str, spans: dict[str, tuple[int, int]]) -> None:
        self.__dict__.update(_batch=batch, id=index, name=name, _spans=spans)

    def _part(self, array: Any, field: Field) -> np.ndarray:
        """Return a view (nworld, ...) of the part of an array that belongs to the element."""
        start, stop = self._spans[str(field.shape[0])]
        is_row = not holds_many(field) and stop - start == 1
        return array[:, start] if is_row else array[:, start:stop]

    def __getattr__(self, attribute: str) -> np.ndarray:
        if attribute in self._data_fields:
            field = self._data_fields[attribute]
            return self._part(self._batch.bind(field.name), field)
        if attribute not in self._model_fields:
            raise self._unknown(attribute)
        field = self._model_fields[attribute]
        expanded = self._batch._worlds.models.read(field.name)
        if expanded is None:
            expanded = self._shared(field)
        return self._part(expanded, field)

    def _shared(self, field: Field) -> np.ndarray:
        """Return a read-only array (nworld, ...) with each world's values of a field that isn't expanded."""
        models = self._batch._worlds.models
        if models.given is not None:
            array = np.stack([internals.array(model, field.name) for model in models.given])
        else:
            value = internals.array(models.base, field.name)
            array = np.broadcast_to(value, (models.count, *value.shape))
        array.flags.writeable = False
        return array

    def _unknown(self, attribute: str) -> AttributeError:
        near = get_close_matches(attribute, [*self._data_fields, *self._model_fields], 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        return AttributeError(f"{attribute!r} is not a field of a {self._method}{hint}")

    def __setattr__(self, attribute: str, value: Any) -> None:
        if attribute in self._data_fields:
            target = getattr(self, attribute)
            if not target.flags.writeable:
                raise ValueError(f"{attribute} is computed by every call and can't be set")
            _assign(target, value)
        elif attribute in self._model_fields:
            field = self._model_fields[attribute]
            if field.name in STRUCTURE:
                raise ValueError(f"{attribute} is structural: it is the same in all worlds and can't be set")
            if self._batch._worlds.models.given is not None:
                raise ValueError(f"{attribute} can't be set: set_models set the caller's models; give those the values")
            _assign(self._part(self._batch.expand(field.name), field), value)
        else:
            raise self._unknown(attribute)

    def __dir__(self) -> list[str]:
        return sorted({*self._data_fields, *self._model_fields, "id", "name"})

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} {self.name!r}: {', '.join(dir(self))}>"


def _assign(target: np.ndarray, value: Any) -> None:
    """Copy values to `target`, an element's view. If its shape is (nworld, 1), `value` may have shape (nworld,)."""
    values = np.asarray(value)
    if values.shape == target.shape[:1] and target.shape[1:] == (1,):
        values = values[:, None]
    target[...] = values


def _view_class(method: str, kind: Kind, with_data: bool) -> type[BatchView]:
    dims = tuple(kind.spans)
    of_data = fields_of(DATA, kind.data_prefixes, dims) if with_data and kind.data_methods else {}
    body = {
        "__doc__": f"One {method} in all worlds.",
        "_method": method,
        "_data_fields": of_data,
        "_model_fields": fields_of(MODEL, kind.prefixes, dims),
    }
    return type(f"Batch{kind.title}", (BatchView,), body)


def _accessor(method: str, kind: Kind, cls: type[BatchView]) -> Callable[..., BatchView]:
    def access(self: Batch, key: str | int) -> BatchView:
        book = name_book(self.model, kind.name)
        i = book.id_of(key)
        spans = {dim: span(self.model, i) for dim, span in kind.spans.items()}
        return cls(self, i, book.names[i], spans)

    access.__name__ = access.__qualname__ = method
    access.__doc__ = f"Return one {method} in all worlds, given by name or id (KeyError, IndexError if there is none)."
    return access


class BatchFields:
    """Base class of batches: worlds, models, fields, and one method of named access for each kind of element."""

    @property
    def _worlds(self) -> BackEnd | SplitBackEnd:
        return self.__dict__["_back_end"]

    def __len__(self) -> int:
        return self.nsim

    @property
    def nsim(self) -> int:
        """Number of worlds."""
        return self._worlds.models.count

    @property
    def nthread(self) -> int:
        """Number of threads."""
        return self._worlds.nthread

    @property
    def state(self) -> Any:
        """Live array (nworld, nstate) with the state of each world (`mjSTATE_INTEGRATION`)."""
        return self._worlds.state

    @property
    def nstate(self) -> int:
        """Length of a row of the state."""
        return self.state.shape[1]

    @property
    def model(self) -> MjModel:
        """The batch's model, in double precision."""
        return self._worlds.models.shown

    @property
    def _expanded(self) -> dict[str, np.ndarray]:
        """Per-world values of the fields of the model that the caller expanded, by name; MuJoCo 4.0 has it, too."""
        return self._worlds.models.asked

    @property
    def models(self) -> MjModel | tuple[MjModel, ...] | None:
        """The models that were set with `set_models`, or None."""
        given = self._worlds.models.given
        if given is None:
            return None
        return given[0] if self._worlds.models.shared else tuple(given)

    def _world(self, sim: int) -> tuple[BackEnd, int]:
        """Return the back end that contains a world, and the world's index within it."""
        i = integer("sim", sim)
        if i >= self.nsim:
            raise ValueError(f"sim should be in [0, {self.nsim}), got {sim}")
        return self._worlds.part(i)

    def _select(self, ids: Ids, mask: Ids) -> np.ndarray:
        """Return the worlds of a call as ids (k,)."""
        if mask is not None and ids is not None:
            raise ValueError("give ids or mask, not both")
        given = self._worlds.on_host(ids if mask is None else mask)
        return selected(given if mask is None else as_mask(given), self.nsim)

    def bind(self, name: str) -> Any:
        """Return the live array (nworld, ...) over a field of the data, one of `DATA_FIELDS`.

        Raises:
            ValueError: there is no such field, or its size differs between worlds.
        """
        bound = self.__dict__["_bound"]
        if name not in bound:
            if name not in DATA_FIELDS:
                if why := _unbound(name):
                    raise ValueError(why)
                raise unknown_field(name, DATA_FIELDS, "MjData that can be bound")
            bound[name] = self._worlds.bind(name)
        return bound[name]

    def get_state(self, spec: int, ids: Ids = None, *, mask: Ids = None) -> Any:
        """Return a copy (k, size) of the parts of the state that `spec` (bits of `mjtState`) selects.

        Raises:
            ValueError: `spec` has unknown bits.
        """
        worlds = self._select(ids, mask)
        return self._worlds.get_state(state_fields(state_bits("spec", spec)), worlds)

    def set_state(self, state: npt.ArrayLike, spec: int, ids: Ids = None, *, mask: Ids = None) -> None:
        """Set the parts of the state that `spec` (bits of `mjtState`) selects to `state`, (k, size) or (size,).

        Raises:
            ValueError: `state` has a wrong shape, or `spec` has unknown bits.
        """
        worlds, bits = self._select(ids, mask), state_bits("spec", spec)
        shape = (len(worlds), state_size(self.model, bits))
        try:
            rows = self._worlds.taken(state, shape)
        except ValueError as error:
            given = getattr(state, "shape", None) or type(state).__name__
            raise ValueError(f"state should be of shape {shape}, got {given}: {error}") from None
        self._worlds.set_state(rows, state_fields(bits), worlds)

    def __getattr__(self, name: str) -> Any:
        if name not in DATA_FIELDS:
            if why := _unbound(name):
                raise AttributeError(why)
            meant = "; did you mean 'nsim'?" if name == "nworld" else guess(name, DATA_FIELDS)
            raise AttributeError(f"Batch has no attribute {name!r}{meant}")
        return self.bind(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if value is None and (name in ROWS or name == "state"):
            raise ValueError(f"{name} is set from numbers, got None")
        if name in ROWS:
            array = self.bind(name)
            try:
                array[...] = value
            except ValueError as error:
                raise ValueError(f"{name} is of shape {array.shape}: {error}") from None
        elif name == "state":
            self.state[...] = value
        elif name in DATA_FIELDS:
            raise ValueError(f"{name} is computed by every call and can't be set; these can: {', '.join(ROWS)}")
        else:
            raise AttributeError(f"Batch has no attribute {name!r} that can be set")

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *DATA_FIELDS})


def _unbound(name: str) -> str:
    """Return the reason why a field of the data can't be bound, or "" if the data has no such field."""
    if DATA.members(f"{name}."):
        return f"'{name}' can't be bound: it is made of several fields; data(world) has it"
    if name not in DATA.slot or name.startswith("work."):
        return ""
    scalar = DATA.by_name[name].is_scalar
    why = f"scalars bind() accepts: {', '.join(COUNTS)}, time" if scalar else "it is in the arena"
    return f"'{name}' can't be bound: {why}; data(world) has it"


for _kind in KINDS:
    for _method in _kind.methods:
        if _method in (*_OF_BATCHES, *_OF_MODELS):
            _cls = _view_class(_method, _kind, _method in _OF_BATCHES)
            setattr(BatchFields, _method, _accessor(_method, _kind, _cls))
