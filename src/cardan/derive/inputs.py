"""Inputs of derivatives: fields, or parts of fields, selected by name, and their directions.

``"qvel"`` is a field of the data, ``"body_mass"`` a field of the model, and ``"opt.gravity"`` a member of a group.
``"geom_friction[3]"`` is a row of a field, and ``"geom_friction[3, 0]"`` one number. Directions of qpos are in the
tangent space: a quaternion q changes by a rotation vector w in the local frame, dq = q (0, w) / 2 (spec: computation,
floating objects).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from cardan.enums.codes import JNT_BALL, JNT_FREE
from cardan.model import internals
from cardan.model.tables import DATA, MODEL
from cardan.step.state import STATE_FIELDS

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

COPIED = tuple(name for _, name in STATE_FIELDS if name != "time")
"""Fields of the data on which the dynamics depend, without the time."""
READ = (*(f"d.{name}" for name in COPIED), "d.time")
"""Fields of the data that are the inputs of a step."""
Combination = Mapping[str, ArrayLike]
"""Direction in which several fields change together: weights of each field, or part of a field, by name."""
By = Sequence[str] | Mapping[str, Combination]
"""Inputs of sensitivities: names of fields, or combinations by names that the caller chooses."""

_NAME = re.compile(r"([A-Za-z_][\w.]*)(?:\[\s*(\d+(?:\s*,\s*\d+)*)\s*\])?")
_HIDDEN = ("work.", "aux.")


@dataclass(frozen=True, slots=True)
class Part:
    """Field, or part of a field, of the model or the data."""

    text: str  # name that the user gave
    field: str  # name with the structure: ``d.qvel``, ``m.body_mass``
    numbers: np.ndarray  # flat indices of the selected numbers in the field; for qpos, indices of dofs
    shape: tuple[int, ...]


def part(d: MjData, text: str) -> Part:
    """Return the field that a name refers to or, if the name has indices in brackets, a row or element of the field.

    Raises:
        IndexError: an index is too large.
        TypeError: `text` is not a string.
        ValueError: the field does not exist, or its type is not float64.
    """
    if not isinstance(text, str):
        raise TypeError(f"derivatives: fields are named by strings, not {type(text).__name__}")
    match = _NAME.fullmatch(text.strip())
    if match is None:
        raise ValueError(f'derivatives: {text!r} is no name of a field; "qvel" and "geom_friction[3]" would be')
    name, indices = match.groups()
    letter, owner, struct = ("d", d, DATA) if name in DATA.by_name else ("m", d.model, MODEL)
    field = struct.by_name.get(name)
    if field is None or name.startswith(_HIDDEN):
        raise ValueError(f"derivatives: neither MjData nor MjModel has a field {name!r} (docs/fields.md lists them)")
    if field.dtype != "f8":
        raise ValueError(f"derivatives: {name} has no numbers of type float64, but {field.dtype}")
    shape = (d.model.nv,) if name == "qpos" else () if field.is_scalar else internals.array(owner, name).shape
    numbers = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
    if indices:
        where = tuple(int(k) for k in indices.split(","))
        if len(where) > len(shape) or any(k >= n for k, n in zip(where, shape, strict=False)):
            raise IndexError(f"derivatives: {text} is outside of {name}, whose shape is {shape}")
        numbers = np.asarray(numbers[where])
    return Part(text, f"{letter}.{name}", numbers.reshape(-1), numbers.shape)


class TangentSpace:
    """Conversion between tangents of qpos in coordinates (nq) and in the tangent space (nv) of a model."""

    def __init__(self, m: MjModel) -> None:
        self.nq, self.nv = m.nq, m.nv
        scalars: list[tuple[int, int]] = []
        quats: list[tuple[int, int]] = []
        for kind, adr, dof in zip(m.jnt_type.tolist(), m.jnt_qposadr.tolist(), m.jnt_dofadr.tolist(), strict=True):
            if kind == JNT_FREE:
                scalars += [(adr + k, dof + k) for k in range(3)]
                quats.append((adr + 3, dof + 3))
            elif kind == JNT_BALL:
                quats.append((adr, dof))
            else:
                scalars.append((adr, dof))
        self.scalar_adr, self.scalar_dof = np.array(scalars, np.intp).reshape(-1, 2).T
        self.quat_adr, self.quat_dof = np.array(quats, np.intp).reshape(-1, 2).T

    def _frames(self, qpos: np.ndarray) -> np.ndarray:
        """Return the matrix (4, 3) of the linear map w -> q (0, w) for each quaternion q: (n, 4, 3)."""
        w, x, y, z = qpos[self.quat_adr[:, None] + np.arange(4)].T
        rows = np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
        return rows.transpose(2, 0, 1)

    def tangents(self, qpos: np.ndarray, directions: np.ndarray) -> np.ndarray:
        """Convert directions in the tangent space (nv, n) to tangents of qpos (nq, n)."""
        result = np.zeros((self.nq, directions.shape[1]))
        result[self.scalar_adr] = directions[self.scalar_dof]
        if len(self.quat_adr):
            parts = directions[self.quat_dof[:, None] + np.arange(3)]
            result[self.quat_adr[:, None] + np.arange(4)] = 0.5 * (self._frames(qpos) @ parts)
        return result

    def basis(self, qpos: np.ndarray) -> np.ndarray:
        """Tangents of qpos along each dof (nq, nv)."""
        result = np.zeros((self.nq, self.nv))
        result[self.scalar_adr, self.scalar_dof] = 1.0
        if len(self.quat_adr):
            rows = self.quat_adr[:, None, None] + np.arange(4)[:, None]
            result[rows, self.quat_dof[:, None, None] + np.arange(3)] = 0.5 * self._frames(qpos)
        return result

    def coordinates(self, qpos: np.ndarray, tangents: np.ndarray) -> np.ndarray:
        """Convert tangents of qpos (nq, n) to the tangent space (nv, n). Quaternions of `qpos` must be normalised."""
        result = np.zeros((self.nv, tangents.shape[1]))
        result[self.scalar_dof] = tangents[self.scalar_adr]
        if len(self.quat_adr):
            parts = tangents[self.quat_adr[:, None] + np.arange(4)]
            result[self.quat_dof[:, None] + np.arange(3)] = 2.0 * (self._frames(qpos).transpose(0, 2, 1) @ parts)
        return result


@dataclass(frozen=True)
class Inputs:
    """Fields, or parts of fields, that vary along a common list of directions."""

    parts: list[tuple[Part, slice, np.ndarray]]  # (part, its directions, weights (numbers, directions))
    columns: dict[str, tuple[slice, tuple[int, ...]]]  # by name: its directions, and the shape of its part
    total: int  # number of directions

    def seeds(self, space: TangentSpace, d: MjData, but: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
        """Return the directions of all fields except `but`, by name of the field.

        Each value is (size of the field, number of directions). The directions of qpos are converted to coordinates
        (nq).
        """
        seeds: dict[str, np.ndarray] = {}
        for given, columns, weights in self.parts:
            if given.field not in but:
                if given.field not in seeds:
                    size = space.nv if given.field == "d.qpos" else _size(d, given.field)
                    seeds[given.field] = np.zeros((size, self.total))
                seeds[given.field][given.numbers, columns] += weights
        if "d.qpos" in seeds:
            seeds["d.qpos"] = space.tangents(d.qpos, seeds["d.qpos"])
        return dict(sorted(seeds.items()))


def _size(d: MjData, field: str) -> int:
    memory, name = internals.memory(d.model if field.startswith("m.") else d), field[2:]
    return 1 if memory.struct.by_name[name].is_scalar else memory.arrays[name].size


def named_inputs(d: MjData, by: By) -> Inputs:
    """Return the inputs that names, or combinations of names, refer to.

    Raises:
        IndexError, TypeError, ValueError: a name does not refer to an input of a step, or the weights of a combination
            have the wrong shape.
    """
    combined = by if isinstance(by, Mapping) else {}
    parts: list[tuple[Part, slice, np.ndarray]] = []
    columns: dict[str, tuple[slice, tuple[int, ...]]] = {}
    total = 0
    for name in by:
        group = [part(d, text) for text in combined.get(name, (name,))]
        size, shape = (1, ()) if name in combined else (len(group[0].numbers), group[0].shape)
        columns[name] = slice(total, total + size), shape
        for given in group:
            if given.field.startswith("d.") and given.field not in READ:
                raise ValueError(f"derivatives: a step does not read {given.text}, it computes it or leaves it alone")
            weights = _weights(given, combined[name][given.text]) if name in combined else np.eye(size)
            parts.append((given, columns[name][0], weights))
        total += size
    return Inputs(parts, columns, total)


def _weights(given: Part, weights: ArrayLike) -> np.ndarray:
    try:
        return np.broadcast_to(np.asarray(weights, float), given.shape).reshape(-1, 1)
    except ValueError:
        wanted = f"a number or an array of shape {given.shape}"
        raise ValueError(
            f"sensitivities: weights of {given.text} should be {wanted}, got {np.shape(weights)}"
        ) from None
