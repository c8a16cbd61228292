"""The front end: kernels and stages, how Numba sees a structure, and the linked module that it makes of a stage."""
