"""Costly features of the smooth dynamics that a model uses; a program leaves out the stages of all others."""

from __future__ import annotations

from typing import Any

from cardan.enums import mjtBias, mjtDyn, mjtGain, mjtTrn, mjtWrap

_SPATIAL = {int(mjtTrn.mjTRN_SITE), int(mjtTrn.mjTRN_SLIDERCRANK), int(mjtTrn.mjTRN_BODY)}


def has_spatial_tendons(m: Any) -> bool:
    """Whether any tendon is spatial."""
    return bool((m.wrap_type != mjtWrap.mjWRAP_JOINT.value).any())


def has_spatial_transmissions(m: Any) -> bool:
    """Whether any actuator acts on sites, a slider-crank or a body."""
    return not _SPATIAL.isdisjoint(m.actuator_trntype.tolist())


def has_muscles(m: Any) -> bool:
    """Whether any actuator has the activation dynamics, the gain or the bias of a muscle."""
    return bool(
        (m.actuator_dyntype == mjtDyn.mjDYN_MUSCLE.value).any()
        or (m.actuator_gaintype == mjtGain.mjGAIN_MUSCLE.value).any()
        or (m.actuator_biastype == mjtBias.mjBIAS_MUSCLE.value).any()
    )
