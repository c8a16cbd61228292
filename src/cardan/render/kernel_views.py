"""Types of the arguments `a` and `f` of the renderer's kernels, for type checkers and editors.

At run time, `a` and `f` are views of memory. Their fields are declared in `kernel_views.pyi`, which
`cardan.render.fields` writes from the tables in `fields`.
"""


class Assets:
    """The assets, as a kernel sees them."""


class Frame:
    """A picture that is being drawn, as a kernel sees it."""
