"""Access to memory and programs of models and data, for the other packages of the engine.

`MjModel` and `MjData` show users only the fields of MuJoCo. The engine accesses all other contents (private arrays
``work.*`` and ``aux.*``, capacities, programs) only through the functions of this module. `tests/test_imports.py`
checks that other packages don't use private attributes.

Arrays of fixed size never move. Arrays of the arena (contacts, constraint rows) move when a capacity grows, so a caller
may keep them only until the next stage runs. Several threads may use a model at once, each with its own data. Therefore
private arrays of a model are written only during compilation, or under the lock of the model's programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from cardan.jit.binding.functions import ProgramTable
    from cardan.jit.front.stage import Form
    from cardan.jit.memory.struct import StructMemory
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import LaterCode, MjModel


class InMemory(Protocol):
    """Object with a memory: a model, data, or scratch data of the compiler."""

    _memory: StructMemory


def memory(x: InMemory) -> StructMemory:
    """Return the whole memory, for code that copies it, attaches other arrays to it, or reads its layout."""
    return x._memory


def array(x: InMemory, name: str) -> np.ndarray:
    """Return the view of an array field, public or private (``"aux.M_rowadr"``); raise KeyError for other names."""
    return x._memory.arrays[name]


def number(x: MjModel | MjData, name: str) -> Any:
    """Return the value of a scalar field, public or private (``"work.need"``)."""
    return x._memory.scalars[name].item()


def set_number(x: MjModel | MjData, name: str, value: float) -> None:
    """Set a scalar field, without the side effects of setting the public attribute."""
    x._memory.scalars[name][0] = value


def sizes(x: MjModel | MjData) -> dict[str, int]:
    """Return the sizes by name; for data, also the current capacities of the arena. Do not change the result."""
    return x._memory.sizes


def set_size(m: MjModel, name: str, value: int) -> None:
    """Set a number among the sizes on which the length of no array depends."""
    m._memory.scalars[name][0] = m._memory.sizes[name] = value


def attach(x: MjModel | MjData, name: str, values: np.ndarray) -> None:
    """Make an attached field refer to another array of any length. The model or data keeps the array alive."""
    x._memory.attach(name, values)
    forget_view(x)


def forget_view(x: MjModel | MjData) -> None:
    """Discard the interpreter's cached view, so that the next view contains newly attached arrays."""
    x.__dict__.pop("_view", None)


def kept(x: MjModel | MjData) -> dict[str, Any]:
    """Return the dictionary in which other packages store values for a model or data. In a copy, it starts empty."""
    return x.__dict__.setdefault("_kept", {})


THREADS = "threads"
"""Key in `kept` of the number of threads that a program requested for a data (`mju_threadpool`)."""


def set_model(d: MjData, m: MjModel) -> None:
    """Make data refer to another model of the same sizes, such as the model of a world with expanded fields."""
    d.__dict__["model"] = m


def copy_values(target: MjData, source: MjData) -> None:
    """Copy all values from `source` to `target`. Their models must have the same sizes. Plugins copy their own data."""
    target._copy_values(source)


def position(d: MjData) -> np.ndarray:
    """Return a writable array (2,): the stage at which the last program stopped, and the number of repetitions done."""
    return d._resume


def arena_hold(d: MjData) -> list[bool]:
    """Return a list with one flag, which is set while a Python function called by a stage runs.

    While the flag is set, the arena must not move. Set the flag by a plain assignment, so that no signal handler can
    run before the next instruction.
    """
    return d._arena_held


def form(m: MjModel) -> Form:
    """Return the form of the native code that runs on the model (layout, precision, target)."""
    return m._form


def programs(m: MjModel) -> ProgramTable:
    """Return the model's table of programs. Look-ups need no lock; all other operations hold the table's `lock`."""
    return m._programs


def functions(m: MjModel) -> dict[str, Any]:
    """Return the functions in each of the model's tables. A reference to the result keeps their native code loaded.

    The caller must hold the lock of the model's programs.
    """
    return dict(m._native_code)


def later_functions(m: MjModel) -> LaterCode:
    """Return an object that prevents the unloading of functions written to the model's tables after this call."""
    return m._later_code


def numbered(m: MjModel) -> dict[Callable[..., Any], int]:
    """Return the numbers (from 1) by which the tables of a model for interleaved worlds refer to functions."""
    return m._numbered


def share_numbers(m: MjModel, base: MjModel) -> None:
    """Make the tables of `m` refer to functions by the numbers that the tables of `base` use."""
    m._numbered = base._numbered


def plugins(m: MjModel) -> tuple[str, ...]:
    """Return the name of the plugin of each plugin instance."""
    return m._plugins


def set_plugins(m: MjModel, names: Iterable[str]) -> None:
    """Set the name of the plugin of each plugin instance, before the model is finished."""
    m._plugins = tuple(names)


def plugin_data(d: MjData) -> list[Any]:
    """Return the data objects of all plugin instances, which were made by their plugins."""
    return d._plugin_data


def set_plugin_data(d: MjData, instances: Iterable[Any]) -> None:
    """Set the data of all plugin instances."""
    d._plugin_data = list(instances)


def source(m: MjModel) -> Any:
    """Return the tree from which the model was compiled, or None. The tree is needed to write the model as XML."""
    return m._source


def set_source(m: MjModel, tree: Any) -> None:
    """Set the tree from which the model was compiled."""
    m._source = tree


def mesh_poses(m: MjModel) -> dict[int, Any]:
    """Return the poses of geoms with a mesh, and of their meshes, by geom id; needed to write the model as XML."""
    return m._mesh_poses
