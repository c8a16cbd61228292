"""Meshes: files, triangles, mass properties, convex hulls, bounding volumes, fitted shapes (spec: modeling, "mesh")."""
