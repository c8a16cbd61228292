"""Types of lights: ``light_type`` of MuJoCo 4.0 and ``light_directional`` of 3.1."""

from __future__ import annotations

from cardan.jit import kernel
from cardan.model.kernel_views import AnyModel

SPOT, DIRECTIONAL, POINT, IMAGE = range(4)
"""Values of ``light_type`` (mjtLightType of MuJoCo 4.0)."""


@kernel
def light_type(m: AnyModel, light: int) -> int:
    """Return the type of a light. In models of 3.1, ``light_directional`` decides whether a light is directional."""
    kind = m.light_type[light]
    if m.is_4_0 == 1:
        return kind
    if m.light_directional[light] != 0:
        return DIRECTIONAL
    return SPOT if kind == DIRECTIONAL else kind
