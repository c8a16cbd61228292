"""Vectors, quaternions, poses, spatial algebra and eigenvalues, as kernels on tuples."""
