"""Contacts of a mesh on a plane: which vertices are the further ones, with hull graphs of our own compiler."""

from __future__ import annotations

import os

import mujoco
import numpy as np
import pytest

import cardan
from cardan.api.loading import load_string
from cardan.compiler.meshes.qhull import library
from cardan.jit.front.stage import jit_enabled

POSES = (10_000 if os.environ.get("CARDAN_FULL_TESTS") else 500) if jit_enabled else 20
FLAT = pytest.param(True, marks=pytest.mark.skipif(library() is None, reason="cmeel-qhull is not installed"))


@pytest.mark.parametrize("rounded", [False, FLAT], ids=["triangles", "flat faces"])
def test_on_a_plane(rounded: bool) -> None:
    """A mesh on a plane has the contacts of the reference, from the file on: flat faces need Qhull's own program."""
    rng = np.random.default_rng(4)
    touching = 0
    for _ in range(10):
        points = rng.normal(size=(rng.integers(12, 60), 3))
        if rounded:
            points = 0.5 * np.round(2.0 * points)
        numbers = " ".join(map(repr, points.astype(np.float32).astype(float).ravel().tolist()))
        xml = (
            f'<mujoco><asset><mesh name="a" vertex="{numbers}"/></asset><worldbody>'
            '<geom type="plane" size="1 1 1"/><body><freejoint/><geom type="mesh" mesh="a"/></body></worldbody>'
            "</mujoco>"
        )
        expected, found = mujoco.MjModel.from_xml_string(xml), load_string(xml)
        theirs, ours = mujoco.MjData(expected), cardan.MjData(found)
        for _ in range(POSES // 10):
            quat = rng.normal(size=4)
            theirs.qpos[:] = *rng.normal(size=2), 0.0, *(quat / np.linalg.norm(quat))
            mujoco.mj_kinematics(expected, theirs)
            low = (expected.mesh_vert @ theirs.geom_xmat[1].reshape(3, 3).T)[:, 2].min() + theirs.geom_xpos[1, 2]
            theirs.qpos[2] = -low - rng.uniform(0.0, 0.8)
            ours.qpos[:] = theirs.qpos
            mujoco.mj_fwdPosition(expected, theirs)
            cardan.mj_fwdPosition(found, ours)
            touching += theirs.ncon > 1
            assert ours.ncon == theirs.ncon
            np.testing.assert_allclose(ours.contact.pos, theirs.contact.pos, rtol=0, atol=1e-9)
    assert touching > POSES / 4
