"""The plugin ``mujoco.elasticity.solid``: tetrahedra of the material of Saint Venant and Kirchhoff.

======= ==========================================================================
face    corners of the tetrahedra, four vertices each
edge    not used
young   Young's modulus, Pa
poisson Poisson's ratio
damping weight of the strain rate relative to the strain, s
======= ==========================================================================

The method and its sources are in `cardan.plugins.strain`.
"""

from __future__ import annotations

from cardan.plugins.elastic import ATTRIBUTES
from cardan.plugins.registry import Plugin
from cardan.plugins.strain import make_compute, make_init, parameters, reset

SOLID = Plugin(
    "mujoco.elasticity.solid",
    (*ATTRIBUTES, "damping"),
    ("passive",),
    validate=parameters,
    init=make_init(corners=4),
    reset=reset,
    compute=make_compute(nedges=6),
)
