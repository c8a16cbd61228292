"""Controls and force outputs of actuators: their numbers, addresses and ranges (spec 4.0: XML reference, "input").

Most actuators have one control and one force. PID controllers have a control for each word of ``input``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from cardan.spec.general import DECLARED_INPUTS
from cardan.spec.schema.keywords import CHART_NUMBERS, INPUT_BITS

if TYPE_CHECKING:
    from cardan.compiler.columns import Resolved
    from cardan.spec.element import Element

Range = tuple[float, float]

_TAKEN_BY: dict[str, tuple[str, ...]] = {
    "pid": ("pos", "vel", "ff"),
    "dcmotor": ("pos", "vel", "ff", "voltage"),
    "so3": ("expmap", "quat"),
}
"""Words of ``input`` that a type of gain takes, if it can have several controls."""
_USUAL: dict[str, str] = {"pid": "pos vel", "dcmotor": "voltage", "so3": "expmap"}
"""Inputs of these types of gain if none are given."""
_RANGES: dict[str, str] = {"vel": "velrange", "ff": "ffrange"}
"""Attributes with the ranges of controls other than the first one."""
_WIDTHS: dict[str, int] = {"none": 0, "expmap": 3, "quat": 4}
"""Numbers of controls of words that do not have one."""
_NUMBERS: dict[str, int] = {**INPUT_BITS, **CHART_NUMBERS}


def _words(element: Element, gain: str, text: str | None) -> list[str]:
    """Return the words of ``input`` of an actuator; raise MjcfError if its type of gain does not take them."""
    words = (text or _USUAL.get(gain, "")).split()
    if gain == "dcmotor" and words == ["none"]:
        return words
    taken = _TAKEN_BY.get(gain, ("pos", "vel", "pressure"))
    for word in words:
        if word not in taken:
            raise element.error(f"gaintype '{gain}' has the inputs {', '.join(taken)}, found '{word}'", "input")
    if (gain not in _TAKEN_BY or gain == "so3") and len(words) > 1:
        raise element.error(f"gaintype '{gain}' has one control, found '{text}'", "input")
    return words


def _is_discarded(element: Element, gain: str) -> bool:
    """Return whether inputs of the default class do not count, because the actuator's type of gain is another one."""
    if "input" in element.attributes:
        return False
    return element.default_class.entries.get("general", {}).get("gaintype", "fixed") != gain


def inputs_of(actuators: Resolved, version: str) -> list[list[str]]:
    """Return the words of ``input`` of each actuator, or what MuJoCo 4.0 declares if `version` is "4.0".

    Raises:
        MjcfError: the actuator cannot have such inputs.
    """
    given = actuators.get("input", None)
    if version != "4.0" and not any(given) and not any(gain in _TAKEN_BY for gain in actuators["gaintype"]):
        return [[] for _ in actuators.elements]
    found = []
    for element, gain, text in zip(actuators.elements, actuators["gaintype"], given, strict=True):
        if _is_discarded(element, gain):
            text = None
        if text is None and version == "4.0":
            text = DECLARED_INPUTS.get(element.row.tag)
        found.append(_words(element, gain, text))
    return found


def number_of_controls(gain: str, words: Sequence[str]) -> int:
    """Return the number of controls of an actuator with a type of gain, from the words of its ``input``."""
    return sum(_WIDTHS.get(word, 1) for word in words) if gain in _TAKEN_BY else 1


def control_columns(
    actuators: Resolved, inputs: Sequence[list[str]], limited: Sequence[bool], ranges: Sequence[Range]
) -> dict[str, list[Any]]:
    """Return the columns that describe controls.

    Args:
        actuators: the actuators.
        inputs: the words of ``input`` of each.
        limited: whether ``ctrlrange`` of each is active.
        ranges: ``ctrlrange`` of each.
    """
    numbers, flags, bounds = [], [], []
    for element, gain, words, flag, pair in zip(
        actuators.elements, actuators["gaintype"], inputs, limited, ranges, strict=True
    ):
        numbers.append(number_of_controls(gain, words))
        if gain != "pid":
            flags += [flag] * numbers[-1]
            bounds += [pair] * numbers[-1]
            continue
        values = element.resolved()
        for word in words:
            own = tuple(values.get(_RANGES[word]) or (0.0, 0.0)) if word in _RANGES else pair
            flags.append(own[0] < own[1] if word in _RANGES else flag)
            bounds.append(own)
    return {
        "actuator_ctrladr": addresses(numbers),
        "actuator_ctrlnum": numbers,
        "actuator_ctrlspec": [sum(_NUMBERS[word] for word in words) for words in inputs],
        "actuator_ctrllimited": flags,
        "actuator_ctrlrange": bounds,
    }


def spread(column: Sequence[Any], numbers: Sequence[int]) -> list[Any]:
    """Return a column in which the value of each actuator is repeated ``numbers`` times."""
    return [value for value, number in zip(column, numbers, strict=True) for _ in range(number)]


def addresses(numbers: Sequence[int]) -> list[int]:
    """Return the address of the first of each actuator's parts, from the number of parts of each actuator."""
    return [*accumulate(numbers, initial=0)][:-1]
