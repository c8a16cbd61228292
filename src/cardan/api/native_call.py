"""Decorators that make calls of interface functions run entirely as native code, given their arguments' types.

    @native(res=target(4), quat1=source(4), quat2=source(4))
    def mju_mulQuat(res, quat1, quat2): ...            # the body is the kernel

    @native_by(body_jacobian, jacp=JACOBIAN, jacr=JACOBIAN, body=element("body", "nbody"))
    def mj_jacBody(m, d, jacp, jacr, body): ...        # only declared here; `body_jacobian` is the kernel

Each function becomes a CPython built-in (`cardan.jit.binding.functions`). Arguments of the expected types are passed
directly to the kernel. Other arguments take the slow path in this module: they are checked and converted with the rules
and errors of `cardan.api.arguments`, and then passed to the same kernel.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from cardan.api.arguments import (
    check_model,
    check_pair,
    integer,
    matrix,
    require,
    target_matrix,
    target_of,
    target_shape,
    target_vector,
    valid_id,
    vector,
    vector_of,
)
from cardan.errors import FatalError
from cardan.jit.binding.arguments import ANY, COLUMNS, Argument, Array, CallAbi, Integer
from cardan.jit.binding.functions import KernelBinding
from cardan.jit.memory.fields import DTYPES
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel

F = TypeVar("F", bound=Callable[..., Any])

RESULTS = {"None": "", "float": "f8", "int": "i8"}
"""Codes of the result types, by annotation."""


def native(**options: Any) -> Callable[[F], F]:
    """Decorate a function whose body is a kernel: calls run natively. Options and arguments are as in `native_by`."""
    return lambda function: native_by(function, **options)(function)


def native_by(
    kernel: Callable[..., Any],
    *,
    check: Callable[..., None] | None = None,
    failure: tuple[float, str] | None = None,
    refuses: bool | str = False,
    releases: bool = False,
    other: tuple[Callable[..., bool], Callable[..., Any]] | None = None,
    public: bool = True,
    **arguments: Argument,
) -> Callable[[F], F]:
    """Decorate a function that only declares its arguments: a kernel with the same parameters computes the results.

    Args:
        kernel: the kernel.
        check: gets all arguments by name before they are converted, and raises if they are inconsistent.
        failure: the result by which the kernel reports a wrong argument, and the message of the FatalError that is then
            raised; the message may contain names of arguments in braces.
        refuses: False if the kernel does not return a status (nonzero for a wrong argument). If it does: the message
            of the error, which may contain ``{status}`` and names as in `failure`; or True if `check` raises the error.
        releases: whether the GIL is released during the call.
        other: for functions that another version of MuJoCo calls with other arguments: a function that tells whether
            the arguments of a call are those, and the function to call then.
        public: whether the package shows this function under its name.
        arguments: descriptions of all parameters except ``m`` and ``d``.
    """

    def declare(function: F) -> F:
        abi = _abi(function, arguments, failure and failure[0], bool(refuses), releases)
        call = NativeCall(function, kernel, abi, public)  # type: ignore[arg-type]
        call.message = failure[1] if failure else refuses if isinstance(refuses, str) else ""
        call.check = check
        call.other = other
        return call.builtin

    return declare


def _abi(
    function: Any,
    arguments: dict[str, Argument],
    failure: float | None = None,
    refuses: bool = False,
    releases: bool = False,
) -> CallAbi:
    code = function.__code__
    parameters = code.co_varnames[: code.co_argcount]
    described = tuple((name, arguments[name]) for name in parameters if name not in ("m", "d"))
    if len(described) != len(arguments):
        raise TypeError(f"{function.__name__}: a described argument is not a parameter")
    result = RESULTS[function.__annotations__["return"]]
    return CallAbi(function.__name__, parameters, described, result, failure, refuses, releases)


class NativeCall(KernelBinding):
    """Binding of a function of the interface to the kernel that computes its results."""

    message = ""
    check: Callable[..., None] | None = None
    other: tuple[Callable[..., bool], Callable[..., Any]] | None = None

    @cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    def careful(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Check and convert all arguments, with detailed errors, and run the kernel on them. Return its result.

        Raises:
            TypeError, IndexError: an argument has a wrong type or shape, or an id does not exist.
            FatalError: the kernel returned a status that reports a wrong argument.
        """
        name = self.function.__name__
        if self.other is not None and self.other[0](*args, **kwargs):
            return self.other[1](*args, **kwargs)
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}(): {error}") from None
        bound.apply_defaults()
        given = bound.arguments
        self._check_objects(name, given)
        if self.check is not None:
            self.check(**given)
        values = self._converted(name, given)
        data = given.get("d")
        unaligned = {k: a for k, a in values.items() if isinstance(a, np.ndarray) and not a.flags.aligned}
        values.update({key: array.copy() for key, array in unaligned.items()})
        status, result = self.run_kernel(given.get("m", data and data.model), data, values)
        for key, original in unaligned.items():
            if original.flags.writeable:
                original[...] = values[key]
        if status:
            message = self.message or "the arguments were refused with status {status}"
            raise FatalError(f"{name}: {message.format(status=status, **given)}")
        return result

    def _check_objects(self, name: str, given: dict[str, Any]) -> None:
        if "d" in given:
            if "m" not in given and isinstance(given["d"], MjData):
                return
            check_pair(name, given.get("m"), given["d"])
        elif "m" in given:
            check_model(name, given["m"])

    def _converted(self, name: str, given: dict[str, Any]) -> dict[str, Any]:
        """Convert all arguments except model and data to the types that the kernel expects."""
        values: dict[str, Any] = {}
        for key, argument in sorted(self.abi.arguments, key=lambda row: not isinstance(row[1], Integer)):
            value = given[key]
            if isinstance(argument, Array):
                absent = argument.optional and value is None
                values[key] = None if absent else self._array(key, value, argument, given, values)
            elif isinstance(argument, Integer):
                number = integer(name, key, value)
                values[key] = number
                if argument.below:
                    valid_id(argument.what, number, _size(argument.below, given, values))
            else:
                values[key] = _number(name, key, value)
        self._separate(values)
        return values

    def _array(self, key: str, value: Any, argument: Array, given: dict[str, Any], values: dict[str, Any]) -> Any:
        if key in argument.shape:  # a square matrix
            values = {**values, key: np.shape(value)[0]}
        sizes = tuple(None if n == ANY else _size(n, given, values) for n in argument.shape)
        what = str(argument.shape[0]) if len(sizes) == 1 else f"({', '.join(map(str, argument.shape))})"
        dtype = DTYPES[argument.dtype].type
        if len(sizes) == 2:
            return _matrix(key, value, argument, sizes, what)
        size = sizes[0]
        if size is None:
            array = target_vector(key, value, dtype) if argument.written else vector(key, value, dtype)
        elif argument.written:
            array = target_of(key, value, size, what, dtype)
        else:
            array = vector_of(key, value, size, what, dtype)
        return np.ascontiguousarray(array)

    def _separate(self, values: dict[str, Any]) -> None:
        """Copy input arrays that overlap a result array, if the kernel requires separate arrays."""
        for target, argument in self.abi.arguments:
            if isinstance(argument, Array) and argument.apart:
                for key, other in self.abi.arguments:
                    shared = isinstance(other, Array) and not other.written and values[key] is not None
                    if shared and np.may_share_memory(values[key], values[target]):
                        values[key] = values[key].copy()


