"""Histories of actuators and sensors: sizes, addresses, delays and intervals (spec 4.0: modeling, "Delays")."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from cardan.model.histories import HEAD
from cardan.spec.schema.keywords import INTERPOLATION

if TYPE_CHECKING:
    from cardan.compiler.build import Build
    from cardan.compiler.columns import Resolved
    from cardan.spec.element import Element

_MOST_SAMPLES = 1 << 24


def add_histories(build: Build, kind: str, elements: Resolved, dims: list[int]) -> None:
    """Fill the columns ``<kind>_history``, ``<kind>_historyadr`` and ``<kind>_delay``.

    Args:
        build: the model under construction.
        kind: "actuator" or "sensor". Histories of actuators come first in ``mjData.history``.
        elements: the actuators or sensors.
        dims: number of values in a sample, for each element.

    Raises:
        MjcfError: a delay without a history, too many samples, or a time step that is not positive.
    """
    delays, samples = elements.get("delay", 0.0), elements.get("nsample", 0)
    words = elements.get("interp", "zoh")
    timestep = build.tree.section("option").resolved()["timestep"]
    address = build.sizes.get("nhistory", 0)
    rows, addresses = [], []
    for element, delay, given, word, dim in zip(elements.elements, delays, samples, words, dims, strict=True):
        number = max(given, 0)
        _check(element, number, delay, timestep)
        rows.append((number, INTERPOLATION[word]))
        addresses.append(address if number else -1)
        address += HEAD + number * (1 + dim) if number else 0
    build.sizes["nhistory"] = address
    build.columns[f"{kind}_history"] = rows
    build.columns[f"{kind}_historyadr"] = addresses
    build.columns[f"{kind}_delay"] = delays


def _check(element: Element, samples: int, delay: float, timestep: float) -> None:
    """Raise MjcfError unless the length of a history and its delay are valid."""
    if isnan(delay):
        raise element.error("a delay must be a number, found nan", "delay")
    if delay > 0.0 and not samples:
        raise element.error(f"a delay needs a history: set nsample, found a delay of {delay:g}", "delay")
    if samples > _MOST_SAMPLES:
        raise element.error(f"at most {_MOST_SAMPLES} samples, found {samples}", "nsample")
    if samples and not timestep > 0.0:
        raise element.error(f"a history needs a positive timestep, found {timestep:g}", "nsample")


def intervals(sensors: Resolved) -> list[tuple[float, float]]:
    """Return the interval of each sensor: period and phase, s. If one is out of range, raise MjcfError."""
    column: list[tuple[float, float]] = []
    for element, given in zip(sensors.elements, sensors.get("interval", (0.0, 0.0)), strict=True):
        period, phase = (*given, 0.0)[:2]
        if not period >= 0.0:
            raise element.error(f"the period must not be negative, found {period:g}", "interval")
        if phase > 0.0:
            raise element.error(f"the phase must not be positive, found {phase:g}", "interval")
        if period > 0.0 and not phase > -period:
            raise element.error(f"the phase must be above -period, found {phase:g} for {period:g}", "interval")
        column.append((period, phase))
    return column
