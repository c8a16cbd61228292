"""Vectors, quaternions, poses, spatial algebra and eigenvalues, as kernels of tuples."""
