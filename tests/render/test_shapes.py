"""Shapes: closed surfaces of the right size, seen from outside counter-clockwise."""

import numpy as np
import pytest

from cardan.render import shapes

SHAPES = {
    "sphere": shapes.sphere(28, 16),
    "capsule": shapes.capsule(28, 16),
    "cylinder": shapes.cylinder(28, 16, 4),
    "box": shapes.box(4),
}


def corners(shape):
    points = shape.vert[:, :3] + shape.vert[:, 3:] * np.array([0.0, 0.0, 1.0])
    return points[shape.face]


@pytest.mark.parametrize("name", SHAPES)
def test_volume(name):
    a, b, c = np.moveaxis(corners(SHAPES[name]), 1, 0)
    volume = np.einsum("ni,ni->n", a, np.cross(b, c)).sum() / 6
    n = 28
    polygon = 0.5 * n * np.sin(2 * np.pi / n)  # area of the polygon that stands for a circle of radius 1
    exact = {"box": 8.0, "cylinder": 2 * polygon}
    rounded = {"sphere": 4 / 3 * np.pi, "capsule": 4 / 3 * np.pi + 2 * np.pi}
    if name in exact:
        assert volume == pytest.approx(exact[name], rel=1e-12)
    else:
        assert 0.97 * rounded[name] < volume < rounded[name]


@pytest.mark.parametrize("name", SHAPES)
def test_faces_look_where_normals_point(name):
    shape = SHAPES[name]
    a, b, c = np.moveaxis(corners(shape), 1, 0)
    across = np.cross(b - a, c - a)
    large = np.linalg.norm(across, axis=1) > 1e-9  # triangles at poles have no area
    along = np.einsum("ni,nki->nk", across, shape.normal[shape.face])
    assert (along[large] > 0).all()
    np.testing.assert_allclose(np.linalg.norm(shape.normal, axis=1), 1.0, atol=1e-12)
