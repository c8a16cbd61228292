"""Constraint rows and forces: impedance and reference, equality, friction loss, limits, contacts."""
