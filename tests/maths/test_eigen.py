"""Principal axes of symmetric matrices."""

import mujoco
import numpy as np

from cardan.maths.pose import principal_axes
from cardan.maths.quaternion import quat2mat


def test_principal_axes_rebuild_the_matrix() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        factor = rng.standard_normal((3, 3))
        full = factor @ factor.T
        moments, quat = principal_axes((*np.diag(full), full[0, 1], full[0, 2], full[1, 2]))
        axes = np.array(quat2mat(quat)).reshape(3, 3)
        assert np.allclose(axes @ np.diag(moments) @ axes.T, full, atol=1e-5)
        assert moments[0] >= moments[1] >= moments[2]


def test_principal_axes_are_those_of_the_reference_to_the_last_bit() -> None:
    rng = np.random.default_rng(2)
    for trial in range(300):
        factor = rng.standard_normal((3, 3))
        full = factor @ factor.T if trial % 2 else np.diag(rng.permutation([1.0, 2.0, 3.0]))
        full = np.triu(full) + np.triu(full, 1).T
        moments, axes, expected = np.zeros(3), np.zeros(9), np.zeros(4)
        mujoco.mju_eig3(moments, axes, expected, full.ravel())
        found, quat = principal_axes((*np.diag(full).tolist(), *(float(full[k]) for k in ((0, 1), (0, 2), (1, 2)))))
        assert quat == tuple(expected)
        assert found == tuple(moments)
