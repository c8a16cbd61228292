"""Signed-distance shapes: a registry of distance functions, and the search for contacts between such shapes.

Spec: modelling, "geom" of type sdf; option sdf_iterations, sdf_initpoints.
"""
