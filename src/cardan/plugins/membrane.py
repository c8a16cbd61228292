"""The plugin ``mujoco.elasticity.membrane``: triangles that resist stretching, but not bending.

========= ==========================================================================
face      corners of the triangles, three vertices each
edge      not used
young     Young's modulus, Pa
poisson   Poisson's ratio
thickness thickness of the membrane, m
damping   weight of the strain rate relative to the strain, s
========= ==========================================================================

The method and its sources are in `cardan.plugins.strain`.
"""

from __future__ import annotations

from cardan.plugins.elastic import ATTRIBUTES
from cardan.plugins.registry import Plugin
from cardan.plugins.strain import make_compute, make_init, parameters, reset

MEMBRANE = Plugin(
    "mujoco.elasticity.membrane",
    (*ATTRIBUTES, "thickness", "damping"),
    ("passive",),
    validate=parameters,
    init=make_init(corners=3),
    reset=reset,
    compute=make_compute(nedges=3),
)
