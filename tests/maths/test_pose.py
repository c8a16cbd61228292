"""Orientations written in other ways, and products of poses."""

import numpy as np
import pytest

from cardan.maths.pose import IDENTITY, compose, euler2quat, mat2quat, z2quat
from cardan.maths.quaternion import normalize4, quat2mat, rot_vec_quat


@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (0.6, 0.0, 0.8), (0.0, -1.0, 0.0)])
def test_z2quat_turns_z_to_the_axis(axis: tuple[float, float, float]) -> None:
    assert np.allclose(rot_vec_quat((0.0, 0.0, 1.0), z2quat(axis)), axis, atol=1e-12)


def test_moving_and_fixed_euler_sequences_mirror_each_other() -> None:
    assert np.allclose(euler2quat((0.1, 0.2, 0.3), "xyz"), euler2quat((0.3, 0.2, 0.1), "ZYX"))


def test_matrix_and_quaternion_are_inverses() -> None:
    rng = np.random.default_rng(2)
    for quat in (*rng.standard_normal((50, 4)), *np.eye(4), (0.0, 1.0, -1.0, 0.0), (0.0, 0.0, 1.0, -1.0)):
        unit = normalize4(tuple(quat))
        matrix = np.array(quat2mat(unit)).reshape(3, 3)
        again = np.array(mat2quat(*matrix.T.tolist()))
        assert np.allclose(again * np.sign(again @ unit), unit, atol=1e-12)


def test_poses_compose_as_maps_of_points() -> None:
    outer = ((1.0, 2.0, 3.0), normalize4((1.0, 0.5, -0.3, 0.2)))
    inner = ((-0.5, 0.1, 0.4), normalize4((0.2, 0.1, 0.9, -0.6)))
    position, quat = compose(outer, inner)
    point = (0.3, -0.7, 0.2)
    inside = np.add(inner[0], rot_vec_quat(point, inner[1]))
    expected = np.add(outer[0], rot_vec_quat(tuple(inside.tolist()), outer[1]))
    assert np.allclose(np.add(position, rot_vec_quat(point, quat)), expected, atol=1e-14)
    assert compose(IDENTITY, inner) == inner


def test_units_stay() -> None:
    """Making a quaternion a unit again changes no bit, so that the same state gives the same poses."""
    for quat in np.random.default_rng(1).standard_normal((200, 4)):
        unit = normalize4(tuple(quat))
        assert normalize4(unit) == unit
