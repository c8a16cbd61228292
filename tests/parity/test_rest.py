"""Scenes that come to rest, beside the reference: no more drift than there, no gain of energy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import mujoco
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from collision.shapes import ASSET, geom

import cardan
from cardan.jit.front.stage import jit_enabled

pytestmark = pytest.mark.skipif(not jit_enabled, reason="thousands of steps take long in the interpreter")
SETTLE, HOLD = 1500, 5000
STARTS = 5
HEIGHTS = {"flat": np.ones((12, 12)), "bumpy": np.random.default_rng(0).uniform(0, 1, (12, 12))}


class Rest(NamedTuple):
    """What happens while a scene should rest: shift of bodies, m, largest speed, and gain of energy, J."""

    shift: float
    speed: float
    gain: float
    qpos: np.ndarray


def on_ground(ground: str, bodies: str) -> str:
    """A scene on a plane or on a height field."""
    asset, floor = ASSET, '<geom type="plane" size="9 9 .1"/>'
    if ground in HEIGHTS:
        elevation = " ".join(map(str, HEIGHTS[ground].ravel()))
        field = f'<hfield name="h" nrow="12" ncol="12" size="2 2 .05 .1" elevation="{elevation}"/>'
        asset, floor = ASSET.replace("<asset>", f"<asset>{field}"), '<geom type="hfield" hfield="h"/>'
    option = '<option><flag energy="enable"/></option>'
    return f"<mujoco>{option}{asset}<worldbody>{floor}{bodies}</worldbody></mujoco>"


def rest(engine: ModuleType, xml: str, speed: float = 0.0, settle: int = SETTLE) -> Rest:
    """Let a scene settle, then watch it for 10 s."""
    m = engine.MjModel.from_xml_string(xml)
    d = engine.MjData(m)
    d.qvel[0] = speed
    for _ in range(settle):
        engine.mj_step(m, d)
    start, energy = np.array(d.qpos), d.energy.sum()
    fastest, highest = 0.0, energy
    for _ in range(HOLD):
        engine.mj_step(m, d)
        fastest = max(fastest, np.abs(d.qvel).max())
        highest = max(highest, d.energy.sum())
    qpos = np.array(d.qpos)
    return Rest(np.abs(qpos - start).max(), fastest, highest - energy, qpos)


def check_beside_reference(ours: Rest, theirs: Rest) -> None:
    """No more drift, speed and energy than in the reference, but for rounding."""
    assert np.isfinite(ours.qpos).all()
    assert ours.shift <= 1.02 * theirs.shift + 1e-6
    assert ours.speed <= 1.1 * theirs.speed + 1e-4
    assert ours.gain <= 1.1 * max(theirs.gain, 0.0) + 1e-6


def middle(runs: list[Rest], of: Callable[..., object]) -> Rest:
    """What many runs have together: a cylinder on a bumpy field creeps, and how fast depends on the start's 1e-10."""
    assert all(np.isfinite(r.qpos).all() for r in runs)
    shift, speed, gain = (float(np.asarray(of([r[k] for r in runs]))) for k in range(3))
    return Rest(shift, speed, gain, runs[0].qpos)


@pytest.mark.parametrize("ground", ["plane", "flat", "bumpy"])
@pytest.mark.parametrize("kind", ["box", "cylinder", "mesh"])
def test_a_body_at_rest_stays_there(kind, ground):
    height = {"box": 0.27, "cylinder": 0.32, "mesh": 0.27}[kind] + {"plane": 0.0, "flat": 0.05, "bumpy": 0.1}[ground]
    xml = on_ground(ground, f'<body pos="0 0 {height}"><freejoint/>{geom(kind)}</body>')
    ours, theirs = ([rest(engine, xml, speed=k * 1e-10) for k in range(STARTS)] for engine in (cardan, mujoco))
    check_beside_reference(middle(ours, np.median), middle(theirs, np.max))
    np.testing.assert_allclose(ours[0].qpos, theirs[0].qpos, atol=1e-3)


HALF = {"box": 0.25, "cylinder": 0.3}


def stack(kinds: list[str], turn: float = 0.0) -> str:
    """Bodies on top of each other, on a plane, each turned a little more than the one below."""
    bodies, z = "", 0.0
    for k, kind in enumerate(kinds):
        bodies += f'<body pos="0 0 {z + HALF[kind]}" euler="0 0 {k * turn}"><freejoint/>{geom(kind)}</body>'
        z += 2 * HALF[kind]
    return on_ground("plane", bodies)


def test_a_stack_of_boxes_stays_where_it_is():
    xml = stack(["box"] * 5)
    check_beside_reference(rest(cardan, xml), rest(mujoco, xml))


def test_a_stack_of_cylinders_wobbles_as_in_the_reference():
    """It never rests: a start that is moved by 1e-10 gives another run in either engine, so medians are compared."""
    xml = stack(["cylinder"] * 3)
    ours, theirs = ([rest(engine, xml, speed=k * 1e-10) for k in range(12)] for engine in (cardan, mujoco))
    for what, most in (("shift", 4.0), ("speed", 1.5), ("gain", 3.0)):
        assert np.median([getattr(r, what) for r in ours]) <= most * np.median([getattr(r, what) for r in theirs])


def test_a_box_on_a_cylinder_drifts_no_more_than_in_the_reference():
    """One contact that jumps about between the two flat faces: chaotic, so that only means can be compared."""
    scenes = [stack(["cylinder", "box"], 3.0 * k) for k in range(6)]
    ours, theirs = ([rest(engine, xml).shift for xml in scenes] for engine in (cardan, mujoco))
    assert np.mean(ours) <= 2 * np.mean(theirs)


@pytest.mark.parametrize("kind", ["sphere", "cylinder", "capsule"])
def test_a_rolling_body_stops_where_the_reference_does(kind):
    turned = 'euler="90 0 0"' if kind != "sphere" else ""
    radius = {"sphere": 0.3, "cylinder": 0.25, "capsule": 0.2}[kind]
    body = geom(kind, f'condim="6" friction="1 .05 .05" {turned}')
    xml = on_ground("plane", f'<body pos="0 0 {radius}"><freejoint/>{body}</body>')
    ours, theirs = rest(cardan, xml, speed=1.0, settle=4000), rest(mujoco, xml, speed=1.0, settle=4000)
    assert ours.qpos[0] > 0.1
    assert ours.speed < 1e-3
    check_beside_reference(ours, theirs)
    np.testing.assert_allclose(ours.qpos[:3], theirs.qpos[:3], atol=1e-3)
