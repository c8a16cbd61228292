"""Cameras of MuJoCo 4.0: poses and frustums without a scene, tracking, and the principal point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.errors import FatalError

XML = """
<mujoco>
  <visual><global fovy="50" ipd=".1"/><map znear=".02" zfar="40"/></visual>
  <statistic extent="2"/>
  <worldbody>
    <camera name="plain" pos="1 2 3" euler="10 20 30" fovy="60"/>
    <camera name="window" pos="1 2 3" projection="orthographic" fovy="2"/>
    <camera name="sensor" focal="1 2" sensorsize="1 2" resolution="100 50" principal=".1 .2"/>
    <body pos="1 2 3"><freejoint/><geom size=".1" pos=".5 0 0"/><body pos="0 1 0"><geom size=".2"/></body></body>
  </worldbody>
</mujoco>
"""
SEEN = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
mujoco.mj_forward(m, d)
cam = mujoco.MjvCamera()
cam.type, cam.fixedcamid, cam.orthographic = kind, fixed, orthographic
cam.lookat[:], cam.distance, cam.azimuth, cam.elevation, cam.trackbodyid = [.1, .2, .3], 3, 40, -25, 1
frame, frustum = np.zeros((4, 3)), np.zeros((3, 2), np.float32)
mujoco.mjv_cameraFrame(*frame, d, cam)
mujoco.mjv_cameraFrustum(*frustum, m, cam)
gl = mujoco.mjv_camera2GLCamera(m, d, cam)
scn = mujoco.MjvScene(m, 10)
mujoco.mjv_updateCamera(m, d, cam, scn)
names = ("pos", "forward", "up", "frustum_center", "frustum_width", "frustum_bottom", "frustum_top", "frustum_near",
         "frustum_far", "orthographic")
out = [np.hstack([getattr(c, name) for name in names]) for c in (gl, scn.camera[0], scn.camera[1])]
out = [frame, frustum, *out, cam.lookat]
"""


@pytest.mark.parametrize(
    ("kind", "fixed", "orthographic"), [(0, -1, 0), (0, -1, 1), (1, -1, 0), (2, 0, 0), (2, 1, 0), (2, 2, 0)]
)
def test_cameras(kind: int, fixed: int, orthographic: int) -> None:
    """Free, tracking and fixed cameras with all kinds of projection."""
    given = {"xml": XML, "kind": kind, "fixed": fixed, "orthographic": orthographic}
    names: dict[str, Any] = {"mujoco": cardan, "np": np, **given}
    exec(SEEN.replace("(xml)", "(xml, compat='4.0')"), names)
    for own, theirs in zip(names["out"], later_run(SEEN, **given), strict=True):
        np.testing.assert_allclose(own, theirs, rtol=1e-5, atol=1e-6)


def test_cameras_that_do_not_exist() -> None:
    m = cardan.MjModel.from_xml_string(XML)
    d, cam = cardan.MjData(m), cardan.MjvCamera()
    cam.type, cam.fixedcamid = 2, 3
    with pytest.raises(FatalError, match="fixed camera id 3"):
        cardan.mjv_camera2GLCamera(m, d, cam)
    cam.type = 3
    with pytest.raises(FatalError, match="unknown camera type"):
        cardan.mjv_cameraFrame(*np.zeros((4, 3)), d, cam)
    with pytest.raises(TypeError, match="writable array of 2"):
        cam.type = 0
        cardan.mjv_cameraFrustum(np.zeros(3), np.zeros(2), np.zeros(2), m, cam)
