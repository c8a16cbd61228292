"""Checks of arguments given by users. Errors state what is wrong and what would be right."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from cardan.jit.binding.arguments import INTEGER_END
from cardan.model import internals
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel


def check_pair(name: str, m: Any, d: Any) -> None:
    """Check that `m` is an MjModel and that `d` is an MjData made for a model with the sizes of `m`.

    Raises:
        TypeError: an argument has another type.
        ValueError: the data was made for a model of other sizes.
    """
    if isinstance(d, MjData) and m is d.model:
        return
    check_model(name, m)
    if not isinstance(d, MjData):
        raise TypeError(f"{name}: d must be an MjData, not {type(d).__name__}")
    if internals.sizes(m) != internals.sizes(d.model):
        raise ValueError(f"{name}: the MjData was made for a model of other sizes than the given MjModel")


def check_model(name: str, m: Any) -> None:
    """Check that `m` is a model; otherwise raise TypeError."""
    if not isinstance(m, MjModel):
        raise TypeError(f"{name}: m must be an MjModel, not {type(m).__name__}")


def integer(name: str, argument: str, value: Any, end: int = INTEGER_END) -> int:
    """Return `value` as an int. Raise TypeError if `value` is not an integer or is outside the range of a C type.

    The C type is `int` by default. If `end` is 2**32 or 2**64, it is unsigned; negative numbers are accepted, too.
    """
    try:
        number = index(value)
    except TypeError:
        raise TypeError(f"{name}: {argument} must be an integer, not {type(value).__name__}") from None
    lowest = -INTEGER_END if end == INTEGER_END else -(2**63)
    if not lowest <= number < end:
        bits = 32 if end <= 2 * INTEGER_END else 64
        raise TypeError(f"{name}: {argument} must be an integer of {bits} bits, not {number}")
    return number


def reach_of(name: str, m: MjModel, contacts: str, reach: float | None) -> float:
    """Return the largest distance (m) at which separated geoms contribute to derivatives; 0 if `contacts` is "exact".

    If `contacts` is "smooth", the distance is `reach`, or if that is None, the mean size of the model's bodies
    (``stat.meansize``). `name` is the called function, for errors.

    Raises:
        ValueError: `contacts` has another value, or `reach` is not positive, or is given with "exact".
    """
    if contacts not in ("exact", "smooth"):
        raise ValueError(f'{name}: contacts must be "exact" or "smooth", not {contacts!r}')
    if contacts == "exact":
        if reach is not None:
            raise ValueError(f'{name}: reach is for contacts="smooth"')
        return 0.0
    found = float(m.stat.meansize if reach is None else reach)
    if not 0.0 < found < float("inf"):
        raise ValueError(f"{name}: reach must be a positive distance in m, got {found}")
    return found


def text(name: str, argument: str, value: Any) -> str:
    """Return `value`, a str or bytes, as text; raise TypeError for other types.

    The error names the function `name` and its `argument`.
    """
    if isinstance(value, bytes | bytearray):
        return value.decode(errors="replace")
    if not isinstance(value, str):
        raise TypeError(f"{name}: {argument} must be a str, not {type(value).__name__}")
    return value


def writable_vector(name: str, argument: str, value: Any, size: int, what: str) -> np.ndarray:
    """Return `value` if it is a writable, contiguous float64 vector (or column) of `size` numbers.

    Raises:
        TypeError: `value` is not such a vector. If its size is wrong, the message contains `what`, which describes the
            right size.
    """
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or not value.flags.writeable:
        raise TypeError(f"{name}: {argument} must be a writeable NumPy array of float64")
    if not value.flags.c_contiguous:
        raise TypeError(f"{name}: {argument} must be contiguous")
    if value.ndim > 2 or (value.ndim == 2 and value.shape[1] != 1) or value.size != size:
        raise TypeError(f"{argument} size should equal {what}")
    return value


_FLOAT64 = np.dtype(np.float64)


def require(condition: bool, message: str) -> None:
    """Raise TypeError with a message if the condition does not hold."""
    if not condition:
        raise TypeError(message)


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} of shape {value.shape}" + ("" if value.flags.writeable else ", read-only")
    return type(value).__name__


def _is_vector(array: np.ndarray) -> bool:
    """Return whether an array has one dimension, or two dimensions and one column."""
    return array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1)


def _target(name: str, array: Any, dtype: type) -> np.ndarray:
    """Return `array` unchanged if it is a writable array of type `dtype`; otherwise raise TypeError."""
    if not (isinstance(array, np.ndarray) and array.dtype == dtype and array.flags.writeable):
        raise TypeError(f"{name} should be a writeable array of {np.dtype(dtype).name}, got {_kind(array)}")
    return array


def target_vector(name: str, array: Any, dtype: type = np.float64) -> np.ndarray:
    """Check a result vector: contiguous, with one dimension or one column. Return a view of it with shape (n,).

    If `array` is not such a vector of type `dtype`, or is read-only, raise a TypeError that contains `name`.
    """
    _target(name, array, dtype)
    if not (array.flags.c_contiguous and _is_vector(array)):
        raise TypeError(f"{name} should be a contiguous vector, got {_kind(array)}")
    return array.reshape(-1)


def target_of(name: str, array: Any, size: int, what: str = "", dtype: type = np.float64) -> np.ndarray:
    """Check a result vector as `target_vector` does, and check its number of elements.

    Args:
        name: name of the argument, for errors.
        array: the result vector.
        size: number of elements.
        what: description of the size in errors; if it is "", errors contain `size`.
        dtype: type of the elements.

    Returns:
        A view of `array` with shape (size,).
    """
    flat = target_vector(name, array, dtype)
    if flat.size != size:
        raise TypeError(f"{name} should be of size {what or size}, got shape {np.shape(array)}")
    return flat


def target_matrix(name: str, array: Any) -> np.ndarray:
    """Return a result matrix if it is a writable float64 matrix, stored row by row; otherwise raise TypeError."""
    _target(name, array, np.float64)
    if array.ndim != 2 or not array.flags.c_contiguous:
        raise TypeError(f"{name} should be a matrix stored in rows, got {_kind(array)}")
    return array


def target_shape(name: str, array: Any, shape: tuple[int, int], what: str) -> np.ndarray:
    """Check that a result matrix has the given shape, and return it; `what` names the shape in the error."""
    if np.shape(array) != shape:
        raise TypeError(f"{name} should be of shape {what}, got {np.shape(array)}")
    return target_matrix(name, array)


def vector(name: str, value: Any, dtype: type = np.float64) -> np.ndarray:
    """Convert `value` to a vector (n,) of any length, of type `dtype`; errors contain the argument's `name`."""
    try:
        array = np.asarray(value, dtype)
    except (TypeError, ValueError):
        raise TypeError(f"{name} should be a vector of numbers, got {value!r}") from None
    if not _is_vector(array):
        raise TypeError(f"{name} should be a vector, got shape {array.shape}")
    return array.reshape(-1)


