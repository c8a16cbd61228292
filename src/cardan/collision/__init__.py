"""Collision detection: which geoms may touch, where they do, and the parameters of their contacts.

Spec: computation, collision detection. ``detection`` is the stage; ``broadphase`` finds pairs of bodies, ``plane`` and
``capsule`` hold the collision functions, ``table`` says which function serves which pair of geom types, and
``parameters`` mixes the properties of two geoms into those of a contact.
"""
