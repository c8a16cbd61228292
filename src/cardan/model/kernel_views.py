"""Types of the arguments `m` and `d` of kernels, for type checkers and editors.

At run time, native code gets pointers to slot tables, and the interpreter gets views (`cardan.jit.memory.view`); the
classes here are only names for annotations. Their fields are declared in `kernel_views.pyi`, which `cardan.model.stubs`
writes from the tables. Scalars are numbers, and arrays are accessed by element; fields of the model are read-only.
"""


class Model:
    """Model (`m`) in a kernel."""


class Data:
    """Data (`d`) in a kernel."""


AnyModel = Model  # for kernels that Python calls, too: the model as a kernel or as Python sees it
