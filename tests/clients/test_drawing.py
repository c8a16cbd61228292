"""Programs of other packages draw on Cardan, in a process where `mujoco` means it: no OpenGL, no window."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from clients.comparison import installed

GYMNASIUM = """
import gymnasium, numpy
for mode, kind, shape in (("rgb_array", "uint8", (480, 480, 3)), ("depth_array", "float32", (480, 480))):
    with gymnasium.make("Ant-v5", render_mode=mode) as program:
        program.reset(seed=0)
        picture = program.render()
        assert picture.shape == shape and picture.dtype == kind, (picture.shape, picture.dtype)
        assert picture.std() > 1e-3
"""
DM_CONTROL = """
import numpy
from dm_control import suite
from dm_control.suite.wrappers import pixels
program = suite.load("cheetah", "run")
program.reset()
draw = program.physics.render
colour = draw(48, 64, camera_id=0)
assert colour.shape == (48, 64, 3) and colour.dtype == numpy.uint8 and colour.std() > 10
depth = draw(48, 64, camera_id=0, depth=True)
assert depth.shape == (48, 64) and 0 < depth.min() < depth.max()
segments = draw(48, 64, camera_id=0, segmentation=True)
assert segments.shape == (48, 64, 2) and len(numpy.unique(segments[..., 0])) > 3
assert pixels.Wrapper(program).reset().observation["pixels"].std() > 10
"""


@pytest.mark.parametrize(("package", "program"), [("gymnasium", GYMNASIUM), ("dm_control", DM_CONTROL)])
def test_pictures(package: str, program: str) -> None:
    if installed(package) is None:
        pytest.skip(f"{package} is not installed; make clients installs and runs it")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", "import cardan.as_mujoco\n" + program],
        check=False,
        env={name: value for name, value in os.environ.items() if name != "MUJOCO_GL"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "Error" not in done.stderr, done.stderr  # nor at its end, when contexts are freed
