"""Sensors: one table of types, and the stages made from it."""
