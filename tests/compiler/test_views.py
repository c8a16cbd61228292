"""Cameras: the field of view of a lens, in the single precision of the C library."""

from __future__ import annotations

import mujoco
import numpy as np

import cardan

NUMBER = 300


def test_fovy_has_the_reference_bits() -> None:
    """NumPy's single-precision functions differ between processors by the last bit."""
    rng = np.random.default_rng(0)
    sizes = rng.uniform(0.001, 0.02, (NUMBER, 2))
    cameras = "".join(
        f'<camera sensorsize=".01 {height!r}" focal=".01 {focal!r}" resolution="640 480"/>'
        for height, focal in sizes.tolist()
    )
    xml = f"<mujoco><worldbody>{cameras}</worldbody></mujoco>"
    expected, found = mujoco.MjModel.from_xml_string(xml), cardan.MjModel.from_xml_string(xml)
    np.testing.assert_array_equal(found.cam_fovy, expected.cam_fovy)
