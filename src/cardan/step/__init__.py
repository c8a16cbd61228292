"""The pipeline: programs of stages, integrators, checks, callbacks, inverse dynamics."""
