"""The macro ``<composite>``: objects made of many bodies (spec: modeling, "Composite objects").

Each composite of a tree is replaced by bodies, joints, geoms, sites, tendons, constraints and skins, as if the user had
written them. ``request`` reads a composite and adds elements for it. Each family of types has its own module.
``expand`` has the table of types. ``skin`` makes the skins of sheets.

The elements of each type, their order and their names were derived from results of the reference.
"""
