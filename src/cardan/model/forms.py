"""Conversion of models and data between forms of native code, for batches only."""

from __future__ import annotations

from cardan.jit.front.precision import single_constant
from cardan.jit.front.stage import SINGLE, Form
from cardan.jit.memory.struct import StructMemory
from cardan.model.derived import ADDRESSES, DERIVATIONS
from cardan.model.fields_work import DERIVED
from cardan.model.mjdata import MjData, private_sizes
from cardan.model.mjmodel import MjModel
from cardan.model.plugin_life import copy_instances
from cardan.model.tables import MODEL

TOLERANCES = ("opt.tolerance", "opt.noslip_tolerance", "opt.mpr_tolerance")
"""Options that are raised like the small constants of the code."""


def model_in(form: Form, m: MjModel) -> MjModel:
    """Copy a model for native code of another form.

    Functions of the interface must not get the copy: their code is for double precision.
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
    for field in DERIVED:
        own = field.name in ADDRESSES
        memory.attach(field.name, DERIVATIONS[field.name](new) if own else m._memory.arrays[field.name])
    new._finalized = True
    return new


def data_in_double(m: MjModel, d: MjData) -> MjData:
    """Copy data of another precision to double precision, for the given model."""
    new = MjData(m)
    memory, old = new._memory, d._memory
    plugin_data = memory.arrays["plugin_data"].copy()
    for capacity in old.growable:
        if memory.sizes[capacity] != old.sizes[capacity]:
            memory.grow(capacity, old.sizes[capacity])
    memory.take_values(old)
    for name in private_sizes(m):
        memory.arrays[name][:] = old.arrays[name]
    memory.arrays["plugin_data"][:] = plugin_data
    copy_instances(new, m, d)
    new._show_memory()
    return new
