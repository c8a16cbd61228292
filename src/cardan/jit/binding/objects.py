"""Memory layout of Python objects, as native code reads them.

Only documented layouts are used: the object header, the fields of `PyArrayObject` (NumPy C API), and the first slots of
the classes `Native` and `MjEnum`. `layout_is_known` checks that objects have these layouts.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

import numpy as np

from cardan.enums import mjtObj
from cardan.jit.memory.fields import DTYPES

API = (
    *("PyObject_Vectorcall", "PyEval_SaveThread", "PyEval_RestoreThread", "Py_NewRef", "PyFloat_FromDouble"),
    *("PyFloat_AsDouble", "PyLong_FromLongLong", "PyLong_AsLongLongAndOverflow", "PyNumber_AsSsize_t"),
    *("PyType_GetFlags", "PyTuple_Size", "PyTuple_GetItem", "Py_IncRef", "Py_DecRef"),
    *("PyErr_Fetch", "PyErr_NormalizeException", "PyException_SetTraceback", "PyList_Append"),
)
"""Functions of CPython that native code calls."""

OBJECTS = ("None", "Model", "Data", "ndarray", "float", "float64", "int", "int32", "int64", "enumeration", *DTYPES)
"""Python objects with which native code compares."""

RUNNING = ("settle", "nstep", "run_block", "version", "errors")
"""Words that only programs use: function that handles requests, name of a parameter, address of the driver, address of
the callbacks' version number, list of exceptions that callbacks raised."""

TABLE = (*API, *OBJECTS, *RUNNING, "slot", "words")
"""Words of the table before the names of the parameters. The last two are slot offsets in `Native` and `Binding`."""

CALL, TABLE_NAME = ".call", ".table"
"""Suffixes of a kernel's symbol: of the function that Python calls, and of the table of this function."""

GUARD = ".guard"
"""Suffix of `PROGRAM` for the function that calls a Python callback and stores its exception."""

PROGRAM = "program"
"""Prefix of the symbols for the function that runs programs."""

# layouts: byte offsets (Python/C API, "Common Object Structures"; NumPy C API, "PyArrayObject")
TYPE = 8
DATA, NDIM, DIMENSIONS, DESCR, FLAGS = 16, 24, 32, 56, 64
MEMBER_VALUE = 16  # offset of the value of a member of an enumeration
C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
LONG_SUBCLASS = 1 << 24

# words of the arrays in the slots of models and data (`Native`)
MODEL_ADDRESS, FIRST_PROGRAM = 0, 1
PROGRAM_WORDS = 3  # words of a ready program: address of its block, version of the callbacks, identity
MOST_PROGRAMS = 64
CALL_MODEL, CALL_DATA, CALL_IDENTITY = 2, 3, 4


class Native:
    """Base of the classes whose instances native code reads: models and data.

    The slot, the first word after the object header, refers to an array of words (int64). The words of a model are: the
    address of its slot table (0 before the model is finished), then three words per program (`PROGRAM_WORDS`). The
    words of a data are: two words of a running program (`cardan.jit.driver.program`); the addresses of the slot tables
    of its model and of itself; the identity of its model, or 0 while the data can't be used.
    """

    __slots__ = ("_native",)

    _native: np.ndarray


def _has_gil() -> bool:
    if hasattr(sys, "abiflags"):
        return "t" not in sys.abiflags
    import sysconfig  # on Windows, where this takes a millisecond

    return not sysconfig.get_config_var("Py_GIL_DISABLED")


@cache
def layout_is_known() -> bool:
    """Return whether objects have the memory layout that native code expects."""
    probe, mark, member = Native(), np.zeros((2, 3)), mjtObj.mjOBJ_BODY
    if ctypes.sizeof(ctypes.c_void_p) != 8 or not _has_gil():
        return False
    if object.__basicsize__ != TYPE + 8 or Native.__basicsize__ != object.__basicsize__ + 8:
        return False

    def word(thing: Any, offset: int) -> int:
        return ctypes.c_int64.from_address(id(thing) + offset).value

    probe._native = mark
    return (
        word(probe, TYPE) == id(Native)
        and word(probe, object.__basicsize__) == id(mark)
        and word(member, MEMBER_VALUE) == id(member.value)
        and word(mark, DATA) == mark.ctypes.data
        and word(mark, NDIM) & 0xFFFFFFFF == mark.ndim
        and tuple((ctypes.c_int64 * 2).from_address(word(mark, DIMENSIONS))) == mark.shape
        and word(mark, DESCR) == id(DTYPES["f8"]) == id(mark.dtype)
        and word(mark, FLAGS) & 0xFFFFFFFF == mark.flags.num
    )
