"""The models of all worlds: one shared model, one model with per-world fields, or the caller's models.

Once a field is expanded, each world has its own slot table. Slots of expanded fields point to the world's row of a
``(nworld, ...)`` array, and all other slots to the batch's model. Therefore nothing is copied before a step.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from difflib import get_close_matches
from typing import Any

import numpy as np

from cardan.errors import FatalError
from cardan.jit.front.stage import HERE, Form
from cardan.jit.memory.fields import WORDS
from cardan.jit.memory.layout import scalars_of
from cardan.jit.memory.struct import StructMemory
from cardan.model import internals
from cardan.model.computed import NO_MEMORY
from cardan.model.fields_later import FLAGS
from cardan.model.fields_own import REMEMBERED
from cardan.model.mjdata import ARRAYS as ARRAYS_OF_DATA
from cardan.model.mjdata import MjData, model_in
from cardan.model.mjmodel import ARRAYS, MjModel
from cardan.model.tables import MODEL, SIZE_NAMES
from cardan.plugins.sdf import attach_shape_data
from cardan.step.hooks import share_hooks

ASSETS = ("mesh_", "hfield_data", "tex_", "skin_", "key_", "name_", "names", "paths", "plugin", "text_", "tuple_")
"""Prefixes of the names of fields that all worlds share."""

FREE_SIZES = ("nmesh", "nhfielddata", "ntex", "nname", "npaths", "nkey")
"""Prefixes of the names of sizes that may differ between the models of the worlds."""

OPTIONS = tuple(f.name for f in MODEL.members("opt."))
MODEL_FIELDS = frozenset(
    f.name for f in MODEL.fields if (f.name in ARRAYS and not f.name.startswith(ASSETS)) or f.name in OPTIONS
)
"""Names of the fields that `expand` takes: arrays of MjModel, and ``opt.<name>``."""

CONSTANTS = MODEL_FIELDS.difference(OPTIONS).union(f.name for f in MODEL.members("stat."))
"""Names of the fields that `mj_setConst` may compute, statistics included: solvers use the mean inertia."""

STRUCTURE = tuple(f.name for f in MODEL.fields if f.dtype == "i4" and f.name.endswith(("adr", "num", "id", "parentid")))
"""Integer fields that define the structure of the model: they are the same in all worlds."""

MEANING = (
    *("names", "body_parentid", "body_mocapid", "jnt_type", "jnt_bodyid", "geom_bodyid", "site_bodyid", "cam_bodyid"),
    *("light_bodyid", "sensor_type", "sensor_adr", "actuator_actadr"),
)
"""Model fields that define the meaning of numbers in an MjData. They must be equal in all models used with it."""


def check_data(function: str, data: MjData, m: MjModel) -> None:
    """Check that `data` was made for `m` or for a model with equal sizes and equal values of the fields in `MEANING`.

    Raises:
        TypeError: `data` is not an MjData.
        ValueError: `data` was made for another model.
    """
    if not isinstance(data, MjData):
        raise TypeError(f"{function}: data should be an MjData, got {type(data).__name__}")
    given, own = internals.memory(data.model), internals.memory(m)
    wrong = f"{function}: data was made for another model"
    for name, size in own.sizes.items():
        if given.sizes[name] != size:
            raise ValueError(f"{wrong}: its {name} is {given.sizes[name]}, not {size}")
    for name in MEANING:
        if not np.array_equal(given.arrays[name], own.arrays[name]):
            raise ValueError(f"{wrong}: {name} differs")


def guess(name: str, fields: Collection[str]) -> str:
    """Return a hint for an unknown name of a field: where it exists, or a similar name in `fields`; "" if neither."""
    if f"opt.{name}" in MODEL_FIELDS:
        return f"; use expand('opt.{name}')"
    if name in MODEL_FIELDS:
        return f"; it belongs to the model: use expand('{name}')"
    if name in ARRAYS_OF_DATA:
        return f"; it belongs to the data: use bind('{name}')"
    near = get_close_matches(name, sorted(fields), 1)
    return f"; did you mean '{near[0]}'?" if near else ""


def unknown_field(name: str, fields: Collection[str], of: str) -> ValueError:
    """Make the error for a name that is not in `fields`, with a hint. `of` describes the owner of the fields."""
    return ValueError(f"'{name}' is not a field of {of}{guess(name, fields)}")


def _warn_without_effect(name: str, m: MjModel) -> None:
    """Warn if a field has no effect, because all worlds share a size or flag of the model `m`."""
    reason = NO_MEMORY if name in REMEMBERED and m.nstick == 0 else ""
    for flag, names in FLAGS.items():
        if name in names and not getattr(m, flag):
            reason = f"{flag} of the batch's model is False: set model.{flag} = True before the batch is made"
    if reason:
        warnings.warn(f"expand('{name}') has no effect: {reason}", stacklevel=4)


class WorldModels:
    """The models of the worlds of a batch, in the form (layout and precision) of the batch's native code."""

    def __init__(self, m: MjModel, count: int, form: Form = HERE) -> None:
        self.shown = m  # for the user, in double precision
        self.base = self._in_form(form, m)
        self.count = count
        self.addresses = np.full(count, self.base.address, np.int64)  # address of each world's slot table
        self.given: list[MjModel] | None = None  # models of the caller, one for each world
        self._running: list[MjModel] = []  # the given models in the form of the batch
        self.shared = False  # whether the caller gave one model for all worlds
        self.values: dict[str, np.ndarray] = {}  # per-world values of fields (nworld, ...)
        self.asked: dict[str, np.ndarray] = {}  # entries of `values` that the caller may write
        self._slots: np.ndarray | None = None
        self._objects: dict[int, MjModel] = {}

    @staticmethod
    def _in_form(form: Form, m: MjModel) -> MjModel:
        if form == HERE:
            return m
        attach_shape_data(m)  # distance grids are made in double precision
        return share_hooks(model_in(form, m), m)

    def expand(self, name: str) -> np.ndarray:
        """Give a field per-world values, and return a live array (nworld, ...) of them.

        Raises:
            FatalError: the caller's models are set.
            ValueError: there is no such field, or it can't differ between worlds.
        """
        if name not in MODEL_FIELDS:
            if name in MODEL.slot:
                raise ValueError(f"'{name}' can't be expanded: it is asset data or a size, which all worlds share")
            raise unknown_field(name, MODEL_FIELDS, "MjModel that can be expanded")
        if self.given is not None:
            raise FatalError(f"expand('{name}'): set_models set the caller's models; give those the values instead")
        _warn_without_effect(name, self.shown)
        values = self.asked[name] = self.own(name)
        return self._shown(name, values)

    def own(self, name: str) -> np.ndarray:
        """Return the per-world values of a field. If it has none yet, make them."""
        if name not in self.values:
            self.values[name] = self._make(name)
            self._objects.clear()
        return self.values[name]

    def read(self, name: str, writeable: bool = True) -> Any:
        """Return a field's per-world values, or None. They are writable if `writeable` and the field is expanded."""
        if name not in self.values:
            return None
        view = self._shown(name, self.values[name]).view()
        view.flags.writeable = writeable and name in self.asked
        return view

    def inputs(self, worlds: np.ndarray) -> Iterator[MjModel]:
        """Yield a copy of the batch's model for each world, with the world's values of the expanded fields."""
        fields = {name: np.asarray(values) for name, values in self.asked.items()}
        for i in worlds.tolist():
            yield self._with(fields, i)

    def exported(self, i: int) -> MjModel:
        """Return a copy of a world's model, in double precision."""
        if self.given is not None:
            return share_hooks(copy(self.given[i]), self.given[i])
        return self._with(self.values, i)

    def _with(self, fields: Mapping[str, np.ndarray], i: int) -> MjModel:
        m = share_hooks(copy(self.shown), self.shown)
        for name, values in fields.items():
            memory = internals.memory(m).scalars if name in scalars_of(MODEL) else internals.memory(m).arrays
            memory[name][...] = np.asarray(values[i])
        return m

    def _shown(self, name: str, values: np.ndarray) -> np.ndarray:
        if name == "bvh_aabb":  # the trees of bodies come first; those of meshes are assets
            of_meshes = self.base.mesh_bvhadr[self.base.mesh_bvhadr >= 0]
            return values[:, : int(of_meshes.min())] if of_meshes.size else values
        return values

    def _make(self, name: str) -> np.ndarray:
        slots = self._own_slots()
        slot = scalars_of(MODEL).get(name)
        if slot is not None:
            stride = slots.strides[0]
            dtype = internals.memory(self.base).struct.fields[slot].numpy_dtype
            return np.ndarray((self.count,), dtype, slots, slot * WORDS * 8, (stride,))
        array = internals.array(self.base, name)
        values = np.repeat(array[None], self.count, axis=0)
        slots[:, MODEL.slot[name], 0] = values.ctypes.data + np.arange(self.count) * values.strides[0]
        return values

    def _own_slots(self) -> np.ndarray:
        if self._slots is None:
            self._slots = np.repeat(internals.memory(self.base).slots[None], self.count, axis=0)
            self.addresses = self._slots.ctypes.data + np.arange(self.count) * self._slots.strides[0]
        return self._slots

    def model(self, i: int) -> MjModel:
        """Return the live model of a world."""
        if self.given is not None:
            return self._running[i]
        if self._slots is None:
            return self.base
        if i not in self._objects:
            base = internals.memory(self.base)
            memory = StructMemory(base.struct, base.sizes, (), self._slots[i], {None: base.buffer})
            for name, values in self.values.items():
                if name not in scalars_of(MODEL):
                    memory.attach(name, values[i])
            self._objects[i] = share_hooks(MjModel.over(self.base, memory), self.base)
        return self._objects[i]

    def set(self, models: MjModel | Sequence[MjModel] | None) -> None:
        """Use the caller's models: one for all worlds or one for each world. None: use the batch's own model.

        Raises:
            FatalError: fields are expanded.
            ValueError: sizes differ from those of the batch's model, or there are too few or too many models.
        """
        if models is None:
            self.given = None
            self.addresses = np.full(self.count, self.base.address, np.int64)
            return
        if self.values:
            raise FatalError("set_models: the model has per-simulation fields; the two can't be combined")
        given = [models] * self.count if isinstance(models, MjModel) else list(models)
        if len(given) != self.count:
            raise ValueError(
                f"set_models: expected one model, or a model per simulation: {self.count}, got {len(given)}"
            )
        for i, model in enumerate(given):
            if not isinstance(model, MjModel):
                raise TypeError(f"set_models: model {i} should be an MjModel, got {type(model).__name__}")
            for name in SIZE_NAMES:
                size, expected = getattr(model, name), getattr(self.base, name)
                if size != expected and not name.startswith(FREE_SIZES):
                    raise ValueError(f"set_models: model {i} has {name} {size}, the batch's model has {expected}")
        self.given, self.shared = given, isinstance(models, MjModel)
        in_form = {id(model): self._in_form(internals.form(self.base), model) for model in given}
        self._running = [in_form[id(model)] for model in given]
        self.addresses = np.array([model.address for model in self._running], np.int64)

    @property
    def flexible(self) -> bool:
        """True if any field that affects the choice of a world's stages has per-world values."""
        return any(name.startswith(("opt.", "flex_")) or v.dtype.kind != "f" for name, v in self.values.items())

    def kinds(self) -> np.ndarray | None:
        """Group the worlds by the stages that they need. Return the first world of each world's group (nworld,).

        Return None if all worlds need the same stages. Stages depend on integers (types, flags), and on whether real
        numbers are 0. If the caller's models are set, the worlds of one model are a group.
        """
        if self.given is not None:
            numbers = {id(model): k for k, model in reversed(list(enumerate(self.given)))}
            return np.array([numbers[id(model)] for model in self.given])
        parts = []
        for name, values in self.values.items():
            is_real = values.dtype.kind == "f"
            if is_real and not name.startswith(("opt.", "flex_")):
                continue
            rows = np.asarray(values).reshape(self.count, -1)
            if is_real:
                rows = rows != 0
            if rows.shape[1] and (rows != rows[0]).any():
                parts.append(rows.astype(np.float64))
        if not parts:
            return None
        _, first, inverse = np.unique(np.hstack(parts), axis=0, return_index=True, return_inverse=True)
        return first[inverse.reshape(-1)]
