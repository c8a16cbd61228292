"""Scaled frames: a copy of a tree in which the content of every scaled frame has its scaled values."""

from cardan.spec.scaling.apply import scaled_tree

__all__ = ["scaled_tree"]
