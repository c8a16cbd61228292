"""Scale of the content of a frame: factors of lengths and masses, and of the units of forces."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from cardan.spec.scaling.dimensions import exponents

if TYPE_CHECKING:
    from cardan.spec.element import Element

_MOST = 1e30  # greatest factor of lengths, also of nested frames, for which powers are finite
_LARGEST_TILT = 0.04  # sine of the largest angle to an axis that counts as aligned (about 2 degrees)


@dataclass(frozen=True)
class Scale:
    """Factors by which the content of nested frames is scaled.

    Attributes:
        length: factor of lengths; for a stretch, the geometric mean of the factors of the three axes.
        mass: factor of masses.
        unit_length: factor of lengths in the dimension of forces and stiffnesses. 1 for ``scaling="geometry"``.
        unit_mass: factor of masses in the dimension of forces and stiffnesses.
        stretch: map of positions, in the frame of the element's parent, as nine numbers row by row. None if all
            directions have the factor ``length``.
    """

    length: float = 1.0
    mass: float = 1.0
    unit_length: float = 1.0
    unit_mass: float = 1.0
    stretch: tuple[float, ...] | None = None

    def factor(self, dimension: str, linear: bool = True) -> float:
        """Return the factor of a quantity. ``linear``: whether the coordinate Q is a length, not an angle."""
        lengths, masses, coordinates, forces, newtons = exponents(dimension)
        length, mass = self.length, self.mass
        if forces or newtons:
            length, mass = self.unit_length, self.unit_mass
        lengths += newtons + (forces + coordinates if linear else 2 * forces)
        return length**lengths * mass ** (masses + forces + newtons)

    @property
    def matrix(self) -> np.ndarray:
        """The map of positions, shape (3, 3)."""
        return np.eye(3) * self.length if self.stretch is None else np.reshape(self.stretch, (3, 3))

    def moved(self, position: tuple[float, ...]) -> tuple[float, ...]:
        """Return the scaled position of a point of the parent's frame."""
        if self.stretch is None:
            return tuple(self.length * number for number in position)
        return tuple((self.matrix @ position).tolist())

    def turned(self, rotation: np.ndarray) -> Scale:
        """Return the scale in a frame with the given rotation matrix relative to this one."""
        if self.stretch is None:
            return self
        return self.with_stretch(rotation.T @ self.matrix @ rotation)

    def with_stretch(self, matrix: np.ndarray) -> Scale:
        """Return this scale with another map of positions."""
        stretch = tuple(matrix.ravel().tolist())
        return Scale(self.length, self.mass, self.unit_length, self.unit_mass, stretch)

    def along(self, axis: np.ndarray) -> float | None:
        """Return the factor along a unit vector, or None if the stretch turns the vector."""
        image = self.matrix @ axis
        length = float(np.linalg.norm(image))
        return None if np.linalg.norm(np.cross(axis, image)) > _LARGEST_TILT * length else length

    def inside(self, frame: Element, rotation: np.ndarray) -> Scale:
        """Return the scale of the content of a frame in this scale. ``rotation``: the frame's rotation matrix.

        Raises:
            MjcfError: an attribute of the frame is out of range, or the frame stretches forces.
        """
        values = frame.resolved()
        factors, mass = values["scale"], values["massscale"]
        if not all(isfinite(factor) and factor > 0.0 for factor in factors):
            raise frame.error(f"must be finite and positive, found {_text(factors)}", "scale")
        if not (isfinite(mass) and mass >= 0.0):
            raise frame.error(f"must be finite and not negative, found {mass:g}", "massscale")
        x, y, z = factors
        uniform = x == y == z
        if not uniform and values["scaling"] != "geometry":
            raise frame.error("different factors need scaling='geometry'", "scale")
        length = x if uniform else (x * y * z) ** (1.0 / 3.0)
        mass = mass or x * y * z
        units = (length, mass) if values["scaling"] == "similar" else (1.0, 1.0)
        outer = self.turned(rotation)
        made = Scale(self.length * length, self.mass * mass, self.unit_length * units[0], self.unit_mass * units[1])
        if not (1.0 / _MOST <= made.length <= _MOST and _MOST**-3 <= made.mass <= _MOST**3):
            raise frame.error(f"lengths are scaled by {made.length:g}, masses by {made.mass:g}: out of range", "scale")
        if uniform and outer.stretch is None:
            return made
        return made.with_stretch(outer.matrix @ np.diag(factors))


def _text(values: Any) -> str:
    """Return numbers as text, for messages."""
    return " ".join(f"{value:g}" for value in values)


NONE = Scale()


def mean(first: Scale, second: Scale) -> Scale:
    """Return the geometric mean of two scales: the scale of an element that refers to two objects."""
    if first == second:
        return first
    return Scale(
        sqrt(first.length * second.length),
        sqrt(first.mass * second.mass),
        sqrt(first.unit_length * second.unit_length),
        sqrt(first.unit_mass * second.unit_mass),
    )
