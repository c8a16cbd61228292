"""The macro ``<composite>``: objects made of many bodies (spec: modeling, "Composite objects").

``expand_composites`` puts bodies, joints, geoms, sites, tendons, constraints and skins in the place of each composite
of a tree, as if the user had written them. ``request`` reads a composite; there is a module a family of types, with the
types in the table of ``kinds``; ``plugin`` makes them elastic; ``skin`` and ``shell_skin`` make skins; ``builder`` adds
elements to the tree.

What each type makes, in which order and under which names, was found by asking the reference.
"""

from cardan.spec.composite.expand import expand_composites

__all__ = ["expand_composites"]
