"""Contacts against the reference: every pair of types, mixing of parameters, filters, order, whole models."""

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
from models import model_path

from cardan.collision.table import COLLIDERS
from cardan.jit.front.stage import jit_enabled

POSES = (10_000 if os.environ.get("CARDAN_FULL_TESTS") else 1000) if jit_enabled else 25
SIZES = {
    "plane": "1 1 1",
    "sphere": ".3",
    "capsule": ".2 .3",
    "ellipsoid": ".3 .2 .4",
    "cylinder": ".25 .3",
    "box": ".3 .2 .25",
}
NAMES = {getattr(mujoco.mjtGeom, f"mjGEOM_{name.upper()}"): name for name in SIZES}

CAPSULE_BOX = (mujoco.mjtGeom.mjGEOM_CAPSULE, mujoco.mjtGeom.mjGEOM_BOX)
FAMILIES = {f"cardan.collision.{name}" for name in ("plane", "capsule", "capsule_box")}
ANALYTIC = [types for types, function in COLLIDERS.items() if function.__module__ in FAMILIES and types[1] in NAMES]
"""Pairs whose contacts are the reference's in its order; test_boxes.py has two boxes."""


def two_geoms(type1: str, type2: str, attributes1: str = "", attributes2: str = "", rest: str = "") -> str:
    """A model of two bodies with a geom each; a plane's body is moved as mocap."""
    bodies = ""
    for name, kind, attributes in (("a", type1, attributes1), ("b", type2, attributes2)):
        size = "" if "size" in attributes else f'size="{SIZES[kind]}"'
        joint = "" if kind == "plane" else "<freejoint/>"
        mocap = 'mocap="true"' if kind == "plane" else ""
        bodies += f'<body name="{name}" {mocap}>{joint}<geom name="{name}" type="{kind}" {size} {attributes}/></body>'
    return f"<mujoco><worldbody>{bodies}</worldbody>{rest}</mujoco>"


@pytest.mark.parametrize("types", ANALYTIC, ids=lambda t: f"{NAMES[t[0]]}-{NAMES[t[1]]}")
@pytest.mark.parametrize("margin", [0.0, 0.15])
def test_random_poses(types, margin):
    attribute = f'margin="{margin}" gap="{margin / 3}"'
    pair = Pair(two_geoms(NAMES[types[0]], NAMES[types[1]], attribute, attribute))
    rng = np.random.default_rng(1)
    touching = 0
    for _ in range(POSES):
        for body in (1, 2):
            pair.set_pose(body, rng.normal(size=3) * 0.25, random_quat(rng))
        pair.check()
        touching += pair.data.ncon > 0
    assert touching > POSES / 5


@pytest.mark.parametrize("types", ANALYTIC, ids=lambda t: f"{NAMES[t[0]]}-{NAMES[t[1]]}")
def test_aligned_poses(types):
    # all multiples of a right angle, centres on a grid, coinciding ones too
    pair = Pair(two_geoms(NAMES[types[0]], NAMES[types[1]]))
    h = np.sqrt(0.5)
    quats = [(1, 0, 0, 0), (h, h, 0, 0), (h, 0, h, 0), (0, 1, 0, 0), (h, 0, 0, h), (0.5, 0.5, 0.5, 0.5)]
    places = [(0, 0, 0), (0.3, 0, 0), (0, 0.1, 0), (0, 0, 0.4), (0.1, 0.2, 0.3)]
    if types == CAPSULE_BOX:
        # not with the segment in the plane of a face: whether it is in the box depends on the last bit there
        places = [(0, 0, 0), (0.31, 0, 0), (0, 0.1, 0), (0, 0, 0.4), (0.12, 0.21, 0.31), (0.4, 0.4, 0.1), (0, 0, 0.6)]
    for quat1, quat2 in itertools.product(quats, quats):
        for pos in places:
            pair.set_pose(1, (0, 0, 0), quat1)
            pair.set_pose(2, pos, quat2)
            pair.check()


@pytest.mark.parametrize("half_lengths", [(0.3, 0.3), (0.5, 0.2), (3, 2), (0.02, 0.01)])
def test_parallel_and_nearly_parallel_capsules(half_lengths):
    xml = two_geoms("capsule", "capsule", f'size=".2 {half_lengths[0]}"', f'size=".2 {half_lengths[1]}"')
    pair = Pair(xml)
    for offset in np.linspace(-1, 1, 21):
        for angle in (0, 1e-12, 1e-2, 0.1):
            pair.set_pose(1, (0, 0, 0), (1, 0, 0, 0))
            pair.set_pose(2, (0.3, 0, offset * sum(half_lengths)), (np.cos(angle / 2), np.sin(angle / 2), 0, 0))
            pair.check()


