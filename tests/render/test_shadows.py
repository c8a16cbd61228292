"""Shadow maps: kept while nothing that they show moves, and as fine as if each were drawn anew."""

from __future__ import annotations

import numpy as np
import pytest

import cardan
from cardan.render.shadows import draw_map_or_fill

SCENE = """<mujoco>
  <visual><quality shadowsize="512"/><global offwidth="160" offheight="120"/></visual>
  <asset>
    <mesh name="wedge" vertex="0 0 0  .3 0 0  0 .3 0  0 0 .3"/>
    <hfield name="hills" nrow="5" ncol="5" size=".3 .3 .2 .1"/>
  </asset>
  <worldbody>
    <light pos="0 0 3" dir="0 0 -1" castshadow="true"/>
    <light pos="1 -2 3" dir="-.3 .6 -1" directional="true" castshadow="true"/>
    <geom type="plane" size="3 3 .1"/>
    <geom type="mesh" mesh="wedge" pos=".5 0 .4"/>
    <geom type="hfield" hfield="hills" pos="-.8 .4 .3"/>
    <geom type="box" size="1.5 .01 .01" pos="0 -.5 1" euler="10 20 30"/>
    <body name="ball" mocap="true" pos="0 0 .8"><geom type="sphere" size=".2"/></body>
  </worldbody>
</mujoco>"""


class Drawn:
    """A scene, what draws it, and how often maps were drawn."""

    def __init__(self, threads: int = 1) -> None:
        self.model = cardan.MjModel.from_xml_string(SCENE)
        self.data = cardan.MjData(self.model)
        cardan.mj_forward(self.model, self.data)
        self.renderer = cardan.Renderer(self.model, 120, 160, threads=threads)
        self.camera = cardan.MjvCamera()
        cardan.mjv_defaultFreeCamera(self.model, self.camera)
        frame = self.renderer._frame
        assert frame is not None
        self.count = 0
        run = frame.call

        def counted(function, i=0, j=0):
            self.count += function is draw_map_or_fill and i < j  # a band of a map, not a share of the triangles
            return run(function, i, j)

        frame.call = counted

    def picture(self) -> tuple[np.ndarray, bool]:
        """The picture, and whether maps were drawn for it."""
        self.count = 0
        self.renderer.update_scene(self.data, self.camera)
        return self.renderer.render(), self.count > 0


def new_picture(drawn: Drawn) -> np.ndarray:
    """The same picture by a renderer that has drawn nothing."""
    with cardan.Renderer(drawn.model, 120, 160, threads=1) as renderer:
        renderer.scene.flags[:] = drawn.renderer.scene.flags
        renderer.update_scene(drawn.data, drawn.camera)
        return renderer.render()


def turn_camera(drawn):
    drawn.camera.azimuth += 5.0


def move_ball(drawn):
    drawn.data.mocap_pos[0, 0] += 0.3
    cardan.mj_forward(drawn.model, drawn.data)


def move_light(drawn):
    drawn.model.light_pos[0, 0] += 0.4
    cardan.mj_forward(drawn.model, drawn.data)


def put_out_light(drawn):
    drawn.model.light_castshadow[1] = 0
    cardan.mj_forward(drawn.model, drawn.data)


def raise_hills(drawn):
    drawn.model.hfield_data[:] = 0.25
    drawn.renderer._frame.assets.upload_hfield(drawn.model, 0)


def shadows_off(drawn):
    drawn.renderer.scene.flags[cardan.mjtRndFlag.mjRND_SHADOW] = 0


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("change", "drawn_anew"),
    [
        (turn_camera, False),
        (move_ball, True),
        (move_light, True),
        (put_out_light, True),
        (raise_hills, True),
        (shadows_off, False),
    ],
)
def test_maps_are_kept_while_nothing_moves(change, drawn_anew, threads):
    drawn = Drawn(threads)
    first, anew = drawn.picture()
    assert anew
    again, anew = drawn.picture()
    assert not anew
    np.testing.assert_array_equal(again, first)
    change(drawn)
    changed, anew = drawn.picture()
    assert anew == drawn_anew
    assert (changed != first).any()
    np.testing.assert_array_equal(changed, new_picture(drawn))
    drawn.renderer.close()


def test_shadows_are_back_after_they_were_off():
    drawn = Drawn()
    first, _ = drawn.picture()
    shadows_off(drawn)
    drawn.picture()
    drawn.renderer.scene.flags[cardan.mjtRndFlag.mjRND_SHADOW] = 1
    np.testing.assert_array_equal(drawn.picture()[0], first)
    drawn.renderer.close()


def test_soft_bodies_are_drawn_anew():
    model = cardan.MjModel.from_xml_string("""<mujoco>
      <worldbody>
        <light pos="0 0 3"/>
        <geom type="plane" size="3 3 .1"/>
        <flexcomp name="cloth" type="grid" count="4 4 1" spacing=".2 .2 .2" pos="0 0 1" radius=".01">
          <edge equality="true"/>
        </flexcomp>
      </worldbody>
    </mujoco>""")
    data = cardan.MjData(model)
    cardan.mj_forward(model, data)
    with cardan.Renderer(model, 60, 80, threads=1) as renderer:
        renderer.update_scene(data)
        renderer.render()
        data.qpos[0] += 0.1
        cardan.mj_forward(model, data)
        renderer.update_scene(data)
        moved = renderer.render()
        with cardan.Renderer(model, 60, 80, threads=1) as other:
            other.update_scene(data)
            np.testing.assert_array_equal(moved, other.render())
