"""Derivatives of any field of the data by any real field that may change at run time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cardan.derive.fields import Part, part
from cardan.derive.linearisation import COPIED, Linearisation, linearisation
from cardan.derive.plugins import check_results
from cardan.model import internals

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel

READ = (*COPIED, "time")
"""Fields of the data that a step starts from."""
AFTER = {"step": "step", "forward": "forward"}


def seeds_of(course: Linearisation, by: Part) -> np.ndarray:
    """Directions along each number of an input: (size of the field, numbers)."""
    if by.field == "d.qpos":
        return course.space.basis(course.d.qpos)[:, by.numbers]
    memory = internals.memory(course.m if by.field.startswith("m.") else course.d)
    name = by.field[2:]
    size = 1 if memory.struct.by_name[name].is_scalar else memory.arrays[name].size
    result = np.zeros((size, len(by.numbers)))
    result[by.numbers, np.arange(len(by.numbers))] = 1.0
    return result


def sensitivities(
    m: MjModel, d: MjData, of: Sequence[str], by: Sequence[str], after: str = "step", reach: float = 0.0
) -> dict[tuple[str, str], np.ndarray]:
    """Derivatives of fields by fields.

    Args:
        m: model.
        d: data; it does not change.
        of: names of results.
        by: names of inputs.
        after: "step" or "forward".
        reach: distance up to which contacts take part that aren't made (`derive.distant`); 0 for none.

    Returns:
        For each pair (result, input) an array with the shape of the result, then that of the input.

    Raises:
        IndexError, TypeError, ValueError: a name stands for nothing (`derive.fields.part`).
        NotImplementedError: the model or the state has a feature without derivatives.
        RuntimeError: native code is switched off.
    """
    if after not in AFTER:
        raise ValueError(f'derivatives: after must be "step" or "forward", not {after!r}')
    with linearisation(m, AFTER[after], reach) as course:
        course.start(d)
        results = [part(m, course.d, text) for text in of]
        inputs = [part(m, course.d, text) for text in by]
        check_results(m, [result.field for result in results])
        fixed = [result.text for result in results if result.field.startswith("m.")]
        if fixed:
            raise ValueError(f"derivatives: {fixed[0]} belongs to the model, which no step changes")
        unread = [given.text for given in inputs if given.field.startswith("d.") and given.field[2:] not in READ]
        if unread:
            raise ValueError(f"derivatives: a step does not read {unread[0]}, it computes it or leaves it alone")
        outputs = tuple(dict.fromkeys(result.field for result in results))
        found: dict[tuple[str, str], np.ndarray] = {}
        for group in _groups(inputs):
            tangents = _tangents(course, group, outputs)
            at = 0
            for given in group:
                columns = slice(at, at + len(given.numbers))
                at = columns.stop
                for result in results:
                    rows = (
                        tangents[result.field][result.numbers, columns]
                        if tangents
                        else np.zeros((len(result.numbers), 0))
                    )
                    found[result.text, given.text] = rows.reshape(*result.shape, *given.shape).copy()
        return {(result.text, given.text): found[result.text, given.text] for given in inputs for result in results}


def _groups(inputs: Sequence[Part]) -> list[list[Part]]:
    """Inputs whose directions go through one program: parameters of the model together, which compiles once for all."""
    parameters = [given for given in inputs if given.field.startswith("m.")]
    alone = [[given] for given in inputs if not given.field.startswith("m.")]
    return [*alone, *([parameters] if parameters else [])]


def _tangents(course: Linearisation, group: Sequence[Part], outputs: Sequence[str]) -> dict[str, np.ndarray]:
    """The tangents of the outputs along the directions of some inputs, one after the other; {} if there are none."""
    total = sum(len(given.numbers) for given in group)
    if not total or not outputs:
        return {}
    seeds: dict[str, np.ndarray] = {}
    at = 0
    for given in group:
        own = seeds_of(course, given)
        columns = seeds.setdefault(given.field, np.zeros((len(own), total)))
        columns[:, at : at + own.shape[1]] = own
        at += own.shape[1]
    return course.tangents(dict(sorted(seeds.items())), outputs)
