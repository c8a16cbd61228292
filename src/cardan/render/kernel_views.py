"""What kernels of the renderer get: the types of their arguments `a` and `f`, for type checkers and editors.

At run time they are views of memory; their fields stand in `kernel_views.pyi`, which `cardan.model.stubs` writes from
the tables in `fields`.
"""


class Assets:
    """What is drawn from, as a kernel sees it."""


class Frame:
    """A picture in the making, as a kernel sees it."""
