"""Collision detection: pairs of geoms that may touch, their contact points, and the parameters of their contacts.

Spec: computation, collision detection. ``detection`` is the stage. ``broadphase`` finds pairs of bodies, ``midphase``
pairs of geoms; ``plane`` and ``capsule`` contain collision functions, ``table`` maps pairs of geom types to collision
functions, and ``contact`` combines the properties of two geoms into those of a contact.
"""
