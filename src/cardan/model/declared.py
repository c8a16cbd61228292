"""Base classes that declare the attributes made from the tables of fields, for type checkers and editors.

At run time they are empty. Their declarations are in `declared.pyi`, which `cardan.model.stubs` writes from the
tables.
"""


class ModelFields:
    """Declarations of the fields of MjModel and of its named access."""


class DataFields:
    """Declarations of the fields of MjData and of its named access."""
