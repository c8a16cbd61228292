"""Durations of the phases of a compilation, for programs that ask for them (``MjSpec.timer``)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter

import numpy as np

PHASES = (
    "total",
    "assets",
    "texture",
    "mesh_load",
    "mesh_hull",
    "mesh_polygon",
    "mesh_inertia",
    "mesh_bvh",
    "mesh_octree",
)
"""Phases in the order of MuJoCo's timers. ``mesh_load`` covers all work on meshes; those after it stay zero."""
_record: ContextVar[np.ndarray | None] = ContextVar("record", default=None)


@contextmanager
def recorded() -> Iterator[np.ndarray]:
    """Return a context manager for a compilation, whose value is the array of durations of its phases, s."""
    durations = np.zeros(len(PHASES))
    token = _record.set(durations)
    try:
        with phase("total"):
            yield durations
    finally:
        _record.reset(token)


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Return a context manager for a phase of compilation. Its duration is added if durations are recorded."""
    durations = _record.get()
    start = perf_counter()
    try:
        yield
    finally:
        if durations is not None:
            durations[PHASES.index(name)] += perf_counter() - start
