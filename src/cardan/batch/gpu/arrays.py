"""Live arrays over memory of a GPU. In every memory layout, the first dimension is the world.

A `DeviceArray` has no arithmetic. It has views and NumPy copies (``np.asarray``), and values can be assigned. Other
libraries (torch, JAX, CuPy) use it without a copy (`__dlpack__`, `__cuda_array_interface__`).
"""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any, Self

import numpy as np

from cardan.batch.gpu.transfers import Transfers

# capsules of the protocol by which other libraries take arrays without a copy (dmlc.github.io/dlpack)

CUDA = 2
"""Code of CUDA devices in DLPack."""
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
    """Destructor of capsules: release the array, unless a consumer took it over."""
    for name in _NAMES:
        if _api.PyCapsule_IsValid(capsule, name):
            _give_back(_api.PyCapsule_GetPointer(capsule, name))


def capsule(array: Any, device: tuple[int, int], versioned: bool) -> Any:
    """Make a DLPack capsule that keeps a `DeviceArray` alive; `device` is DLPack's (type, number).

    Set `versioned` if the consumer supports version 1 of the protocol, which can mark arrays as read-only.
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


# arrays ------------------------------------------------------------------------


class DeviceArray:
    """View of memory on a GPU.

    `address` is the address of the first element, `strides` are in bytes, and `keep` is the owner of the memory. As in
    NumPy, `flags` has the attribute `writeable`.
    """

    def __init__(
        self,
        transfers: Transfers,
        address: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        dtype: Any,
        keep: Any,
        writeable: bool = True,
    ) -> None:
        self.transfers, self.address = transfers, address
        self.shape, self.strides, self.dtype = shape, strides, np.dtype(dtype)
        self.flags = SimpleNamespace(writeable=writeable)
        self._keep = keep

    @classmethod
    def new(cls, transfers: Transfers, shape: tuple[int, ...], dtype: Any) -> Self:
        """Make an array in C order, filled with 0."""
        dtype = np.dtype(dtype)
        memory = transfers.gpu.allocate(int(np.prod(shape)) * dtype.itemsize)
        return cls(transfers, memory.address, shape, c_strides(shape, dtype.itemsize), dtype, memory)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape))

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"DeviceArray{self.shape} of {self.dtype} on GPU {self.transfers.gpu.number}"

    # views -----------------------------------------------------------------------

    def _over(self, address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any = None) -> DeviceArray:
        kind = self.dtype if dtype is None else dtype
        return DeviceArray(self.transfers, address, shape, strides, kind, self._keep, self.flags.writeable)

    def view(self, dtype: Any = None) -> DeviceArray:
        """Return another array over this memory. With a smaller `dtype`, it shows the first bytes of each element."""
        return self._over(self.address, self.shape, self.strides, dtype)

    def reshape(self, *shape: Any) -> DeviceArray:
        """Return a view of another shape: dimensions may be split, and dimensions of size 1 added or dropped.

        Raises:
            ValueError: the shape would need a copy.
        """
        wanted = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        strides = _reshaped(self.shape, self.strides, wanted)
        if strides is None:
            raise ValueError(f"an array of shape {self.shape} on a GPU can't be seen as one of shape {wanted}")
        return self._over(self.address, wanted, strides)

    def __getitem__(self, key: Any) -> DeviceArray:
        """Return a view of the selected elements. If the key is a list or mask of rows, return a copy on the GPU."""
        parts, rows = self._parts(key)
        if rows is None:
            return parts
        copied = DeviceArray.new(self.transfers, (len(rows), *self.shape[1:]), self.dtype)
        copied._take(self, source_rows=rows)
        return copied

    def _parts(self, key: Any) -> tuple[DeviceArray, np.ndarray | None]:
        """Convert an index to a view and the rows selected within it (None: all)."""
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) == 1 and isinstance(keys[0], list | np.ndarray) and np.ndim(keys[0]) == 1:
            given = np.asarray(keys[0])
            rows = np.flatnonzero(given) if given.dtype == bool else given.astype(np.int64)
            if rows.size and (rows.min() < 0 or rows.max() >= len(self)):
                raise IndexError(f"rows should be in [0, {len(self)})")
            return self, rows
        if Ellipsis in keys:
            at = keys.index(Ellipsis)
            keys = (*keys[:at], *(slice(None),) * (self.ndim - len(keys) + 1), *keys[at + 1 :])
        if len(keys) > self.ndim:
            raise IndexError(f"too many indices for an array of {self.ndim} dimensions")
        address, shape, strides = self.address, [], []
        for k, (n, stride) in enumerate(zip(self.shape, self.strides, strict=True)):
            part = keys[k] if k < len(keys) else slice(None)
            if isinstance(part, slice):
                start, stop, step = part.indices(n)
                count = len(range(start, stop, step))
                address += start * stride if count else 0
                shape.append(count)
                strides.append(stride * step)
            elif isinstance(part, int | np.integer):
                i = int(part) + (n if part < 0 else 0)
                if not 0 <= i < n:
                    raise IndexError(f"index {part} is out of bounds for a dimension of {n}")
                address += i * stride
            else:
                raise IndexError(
                    "arrays on a GPU are indexed by integers, slices, and a list or mask of worlds; "
                    f"for more, use torch.from_dlpack(array) or numpy.asarray(array) (got {type(part).__name__})"
                )
        return self._over(address, tuple(shape), tuple(strides)), None

    # values ----------------------------------------------------------------------

    def __setitem__(self, key: Any, value: Any) -> None:
        """Set elements from numbers, arrays in host memory, or arrays on the GPU with the same element type.

        Raises:
            ValueError: the array is read-only, or shapes or types don't fit.
        """
        if not self.flags.writeable:
            raise ValueError("assignment destination is read-only: it is computed by every call")
        target, rows = self._parts(key)
        shape = target.shape if rows is None else (len(rows), *target.shape[1:])
        source = on_gpu(self.transfers, value)
        if source is None:
            source = self._uploaded(np.asarray(value), shape)
        elif source.dtype != self.dtype:
            raise ValueError(
                f"an array of {source.dtype} on a GPU can't be assigned to one of {self.dtype}: convert it"
            )
        if isinstance(source, int):
            target._fill(source, rows)
        else:
            target._take(source.broadcast(shape), target_rows=rows)

    def _uploaded(self, values: np.ndarray, shape: tuple[int, ...]) -> DeviceArray | int:
        """Upload values to a staging array, and return this array. For a single number, return its bits as an integer.

        Raises:
            ValueError: `values` are not numbers, or can't be broadcast to `shape`.
        """
        try:
            np.broadcast_to(values, shape)
        except ValueError:
            raise ValueError(f"could not broadcast from shape {values.shape} to {shape}") from None
        if values.dtype.kind not in "fiub":
            raise ValueError(f"numbers are needed, got {values.dtype}")
        own = np.ascontiguousarray(values.astype(self.dtype))
        if own.size == 1:
            return int.from_bytes(own.tobytes().ljust(8, b"\0"), "little", signed=True)
        memory = self.transfers.staging(own.nbytes)
        memory.write(own)
        return DeviceArray(
            self.transfers, memory.address, values.shape, c_strides(values.shape, own.itemsize), own.dtype, memory
        )

    def broadcast(self, shape: tuple[int, ...]) -> DeviceArray:
        """Return a view in which the array is repeated to a shape.

        Raises:
            ValueError: the shape does not fit.
        """
        missing = len(shape) - self.ndim
        own, strides = (1,) * missing + self.shape, (0,) * missing + self.strides
        if missing < 0 or any(n not in (1, m) for n, m in zip(own, shape, strict=True)):
            raise ValueError(f"could not broadcast from shape {self.shape} to {shape}")
        repeated = tuple(0 if n != m else s for n, m, s in zip(own, shape, strides, strict=True))
        return self._over(self.address, shape, repeated)

    def _rowwise(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the shape and strides; an array without dimensions counts as one row."""
        return (self.shape, self.strides) if self.shape else ((1,), (0,))

    def _take(
        self, source: DeviceArray, target_rows: np.ndarray | None = None, source_rows: np.ndarray | None = None
    ) -> None:
        """Copy elements from an array on this GPU; rows may be selected either in the source or in the target."""
        shape, strides = self._rowwise()
        if target_rows is not None:
            shape = (len(target_rows), *shape[1:])
        transfers, listed = self.transfers, self.transfers.rows(target_rows if source_rows is None else source_rows)
        ids = (listed, 0) if source_rows is None else (0, listed)
        target, origin = (self.address, strides), (source.address, source._rowwise()[1])
        transfers.move(shape, self.dtype.itemsize, target, origin, *ids)

    def _fill(self, bits: int, rows: np.ndarray | None) -> None:
        """Set all elements of `rows` (None: all rows) to the number with the bit pattern `bits`."""
        shape, strides = self._rowwise()
        if rows is not None:
            shape = (len(rows), *shape[1:])
        target = self.address, strides
        self.transfers.move(shape, self.dtype.itemsize, target, bits, self.transfers.rows(rows))

    def numpy(self) -> np.ndarray:
        """Wait until the GPU has finished all previous work, then return a NumPy copy of the array."""
        shape, strides = self._rowwise()
        if not self.size:
            return np.zeros(self.shape, self.dtype)
        in_order = c_strides(shape, self.dtype.itemsize)
        memory = self.transfers.staging(self.size * self.dtype.itemsize)
        self.transfers.move(shape, self.dtype.itemsize, (memory.address, in_order), (self.address, strides))
        return memory.read(self.shape, self.dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("an array on a GPU can't become a NumPy array without a copy")
        values = self.numpy()
        return values if dtype is None else values.astype(dtype)

    # other libraries -------------------------------------------------------------

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Description of the array in version 3 of the CUDA array interface, for CuPy, Numba and torch."""
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, not self.flags.writeable),
            "strides": self.strides,
            "version": 3,
            "stream": int(self.transfers.gpu.stream),
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self.transfers.gpu.number

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a DLPack capsule over the array (not over a copy).

        Unless `stream` is -1, first wait for all work on the array's stream.

        Raises:
            BufferError: the consumer asks for a copy or another device.
        """
        device = self.__dlpack_device__()
        if copy or dl_device not in (None, device):
            raise BufferError(f"the array can only be shown where it is, on the device {device}")
        if stream != -1:
            self.transfers.gpu.wait()
        return capsule(self, device, max_version is not None and max_version[0] >= 1)


def c_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Return the strides, in bytes, of an array in C order."""
    strides, step = [], itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def _reshaped(shape: tuple[int, ...], strides: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the strides that show an array's memory in the shape `wanted`, or None if a copy would be needed."""
    if int(np.prod(shape)) != int(np.prod(wanted)):
        return None
    if 0 in wanted:
        return (0,) * len(wanted)
    old = [(n, s) for n, s in zip(shape, strides, strict=True) if n != 1]
    found: list[int] = []
    for n in reversed(wanted):
        if n == 1:
            found.append(0)
            continue
        if not old:
            return None
        have, stride = old.pop()
        if have % n:
            return None
        found.append(stride)
        if have != n:
            old.append((have // n, stride * n))
    return tuple(reversed(found))


def on_gpu(transfers: Transfers, value: Any) -> DeviceArray | None:
    """Return `value` as a DeviceArray if it is an array on the GPU, of this package or another library; else None.

    If the array's library names a stream, later work of the batch waits for the work on this stream.

    Raises:
        ValueError: the array is on another GPU.
    """
    shown = None if isinstance(value, DeviceArray) else getattr(value, "__cuda_array_interface__", None)
    if shown is None and not isinstance(value, DeviceArray):
        return None
    number = value.__dlpack_device__()[1] if hasattr(value, "__dlpack_device__") else transfers.gpu.number
    if number != transfers.gpu.number:
        raise ValueError(f"the array is on GPU {number}, the batch on GPU {transfers.gpu.number}: copy it there first")
    if shown is None:
        return value
    if shown.get("stream") is not None:
        transfers.gpu.wait_for(int(shown["stream"]))
    dtype = np.dtype(shown["typestr"])
    strides = shown.get("strides") or c_strides(tuple(shown["shape"]), dtype.itemsize)
    return DeviceArray(transfers, shown["data"][0], tuple(shown["shape"]), tuple(strides), dtype, value)
