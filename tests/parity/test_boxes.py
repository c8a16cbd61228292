"""Contacts of two boxes against the reference."""

from __future__ import annotations

import itertools
import os
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "collision"))
from harness import Pair, random_quat

from cardan.jit.front.stage import jit_enabled

POSES = (6000 if os.environ.get("CARDAN_FULL_TESTS") else 1000) if jit_enabled else 25
SIZE1, SIZE2 = np.array([0.3, 0.2, 0.25]), np.array([0.2, 0.35, 0.15])
TURN = np.sqrt(0.5)
RIGHT_ANGLES = [
    (1, 0, 0, 0), (TURN, TURN, 0, 0), (TURN, 0, TURN, 0), (0, 1, 0, 0), (TURN, 0, 0, TURN), (0.5, 0.5, 0.5, 0.5),
]  # fmt: skip


def two_boxes(margin: float = 0.0, first: str = 'type="box" size=".3 .2 .25"', size2: str = ".2 .35 .15") -> Pair:
    """A geom on a free body and a box on another."""
    return Pair(
        f'<mujoco><default><geom margin="{margin}"/></default><worldbody><body><freejoint/><geom {first}/></body>'
        f'<body><freejoint/><geom type="box" size="{size2}"/></body></worldbody></mujoco>'
    )


def rows(contact) -> np.ndarray:
    """Distance, position and frame of all contacts."""
    return np.hstack([contact.dist[:, None], contact.pos, contact.frame.reshape(-1, 9)])


def unmatched(pair: Pair, tolerance: float = 1e-9) -> tuple[np.ndarray, np.ndarray]:
    """Our contacts that the reference lacks, and its contacts that we lack."""
    ours, theirs = rows(pair.data.contact), rows(pair.ref_data.contact)
    close = (np.abs(ours[:, None] - theirs[None]) < tolerance).all(axis=2)
    return ours[~close.any(axis=1)], theirs[~close.any(axis=0)]


def on_surface(pair: Pair, geom: int, size: np.ndarray, point: np.ndarray) -> bool:
    """Whether a point is on the surface of a box."""
    local = (point - pair.data.geom_xpos[geom]) @ pair.data.geom_xmat[geom].reshape(3, 3)
    return abs((np.abs(local) - size).max()) < 1e-6


@pytest.mark.parametrize("margin", [0.0, 1e-3, 0.02])
def test_random_boxes(margin):
    """All contacts agree, in order, but for points that the reference adds, which are on neither surface."""
    pair = two_boxes(margin)
    rng = np.random.default_rng(11)
    touching = odd = 0
    for _ in range(POSES):
        for body in (1, 2):
            pair.set_pose(body, rng.normal(size=3) * 0.25, random_quat(rng))
        pair.collide()
        touching += pair.ref_data.ncon > 0
        ours, theirs = unmatched(pair)
        assert (ours[:, 0] > 0.0).all()  # between edges that are apart, where the reference has none or others
        if not len(theirs) and not len(ours):
            np.testing.assert_allclose(rows(pair.data.contact), rows(pair.ref_data.contact), atol=1e-9)
        odd += len(theirs) > 0 or len(ours) > 0
        for row in theirs:
            half = 0.5 * row[0] * row[4:7]
            assert not on_surface(pair, 0, SIZE1, row[1:4] - half)
            assert not on_surface(pair, 1, SIZE2, row[1:4] + half)
    assert touching > POSES / 3
    assert odd <= max(1, POSES / 400)


def test_deep_cubes_have_no_contact_deeper_than_their_overlap():
    """The reference adds a fourth point that is on neither cube, deeper than the cubes overlap along its normal."""
    size = np.full(3, 0.048)
    pair = two_boxes(first='type="box" size=".048 .048 .048"', size2=".048 .048 .048")
    quat1 = (0.8918602641014126, -0.06776974555956315, -0.4457207891776046, -0.03640754040915192)
    quat2 = (0.9514382562079964, 0.12008777587632984, -0.008396158658726805, 0.2833260934484165)
    pair.set_pose(1, (-0.0632383977019937, 0.05730145475355834, 0.18525387036506244), quat1)
    pair.set_pose(2, (-0.0716266963455898, 0.02533811974912037, 0.15843563956710138), quat2)
    pair.collide()
    ours, extra = unmatched(pair)
    assert pair.data.ncon == 3
    assert len(ours) == 0
    assert len(extra) == 1
    depth, pos, normal = -extra[0, 0], extra[0, 1:4], extra[0, 4:7]
    reach = [np.abs(normal @ pair.data.geom_xmat[geom].reshape(3, 3)) @ size for geom in (0, 1)]
    overlap = sum(reach) - normal @ (pair.data.geom_xpos[1] - pair.data.geom_xpos[0])
    assert pair.data.contact.dist.min() == pytest.approx(-overlap, abs=1e-12)
    assert depth > overlap + 0.01
    for geom, end in ((0, pos + 0.5 * depth * normal), (1, pos - 0.5 * depth * normal)):
        local = (end - pair.data.geom_xpos[geom]) @ pair.data.geom_xmat[geom].reshape(3, 3)
        assert (np.abs(local) - size).max() > 1e-3  # outside of the box whose surface it claims


