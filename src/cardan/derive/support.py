"""What can be differentiated: which stages of the pipeline have tangents, and clear errors for what has none yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from cardan.derive.constrained import constraint_tangents, integrator_tangents
from cardan.derive.plugins import plugin_tangents
from cardan.derive.program import Plain
from cardan.jit import jit_enabled

if TYPE_CHECKING:
    from cardan.model.mjmodel import MjModel

Stage = Callable[..., Any]

FROZEN = (
    *("cardan.collision.", "cardan.constraint.", "cardan.solver.islands", "cardan.step.checks"),
    *("cardan.step.report", "cardan.step.timers", "cardan.dynamics.energy"),
)
"""Modules whose stages have no tangents: what they decide counts as it is."""
COUNTERS = ("cardan.step.report.", "cardan.step.timers.")
"""Those of them on which nothing depends."""


def check_compiler() -> None:
    """Refuse to differentiate without native code.

    Raises:
        RuntimeError: it is switched off.
    """
    if not jit_enabled:
        raise RuntimeError(
            "derivatives need native code, which CARDAN_JIT=0 (or NUMBA_DISABLE_JIT=1) switches off; mjd_transitionFD "
            "and mjd_inverseFD work without it"
        )


def differentiable(
    m: MjModel, stages: Sequence[Stage | int], codes: tuple[int, ...], values: bool = False, advance: bool = False
) -> list[Stage | Plain]:
    """What programs of tangents run for the stages of a forward pass and an integrator.

    Args:
        m: model.
        stages: the stages.
        codes: numbers of the pairs of types that touch (`derive.contact.contact_codes`).
        values: whether the values are not there yet: stages without tangents run as they are.
        advance: whether what plugins do at the end of a step counts.

    Raises:
        NotImplementedError: a callback in Python is among them.
    """
    found: list[Stage | Plain] = []
    for stage in stages:
        if isinstance(stage, int):
            raise NotImplementedError(
                "derivatives through callbacks in Python are not supported: only compiled ones have derivatives "
                "(functions marked with cardan.kernel, or Numba functions)"
            )
        instead = constraint_tangents(m, stage, codes, values)
        if instead is None:
            instead = integrator_tangents(stage, values)
        if instead is None:
            instead = plugin_tangents(m, stage, advance)
        if instead is not None:
            found += instead
        elif not f"{stage.__module__}.".startswith(FROZEN):
            found.append(stage)
        elif values and not f"{stage.__module__}.".startswith(COUNTERS):
            found.append(Plain(stage))
    return found
