"""A step as a function of PyTorch: ``cardan.torch.step`` (extra ``cardan[torch]``).

Gradients are computed with the exact Jacobians of the step, contacts included; docs/derivatives.md explains them.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from cardan.batch.differentiable import DifferentiableStep, common_shape, differentiable_step
from cardan.model.mjmodel import MjModel

try:
    torch: Any = import_module("torch")
except ImportError as error:
    raise ImportError("cardan.torch needs PyTorch: pip install 'cardan[torch]'") from error

Tensor = Any
"""Tensor of PyTorch; not a real type, because PyTorch may not be installed."""


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().to("cpu", torch.float64).numpy()


def _tensor(array: np.ndarray, like: Tensor) -> Tensor:
    return torch.from_numpy(array).to(like.device, like.dtype)


class _Step(torch.autograd.Function):
    """Differentiable step of n worlds."""

    @staticmethod
    def forward(ctx: Any, function: DifferentiableStep, *inputs: Tensor) -> tuple[Tensor, ...]:
        ctx.function = function
        ctx.save_for_backward(*inputs)
        state, ctrl, *values = (_array(tensor) for tensor in inputs)
        return tuple(_tensor(result, inputs[0]) for result in function.forward(state, ctrl, values))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        return None, *_PullBack.apply(ctx.function, len(gradients), *gradients, *ctx.saved_tensors)


class _PullBack(torch.autograd.Function):
    """Pull-back of `_Step`; it can't be differentiated again."""

    @staticmethod
    def forward(ctx: Any, function: DifferentiableStep, count: int, *inputs: Tensor) -> tuple[Tensor, ...]:
        by_state, by_sensors, state, ctrl, *values = (_array(tensor) for tensor in inputs)
        found = function.pull_back(state, ctrl, values, by_state, by_sensors)
        return tuple(_tensor(array, tensor) for array, tensor in zip(found, inputs[count:], strict=True))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        raise NotImplementedError(
            "cardan.torch.step has no second derivatives: gradients of gradients (create_graph=True and another "
            "backward) can't go through it"
        )


def step(
    m: MjModel,
    state: Tensor,
    ctrl: Tensor,
    parameters: Mapping[str, Tensor] | None = None,
    nstep: int = 1,
) -> tuple[Tensor, Tensor]:
    """Advance worlds and return the next state and the sensor data; PyTorch can differentiate this.

    Leading dimensions are worlds; the leading dimensions of all arguments are broadcast. All results are computed on
    the CPU in double precision, for tensors of any type on any device.

    Args:
        m: model.
        state: ``qpos, qvel, act`` in a row, (..., nq + nv + na), as `mj_getState` returns them for ``mjSTATE_PHYSICS``.
            Quaternions are normalised. All other inputs (time, applied forces, mocap poses) are as in a new `MjData`.
        ctrl: controls, (..., nu).
        parameters: values that replace the model's values, by name as in `cardan.derivatives`: ``"body_mass"``,
            ``"geom_friction[3]"``, ``"opt.gravity"``; also ``"qfrc_applied"``, ``"xfrc_applied"``, ``"mocap_pos"`` and
            ``"mocap_quat"``. Each has the shape of the named field, with or without leading dimensions.
        nstep: number of steps; all have the same controls.

    Returns:
        The state after the last step, (..., nq + nv + na), and the sensor data of the last step, (..., nsensordata),
        with the type and device of `state`.

    Raises:
        FatalError: a world became unstable.
        NotImplementedError: in the backward pass, if the model has a feature without derivatives or the backward pass
            is differentiated again.
        TypeError, ValueError: an argument has a wrong type or shape.
    """
    names = tuple(parameters or ())
    function = differentiable_step(m, names, nstep)
    inputs = (state, ctrl, *(torch.as_tensor((parameters or {})[name]) for name in names))
    shapes = list(function.inputs.values())
    leading = common_shape("cardan.torch.step", list(function.inputs), inputs, shapes)
    rows = [t.expand(*leading, *s).reshape(prod(leading), *s) for t, s in zip(inputs, shapes, strict=True)]
    following, sensordata = _Step.apply(function, *rows)
    return following.reshape(*leading, function.nstate), sensordata.reshape(*leading, m.nsensordata)