@pytest.mark.parametrize("tilt", [1e-2, 1e-4])
@pytest.mark.parametrize("size2", [".2 .35 .15", ".3 .2 .25"])
def test_boxes_nearly_aligned(tilt, size2):
    pair = two_boxes(size2=size2)
    rng = np.random.default_rng(0)
    places = [(0, 0, 0.499), (0, 0, 0.39), (0.2, 0, 0.45), (0.1, 0.1, 0.495), (0.49, 0.1, 0.05)]
    different = total = 0
    for quat1, quat2, place in itertools.product(RIGHT_ANGLES, RIGHT_ANGLES, places if jit_enabled else places[:1]):
        for body, pos, quat in ((1, (0, 0, 0), quat1), (2, place, quat2)):
            turned = np.array(quat) + tilt * rng.normal(size=4)
            pair.set_pose(body, np.array(pos) + tilt * rng.normal(size=3), turned / np.linalg.norm(turned))
        pair.collide()
        different += any(map(len, unmatched(pair)))
        total += pair.ref_data.ncon > 0
    assert different <= 0.02 * total


@pytest.mark.parametrize("size2", [".2 .35 .15", ".3 .2 .25", ".3 .3 .25"])
@pytest.mark.parametrize("place", [(0, 0), (0.1, 0.05), (0.1, 0), (1e-3, 0), (0.05, 0.3)])
def test_boxes_stacked_exactly(size2, place):
    pair = two_boxes(size2=size2)
    pair.set_pose(1, (0, 0, 0), (1, 0, 0, 0))
    pair.set_pose(2, (*place, 0.25 + float(size2.split()[2]) - 1e-3), (1, 0, 0, 0))
    pair.collide()
    assert pair.data.ncon >= 2
    assert not any(map(len, unmatched(pair)))


def lying_pose(size: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """A box that nearly stands on a face, turned by any angle about the vertical: orientation, height of its middle."""
    angle = rng.uniform(0.0, np.pi) if rng.random() < 0.6 else 10.0 ** rng.uniform(-7.0, -1.5)
    tilt = 10.0 ** rng.uniform(-6.0, -1.5)
    axis = rng.normal(size=3)
    quat = np.array(RIGHT_ANGLES[rng.integers(len(RIGHT_ANGLES))], float)
    for turn, about in ((angle, np.array([0.0, 0.0, 1.0])), (tilt, axis / np.linalg.norm(axis))):
        product = np.empty(4)
        mujoco.mju_mulQuat(product, np.array([np.cos(turn / 2), *(np.sin(turn / 2) * about)]), quat)
        quat = product / np.linalg.norm(product)
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quat)
    return quat, np.abs(matrix[6:]) @ size


@pytest.mark.parametrize("alike", [False, True])
def test_boxes_at_rest(alike):
    """Boxes that lie on each other, as in a pile, have the same number of contacts, at the same places."""
    rng = np.random.default_rng(5)
    touching = 0
    for _ in range(POSES // 25):
        size1, size2 = rng.uniform(0.05, 0.2, (2, 3))
        size2 = size1 if alike else size2
        text1, text2 = (" ".join(map(repr, map(float, size))) for size in (size1, size2))
        pair = two_boxes(first=f'type="box" size="{text1}"', size2=text2)
        for _ in range(25):
            (quat1, height1), (quat2, height2) = lying_pose(size1, rng), lying_pose(size2, rng)
            depth = 10.0 ** rng.uniform(-7.0, -2.5)
            pair.set_pose(1, (0.0, 0.0, 0.0), quat1)
            pair.set_pose(2, (*rng.uniform(-0.2, 0.2, 2), height1 + height2 - depth), quat2)
            pair.collide()
            touching += pair.ref_data.ncon > 0
            assert pair.data.ncon == pair.ref_data.ncon
            assert not any(map(len, unmatched(pair)))
    assert touching > POSES / 5