def _matrix(key: str, value: Any, argument: Array, sizes: tuple[int | None, ...], what: str) -> np.ndarray:
    rows, columns = sizes
    if argument.written and rows is not None and columns is not None:
        return target_shape(key, value, (rows, columns), what)
    array = target_matrix(key, value) if argument.written else matrix(key, value)
    fits = rows in (None, array.shape[0]) and columns in (None, array.shape[1])
    require(fits, f"{key} should be of shape {what}, got {array.shape}")
    return np.ascontiguousarray(array)


def _number(function: str, name: str, value: Any) -> float:
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{function}: {name} must be a number, not {type(value).__name__}") from None


def _size(size: int | str, given: dict[str, Any], values: dict[str, Any]) -> int:
    """Evaluate one size of an array's declared shape (see `cardan.jit.binding.arguments.Array`)."""
    if isinstance(size, int):
        return size
    product = 1
    for factor in size.split("*"):
        product *= int(factor) if factor.isdigit() else _factor(factor, given, values)
    return product


def _factor(name: str, given: dict[str, Any], values: dict[str, Any]) -> int:
    if name.endswith(COLUMNS):
        return values[name.removesuffix(COLUMNS)].shape[1]
    if name in values:
        return len(values[name]) if isinstance(values[name], np.ndarray) else values[name]
    data = given.get("d")
    owner = given.get("m", data and data.model) if hasattr(MjModel, name) else data
    return int(getattr(owner, name))
