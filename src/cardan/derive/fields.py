"""Naming what is differentiated, and by what: fields of the data and the model, or parts of them.

``"qvel"`` is a field of the data, ``"body_mass"`` one of the model, ``"opt.gravity"`` a member of a group;
``"geom_friction[3]"`` and ``"geom_friction[3, 0]"`` are a row and a number of a field.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cardan.model import internals
from cardan.model.tables import DATA, MODEL

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

_NAME = re.compile(r"([A-Za-z_][\w.]*)(?:\[\s*(\d+(?:\s*,\s*\d+)*)\s*\])?")
_HIDDEN = ("work.", "aux.")


@dataclass(frozen=True, slots=True)
class Part:
    """A field, or a part of it.

    Attributes:
        text: how the user calls it.
        field: its name with the structure, ``d.qvel`` or ``m.body_mass``.
        numbers: which numbers of the field, counted row by row; of qpos, which degrees of freedom.
        shape: shape of the part.
    """

    text: str
    field: str
    numbers: np.ndarray
    shape: tuple[int, ...]


def part(m: MjModel, d: MjData, text: str) -> Part:
    """What a name stands for.

    Args:
        m: model.
        d: data.
        text: the name, with indices in brackets for a row or a number.

    Raises:
        IndexError: an index is too large.
        TypeError: it is not a string.
        ValueError: there is no such field, or it has no real numbers.
    """
    if not isinstance(text, str):
        raise TypeError(f"derivatives: fields are named by strings, not {type(text).__name__}")
    match = _NAME.fullmatch(text.strip())
    if match is None:
        raise ValueError(f'derivatives: {text!r} is no name of a field; "qvel" and "geom_friction[3]" would be')
    name, indices = match.groups()
    letter, owner, struct = ("d", d, DATA) if name in DATA.by_name else ("m", m, MODEL)
    field = struct.by_name.get(name)
    if field is None or name.startswith(_HIDDEN):
        raise ValueError(f"derivatives: neither MjData nor MjModel has a field {name!r} (docs/fields.md lists them)")
    if field.dtype != "f8":
        raise ValueError(f"derivatives: {name} has no numbers of type float64, but {field.dtype}")
    shape = (m.nv,) if name == "qpos" else () if field.is_scalar else internals.array(owner, name).shape
    numbers = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
    if indices:
        where = tuple(int(k) for k in indices.split(","))
        if len(where) > len(shape) or any(k >= n for k, n in zip(where, shape, strict=False)):
            raise IndexError(f"derivatives: {text} is outside of {name}, whose shape is {shape}")
        numbers = np.asarray(numbers[where])
    return Part(text, f"{letter}.{name}", numbers.reshape(-1), numbers.shape)