@pytest.mark.parametrize("length", [1e-3, 1e-8, 1e-12])
@pytest.mark.parametrize("other", ["sphere", "capsule", "plane"])
def test_short_capsules(other, length):
    pair = Pair(two_geoms(other, "capsule", "", f'size=".2 {length}"'))
    rng = np.random.default_rng(2)
    for _ in range(50):
        for body in (1, 2):
            pair.set_pose(body, rng.normal(size=3) * 0.2, random_quat(rng))
        pair.check()


def test_capsule_too_short_for_the_reference_touches_the_edge_of_a_box():
    pair = Pair(two_geoms("capsule", "box", 'size=".1 1e-8"'))
    pair.set_pose(1, (0.35, 0.25, 0.1), (1, 0, 0, 0))
    pair.collide()
    assert pair.ref_data.ncon == 0
    np.testing.assert_allclose(pair.data.contact.dist, [np.hypot(0.05, 0.05) - 0.1], atol=1e-7)


@pytest.mark.parametrize("distance", [0, 1e-16, 1e-15, 1e-14, 1e-9])
@pytest.mark.parametrize("other", ["sphere", "capsule"])
def test_coinciding_centres(other, distance):
    pair = Pair(two_geoms("sphere", other))
    rng = np.random.default_rng(3)
    for _ in range(10):
        pair.set_pose(1, (0, 0, 0), random_quat(rng))
        pair.set_pose(2, (distance, 0, 0), random_quat(rng))
        pair.check()


MIXES = [
    ('margin=".1" gap=".05"', 'margin=".3" gap=".5"'),
    ('condim="1" friction="0 0 0"', 'condim="1" friction="0 1e-7 2"'),
    ('condim="1"', 'condim="4" friction=".1 .2 .3"'),
    ('condim="6" priority="1" friction="2 .1 .2" solref=".1 .2" solimp=".1 .2 .3 .4 2"', 'condim="4"'),
    ('priority="-1" solref="-5 -6"', 'priority="2" solref=".1 .3"'),
    ('priority="1" solref="-5 -6"', 'solref=".1 .3" friction="4 5 6"'),
    ('solmix="3" friction=".1 .2 .3" solref=".1 .2"', 'friction=".2 .1 .4" solref=".4 .1" solimp=".5 .6 .7 .8 3"'),
    ('solmix="3" solref="-.1 -.2"', 'solref=".4 .1" solimp=".5 .6 .7 .8 3"'),
    ('solref=".3 -.2"', 'solref=".4 .1"'),
    ('solref="0 -.2"', 'solref=".4 .1"'),
    ('solmix="3" solref="-.1 -.2"', 'solref="-.4 -.9"'),
    ('solmix="0" solref=".1 .2"', 'solmix="0" solref=".2 .5"'),
    ('solmix="1e-16" solref=".1 .2"', 'solmix="1" solref=".2 .5"'),
    ('solmix="1" solref=".1 .2"', 'solmix="0" solref=".2 .5"'),
]


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("override", [False, True])
def test_mixing(mix, override):
    flag = "enable" if override else "disable"
    option = (
        '<option o_margin=".2" o_solref=".5 2" o_solimp=".1 .2 .3 .4 3" o_friction="5 4 3 2 1e-9">'
        f'<flag override="{flag}"/></option>'
    )
    pair = Pair(two_geoms("sphere", "capsule", *mix, rest=option))
    for distance in (0.4, 0.55, 0.65, 0.85):
        pair.set_pose(2, (distance, 0, 0), (1, 0, 0, 0))
        pair.check()


EXPLICIT = [
    '<pair geom1="b" geom2="a"/>',
    '<pair geom1="b" geom2="a" margin=".2" gap=".1" condim="4" friction="1 2 3 4 0" solref=".1 .2" '
    'solreffriction=".3 .4" solimp=".1 .2 .3 .4 5"/>',
    '<exclude body1="a" body2="b"/>',
    '<exclude body1="a" body2="b"/><pair geom1="a" geom2="b" margin="1"/>',
]


@pytest.mark.parametrize("contact", EXPLICIT)
@pytest.mark.parametrize(
    "flags", ['override="enable"', 'override="disable"', 'contact="disable"', 'constraint="disable"']
)
def test_explicit_pairs_and_excludes(contact, flags):
    rest = f'<contact>{contact}</contact><option o_margin=".2"><flag {flags}/></option>'
    for types in (("sphere", "sphere"), ("capsule", "sphere"), ("plane", "sphere")):
        pair = Pair(two_geoms(*types, rest=rest))
        for distance in (0.3, 0.55, 0.65):
            pair.set_pose(2, (0, 0, distance), (1, 0, 0, 0))
            pair.check()


