"""The constraint penalty: forces are its negative gradient, cone Hessians its second derivative."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from reference import data_from_reference, model_from_reference

from cardan.constraint.update import constraint_update
from cardan.enums.codes import CNSTRSTATE_CONE, CNSTRSTATE_QUADRATIC, CNSTRSTATE_SATISFIED

MODEL = """
<mujoco><option cone="{cone}" impratio="3"/>
<worldbody><geom type="plane" size="1 1 1"/>
<body pos="0 0 .09"><freejoint/><geom size=".1" condim="{condim}" friction="0.6 0.2 0.1"/></body>
<body pos="1 0 0"><joint name="j" type="slide" limited="true" range="0.1 1" frictionloss="2"/><geom size=".1"
  contype="0" conaffinity="0"/></body>
</worldbody>
<equality><joint joint1="j"/></equality>
</mujoco>
"""


@pytest.fixture(params=[("pyramidal", 3), ("pyramidal", 1), ("elliptic", 3), ("elliptic", 4), ("elliptic", 6)])
def data(request):
    cone, condim = request.param
    ref_m = mujoco.MjModel.from_xml_string(MODEL.format(cone=cone, condim=condim))
    ref_d = mujoco.MjData(ref_m)
    mujoco.mj_forward(ref_m, ref_d)
    return data_from_reference(model_from_reference(ref_m), ref_d)


def residuals(d, seed):
    return np.random.default_rng(seed).normal(size=d.nefc) * d.efc_R * 10


def numeric_gradient(function, x, step):
    return np.array([(function(x + h) - function(x - h)) / (2 * h.sum()) for h in np.diag(step)])


@pytest.mark.parametrize("seed", range(20))
def test_force_is_minus_gradient(data, seed):
    jar = residuals(data, seed)
    gradient = numeric_gradient(lambda x: constraint_update(data.view, x, 0), jar, 1e-6 * data.efc_R)
    constraint_update(data.view, jar, 0)
    np.testing.assert_allclose(data.efc_force, -gradient, rtol=1e-5, atol=1e-5)


def test_cone_hessian_is_second_derivative(data):
    con_rows = np.flatnonzero(data.efc_type == 7)
    if con_rows.size == 0:
        pytest.skip("no elliptic contact")
    first, dim = con_rows[0], con_rows.size
    seen = set()
    for seed in range(40):
        jar = residuals(data, seed)
        jar[first] *= 10.0 ** (seed % 8 - 2)  # into all zones, whatever the friction
        constraint_update(data.view, jar, 1)
        state = data.efc_state[first]
        assert (data.efc_state[con_rows] == state).all()
        seen.add(int(state))
        if state != CNSTRSTATE_CONE:
            continue
        hessian = np.array(data.contact.H[0][: dim * dim]).reshape(dim, dim)
        columns = []
        for i in con_rows:
            step = np.zeros(data.nefc)
            step[i] = 1e-5 * data.efc_R[i]
            high = constraint_update(data.view, jar + step, 0) * 0 + data.efc_force[con_rows]
            low = constraint_update(data.view, jar - step, 0) * 0 + data.efc_force[con_rows]
            columns.append(-(high - low) / (2 * step[i]))
        scale = np.sqrt(np.outer(data.efc_D[con_rows], data.efc_D[con_rows]))
        np.testing.assert_allclose(hessian / scale, np.array(columns).T / scale, atol=1e-6)
        np.testing.assert_allclose(hessian, hessian.T)
    assert seen == {CNSTRSTATE_SATISFIED, CNSTRSTATE_QUADRATIC, CNSTRSTATE_CONE}


def test_force_lies_in_cone(data):
    for seed in range(20):
        constraint_update(data.view, residuals(data, seed), 0)
        force = data.efc_force
        assert np.abs(force[data.efc_type == 1]).max() <= 2.0
        assert (force[np.isin(data.efc_type, (3, 5, 6))] >= 0).all()
        cone = force[data.efc_type == 7]
        if cone.size:
            friction = data.contact.friction[0][: cone.size - 1]
            assert cone[0] >= np.sqrt(np.sum((cone[1:] / friction) ** 2)) * (1 - 1e-9)


@pytest.mark.parametrize("normal", [1.0, 0.0, -1.0])
def test_no_tangential_residual(data, normal):
    jar = np.zeros(data.nefc)
    jar[data.efc_type == 7] = 0
    rows = np.flatnonzero(data.efc_type == 7)
    jar[rows[:1]] = normal
    cost = constraint_update(data.view, jar, 1)
    assert np.isfinite(cost)
    assert np.isfinite(data.efc_force).all()
