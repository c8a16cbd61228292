"""Arrays on a GPU for other libraries without a copy: capsules of the DLPack protocol (dmlc.github.io/dlpack)."""

from __future__ import annotations

import ctypes
from typing import Any

CUDA = 2
"""DLPack's number of CUDA devices."""
_FLOAT, _INT, _UINT = 2, 0, 1
_KINDS = {"f": _FLOAT, "i": _INT, "u": _UINT}
_READ_ONLY = 1
VERSION = (1, 0)


class _Device(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int32), ("id", ctypes.c_int32))


class _Type(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("type", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _DELETER))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", _DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_lent: dict[int, tuple[Any, ...]] = {}  # objects that consumers use, by the address of their structure


@_DELETER
def _give_back(address: int) -> None:
    _lent.pop(address, None)


_api = ctypes.pythonapi
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_api.PyCapsule_IsValid.restype = ctypes.c_int
_api.PyCapsule_IsValid.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = (ctypes.c_void_p, ctypes.c_char_p)
_NAMES = (b"dltensor", b"dltensor_versioned")


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _drop(capsule: int) -> None:
    """Free the content of a capsule that ends, if no consumer took it."""
    for name in _NAMES:
        if _api.PyCapsule_IsValid(capsule, name):
            _give_back(_api.PyCapsule_GetPointer(capsule, name))


def capsule(array: Any, device: tuple[int, int], versioned: bool) -> Any:
    """Make a capsule over a `DeviceArray`, and keep the array alive.

    Args:
        array: the array.
        device: DLPack's kind of device, and its number.
        versioned: whether the consumer supports version 1 of the protocol, which marks read-only arrays.
    """
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    strides = (ctypes.c_int64 * array.ndim)(*(s // array.dtype.itemsize for s in array.strides))
    kind = _Type(_KINDS[array.dtype.kind], 8 * array.dtype.itemsize, 1)
    tensor = _Tensor(array.address, _Device(*device), array.ndim, kind, shape, strides, 0)
    if versioned:
        flags = 0 if array.flags.writeable else _READ_ONLY
        managed: Any = _Versioned(*VERSION, None, _give_back, flags, tensor)
    else:
        managed = _Managed(tensor, None, _give_back)
    address = ctypes.addressof(managed)
    _lent[address] = managed, shape, strides, array
    return _api.PyCapsule_New(address, _NAMES[versioned], ctypes.cast(_drop, ctypes.c_void_p))
