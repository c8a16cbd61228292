"""Pictures of orthographic cameras, geoms without shadows, and textures with other numbers of channels."""

import io

import numpy as np
import pytest
from PIL import Image

import cardan

BALLS = """<mujoco><visual><headlight active="0"/></visual><worldbody>
<light pos="0 0 9" dir="0 0 -1" type="directional"/><geom type="plane" size="9 9 .1"/>
<geom size=".5" pos="-1 0 2"/><geom name="b" size=".5" pos="1 0 .5" castshadow="{}"/>
<camera name="top" projection="orthographic" fovy="5" pos="0 0 7"/>
<camera name="side" projection="orthographic" fovy="5" pos="0 -4 3" xyaxes="1 0 0 0 1 1"/></worldbody></mujoco>"""
SIZE = 100  # pixels


def drawn(m: cardan.MjModel, camera: str, depth: bool = False) -> np.ndarray:
    """A picture of the model."""
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    with cardan.Renderer(m, SIZE, SIZE) as renderer:
        if depth:
            renderer.enable_depth_rendering()
        renderer.update_scene(d, camera)
        return renderer.render().copy()


def test_equal_sizes_at_all_distances() -> None:
    """Two balls have their true size in pixels; depths are measured along the axis."""
    depth = drawn(cardan.MjModel.from_xml_string(BALLS.format("true")), "top", depth=True)
    left, right = depth[:, : SIZE // 2], depth[:, SIZE // 2 :]
    assert left.min() == pytest.approx(7.0 - 2.5, abs=0.01)
    assert right.min() == pytest.approx(7.0 - 1.0, abs=0.01)
    assert depth.max() == pytest.approx(7.0, abs=1e-4)
    pixels = np.pi * 0.5**2 * (SIZE / 5.0) ** 2
    assert (left < 6.9).sum() == (right < 6.9).sum() == pytest.approx(pixels, rel=0.03)


def test_depths_of_a_buffer() -> None:
    """The depth buffer of an orthographic camera is linear."""
    m = cardan.MjModel.from_xml_string(BALLS.format("true"))
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    scene, camera = cardan.MjvScene(m, 100), cardan.MjvCamera()
    camera.type, camera.fixedcamid = 2, 0
    cardan.mjv_updateScene(m, d, cardan.MjvOption(), None, camera, 7, scene)
    context = cardan.MjrContext(m, 150)
    cardan.mjr_setBuffer(1, context)
    viewport = cardan.MjrRect(0, 0, SIZE, SIZE)
    cardan.mjr_render(viewport, scene, context)
    depth = np.zeros((SIZE, SIZE), np.float32)
    cardan.mjr_readPixels(None, depth, viewport, context)
    near, far = scene.camera[0].frustum_near, scene.camera[0].frustum_far
    assert near + depth.min() * (far - near) == pytest.approx(4.5, abs=0.01)
    assert near + depth.max() * (far - near) == pytest.approx(7.0, abs=1e-3)


def test_shadows() -> None:
    """A geom without shadow is drawn, and only its shadow is missing, also after an edit."""
    m = cardan.MjModel.from_xml_string(BALLS.format("true"))
    with_shadows = drawn(m, "side")
    m.geom_castshadow[m.geom("b").id] = 0
    without = drawn(m, "side")
    np.testing.assert_array_equal(without, drawn(cardan.MjModel.from_xml_string(BALLS.format("false")), "side"))
    changed = (with_shadows != without).any(axis=2)
    assert changed.any()
    assert not changed[:, : SIZE // 2].any()
    assert (without[changed].astype(int).sum(axis=1) >= with_shadows[changed].astype(int).sum(axis=1)).all()


@pytest.mark.parametrize(("mode", "channels", "colour"), [("RGBA", 4, (200, 100, 50)), ("L", 1, (90, 90, 90))])
def test_channels_of_textures(mode: str, channels: int, colour: tuple[int, ...]) -> None:
    """A single channel is grey; opacity is ignored."""
    content = io.BytesIO()
    Image.new(mode, (4, 4), (*colour, 128) if mode == "RGBA" else colour[0]).save(content, "PNG")
    text = """<mujoco><visual><headlight ambient="1 1 1" diffuse="0 0 0" specular="0 0 0"/></visual>
    <asset><texture name="t" type="2d" file="a.png" nchannel="{}"/>
    <material name="m"><layer texture="t" role="rgb"/></material></asset><worldbody><camera name="top" pos="0 0 1"/>
    <geom type="plane" size="9 9 .1" material="m"/></worldbody></mujoco>"""
    m = cardan.MjModel.from_xml_string(text.format(channels), {"a.png": content.getvalue()})
    picture = drawn(m, "top")
    np.testing.assert_allclose(picture[SIZE // 2, SIZE // 2], colour, atol=2)
