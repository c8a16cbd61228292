"""Principal axes of symmetric matrices."""

import numpy as np

from cardan.maths.eigen import principal_axes
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
