"""Derivatives at one state: of any field by any real field, and of the inverse dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cardan.derive.inputs import READ, Part, part, seeds_of
from cardan.derive.linearisation import Linearisation, linearisation

if TYPE_CHECKING:
    from cardan.model.mjdata import MjData
    from cardan.model.mjmodel import MjModel


def sensitivities(
    m: MjModel, d: MjData, of: Sequence[str], by: Sequence[str], after: str = "step", reach: float = 0.0
) -> dict[tuple[str, str], np.ndarray]:
    """Derivatives of fields by fields; arguments and results as in `cardan.derivatives`, `reach` a distance or 0."""
    if after not in ("step", "forward"):
        raise ValueError(f'derivatives: after must be "step" or "forward", not {after!r}')
    with linearisation(m, after, reach) as course:
        course.start(d)
        results = [part(course.d, text) for text in of]
        inputs = [part(course.d, text) for text in by]
        if m.npluginstate and any(result.field == "d.plugin_state" for result in results):
            raise NotImplementedError("derivatives of plugin_state are not supported: only those by it are")
        fixed = [result.text for result in results if result.field.startswith("m.")]
        if fixed:
            raise ValueError(f"derivatives: {fixed[0]} belongs to the model, which no step changes")
        unread = [given.text for given in inputs if given.field.startswith("d.") and given.field not in READ]
        if unread:
            raise ValueError(f"derivatives: a step does not read {unread[0]}, it computes it or leaves it alone")
        outputs = tuple(dict.fromkeys(result.field for result in results))
        # parameters of the model go through one program together, which compiles once for all
        groups = [[given] for given in inputs if given.field.startswith("d.")]
        groups += [[given for given in inputs if given.field.startswith("m.")]]
        found: dict[tuple[str, str], np.ndarray] = {}
        for group in groups:
            tangents = _tangents(course, group, outputs)
            at = 0
            for given in group:
                columns = slice(at, at + len(given.numbers))
                at = columns.stop
                for result in results:
                    nothing = np.zeros((len(result.numbers), 0))
                    rows = tangents[result.field][result.numbers, columns] if tangents else nothing
                    found[result.text, given.text] = rows.reshape(*result.shape, *given.shape).copy()
        return {(result.text, given.text): found[result.text, given.text] for given in inputs for result in results}


def _tangents(course: Linearisation, group: Sequence[Part], outputs: Sequence[str]) -> dict[str, np.ndarray]:
    """The tangents of the outputs along the directions of some inputs, one after the other; {} if there are none."""
    total = sum(len(given.numbers) for given in group)
    if not total or not outputs:
        return {}
    seeds: dict[str, np.ndarray] = {}
    at = 0
    for given in group:
        own = seeds_of(course.space, course.d, given)
        columns = seeds.setdefault(given.field, np.zeros((len(own), total)))
        columns[:, at : at + own.shape[1]] = own
        at += own.shape[1]
    return course.tangents(dict(sorted(seeds.items())), outputs)


def inverse_derivatives(
    m: MjModel, d: MjData, actuation: bool, inputs: tuple[bool, bool, bool], sensors: bool
) -> np.ndarray:
    """Derivatives of the results of inverse dynamics by position, velocity and acceleration (spec: derivatives).

    `actuation`: subtract `qfrc_actuator` from `qfrc_inverse`. `inputs` and `sensors` are what is wanted. The result is
    (3 nv, nv + nsensordata + nM): a row an input, columns for qfrc_inverse, sensor data and qM; zero where not wanted.
    """
    kind = "inverse with actuation" if actuation else "inverse" if sensors else "inverse without sensors"
    nv, ns = m.nv, m.nsensordata
    result = np.zeros((3 * nv, nv + ns + m.nM))
    with linearisation(m, kind) as course:
        course.start(d)
        seeds = (("d.qpos", course.space.basis(course.d.qpos)), ("d.qvel", np.eye(nv)), ("d.qacc", np.eye(nv)))
        outputs = ("d.qfrc_inverse", "d.qM", *(("d.sensordata",) if sensors else ()))
        outputs += ("d.qfrc_actuator",) if actuation else ()
        for k, (name, directions) in enumerate(seeds):
            if inputs[k] and nv:
                found = course.tangents({name: directions}, outputs)
                rows = result[k * nv : (k + 1) * nv]
                rows[:, :nv] = found["d.qfrc_inverse"].T
                if actuation:
                    rows[:, :nv] -= found["d.qfrc_actuator"].T
                if sensors:
                    rows[:, nv : nv + ns] = found["d.sensordata"].T
                rows[:, nv + ns :] = found["d.qM"].T
    return result
