"""Levels of detail of textures."""

import numpy as np
import pytest

from cardan.render.assets import bordered, levels_of


@pytest.mark.parametrize("size", [(1, 1), (8, 8), (64, 16), (1, 4)])
def test_levels_keep_the_mean(size: tuple[int, int]) -> None:
    image = np.random.default_rng(0).integers(0, 256, (*size, 3))
    levels = levels_of(image)
    assert levels[-1].shape == (1, 1, 3)
    for level in levels:
        np.testing.assert_allclose(level.mean((0, 1)), image.mean((0, 1)), rtol=1e-12)


def test_levels_of_odd_size_are_taken_from_the_middles_of_their_pixels() -> None:
    ramp = np.broadcast_to(np.arange(25.0)[None, :, None], (1, 25, 3))
    expected = (np.arange(12) + 0.5) * 25 / 12 - 0.5
    np.testing.assert_allclose(levels_of(ramp)[1][0, :, 0], expected, rtol=1e-12)


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (6, 4, 4)])
def test_borders_are_what_a_texture_shows_beyond_its_rim(size: tuple[int, ...]) -> None:
    image = np.random.default_rng(0).integers(0, 256, (*size, 3))
    height, width = size[-2:]
    rows, columns = np.arange(-1, height + 1), np.arange(-1, width + 1)
    repeated = image[..., rows[:, None] % height, columns % width, :]
    np.testing.assert_array_equal(bordered(image, repeats=True), repeated)
    kept = image[..., rows.clip(0, height - 1)[:, None], columns.clip(0, width - 1), :]
    np.testing.assert_array_equal(bordered(image, repeats=False), kept)
