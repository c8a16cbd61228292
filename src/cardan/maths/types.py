"""Types of the values that kernels handle: tuples of fixed length, and arrays that are read element by element.

The names are used in annotations only. Native code keeps tuples in registers; matrices are stored row by row. Arrays
differ in their number of dimensions (1 to 3), their elements (``Array``: reals, ``IntArray``: integers) and whether a
kernel may write to them (``Const...``: read-only). A kernel gets an array as a field of `m` or `d`, or from
`cardan.jit.stack_array`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

Vec2 = tuple[float, float]
Vec3 = tuple[float, float, float]
Vec4 = tuple[float, float, float, float]
Quat = Vec4
"""Unit quaternion (w, x, y, z)."""
Pose = tuple[Vec3, Quat]
"""Position and orientation of a frame."""
Vec5 = tuple[float, float, float, float, float]
Vec6 = tuple[float, float, float, float, float, float]
"""Spatial vector: rotation, then translation; or the elements of a symmetric matrix (xx, yy, zz, xy, xz, yz)."""
Mat3 = tuple[float, float, float, float, float, float, float, float, float]
"""Matrix of 3 x 3 numbers, row by row."""
Inertia = tuple[float, float, float, float, float, float, float, float, float, float]
"""Spatial inertia, in the order of `cinert` (see `cardan.maths.vector`)."""

if TYPE_CHECKING:
    from typing import Protocol, TypeVar

    _Index_contra = TypeVar("_Index_contra", contravariant=True)
    _Read_co = TypeVar("_Read_co", covariant=True)
    _Number = TypeVar("_Number")

    class _ReadOnly(Protocol[_Index_contra, _Read_co]):
        def __len__(self) -> int: ...
        def __getitem__(self, index: _Index_contra, /) -> _Read_co: ...

    class _Writable(Protocol[_Index_contra, _Number]):
        def __len__(self) -> int: ...
        def __getitem__(self, index: _Index_contra, /) -> _Number: ...
        def __setitem__(self, index: _Index_contra, value: _Number, /) -> None: ...

    ConstArray1 = _ReadOnly[int, float]
    ConstArray2 = _ReadOnly[tuple[int, int], float]
    ConstArray3 = _ReadOnly[tuple[int, int, int], float]
    ConstIntArray1 = _ReadOnly[int, int]
    ConstIntArray2 = _ReadOnly[tuple[int, int], int]
    ConstIntArray3 = _ReadOnly[tuple[int, int, int], int]
    Array1 = _Writable[int, float]
    Array2 = _Writable[tuple[int, int], float]
    Array3 = _Writable[tuple[int, int, int], float]
    IntArray1 = _Writable[int, int]
    IntArray2 = _Writable[tuple[int, int], int]
    IntArray3 = _Writable[tuple[int, int, int], int]
else:
    ConstArray1 = ConstArray2 = ConstArray3 = Array1 = Array2 = Array3 = Any
    ConstIntArray1 = ConstIntArray2 = ConstIntArray3 = IntArray1 = IntArray2 = IntArray3 = Any
