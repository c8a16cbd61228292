"""Levels of detail of textures."""

import numpy as np
import pytest

from cardan.render.textures import levels_of


@pytest.mark.parametrize("size", [(1, 1), (8, 8), (100, 100), (25, 7), (1, 9)])
def test_levels_keep_the_mean(size: tuple[int, int]) -> None:
    image = np.random.default_rng(0).integers(0, 256, (*size, 3))
    levels = levels_of(image)
    assert levels[-1].shape == (1, 1, 3)
    for level in levels:
        np.testing.assert_allclose(level.mean((0, 1)), image.mean((0, 1)), rtol=1e-12)
