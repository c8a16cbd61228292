"""Pipeline: programs of stages, integrators, checks, callbacks, inverse dynamics."""
