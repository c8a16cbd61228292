"""Random dots on textures: the generator, and that each texture goes on where the one before it ended."""

import mujoco
import numpy as np
import pytest

import cardan
from cardan.compiler.textures import MOST, ORDER, random_numbers

TEXTURES = """<mujoco><asset>
<texture name="sky" type="skybox" builtin="gradient" rgb1=".4 .6 .8" rgb2="0 0 0" width="60" height="60" mark="random"
 markrgb="1 1 1" random=".02"/>
<texture name="plain" type="2d" builtin="flat" mark="edge" rgb1=".5 0 0" markrgb="1 1 1" width="20" height="10"/>
<texture name="flat" type="2d" builtin="flat" mark="random" random=".05" markrgb="1 1 1" width="40" height="30"/>
<texture name="cube" type="cube" builtin="flat" mark="random" random=".05" markrgb="1 1 1" width="40" height="240"/>
</asset></mujoco>"""


@pytest.mark.parametrize("seed", [1, 123])
def test_numbers(seed: int) -> None:
    numbers = random_numbers(5000, seed).astype(np.int64)
    assert numbers.min() >= 0 and numbers.max() <= MOST
    np.testing.assert_array_equal(random_numbers(40, seed), numbers[:40])
    # the sum of two earlier numbers, and perhaps a carry from the bit that is dropped
    rest = (numbers[ORDER:] - numbers[ORDER - 3 : -3] - numbers[:-ORDER]) % (MOST + 1)
    assert set(rest.tolist()) == {0, 1}
    assert abs(numbers.mean() / MOST - 0.5) < 0.02


def test_as_c_libraries() -> None:
    assert random_numbers(2, 1).tolist() == [1804289383, 846930886]  # without a seed


def test_dots_are_the_references() -> None:
    expected, found = (engine.MjModel.from_xml_string(TEXTURES) for engine in (mujoco, cardan))
    np.testing.assert_array_equal(found.tex_rgb, expected.tex_rgb)
