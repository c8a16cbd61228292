"""Search for the first bad number in the fields of the data, in the order in which the pipeline computes them.

The search runs only after a divergence check failed. The table of fields specifies which stage writes which field.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.constants import mjMAXVAL
from cardan.enums import mjtConstraint, mjtObj
from cardan.jit import Field
from cardan.jit.memory.fields import Struct
from cardan.jit.memory.layout import home_of
from cardan.model import internals
from cardan.model.named import KIND_OF_OBJECT, name_book
from cardan.model.tables import DATA

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

INPUTS = ("time", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos", "mocap_quat")
STATE = ("qpos", "qvel", "act")
STAGES: list[str] = []  # in the order in which they run; set by the pipeline


@cache
def _rows(stage: str) -> tuple[Field, ...]:
    """Return the real-valued arrays that a stage writes, as rows of the table of fields, without solver statistics."""
    fields = [field for field in DATA.fields if field.stage == stage and field.dtype == "f8" and field.shape]
    return tuple(field for field in fields if "nstatistic" not in field.shape)


def _values(d: MjData, name: str) -> np.ndarray:
    return np.asarray(attrgetter(name)(d))


def _first_bad(values: np.ndarray, huge: float) -> int:
    """Return the flat index of the first number that is NaN or exceeds `huge` in magnitude, or -1."""
    if not values.size:
        return -1
    good = np.abs(values.reshape(-1)) <= huge
    k = int(good.argmin())
    return -1 if good[k] else k


@cache
def _homes(struct: Struct, growable: frozenset[str]) -> frozenset[str | None]:
    """Return the arena capacities whose buffers hold results of stages. None means the buffer of fixed-size arrays."""
    home = home_of(struct, growable)
    return frozenset(home.get(field.name) for stage in STAGES for field in _rows(stage))


def _suspects(d: MjData, computed: bool) -> set[str]:
    """Return the names of the arrays that may contain a bad number (NaN, or a magnitude above mjMAXVAL).

    Many arrays share a buffer. Whole buffers are checked, because this takes only as long as checking one array. Arrays
    outside the buffers are not checked and always returned. Unless `computed` is set, only fixed-size arrays are
    checked.
    """
    memory = internals.memory(d)
    real = memory.struct.by_name["work.buffer"].numpy_dtype
    has_rows = computed and (d.ncon or d.nefc)
    found: set[str] = set(memory.elsewhere)
    for home in _homes(memory.struct, memory.growable) if has_rows else (None,):
        layout, buffer = memory.arrays.buffers[home]
        good = np.abs(buffer.view(real)) <= mjMAXVAL
        if not good.all():
            places = np.searchsorted(layout.rows[:, 0], real.itemsize * np.flatnonzero(~good), side="right") - 1
            names = list(layout.places)
            found.update([names[place] for place in set(places.tolist())])
    return found


def first_trouble(m: MjModel, d: MjData, computed: bool) -> str:
    """Describe the first bad number in the data, in the order of the pipeline. Call this before the data are reset.

    If `computed` is set, results of the pipeline belong to the current state and are searched too.
    """
    suspects = {"time"} | _suspects(d, computed)
    for names, source in ((INPUTS, "an input"), (STATE, "set so, or left so by the last integration")):
        for name in names:
            if name not in suspects:
                continue
            k = _first_bad(_values(d, name), mjMAXVAL)
            if k >= 0:
                return f"the first bad number is {_element(m, d, DATA.by_name[name], k)}, {source}"
    finite = float(np.finfo(np.float64).max)
    for stage in STAGES if computed else ():
        for field in _rows(stage):
            if field.name not in suspects:
                continue
            k = _first_bad(_values(d, field.name), mjMAXVAL if field.name == "qacc" else finite)
            if k >= 0:
                return f"the first bad number is {_element(m, d, field, k)}, from the stage {stage}"
    return "no number is bad before it"


def _named(m: MjModel, objtype: mjtObj, i: int) -> str:
    """Return kind, id and name of an element."""
    kind = KIND_OF_OBJECT[int(objtype)]
    names = name_book(m, kind).names
    return f"{'joint' if kind == 'jnt' else kind} {i}" + (f" '{names[i]}'" if 0 <= i < len(names) and names[i] else "")


def _of_joint(m: MjModel, joint: int) -> str:
    body = int(m.jnt_bodyid[joint])
    return f"{_named(m, mjtObj.mjOBJ_JOINT, joint)} of {_named(m, mjtObj.mjOBJ_BODY, body)}"


def _dof(m: MjModel, d: MjData, i: int) -> str:
    return f"dof {i}, {_of_joint(m, int(m.dof_jntid[i]))}"


def _position(m: MjModel, d: MjData, i: int) -> str:
    joint = int(np.searchsorted(m.jnt_qposadr, i, side="right")) - 1
    return f"dof {int(m.jnt_dofadr[joint])}, {_of_joint(m, joint)}"


def _object(objtype: mjtObj, owner: str = "") -> Callable[[Any, Any, int], str]:
    """Return a function that describes an element, and its body if `owner` (name of a field of body ids) is given."""

    def words(m: MjModel, d: MjData, i: int) -> str:
        text = _named(m, objtype, i)
        return f"{text} of {_named(m, mjtObj.mjOBJ_BODY, int(getattr(m, owner)[i]))}" if owner else text

    return words


def _side(m: MjModel, d: MjData, con: int, side: int) -> str:
    """Describe a side of a contact: a geom, or a vertex or element of a flex."""
    geom, flex = int(d.contact.geom[con, side]), int(d.contact.flex[con, side])
    if geom >= 0:
        return WORDS["ngeom"](m, d, geom)
    vertex, element = int(d.contact.vert[con, side]), int(d.contact.elem[con, side])
    part = f"vertex {vertex}" if vertex >= 0 else f"element {element}"
    return f"{part} of {_named(m, mjtObj.mjOBJ_FLEX, flex)}"


def _contact(m: MjModel, d: MjData, i: int) -> str:
    return f"contact {i}, {_side(m, d, i, 0)} and {_side(m, d, i, 1)}"


def _row(m: MjModel, d: MjData, i: int) -> str:
    kind, k = mjtConstraint(int(d.efc_type[i])), int(d.efc_id[i])
    text = f"constraint row {i} ({kind.name.removeprefix('mjCNSTR_').lower()}), "
    if "CONTACT" in kind.name:
        return text + _contact(m, d, k)
    return text + next(words(m, d, k) for part, words in ROW_OWNERS.items() if part in kind.name)


def _owner(first: np.ndarray, number: np.ndarray, i: int) -> int:
    """Return the actuator whose block of controls or outputs contains number `i`."""
    return int(np.flatnonzero((first <= i) & (i < first + number))[0])


# first dimension of a field: function that describes its element
WORDS: dict[str, Callable[[Any, Any, int], str]] = {
    "nv": _dof,
    "nq": _position,
    "nM": lambda m, d, i: _dof(m, d, int(np.searchsorted(internals.array(m, "aux.M_rowadr"), i, side="right")) - 1),
    "nD": lambda m, d, i: _dof(m, d, int(np.searchsorted(d.D_rowadr, i, side="right")) - 1),
    "na": lambda m, d, i: _named(m, mjtObj.mjOBJ_ACTUATOR, int(np.flatnonzero(m.actuator_actadr <= i)[-1])),
    "nu": lambda m, d, i: _named(m, mjtObj.mjOBJ_ACTUATOR, _owner(m.actuator_ctrladr, m.actuator_ctrlnum, i)),
    "nout": lambda m, d, i: _named(m, mjtObj.mjOBJ_ACTUATOR, _owner(m.actuator_outadr, m.actuator_outnum, i)),
    "nactuator": _object(mjtObj.mjOBJ_ACTUATOR),
    "nbody": _object(mjtObj.mjOBJ_BODY),
    "njnt": lambda m, d, i: _of_joint(m, i),
    "ngeom": _object(mjtObj.mjOBJ_GEOM, "geom_bodyid"),
    "nsite": _object(mjtObj.mjOBJ_SITE, "site_bodyid"),
    "ncam": _object(mjtObj.mjOBJ_CAMERA, "cam_bodyid"),
    "nlight": _object(mjtObj.mjOBJ_LIGHT, "light_bodyid"),
    "ntendon": _object(mjtObj.mjOBJ_TENDON),
    "ncon": _contact,
    "nefc": _row,
}
ROW_OWNERS = {
    "EQUALITY": _object(mjtObj.mjOBJ_EQUALITY),
    "FRICTION_DOF": _dof,
    "LIMIT_JOINT": WORDS["njnt"],
    "TENDON": WORDS["ntendon"],
}


def _element(m: MjModel, d: MjData, field: Field, k: int) -> str:
    """Describe number `k` of a field: name and indices, value, and the element to which it belongs."""
    values = _values(d, field.name)
    index = [int(i) for i in np.unravel_index(k, values.shape)] if values.ndim else []
    place = "".join(f"[{i}]" for i in index)
    words = WORDS.get(str(field.shape[0])) if field.shape else None
    return f"{field.name}{place} = {values.reshape(-1)[k]:g}" + (f" ({words(m, d, index[0])})" if words else "")
