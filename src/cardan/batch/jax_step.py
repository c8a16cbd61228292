"""A step as a function of JAX: ``cardan.jax.step`` (extra ``cardan[jax]``).

The step is a callback on the CPU (`jax.pure_callback`) with a rule for reverse mode (`jax.custom_vjp`), so that it
works within `jax.jit`, `jax.grad`, `jax.vmap` and `jax.lax.scan`. The engine computes in double precision, but JAX's
arrays are float32 by default, which rounds states and gradients to seven digits. For float64, call
``jax.config.update("jax_enable_x64", True)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from cardan.batch.differentiable import DifferentiableStep, common_shape, differentiable_step
from cardan.model.mjmodel import MjModel

try:
    jax: Any = import_module("jax")
    jnp: Any = import_module("jax.numpy")
except ImportError as error:
    raise ImportError("cardan.jax needs JAX: pip install 'cardan[jax]'") from error

Array = Any
"""Array of JAX; not a real type, because JAX may not be installed."""

NO_SECOND = (
    "cardan.jax.step has no second derivatives: its gradient can't be differentiated again (jax.hessian, grad of grad)"
)


def _rows(arrays: Sequence[Any], shapes: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], list[np.ndarray]]:
    """Return the leading dimensions, and the arrays in double precision with these dimensions merged into one."""
    given = [np.asarray(array, np.float64) for array in arrays]
    leading = np.broadcast_shapes(*(a.shape[: a.ndim - len(s)] for a, s in zip(given, shapes, strict=True)))
    worlds = prod(leading)
    return leading, [np.broadcast_to(a, (*leading, *s)).reshape(worlds, *s) for a, s in zip(given, shapes, strict=True)]


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _outcome(function: DifferentiableStep, inputs: tuple[Any, ...]) -> tuple[Any, Any]:
    """Add the step to a traced JAX program, as a pure callback, and return its results."""
    leading, dtype = inputs[0].shape[:-1], inputs[0].dtype
    sizes = (function.nstate, function.m.nsensordata)

    def compute(*arrays: Any) -> tuple[np.ndarray, ...]:
        shape, (state, ctrl, *values) = _rows(arrays, list(function.inputs.values()))
        results = function.forward(state, ctrl, values)
        return tuple(result.reshape(*shape, n).astype(dtype) for result, n in zip(results, sizes, strict=True))

    kinds = tuple(jax.ShapeDtypeStruct((*leading, n), dtype) for n in sizes)
    return jax.pure_callback(compute, kinds, *inputs, vmap_method="broadcast_all")


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _step(function: DifferentiableStep, inputs: tuple[Any, ...]) -> tuple[Any, Any]:
    return _outcome(function, inputs)


def _forward(function: DifferentiableStep, inputs: tuple[Any, ...]) -> tuple[tuple[Any, Any], tuple[Any, ...]]:
    return _outcome(function, inputs), inputs


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _pull_back(function: DifferentiableStep, inputs: tuple[Any, ...], gradients: tuple[Any, Any]) -> tuple[Any, ...]:
    """Add the pull-back to a traced JAX program, as a pure callback, and return its results."""
    dtypes = [array.dtype for array in inputs]

    def compute(*arrays: Any) -> tuple[np.ndarray, ...]:
        sizes = [(function.nstate,), (function.m.nsensordata,)]
        shapes = list(function.inputs.values())
        leading, (by_state, by_sensors, state, ctrl, *values) = _rows(arrays, [*sizes, *shapes])
        found = function.pull_back(state, ctrl, values, by_state, by_sensors)
        return tuple(
            array.reshape(*leading, *shape).astype(dtype)
            for array, shape, dtype in zip(found, shapes, dtypes, strict=True)
        )

    kinds = tuple(jax.ShapeDtypeStruct(array.shape, array.dtype) for array in inputs)
    return jax.pure_callback(compute, kinds, *gradients, *inputs, vmap_method="broadcast_all")


@_outcome.defjvp
@_pull_back.defjvp
def _no_second(*arguments: Any) -> Any:
    raise NotImplementedError(NO_SECOND)


def _backward(function: DifferentiableStep, inputs: tuple[Any, ...], gradients: tuple[Any, Any]) -> tuple[Any, ...]:
    return (_pull_back(function, inputs, gradients),)


_step.defvjp(_forward, _backward)


def step(
    m: MjModel, state: Any, ctrl: Any, parameters: Mapping[str, Any] | None = None, nstep: int = 1
) -> tuple[Array, Array]:
    """Advance worlds and return the next state and the sensor data; JAX can differentiate this in reverse mode.

    Arguments and results are those of `cardan.torch.step`, as JAX arrays. Leading dimensions are worlds, which are
    computed on all processors. The leading dimensions of the arguments are broadcast; `jax.vmap` adds dimensions.

    Raises:
        NotImplementedError: the gradient is differentiated again, or (as an error of the callback) the model has a
            feature without derivatives.
        TypeError, ValueError: an argument has a wrong type or shape.
    """
    names = tuple(parameters or ())
    function = differentiable_step(m, names, nstep)
    inputs = [jnp.asarray(array, float) for array in (state, ctrl, *((parameters or {})[name] for name in names))]
    shapes = list(function.inputs.values())
    leading = common_shape("cardan.jax.step", list(function.inputs), inputs, shapes)
    return _step(function, tuple(jnp.broadcast_to(a, (*leading, *s)) for a, s in zip(inputs, shapes, strict=True)))
