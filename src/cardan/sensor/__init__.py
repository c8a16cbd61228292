"""Sensors: a table of types, and the stages made from the table."""
