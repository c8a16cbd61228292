"""Base classes that declare the attributes made from the tables of fields, for type checkers and editors.

At run time they are empty. What they declare stands in `declared.pyi`, which `cardan.model.stubs` writes from the
tables.
"""


class ModelFields:
    """Declares the fields of MjModel and its named access."""


class DataFields:
    """Declares the fields of MjData and its named access."""