def random_scene(rng: np.random.Generator, midphase: str, nbody: int = 12, ngeom: int = 4) -> str:
    """Bodies with several geoms in chains, on a plane and static geoms, with excludes and explicit pairs."""

    def geoms(prefix: str) -> str:
        text = ""
        for k in range(rng.integers(1, ngeom + 1)):
            kind = ("sphere", "capsule")[rng.integers(2)]
            pos = " ".join(map(str, rng.uniform(-0.4, 0.4, 3)))
            euler = " ".join(map(str, rng.uniform(-90, 90, 3)))
            bits = f'contype="{rng.integers(4)}" conaffinity="{rng.integers(4)}" margin="{rng.uniform(0, 0.1)}"'
            text += f'<geom name="{prefix}{k}" type="{kind}" size=".15 .2" pos="{pos}" euler="{euler}" {bits}/>'
        return text

    bodies = ""
    for i in range(nbody):
        joint = ("<freejoint/>", "<freejoint/>", "")[rng.integers(3)]
        inner = ("<joint/>", "")[rng.integers(2)]
        pos = " ".join(map(str, rng.uniform(-1, 1, 3)))
        bodies += f'<body name="{i}" pos="{pos}">{joint}{geoms(f"{i}_")}<body name="{i}i">{inner}{geoms(f"{i}i_")}'
        bodies += f'<body name="{i}ii"><joint/>{geoms(f"{i}ii_")}</body></body></body>'
    chosen = [tuple(rng.choice(nbody, 2, replace=False)) for _ in range(10)]
    excludes = "".join(f'<exclude body1="{i}" body2="{j}i"/>' for i, j in {*chosen[:4]})
    pairs = "".join(f'<pair geom1="{i}_0" geom2="{j}i_0" margin=".3"/>' for i, j in {*chosen[4:]})
    pairs += "".join(f'<pair geom1="{i}_0" geom2="floor"/>' for i in range(3))
    return (
        f'<mujoco><option><flag midphase="{midphase}"/></option><worldbody>{geoms("w")}'
        f'<geom name="floor" type="plane" size="1 1 1" pos="0 0 -.5"/>{bodies}</worldbody>'
        f"<contact>{excludes}{pairs}</contact></mujoco>"
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("midphase", ["enable", "disable"])
@pytest.mark.parametrize("filterparent", [True, False])
def test_order_and_filters_in_random_scenes(seed, midphase, filterparent):
    rng = np.random.default_rng(seed)
    ref = mujoco.MjModel.from_xml_string(random_scene(rng, midphase))
    if not filterparent:
        ref.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_FILTERPARENT
    pair = Pair(ref=ref)
    total = 0
    for _ in range(5):
        pair.ref_data.qpos[:] = ref.qpos0 + 0.2 * rng.normal(size=ref.nq)
        pair.check()
        total += pair.data.ncon
    assert total > 50


@pytest.mark.parametrize("nconmax", [-1, 0, 1])
def test_nconmax_is_no_limit_unless_zero(nconmax):
    pair = Pair(two_geoms("sphere", "sphere", rest=f'<size nconmax="{nconmax}"/>'))
    pair.check()


def support(ref: mujoco.MjModel) -> None:
    """Let geoms of types that don't collide with each other yet collide with planes only."""
    round_types = (mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_CAPSULE)
    for geom in range(ref.ngeom):
        if ref.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE:
            ref.geom_conaffinity[geom] = 3
        elif ref.geom_type[geom] not in round_types:
            ref.geom_contype[geom], ref.geom_conaffinity[geom] = 2, 0
    for body in range(ref.nbody):
        geoms = ref.geom_bodyid == body
        ref.body_contype[body] = np.bitwise_or.reduce(ref.geom_contype[geoms], initial=0)
        ref.body_conaffinity[body] = np.bitwise_or.reduce(ref.geom_conaffinity[geoms], initial=0)


@pytest.mark.parametrize("name", ["humanoid", "crowd", "clutter"])
def test_models(name):
    ref = mujoco.MjModel.from_xml_path(str(model_path(name)))
    support(ref)
    pair = Pair(ref=ref)
    rng = np.random.default_rng(5)
    states, steps = (30, 10) if jit_enabled else (2, 60)
    total = 0
    for k in range(states):
        pair.ref_data.ctrl[:] = rng.normal(size=ref.nu)
        mujoco.mj_step(ref, pair.ref_data, steps)
        pair.check()
        total += pair.data.ncon

        # a random pose near this one
        qpos = pair.ref_data.qpos.copy()
        pair.ref_data.qpos += 0.1 * rng.normal(size=ref.nq)
        pair.check()
        pair.ref_data.qpos[:] = qpos
    assert total > 0
