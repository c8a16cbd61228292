"""`launch_passive`: what a script sees of its viewer; pages are opened by `test_browser`."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import cardan
import cardan.viewer

pytest.importorskip("viser", reason="the viewer needs the package viser")

MODEL = """<mujoco><worldbody><body><freejoint/><geom size=".1"/></body></worldbody>
<asset><mesh name="a" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset></mujoco>"""


@pytest.fixture
def model() -> tuple[cardan.MjModel, cardan.MjData]:
    m = cardan.MjModel.from_xml_string(MODEL)
    return m, cardan.MjData(m)


@pytest.fixture
def viewer(model: tuple, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("CARDAN_VIEWER_OPEN", "0")
    with cardan.viewer.launch_passive(*model) as handle:
        yield handle
    assert not handle.is_running()


def shown(viewer: Any) -> cardan.MjData:
    """The copy of the data that pages see."""
    return viewer._session.data


def test_data_go_to_the_pages_only_by_sync(viewer: Any, model: tuple) -> None:
    m, d = model
    d.qpos[2] = 0.5
    cardan.mj_forward(m, d)
    assert shown(viewer).qpos[2] == 0.0
    viewer.sync()
    assert shown(viewer).xpos[1, 2] == 0.5
    d.qpos[2] = 0.7  # the positions of bodies are not computed by the script
    viewer.sync()
    assert shown(viewer).qpos[2] == 0.7 and shown(viewer).xpos[1, 2] == 0.5
    viewer.sync(state_only=True)
    assert shown(viewer).xpos[1, 2] == pytest.approx(0.7)


def test_changes_of_pages_come_by_sync(viewer: Any, model: tuple) -> None:
    m, d = model

    def command(m: cardan.MjModel, d: cardan.MjData) -> None:
        d.qpos[0] = 1.0
        m.opt.timestep = 0.01

    viewer._session.post(command)
    time.sleep(0.1)
    assert d.qpos[0] == 0.0
    viewer.sync()
    assert d.qpos[0] == 1.0 and m.opt.timestep == 0.01


def test_the_mouse_pulls_and_leaves_other_forces_alone(viewer: Any, model: tuple) -> None:
    m, d = model
    viewer.pert.select, viewer.pert.active = 1, cardan.mjtPertBit.mjPERT_TRANSLATE
    viewer.pert.localmass, viewer.perturb.refselpos = 1.0, (1.0, 0.0, 0.0)
    cardan.mj_forward(m, d)
    viewer.sync()
    assert d.xfrc_applied[1, 0] > 0.0
    viewer.pert.active = 0
    viewer.sync()
    assert not d.xfrc_applied.any()
    d.xfrc_applied[1, 2] = 3.0
    viewer.sync()
    assert d.xfrc_applied[1, 2] == 3.0


def test_geoms_and_flags_of_the_script(viewer: Any) -> None:
    scene, session = viewer.user_scn, viewer._session
    cardan.mjv_initGeom(
        scene.geoms[0], cardan.mjtGeom.mjGEOM_SPHERE, np.ones(3), np.zeros(3), np.eye(3).ravel(), np.ones(4)
    )
    scene.ngeom = 1
    scene.flags[cardan.mjtRndFlag.mjRND_WIREFRAME] = 1
    assert len(session.user_geoms) == 0
    viewer.sync()
    assert len(session.user_geoms) == 1 and session.flags[cardan.mjtRndFlag.mjRND_WIREFRAME] == 1
    session.flags[cardan.mjtRndFlag.mjRND_FOG] = 1  # as by a page
    viewer.sync()
    assert scene.flags[cardan.mjtRndFlag.mjRND_FOG] == 1 and scene.flags[cardan.mjtRndFlag.mjRND_WIREFRAME] == 1


def test_lock_keeps_the_viewer_out(viewer: Any) -> None:
    publisher = viewer._viewer.publisher
    with viewer.lock():
        sent = publisher.sent
        time.sleep(0.2)
        assert publisher.sent <= sent + 1
        viewer.cam.distance = 7.0
        viewer.opt.flags[cardan.mjtVisFlag.mjVIS_CONTACTPOINT] = 1
    end = time.monotonic() + 10.0
    while publisher.sent < sent + 3 and time.monotonic() < end:
        time.sleep(0.01)
    assert publisher.sent >= sent + 3
    assert viewer.cam.distance == 7.0


def test_assets_are_sent_again(viewer: Any, model: tuple) -> None:
    viewer.update_mesh(0)
    for update in (viewer.update_mesh, viewer.update_hfield, viewer.update_texture):
        with pytest.raises(ValueError, match=r"there is no id 5: (valid ids are 0 to 0|the model has none)"):
            update(5)


def test_closed_viewer_does_nothing(model: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARDAN_VIEWER_OPEN", "0")
    m, d = model
    others = set(threading.enumerate())
    viewer = cardan.viewer.launch_passive(m, d, show_left_ui=False, show_right_ui=False)
    assert viewer.is_running()
    viewer.close()
    viewer.close()
    viewer.sync()
    assert not viewer.is_running()
    assert not [thread for thread in set(threading.enumerate()) - others if thread.name.startswith("cardan")]


def test_a_key_may_close_the_viewer(model: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARDAN_VIEWER_OPEN", "0")
    viewer = cardan.viewer.launch_passive(*model, key_callback=lambda key: viewer.close())
    viewer._viewer.inputs.do(viewer.close)  # where callbacks of keys are called
    end = time.monotonic() + 60.0
    while viewer.is_running() and time.monotonic() < end:
        time.sleep(0.01)
    assert not viewer.is_running()
    viewer.close()


def test_a_loader_that_fails_leaves_the_model(model: tuple) -> None:
    from cardan.view.app import Viewer
    from cardan.view.panels.files import FilePanel
    from cardan.view.source import Source

    def loader() -> tuple[cardan.MjModel, cardan.MjData]:
        raise KeyError("no such part")

    viewer = Viewer(*model, source=Source(loader=loader), port=0)
    panel = viewer.controls.panels[FilePanel]
    assert isinstance(panel, FilePanel)
    panel.reload()
    assert "KeyError: 'no such part'" in panel.message.content and panel.message.visible
    assert viewer.session.model is model[0]
    viewer.close()


def test_wrong_arguments(model: tuple) -> None:
    m, d = model
    other = cardan.MjModel.from_xml_string("<mujoco/>")
    with pytest.raises(TypeError, match="model must be an MjModel"):
        cardan.viewer.launch_passive("a.xml", d)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="data must be an MjData"):
        cardan.viewer.launch_passive(m, None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="key_callback must be callable"):
        cardan.viewer.launch_passive(m, d, key_callback=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        cardan.viewer.launch_passive(other, d)
    with pytest.raises(TypeError, match="launch: model must be an MjModel, not str"):
        cardan.viewer.launch("a.xml")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="launch: data must be an MjData, not str"):
        cardan.viewer.launch(m, "data")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not both"):
        cardan.viewer.launch(m, loader=lambda: (m, d))
    for made, kinds in ((3, "int"), ((m,), "MjModel"), ((d, m), "MjData, MjModel"), (None, "NoneType")):
        with pytest.raises(TypeError, match=rf"the loader must return \(MjModel, MjData\), not {kinds}$"):
            cardan.viewer.launch(loader=lambda made=made: made)  # type: ignore[arg-type,misc]
    for wrong in ({"loader": lambda: (other, d)}, {"model": other, "data": d}):
        with pytest.raises(ValueError, match="launch: the MjData was made for a model of other sizes"):
            cardan.viewer.launch(**wrong)
    with pytest.raises(ValueError, match="data need the model"):
        cardan.viewer.launch(None, d)
    with pytest.raises(FileNotFoundError, match="no model file"):
        cardan.viewer.launch_from_path("nowhere.xml")


SCRIPT = """
import cardan.as_mujoco, mujoco, mujoco.viewer, sys
m = mujoco.MjModel.from_xml_string("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
d = mujoco.MjData(m)
assert "viser" not in sys.modules
with mujoco.viewer.launch_passive(m, d, key_callback=print) as viewer:
    assert isinstance(viewer, mujoco.viewer.Handle) and viewer.is_running()
    for _ in range(20):
        mujoco.mj_step(m, d)
        with viewer.lock():
            viewer.opt.frame = mujoco.mjtFrame.mjFRAME_BODY
        viewer.sync()
print("time", round(d.time, 3))
"""


def test_unmodified_script() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, env={**__import__("os").environ,
        "CARDAN_VIEWER_OPEN": "0"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == "time 0.04\n"
    assert "Viewer: http://127.0.0.1:" in done.stderr
