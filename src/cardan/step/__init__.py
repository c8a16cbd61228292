"""The pipeline itself: programs of stages, integrators, checks, callbacks, inverse dynamics."""
