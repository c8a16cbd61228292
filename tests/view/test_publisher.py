"""From the session to the pages: what is sent, and when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import cardan

pytest.importorskip("viser", reason="the viewer needs the package viser")

from cardan.view.publisher import Publisher
from cardan.view.server import PageServer
from cardan.view.session import Session

MODEL = """<mujoco><asset><texture name="t" type="2d" builtin="flat" rgb1="1 0 0" width="4" height="4"/>
<material name="t" texture="t"/></asset>
<worldbody><geom type="plane" size="1 1 .1" material="t"/><body pos="0 0 1"><freejoint/><geom size=".1"/></body>
<flexcomp name="cloth" type="grid" count="3 3 1" spacing=".2 .2 .2" pos="0 0 2" dim="2" mass=".1" radius=".05"/>
</worldbody></mujoco>"""


@pytest.fixture
def publisher() -> Iterator[Any]:
    m = cardan.MjModel.from_xml_string(MODEL)
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    server = PageServer("test", 0)
    publisher = Publisher(Session(m, d), server.viser)
    publisher.update()
    yield publisher
    server.close()


def shown(publisher: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Grows at each time that the scene is sent."""
    times: list[Any] = []
    show = publisher._show
    monkeypatch.setattr(publisher, "_show", lambda pose: (times.append(pose), show(pose)))
    return times


def test_what_stands_still_is_not_sent_again(publisher: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session, times = publisher.session, shown(publisher, monkeypatch)
    m, d = session.model, session.data
    for _ in range(3):
        publisher.update()
    assert not times
    changes = (
        lambda: d.qpos.__setitem__(2, 1.5),
        lambda: d.qpos.__setitem__(7, 0.5),  # of the cloth alone
        lambda: session.flags.__setitem__(cardan.mjtRndFlag.mjRND_WIREFRAME.value, 1),
        lambda: session.option.flags.__setitem__(cardan.mjtVisFlag.mjVIS_INERTIA.value, 1),
        lambda: publisher.renew("texture", 0),
        lambda: session.load(m, d),
    )
    for change in changes:
        times.clear()
        change()
        cardan.mj_forward(m, d)
        publisher.update()
        publisher.update()
        assert len(times) == 1


def test_a_camera_moves_where_the_scene_stands_still(publisher: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session, poses = publisher.session, []
    tell = publisher.cameras.tell
    monkeypatch.setattr(publisher.cameras, "tell", lambda pose: (poses.append(pose), tell(pose)))
    session.camera.distance = 3.0
    publisher.update()
    assert np.linalg.norm(poses[-1].pos - poses[-1].lookat) == pytest.approx(3.0)


def test_what_could_not_be_sent_is_sent_again(publisher: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session = publisher.session
    with monkeypatch.context() as patch:
        patch.setattr(publisher.nodes, "show", lambda *parts: 1 / 0)
        session.data.qpos[2] = 1.5
        cardan.mj_forward(session.model, session.data)
        with pytest.raises(ZeroDivisionError):
            publisher.update()
    times = shown(publisher, monkeypatch)
    publisher.update()
    assert len(times) == 1
