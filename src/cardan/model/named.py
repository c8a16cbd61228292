"""Access by name: ``m.geom("floor").size``, ``d.body("torso").xpos``, and names by id."""

from __future__ import annotations


class ModelNames:
    """Named access to the elements of a model."""


class DataNames:
    """Named access to the elements of a model's data."""
