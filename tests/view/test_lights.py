"""Lights, haze, and the flexes of several worlds, as the pages get them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import cardan

pytest.importorskip("viser", reason="the viewer needs the package viser")

from cardan.view.lights import SCATTERED, fading, surrounding
from cardan.view.nodes import LINEAR, linear
from cardan.view.publisher import Publisher
from cardan.view.server import PageServer
from cardan.view.session import Session, place_of_world

SCENE = """<mujoco><visual><headlight ambient=".1 .1 .1" diffuse=".2 .2 .2"/><map haze=".25" zfar="40"/></visual>
<asset><texture type="skybox" builtin="gradient" rgb1="1 1 1" rgb2="0 0 1" width="16" height="96"/></asset>
<statistic extent="2" center="0 0 1"/>
<worldbody><light pos="1 2 3" dir="0 0 -2" diffuse="1 .5 0" cutoff="30" exponent="5"/>
<light directional="true" dir="0 1 0" castshadow="false"/><light pos="0 0 4" cutoff="180"/>
<geom type="plane" size="0 0 1"/>
<flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" pos="0 0 1" dim="2" radius=".01"/>
</worldbody></mujoco>"""


@pytest.fixture(scope="module")
def publisher() -> Iterator[Any]:
    m = cardan.MjModel.from_xml_string(SCENE)
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    server = PageServer("test", 0)
    publisher = Publisher(Session(m, d, worlds=2), server.viser)
    publisher.update()
    yield publisher
    server.close()


def test_lights_of_the_model(publisher: Any) -> None:
    spot, sun, bulb, headlight = publisher.effects.lights._handles
    assert spot.position == pytest.approx((1.0, 2.0, 3.0)) and spot.direction == pytest.approx((0.0, 0.0, -1.0))
    assert tuple(spot.color) == (255, 128, 0) and spot.cast_shadow
    assert spot.angle == pytest.approx(np.pi / 6) and spot.penumbra == pytest.approx(0.5)
    assert spot.intensity == pytest.approx(SCATTERED) and spot.decay == 0.0
    # parallel rays come from far behind the middle of the model
    assert sun.position == pytest.approx((0.0, -12.0, 1.0)) and not sun.cast_shadow
    assert type(bulb).__name__ == "PointLightHandle"
    # where the camera is, and as bright with its ambient light as it says
    head = publisher.picture.lights[publisher.picture.lights["headlight"] == 1][0]
    assert headlight.position == pytest.approx(tuple(head["pos"].astype(float)), abs=1e-5)
    assert headlight.intensity / SCATTERED + linear(np.array(0.1)) == pytest.approx(float(linear(np.array(0.3))))


def test_lights_follow_the_model_and_the_flags(publisher: Any) -> None:
    session, lights = publisher.session, publisher.effects.lights
    spot = lights._handles[0]
    with session.lock:
        session.model.light_pos[0] = (0.0, 0.0, 5.0)
        cardan.mj_forward(session.model, session.data)
    publisher.update()
    assert lights._handles[0] is spot and spot.position == pytest.approx((0.0, 0.0, 5.0))
    with session.lock:
        session.flags[cardan.mjtRndFlag.mjRND_SHADOW] = 0
        session.model.light_active[2] = 0
    publisher.update()
    assert lights.count == 3 and not lights._handles[0].cast_shadow


def test_light_from_all_around(publisher: Any) -> None:
    lights = publisher.picture.lights
    assert surrounding(lights) == pytest.approx(float(linear(np.array(0.1))))
    assert linear(np.array([0.0, 1.0])).tolist() == [0.0, 1.0]
    assert LINEAR[[0, 128, 255]].tolist() == [0, 56, 255]


def test_fading_by_the_largest_term() -> None:
    assert fading(np.array([1.0, 0.0, 0.0]), 5.0) == (0.0, 1.0)
    assert fading(np.array([1.0, 0.0, 0.5]), 5.0) == (2.0, 2.0)


def test_haze_is_fog_at_the_horizon(publisher: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    effects, told = publisher.effects, []
    monkeypatch.setattr(effects._scene, "configure_fog", lambda *args, **named: told.append((args, named)))
    flags = publisher.session.flags.copy()
    for haze, horizon in ((1, True), (1, False), (0, True)):
        flags[cardan.mjtRndFlag.mjRND_HAZE] = haze
        effects._shown = None
        effects.show(flags, publisher.picture.lights, horizon)
    assert told[0][0] == pytest.approx((60.0, 80.0))
    assert [named["enabled"] for _, named in told] == [True, False, False]


def test_flexes_of_further_worlds(publisher: Any) -> None:
    session = publisher.session
    with session.lock:
        session.others[0].qpos[:] += 0.01
        cardan.mj_forward(session.model, session.others[0])
    publisher.update()
    assert set(publisher.soft._handles) == {"flex_0_0", "flex_0_1"}
    first, second = (publisher.soft._handles[f"flex_0_{k}"][1].vertices.mean(0) for k in (0, 1))
    assert second - first == pytest.approx(place_of_world(1, 2, 2.0) + 0.01, abs=1e-5)
