"""Named access on a batch: ``batch.joint("hinge").qpos`` is (nworld, 1), ``batch.body("pole").mass`` (nworld,).

A view has the attributes of named access of MjData and of MjModel. Reading a field of the model that all worlds share
gives its value, repeated and read-only; assigning to one expands it.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cardan.batch.models import STRUCTURE
from cardan.jit.memory.fields import Field
from cardan.model import internals
from cardan.model.named import KINDS, Kind, fields_of, holds_many, name_book
from cardan.model.tables import DATA, MODEL

if TYPE_CHECKING:
    from cardan.batch.batch import Batch

_OF_BATCHES = ("body", "joint", "geom", "site", "camera", "light", "tendon", "actuator", "sensor")
_OF_MODELS = ("equality", "pair", "material", "numeric", "keyframe")


class BatchView:
    """One element of the model in all worlds; `id` and `name` say which."""

    _batch: Batch
    _spans: dict[str, tuple[int, int]]
    id: int
    name: str
    _method: ClassVar[str] = ""
    _data_fields: ClassVar[dict[str, Field]] = {}
    _model_fields: ClassVar[dict[str, Field]] = {}

    def __init__(self, batch: Batch, index: int, name: str, spans: dict[str, tuple[int, int]]) -> None:
        self.__dict__.update(_batch=batch, id=index, name=name, _spans=spans)

    def _part(self, array: np.ndarray, field: Field) -> np.ndarray:
        """The element's part of an array over worlds."""
        start, stop = self._spans[str(field.shape[0])]
        return array[:, start:stop] if holds_many(field) else array[:, start]

    def __getattr__(self, attribute: str) -> np.ndarray:
        if attribute in self._data_fields:
            field = self._data_fields[attribute]
            return self._part(self._batch.bind(field.name), field)
        if attribute not in self._model_fields:
            raise self._unknown(attribute)
        field = self._model_fields[attribute]
        expanded = self._batch._models.read(field.name)
        if expanded is None:
            expanded = self._shared(field)
        return self._part(expanded, field)

    def _shared(self, field: Field) -> np.ndarray:
        """A field of the model for all worlds, read-only."""
        models = self._batch._models
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
            if self._batch._models.given is not None:
                raise ValueError(f"{attribute} can't be set: set_models set the caller's models; give those the values")
            _assign(self._part(self._batch.expand(field.name), field), value)
        else:
            raise self._unknown(attribute)

    def __dir__(self) -> list[str]:
        return sorted({*self._data_fields, *self._model_fields, "id", "name"})

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id} {self.name!r}: {', '.join(dir(self))}>"


def _assign(target: np.ndarray, value: Any) -> None:
    """Copy values in; one number a world is enough where the element has one number."""
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
    def access(self: Any, key: str | int) -> BatchView:
        book = name_book(self.model, kind.name)
        i = book.id_of(key)
        spans = {dim: span(self.model, i) for dim, span in kind.spans.items()}
        return cls(self, i, book.names[i], spans)

    access.__name__ = access.__qualname__ = method
    access.__doc__ = f"One {method} in all worlds, given by name or id (KeyError, IndexError if there is none)."
    return access


class BatchNames:
    """Named access of a batch: a method a kind of element."""


for _kind in KINDS:
    for _method in _kind.methods:
        if _method in (*_OF_BATCHES, *_OF_MODELS):
            _cls = _view_class(_method, _kind, _method in _OF_BATCHES)
            setattr(BatchNames, _method, _accessor(_method, _kind, _cls))
