"""Type of the argument `d` of the kernels of inverse kinematics, for type checkers and editors.

At run time, `d` is a view of memory. Its fields are declared in `kernel_views.pyi`, which `cardan.ik.fields` writes
from the table in `fields`.
"""


class Ik:
    """The data of a problem, as a kernel sees it."""