def vector_of(name: str, value: Any, size: int, what: str = "", dtype: type = np.float64) -> np.ndarray:
    """Convert an input to a vector of a given length.

    Args:
        name: name of the argument, for errors.
        value: the input: a sequence of numbers.
        size: the length.
        what: description of the length in errors; if it is "", errors contain `size`.
        dtype: type of the elements.

    Returns:
        The vector (size,), which may share memory with `value`.
    """
    if type(value) is np.ndarray and value.dtype is _FLOAT64 and value.shape == (size,) and dtype is np.float64:
        return value
    array = vector(name, value, dtype)
    if array.size != size:
        raise TypeError(f"{name} should be of size {what or size}, got shape {np.shape(value)}")
    return array


def numbers(name: str, value: Any, size: int) -> Any:
    """Convert `value`, which must have `size` numbers, to a tuple for kernels; errors contain the argument's `name`."""
    if type(value) is np.ndarray and value.dtype is _FLOAT64 and value.shape == (size,):
        return tuple(value.tolist())
    return tuple(vector_of(name, value, size).tolist())


def matrix(name: str, value: Any) -> np.ndarray:
    """Convert an input to a float64 matrix; raise TypeError if it is not a matrix of numbers."""
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} should be a matrix of numbers, got {value!r}") from None
    if array.ndim != 2:
        raise TypeError(f"{name} should be a matrix, got shape {array.shape}")
    return array


def valid_id(name: str, index: int, n: int) -> int:
    """Return `index` if it is a valid id: 0 <= index < n.

    Raises:
        IndexError: an element with this id does not exist.
    """
    if not 0 <= index < n:
        raise IndexError(f"{name} {index} does not exist: valid ids are 0 to {n - 1}")
    return int(index)
