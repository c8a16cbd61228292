"""Collision detection (spec: computation, collision detection). The stage is in ``detection``.

``broadphase`` finds pairs of bodies, ``midphase`` pairs of geoms; ``table`` maps pairs of geom types to collision
functions (``plane``, ``capsule``, ...); ``contact`` derives the parameters of a contact from those of its two geoms.
"""
