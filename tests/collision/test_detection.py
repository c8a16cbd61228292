"""Collision detection without a reference beside it: errors, growth, order independent of the past, symmetry."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from collision.harness import Pair, run

from cardan.collision.detection import collision
from cardan.collision.table import COLLIDERS
from cardan.enums import mjtGeom
from cardan.jit import COLLIDER_MISSING, Program

BALLS = "".join(
    f'<body pos="{x} 0 {0.4 * y}"><freejoint/><geom size=".3"/></body>' for x in range(6) for y in range(40)
)
PILE = f"<mujoco><worldbody><geom type='plane' size='1 1 1'/>{BALLS}</worldbody></mujoco>"
UNSUPPORTED = """
<mujoco><worldbody>
  <body><freejoint/><geom name="a" type="box" size=".1 .1 .1"/></body>
  <body pos="{x} 0 0"><freejoint/><geom type="cylinder" size=".1 .1" {attributes}/></body>
</worldbody></mujoco>"""

BOX_CYLINDER = (mujoco.mjtGeom.mjGEOM_CYLINDER, mujoco.mjtGeom.mjGEOM_BOX)


def test_arena_grows():
    pair = Pair(PILE)
    pair.check()
    assert pair.data.ncon > 100


def test_unsupported_pair_is_named(monkeypatch):
    monkeypatch.delitem(COLLIDERS, (mjtGeom.mjGEOM_CYLINDER, mjtGeom.mjGEOM_BOX))
    with pytest.raises(ValueError, match="collision between cylinder of id 1 and box 'a' is not supported yet"):
        Pair(UNSUPPORTED.format(x=0, attributes=""))


@pytest.mark.parametrize("attributes", ['contype="2" conaffinity="2"', 'contype="0" conaffinity="0"'])
def test_pairs_that_cannot_collide_need_no_function(attributes):
    pair = Pair(UNSUPPORTED.format(x=0, attributes=attributes))
    pair.check()


def test_unsupported_pair_met_at_run_time(monkeypatch):
    monkeypatch.delitem(COLLIDERS, (mjtGeom.mjGEOM_CYLINDER, mjtGeom.mjGEOM_BOX))
    ref = mujoco.MjModel.from_xml_string(UNSUPPORTED.format(x=0, attributes=""))
    pair = Pair(ref=ref, attach=False)
    pair.model.geom_contype[:] = 1
    pair.data.geom_xpos[:] = 0
    assert pair.program.run(pair.model, pair.data) == COLLIDER_MISSING
    with pytest.raises(ValueError, match="not supported yet"):
        run(pair.program, pair.model, pair.data)


def test_missing_function_is_loaded_at_run_time():
    pair = Pair(PILE, attach=False)
    pair.check()


def test_result_does_not_depend_on_the_past():
    pair = Pair(PILE)
    rng = np.random.default_rng(0)
    for _ in range(5):
        pair.ref_data.qpos[:] = pair.ref.qpos0 + rng.normal(size=pair.ref.nq)
        pair.collide()
    fresh = Pair(ref=pair.ref)
    fresh.ref_data.qpos[:] = pair.ref_data.qpos
    fresh.collide()
    assert fresh.data.ncon == pair.data.ncon > 0
    for name in ("dist", "pos", "frame", "geom"):
        assert np.array_equal(getattr(fresh.data.contact, name), getattr(pair.data.contact, name))


def test_nan_in_poses_gives_no_crash():
    pair = Pair(PILE)
    pair.data.geom_xpos[:] = np.nan
    run(pair.program, pair.model, pair.data)
    pair.data.geom_xpos[::2] = 0
    run(pair.program, pair.model, pair.data)


def test_model_without_geoms():
    pair = Pair("<mujoco><worldbody><camera/></worldbody></mujoco>")
    pair.check()
    pair.refresh_colliders()
    assert Program([collision]).run(pair.model, pair.data) == 0


def test_frames_are_right_handed_and_orthonormal():
    pair = Pair(PILE)
    pair.collide()
    frames = pair.data.contact.frame.reshape(-1, 3, 3)
    np.testing.assert_allclose(frames @ frames.transpose(0, 2, 1), np.broadcast_to(np.eye(3), frames.shape), atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(frames), 1, atol=1e-12)
