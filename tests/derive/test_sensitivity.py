"""Derivatives of any field by any field: against differences, closed forms, and bad names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from derive.test_transition import CHAIN, moving

import cardan

PARAMETERS = (
    *("body_mass", "body_gravcomp", "dof_damping", "jnt_stiffness", "opt.gravity", "opt.timestep", "opt.viscosity"),
    *("actuator_gear", "actuator_gainprm", "tendon_stiffness", "site_pos", "geom_size", "xfrc_applied"),
)
OF = ("qvel", "act", "sensordata")


def _place(m: cardan.MjModel, d: cardan.MjData, name: str) -> tuple[Any, str]:
    if name.startswith("opt."):
        return m.opt, name[4:]
    return (d if hasattr(d, name) else m), name


def _result(m: cardan.MjModel, d: cardan.MjData, name: str, k: int, change: float) -> np.ndarray:
    """What `OF` are after a step with one number changed; the model is put back."""
    w = cardan.MjData(m)
    for field in ("qpos", "qvel", "act", "ctrl", "xfrc_applied"):
        getattr(w, field)[...] = getattr(d, field)
    owner, attribute = _place(m, w, name)
    before = np.copy(getattr(owner, attribute))
    changed = before.reshape(-1).copy()
    changed[k] += change
    setattr(owner, attribute, changed.reshape(before.shape) if before.ndim else float(changed[0]))
    cardan.mj_step(m, w)
    setattr(owner, attribute, before if before.ndim else float(before))
    return np.concatenate([getattr(w, field) for field in OF])


def test_parameters() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    d = moving(m)
    d.xfrc_applied[1, 2] = 0.2
    found = cardan.derivatives(m, d, OF, PARAMETERS)
    for name in PARAMETERS:
        value = np.reshape(getattr(*_place(m, d, name)), -1)
        for k in range(value.size):
            size = 1e-6 if name == "opt.timestep" else 1e-5
            if value[k] == 0.0:  # parameters may not be negative: the slope from above
                here, near, far = (_result(m, d, name, k, h) for h in (0.0, size, 2 * size))
                expected = (4 * near - 3 * here - far) / (2 * size)
            else:
                expected = (_result(m, d, name, k, size) - _result(m, d, name, k, -size)) / (2 * size)
            exact = np.concatenate([found[of, name].reshape(-1, value.size)[:, k] for of in OF])
            np.testing.assert_allclose(exact, expected, rtol=1e-6, atol=1e-6, err_msg=f"{name}[{k}]")


@pytest.mark.parametrize("state", ["moving", "at rest"])
def test_lengths_of_unit_vectors(state: str) -> None:
    """Directions that change the length of an axis or a quaternion do what they do in a step: mostly, nothing."""
    m = cardan.MjModel.from_xml_string(CHAIN)
    d = moving(m) if state == "moving" else cardan.MjData(m)
    names = ("jnt_axis", "body_quat", "body_iquat", "geom_quat", "site_quat")
    exact = cardan.derivatives(m, d, ("qvel", "sensordata"), names)
    for name in names:
        size = getattr(m, name).size
        tangents = np.concatenate([exact[of, name].reshape(-1, size) for of in ("qvel", "sensordata")])
        for k in range(size):
            steps = (2e-4, 1e-4, 5e-5)
            wide, mean, narrow = ((_result(m, d, name, k, h) - _result(m, d, name, k, -h)) / (2 * h) for h in steps)
            # drag at rest has a corner in its slope: differences have errors of first order, and of second order
            expected = (4 * (2 * narrow - mean) - (2 * mean - wide)) / 3
            expected = np.delete(expected, slice(m.nv, m.nv + m.na))
            scale = max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(tangents[:, k], expected, rtol=0, atol=1e-6 * scale, err_msg=f"{name}[{k}]")


def test_sliding_box_in_closed_form() -> None:
    # a block that slides on a plane, far in: friction mu m g slows it down, if the contact were hard; by the state, the
    # derivative of the sliding velocity by gravity along it is the time step
    h = 0.002
    m = cardan.MjModel.from_xml_string(
        f"""<mujoco><option timestep="{h}"/><worldbody><body><joint name="x" type="slide" axis="1 0 0"/>
        <geom type="box" size=".1 .1 .1" mass="2"/></body></worldbody><actuator><motor joint="x" gear="3"/></actuator>
        </mujoco>"""
    )
    d = cardan.MjData(m)
    found = cardan.derivatives(m, d, ("qvel", "qpos"), ("opt.gravity[0]", "ctrl", "body_mass[1]", "qvel"))
    assert found["qvel", "opt.gravity[0]"].shape == (1,)
    np.testing.assert_allclose(found["qvel", "opt.gravity[0]"], h, rtol=1e-10)
    np.testing.assert_allclose(found["qvel", "ctrl"], [[3 * h / 2]], rtol=1e-10)
    np.testing.assert_allclose(found["qpos", "ctrl"], [[3 * h * h / 2]], rtol=1e-10)
    np.testing.assert_allclose(found["qvel", "body_mass[1]"], 0.0, atol=1e-12)
    np.testing.assert_allclose(found["qpos", "qvel"], [[h]], rtol=1e-10)


def test_after_forward_dynamics() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    d = moving(m)
    found = cardan.derivatives(m, d, "xpos[2]", "qpos", after="forward")["xpos[2]", "qpos"]
    cardan.mj_forward(m, d)
    expected = np.zeros((3, m.nv))
    cardan.mj_jacBody(m, d, expected, None, 2)
    # rotations of a free body come in its own frame in both
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("of", "by", "error", "words"),
    [
        ("qvel", "body_weight", ValueError, "neither MjData nor MjModel has a field 'body_weight'"),
        ("qvel", "geom_type", ValueError, "no numbers of type float64"),
        ("qvel", "qvel[99]", IndexError, "outside of qvel"),
        ("qvel", "q vel", ValueError, "no name of a field"),
        ("qvel", 3, TypeError, "named by strings"),
        ("body_mass", "qvel", ValueError, "which no step changes"),
        ("qvel", "work.ctrl", ValueError, "neither"),
        ("qvel", "xpos", ValueError, "does not read xpos"),
    ],
)
def test_bad_names(of: str, by: Any, error: type[Exception], words: str) -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    with pytest.raises(error, match=words):
        cardan.derivatives(m, cardan.MjData(m), (of,), (by,))


def test_bad_course() -> None:
    m = cardan.MjModel.from_xml_string(CHAIN)
    with pytest.raises(ValueError, match='"step" or "forward"'):
        cardan.derivatives(m, cardan.MjData(m), after="lunch")


def test_one_result_of_a_stage_that_has_several() -> None:
    """Of an equality's rows only the weights: other tangents of the rows are not there, and are not touched."""
    m = cardan.MjModel.from_xml_string(
        """<mujoco><worldbody><body name="a" pos="0 0 1"><freejoint/><geom size=".1"/></body><body name="b" pos="0 0 2">
        <joint axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body></worldbody><equality><connect body1="a" body2="b"
        anchor="0 0 .5" solimp=".5 .9 .5 .5 2"/></equality></mujoco>"""
    )
    d = cardan.MjData(m)
    d.qpos[:2] = 0.1, 0.2
    alone = cardan.derivatives(m, d, ("efc_D",), ("qpos",), after="forward")["efc_D", "qpos"]
    together = cardan.derivatives(m, d, ("efc_D", "efc_J"), ("qpos",), after="forward")["efc_D", "qpos"]
    assert np.abs(alone).max() > 1e-3
    np.testing.assert_array_equal(alone, together)
