"""Base classes that declare, for type checkers and editors, the attributes made from the tables of fields.

At run time these classes are empty. Their declarations are in `declared.pyi`, which `cardan.model.stubs` generates
from the tables.
"""


class ModelFields:
    """Declarations of the fields of MjModel and of its named access."""


class DataFields:
    """Declarations of the fields of MjData and of its named access."""
