"""Selection of pairs: axis of the sweep, trees of bodies with many geoms, with and without the mid phase."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from collision.harness import Pair, random_quat, run

from cardan.jit.front.stage import jit_enabled

NGEOM = 500 if jit_enabled else 24
NBALL = 200 if jit_enabled else 30
SIDE = 2.0 if jit_enabled else 0.8
KINDS = ("sphere", "capsule", "ellipsoid", "box")


def many_geoms(rng: np.random.Generator, n: int, kinds: tuple[str, ...], attributes: str = "") -> str:
    """XML of n small geoms in a cube."""
    text = ""
    for k in range(n):
        pos = " ".join(map(str, rng.uniform(-SIDE / 2, SIDE / 2, 3)))
        euler = " ".join(map(str, rng.uniform(-90, 90, 3)))
        kind = kinds[k % len(kinds)]
        text += f'<geom type="{kind}" size=".05 .06 .04" pos="{pos}" euler="{euler}" {attributes}/>'
    return text


def two_clusters(
    kinds: tuple[str, ...] = ("sphere", "capsule"), attributes: str = "", extra: str = "", world: str = ""
) -> Pair:
    """Two free bodies with many geoms each."""
    rng = np.random.default_rng(0)
    bodies = "".join(f"<body><freejoint/>{many_geoms(rng, NGEOM, kinds, attributes)}{extra}</body>" for _ in range(2))
    return Pair(f'<mujoco><size memory="100M"/><worldbody>{bodies}{world}</worldbody></mujoco>')


def place(pair: Pair, rng: np.random.Generator) -> None:
    """Random poses of both bodies."""
    for body in (1, 2):
        pair.set_pose(body, rng.normal(size=3) * 0.2 * SIDE, random_quat(rng))


@pytest.mark.parametrize("margin", [0.0, 0.03])
def test_bodies_with_many_geoms_as_in_the_reference(margin):
    pair = two_clusters(attributes=f'margin="{margin}"')
    rng = np.random.default_rng(1)
    for _ in range(3):
        place(pair, rng)
        pair.check()
    assert pair.data.ncon > 0


def contact_table(pair: Pair) -> np.ndarray:
    """Geoms, distance and position of our contacts, sorted."""
    contact = pair.data.contact
    table = np.hstack([contact.geom, contact.dist[:, None], contact.pos])
    return table[np.lexsort(table.T[::-1])]


@pytest.mark.parametrize("override", [False, True])
def test_the_trees_lose_no_contact(override):
    pair = two_clusters(kinds=KINDS, world='<geom type="plane" size="1 1 1" pos="0 0 -.2"/>')
    if override:
        pair.ref.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_OVERRIDE
        pair.ref.opt.o_margin = 0.05
        pair.refresh()
    rng = np.random.default_rng(2)
    for _ in range(3):
        tables = []
        place(pair, rng)
        for flags in (0, mujoco.mjtDisableBit.mjDSBL_MIDPHASE):
            pair.model.opt.disableflags = int(flags)
            pair.collide()
            tables.append(contact_table(pair))
        assert len(tables[0]) > 0
        np.testing.assert_array_equal(*tables)


def test_static_geoms_of_the_world():
    rng = np.random.default_rng(3)
    bodies = "".join('<body><freejoint/><geom type="capsule" size=".1 .2"/></body>' for _ in range(2))
    pair = Pair(f"<mujoco><worldbody>{many_geoms(rng, NGEOM, ('sphere',))}{bodies}</worldbody></mujoco>")
    for _ in range(10):
        place(pair, rng)
        pair.check()


def test_geoms_that_get_bits_after_compilation_are_found():
    pair = two_clusters(extra='<geom size="3" contype="0" conaffinity="0"/>')
    pair.collide()
    before = pair.data.ncon
    pair.model.geom_contype[:] = 1
    pair.model.geom_conaffinity[:] = 1
    pair.collide()
    assert pair.data.ncon == before + 2 * NGEOM + 1


@pytest.mark.parametrize("damage", ["bvh_child", "bvh_nodeid"])
def test_trees_that_are_out_of_order_are_not_used(damage):
    pair = two_clusters()
    place(pair, np.random.default_rng(4))
    pair.collide()
    table = contact_table(pair)
    column = getattr(pair.ref, damage)
    column[:] = column[::-1].copy()
    pair.refresh()
    run(pair.program, pair.model, pair.data)
    np.testing.assert_array_equal(contact_table(pair), table)


@pytest.mark.parametrize("direction", [(1, 1, 1), (1, -2, 0.3), (0, 0, 1)])
def test_the_sweep_goes_along_the_principal_axis(direction):
    balls = '<body><freejoint/><geom size=".1"/></body>' * 60
    pair = Pair(f'<mujoco><worldbody><geom type="plane" size="1 1 1"/>{balls}</worldbody></mujoco>')
    rng = np.random.default_rng(6)
    places = rng.normal(size=(60, 3)) * 0.2 + np.outer(rng.uniform(-3, 3, 60), direction)
    pair.ref_data.qpos.reshape(-1, 7)[:, :3] = places
    for _ in range(3):
        pair.check()
    axis = pair.data._memory.arrays["work.sweep_axis"].reshape(3, 3)
    principal = np.linalg.eigh(np.cov(places.T))[1][:, -1]
    assert abs(axis[0] @ principal) > 1 - 1e-6
    np.testing.assert_allclose(axis @ axis.T, np.eye(3), atol=1e-12)


def test_a_scene_that_is_shuffled_is_sorted_again():
    balls = '<body><freejoint/><geom size=".1"/></body>' * NBALL
    pair = Pair(f"<mujoco><worldbody>{balls}</worldbody></mujoco>")
    rng = np.random.default_rng(7)
    for shape in ((3, 1, 1), (1, 3, 1), (0, 0, 5), (0, 0, 0), (1, 1, 1)):
        pair.ref_data.qpos.reshape(-1, 7)[:, :3] = rng.normal(size=(NBALL, 3)) * shape
        pair.check()
