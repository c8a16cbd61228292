"""`cardan.torch.step`: gradcheck, batches, types, second derivatives. Skipped where PyTorch isn't installed."""

from __future__ import annotations

import numpy as np
import pytest
from derive.test_transition import CHAIN, moving

import cardan

torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra cardan[torch])")


def tensors(m: cardan.MjModel, seed: int = 0) -> list:
    """A state and controls that want gradients."""
    d = moving(m, seed)
    return [torch.tensor(a, requires_grad=True) for a in (np.r_[d.qpos, d.qvel, d.act], d.ctrl.copy())]


def chain() -> cardan.MjModel:
    m = cardan.MjModel.from_xml_string(CHAIN)
    m.opt.tolerance = 0.0
    return m


def test_gradcheck() -> None:
    m = chain()
    mass = torch.tensor(m.body_mass, requires_grad=True)

    def function(state, ctrl, mass):
        return cardan.torch.step(m, state, ctrl, {"body_mass": mass}, nstep=2)

    assert torch.autograd.gradcheck(function, (*tensors(m), mass), eps=1e-6, atol=1e-5, rtol=1e-5)


def test_worlds_with_shared_parameters() -> None:
    m = chain()
    state = torch.stack([tensors(m, k)[0].detach() for k in range(3)]).requires_grad_()
    ctrl = tensors(m)[1]
    damping = torch.tensor(m.dof_damping, requires_grad=True)
    following, sensors = cardan.torch.step(m, state, ctrl, {"dof_damping": damping})
    assert following.shape == state.shape
    assert sensors.shape == (3, m.nsensordata)
    found = torch.autograd.grad(following.sum() + sensors.sum(), (ctrl, damping))
    parts = []
    for k in range(3):
        following, sensors = cardan.torch.step(m, state[k], ctrl, {"dof_damping": damping})
        parts.append(torch.autograd.grad(following.sum() + sensors.sum(), (ctrl, damping)))
    for k in range(2):
        torch.testing.assert_close(found[k], parts[0][k] + parts[1][k] + parts[2][k])


def test_types_and_empty_controls() -> None:
    m = cardan.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint axis='0 1 0'/><geom size='.1' pos='.1 0 0'/></body></worldbody></mujoco>"
    )
    state = torch.tensor([[0.1, 0.0], [0.2, 0.1]], dtype=torch.float32, requires_grad=True)
    following, sensors = cardan.torch.step(m, state, torch.zeros(0))
    assert (following.dtype, tuple(sensors.shape)) == (torch.float32, (2, 0))
    (gradient,) = torch.autograd.grad(following.sum(), state)
    assert gradient.dtype == torch.float32
    assert torch.isfinite(gradient).all()


def test_second_derivatives_are_refused() -> None:
    m = chain()
    state, ctrl = tensors(m)
    following, _ = cardan.torch.step(m, state, ctrl)
    (gradient,) = torch.autograd.grad(following.sum(), state, create_graph=True)
    with pytest.raises(NotImplementedError, match="no second derivatives"):
        torch.autograd.grad(gradient.sum(), state)


def test_bad_input() -> None:
    m = chain()
    state, ctrl = tensors(m)
    with pytest.raises(ValueError, match="ctrl should be of shape"):
        cardan.torch.step(m, state, ctrl[1:])
    with pytest.raises(ValueError, match="body_mass should be of shape"):
        cardan.torch.step(m, state, ctrl, {"body_mass": torch.zeros(2)})
