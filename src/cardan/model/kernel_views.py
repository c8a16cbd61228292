"""What kernels get: the types of their arguments `m` and `d`, for type checkers and editors.

At run time, native code sees pointers to slot tables and the interpreter sees `cardan.jit.memory.view`; the classes
here are only names for annotations. Their fields stand in `kernel_views.pyi`, which `cardan.model.stubs` writes from
the tables: scalars are numbers, and arrays are read and written element by element, those of the model only read.
"""


class Model:
    """The model as a kernel sees it."""


class Data:
    """The data as a kernel sees it."""


AnyModel = Model  # in kernels that Python calls, too: the model as either sees it
