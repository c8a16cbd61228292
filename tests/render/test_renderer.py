"""The class Renderer: pictures whose pixels are known, depths, segments, errors."""

import io
from itertools import pairwise

import numpy as np
import pytest
from marks import takes_minutes_interpreted
from PIL import Image

import cardan
from cardan.enums import mjtObj, mjtRndFlag
from cardan.jit import jit_enabled
from cardan.render.assets import Assets
from cardan.render.instances import PART_FACES

WALL = """<mujoco><visual><headlight ambient="1 1 1" diffuse="0 0 0" specular="0 0 0"/><map znear="0.1" zfar="20"/>
<quality offsamples="{samples}" numslices="8" numstacks="6"/></visual><statistic extent="1"/><worldbody>
<camera name="front" pos="0 0 3" fovy="90"/>
<geom name="wall" type="box" size="1.5 1.5 .5" pos="0 0 .5" rgba=".2 .4 .6 1"/>
<body pos="0 0 1.5"><geom name="ball" type="sphere" size=".5" rgba="1 .8 0 {alpha}"/></body></worldbody></mujoco>"""


def scene(samples=0, alpha=1.0):
    model = cardan.MjModel.from_xml_string(WALL.format(samples=samples, alpha=alpha))
    data = cardan.MjData(model)
    cardan.mj_forward(model, data)
    return model, data


def picture(samples=0, alpha=1.0, threads=1, kind="color", flags=()):
    model, data = scene(samples, alpha)
    with cardan.Renderer(model, 24, 32, threads=threads) as renderer:
        if kind != "color":
            getattr(renderer, f"enable_{kind}_rendering")()
        renderer.update_scene(data, "front")
        for flag in flags:
            renderer.scene.flags[mjtRndFlag.__members__[f"mjRND_{flag}"].value] = 1
        return renderer.render()


@pytest.mark.parametrize("samples", [0, 4])
def test_colours(samples):
    pixels = picture(samples)
    assert pixels.shape == (24, 32, 3) and pixels.dtype == np.uint8
    np.testing.assert_array_equal(pixels[12, 16], (255, 204, 0))  # the ball
    np.testing.assert_array_equal(pixels[4, 8], (51, 102, 153))  # the wall: 1.5 m wide at 2 m
    np.testing.assert_array_equal(pixels[12, 1], (0, 0, 0))  # nothing


def test_edges_are_smooth_with_samples():
    assert len(np.unique(picture(0).reshape(-1, 3), axis=0)) == 3
    assert len(np.unique(picture(4).reshape(-1, 3), axis=0)) > 3


def test_transparent():
    pixels = picture(alpha=0.5)  # both sides of the ball before the wall
    np.testing.assert_allclose(pixels[12, 16], (204, 178, 38), atol=1)


def test_depth():
    depth = picture(kind="depth")
    assert depth.dtype == np.float32
    assert depth[4, 8] == pytest.approx(2.0, rel=1e-6)
    assert depth[12, 1] == pytest.approx(20.0, rel=1e-4)
    assert depth[12, 16] == pytest.approx(1.0, abs=0.05)


def test_segments():
    segments = picture(kind="segmentation")
    assert segments.dtype == np.int32
    geom = mjtObj.mjOBJ_GEOM.value
    np.testing.assert_array_equal(segments[12, 16], (1, geom))
    np.testing.assert_array_equal(segments[4, 8], (0, geom))
    np.testing.assert_array_equal(segments[12, 1], (-1, -1))


def test_number_of_threads_changes_nothing():
    for kind in ("color", "depth", "segmentation"):
        np.testing.assert_array_equal(picture(4, 0.5, 1, kind), picture(4, 0.5, 3, kind))


ROOM = """<mujoco><visual><global offwidth="300" offheight="200"/><quality shadowsize="512"/></visual>
<statistic extent="2" center="0 0 .5"/><asset>
<texture type="skybox" builtin="gradient" rgb1=".3 .5 .7" rgb2="0 0 0" width="64" height="64"/>
<texture name="checks" type="2d" builtin="checker" rgb1=".2 .3 .4" rgb2=".1 .2 .3" width="64" height="64"/>
<texture name="cube" type="cube" builtin="gradient" rgb1="1 .5 0" rgb2="0 .5 1" width="32" height="32"/>
<material name="floor" texture="checks" texrepeat="5 5" reflectance=".3"/><material name="ball" texture="cube"/></asset>
<worldbody><light pos="0 0 4"/><geom type="plane" size="0 0 .1" material="floor"/>{more}
<geom size=".4" pos="0 0 .5" material="ball"/><geom size=".3" pos=".6 0 .4" rgba="0 1 0 .5"/></worldbody></mujoco>"""


def room(more: str = "") -> tuple[cardan.MjModel, cardan.MjData]:
    """A floor that reflects, a textured ball and a transparent one, under a sky."""
    model = cardan.MjModel.from_xml_string(ROOM.format(more=more))
    data = cardan.MjData(model)
    cardan.mj_forward(model, data)
    return model, data


def look(distance: float) -> cardan.MjvCamera:
    """A camera that looks at the middle of the room."""
    camera = cardan.MjvCamera()
    camera.distance, camera.elevation, camera.azimuth = distance, -20.0, 110.0
    return camera


@takes_minutes_interpreted
def test_neither_threads_nor_what_was_drawn_before_change_a_picture() -> None:
    model, data = room()
    pictures = []
    for threads in (1, 2, 3):
        with cardan.Renderer(model, 150, 200, threads=threads) as renderer:
            for distance in (3.0, 8.0, 3.0):
                for _ in range(2):  # planes without bounds stand where the camera was in the scene before
                    renderer.update_scene(data, look(distance))
                pictures.append(renderer.render())
    for picture in pictures[2::3]:
        np.testing.assert_array_equal(picture, pictures[0])
    assert (pictures[0] != pictures[1]).any()


MIRROR = """<mujoco><visual><map znear="0.1" zfar="20" haze=".3"/></visual><statistic extent="1"/><asset>
<texture type="skybox" builtin="gradient" rgb1=".3 .5 .7" rgb2="0 0 0" width="16" height="16"/>
<material name="mirror" reflectance=".5"/></asset><worldbody>
<light pos="0 1 4" dir="0 -.2 -1"/><camera pos="0 -3 1" euler="70 0 0"/>
<geom type="plane" size="2 2 .1" material="mirror"/><geom type="capsule" size=".2 .3" pos="0 0 .8" rgba=".8 .3 .2 1"/>
</worldbody></mujoco>"""


def _camera_moves(scene: cardan.MjvScene) -> None:
    scene.camera[0].pos[:] += 0.2


def _camera_widens(scene: cardan.MjvScene) -> None:
    scene.camera[0].frustum_top *= 1.3


def _light_dims(scene: cardan.MjvScene) -> None:
    scene.lights[1].diffuse[:] = 0.1


def _light_moves(scene: cardan.MjvScene) -> None:
    scene.lights[1].pos[0] += 1.0


def _light_goes(scene: cardan.MjvScene) -> None:
    scene.nlight = 1


def _shadows_go(scene: cardan.MjvScene) -> None:
    scene.flags[int(mjtRndFlag.mjRND_SHADOW)] = 0


def _mirror_goes(scene: cardan.MjvScene) -> None:
    scene.flags[int(mjtRndFlag.mjRND_REFLECTION)] = 0


def _mirror_sinks(scene: cardan.MjvScene) -> None:
    scene.geoms[0].pos[2] -= 0.3


def _mirror_tilts(scene: cardan.MjvScene) -> None:
    scene.geoms[0].mat[:] = [[1.0, 0.0, 0.0], [0.0, 0.96, -0.28], [0.0, 0.28, 0.96]]


def _colour_changes(scene: cardan.MjvScene) -> None:
    scene.geoms[1].rgba[:] = 0.2, 0.9, 0.4, 0.5


def _sky_goes(scene: cardan.MjvScene) -> None:
    scene.flags[int(mjtRndFlag.mjRND_SKYBOX)] = 0


def _room_is_scaled(scene: cardan.MjvScene) -> None:
    scene.enabletransform, scene.scale = 1, 1.5


CHANGES = (
    *(_camera_moves, _camera_widens, _light_dims, _light_moves, _light_goes, _shadows_go),
    *(_mirror_goes, _mirror_sinks, _mirror_tilts, _colour_changes, _sky_goes, _room_is_scaled),
)


@takes_minutes_interpreted
@pytest.mark.parametrize("change", CHANGES)
def test_changes_between_pictures_are_seen(change) -> None:
    model = cardan.MjModel.from_xml_string(MIRROR)
    data = cardan.MjData(model)
    cardan.mj_forward(model, data)
    with cardan.Renderer(model, 60, 80) as kept, cardan.Renderer(model, 60, 80) as fresh:
        for renderer in (kept, fresh):
            for _ in range(2):
                renderer.update_scene(data, 0)
        before = kept.render()
        for renderer in (kept, fresh):
            change(renderer.scene)
        after = kept.render()
        np.testing.assert_array_equal(after, fresh.render())
        assert (after != before).any()
        kept.enable_depth_rendering()
        kept.render()
        kept.disable_depth_rendering()
        np.testing.assert_array_equal(kept.render(), after)


@takes_minutes_interpreted
def test_changes_of_the_model_between_pictures_are_seen() -> None:
    model = cardan.MjModel.from_xml_string(MIRROR)
    data = cardan.MjData(model)
    cardan.mj_forward(model, data)
    with cardan.Renderer(model, 60, 80) as renderer:
        renderer.update_scene(data)
        pictures = [renderer.render()]
        for member, value in (("azimuth", 40.0), ("elevation", -10.0), ("fovy", 20.0)):
            setattr(model.vis.global_, member, value)
            renderer.update_scene(data)
            pictures.append(renderer.render())
        for member, value in (("extent", 1.4), ("center", (0.2, 0.1, 0.0))):
            setattr(model.stat, member, value)
            renderer.update_scene(data)
            pictures.append(renderer.render())
        option = cardan.MjvOption()
        for group in (0, 1):
            option.geomgroup[0] = group
            renderer.update_scene(data, scene_option=option)
            pictures.append(renderer.render())
    assert all((a != b).any() for a, b in pairwise(pictures))
    np.testing.assert_array_equal(pictures[-1], pictures[-3])


@takes_minutes_interpreted
def test_pixels_do_not_depend_on_what_else_is_in_their_tile() -> None:
    """Tiles that one triangle fills are drawn without looking at their samples."""
    pictures, segments = [], []
    for more in (
        "",
        '<geom size=".02" pos="1 1 .3"/><geom size=".02" pos="-1 -1 .3"/><geom size=".02" pos="-1 1 1.2"/>',
    ):
        model, data = room(more)
        with cardan.Renderer(model, 150, 200, threads=1) as renderer:
            renderer.update_scene(data, look(4.0))
            for name in ("SHADOW", "REFLECTION"):
                renderer.scene.flags[mjtRndFlag.__members__[f"mjRND_{name}"].value] = 0
            pictures.append(renderer.render().astype(int))
            renderer.enable_segmentation_rendering()
            segments.append(renderer.render()[..., 0])
    added = np.isin(segments[1], (1, 2, 3))
    assert 3 <= added.sum() < 300
    for shift in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, -1), (1, -1), (-1, 1)):  # and pixels at their edges
        added |= np.roll(np.isin(segments[1], (1, 2, 3)), shift, (0, 1))
    np.testing.assert_allclose(pictures[1][~added], pictures[0][~added], atol=1)


def test_segments_as_colours():
    pixels = picture(flags=("SEGMENT", "IDCOLOR"))
    np.testing.assert_array_equal(pixels[12, 16], (2, 0, 0))
    np.testing.assert_array_equal(pixels[4, 8], (1, 0, 0))


def test_out():
    model, data = scene()
    with cardan.Renderer(model, 24, 32) as renderer:
        renderer.update_scene(data, "front")
        out = np.zeros((24, 32, 3), np.uint8)
        assert renderer.render(out=out) is out
        np.testing.assert_array_equal(out, renderer.render())
        wide = np.zeros((24, 64, 3), np.uint8)
        assert renderer.render(out=wide[:, ::2]).base is wide
        np.testing.assert_array_equal(wide[:, ::2], out)
        assert not wide[:, 1::2].any()
        reals = renderer.render(out=np.zeros((24, 32, 3)))
        np.testing.assert_array_equal(reals, out)
        with pytest.raises(ValueError, match="Expected"):
            renderer.render(out=np.zeros((32, 24, 3), np.uint8))


def test_errors():
    model, data = scene()
    with pytest.raises(ValueError, match="Image width 641 > framebuffer width 640"):
        cardan.Renderer(model, 24, 641)
    with pytest.raises(ValueError, match="at least 1 pixel"):
        cardan.Renderer(model, 0, 32)
    renderer = cardan.Renderer(model, 24, 32)
    with pytest.raises(ValueError, match='camera "back" does not exist'):
        renderer.update_scene(data, "back")
    for camera in (-2, 1, 0.5):
        with pytest.raises(ValueError, match="out of range"):
            renderer.update_scene(data, camera)
    renderer.close()
    renderer.close()
    with pytest.raises(RuntimeError, match="after close"):
        renderer.render()


@pytest.mark.parametrize("kind", ["color", "depth", "segmentation"])
def test_batch(kind):
    model, first = scene(4, 0.5)
    second = cardan.MjData(model)
    model.body_pos[1, 0] = 0.4
    cardan.mj_forward(model, second)
    with cardan.Renderer(model, 12, 16, threads=2) as renderer:
        if kind != "color":
            getattr(renderer, f"enable_{kind}_rendering")()
        pictures = renderer.render_batch([first, second], ["front", -1])
        assert pictures.shape[:4] == (2, 2, 12, 16)
        for world, data in enumerate((first, second)):
            for number, camera in enumerate(("front", -1)):
                renderer.update_scene(data, camera)
                np.testing.assert_array_equal(pictures[world, number].squeeze(), renderer.render())
        assert not np.array_equal(pictures[0, 0], pictures[1, 0])
        with pytest.raises(ValueError, match="out should be"):
            renderer.render_batch([first], out=np.zeros((1, 1, 2, 2, 3), np.uint8))
        with pytest.raises(ValueError, match="does not exist"):
            renderer.render_batch([first], ["back"])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_batch_of_worlds_with_their_own_values(dtype):
    model, _ = scene(4, 0.5)
    with cardan.Batch(model, 3, dtype=dtype) as batch, cardan.Renderer(model, 12, 16, threads=2) as renderer:
        batch.expand("geom_rgba")[1] = (0.0, 1.0, 0.0, 1.0)
        batch.forward()
        pictures = renderer.render_batch(batch, ["front", -1])
        assert pictures.shape == (3, 2, 12, 16, 3)
        for number, camera in enumerate(("front", -1)):
            renderer.update_scene(batch.data(0), camera)
            np.testing.assert_array_equal(pictures[0, number], renderer.render())
        np.testing.assert_array_equal(pictures[0], pictures[2])
        assert pictures[1, ..., 1].max() > 0 and not pictures[1, ..., [0, 2]].any()
        for wrong in (3, batch.data(0)):
            with pytest.raises(TypeError, match="must be a sequence of MjData or a Batch"):
                renderer.render_batch(wrong)
    other = cardan.MjModel.from_xml_string("<mujoco><worldbody><geom size='.1'/></worldbody></mujoco>")
    with cardan.Batch(other, 2) as batch, pytest.raises(ValueError, match="other sizes"):
        cardan.Renderer(model, 12, 16).render_batch(batch)


@pytest.mark.parametrize("kind", ["color", "depth", "segmentation"])
def test_notebooks_show_it(kind):
    model, data = scene()
    with cardan.Renderer(model, 12, 16) as renderer:
        if kind != "color":
            getattr(renderer, f"enable_{kind}_rendering")()
        renderer.update_scene(data, "front")
        with Image.open(io.BytesIO(renderer._repr_png_())) as image:
            assert image.size == (16, 12)


def test_notebooks_show_a_model_at_its_initial_position():
    model, _ = scene()
    model.vis.global_.offwidth, model.vis.global_.offheight = 200, 700
    with Image.open(io.BytesIO(model._repr_png_())) as image:
        assert image.size == (200, 240)
        shown = np.asarray(image)
    data = cardan.MjData(model)
    cardan.mj_forward(model, data)
    with cardan.Renderer(model, 240, 200) as renderer:
        renderer.update_scene(data)
        np.testing.assert_array_equal(shown, renderer.render())
    assert shown.max() > 0


def test_scene_that_was_not_filled_in():
    model, _ = scene()
    with cardan.Renderer(model, 12, 16) as renderer:
        assert not renderer.render().any()
        renderer.enable_segmentation_rendering()
        assert (renderer.render() == -1).all()


def test_models_are_moved_and_scaled_in_the_room():
    model, data = scene()
    with cardan.Renderer(model, 24, 32) as renderer:
        renderer.enable_depth_rendering()
        renderer.update_scene(data, "front")
        before = renderer.render()
        renderer.scene.enabletransform, renderer.scene.scale = 1, 2.0
        renderer.scene.translate[:] = 0, 0, -3
        after = renderer.render()
    seen = before < 19
    assert seen.any() and before[12, 16] == pytest.approx(1.0, abs=0.05)
    assert after[seen] == pytest.approx(2 * before[seen], rel=1e-5) and (after[~seen] == before[~seen]).all()


def test_depths_of_triangles_smaller_than_pixels() -> None:
    heights = " ".join(["0"] * 200**2)
    model = cardan.MjModel.from_xml_string(f"""<mujoco><statistic extent="1"/><asset>
<hfield name="h" nrow="200" ncol="200" size="1 1 .1 .1" elevation="{heights}"/></asset><worldbody>
<camera name="front" pos="0 -1 1" xyaxes="1 0 0 0 1 1"/><geom type="hfield" hfield="h"/></worldbody></mujoco>""")
    data = cardan.MjData(model)
    cardan.mj_forward(model, data)
    with cardan.Renderer(model, 60, 80) as renderer:
        renderer.enable_depth_rendering()
        renderer.update_scene(data, "front")
        depth = renderer.render()[20:40, 30:50]
    near = 1.0 / depth  # linear in the picture, for a plane
    np.testing.assert_allclose(np.diff(near, 2, axis=0), 0.0, atol=1e-5)
    np.testing.assert_allclose(np.diff(near, 2, axis=1), 0.0, atol=1e-5)


def bumpy(rows: int) -> str:
    """A model of a mesh of 2 rows² triangles, on a plane that reflects."""
    longitude, latitude = np.meshgrid(np.linspace(0, 2 * np.pi, rows, False), np.linspace(-1.4, 1.4, rows + 1))
    radius = 1 + 0.05 * np.sin(9 * longitude) * np.sin(9 * latitude)
    points = [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)]
    vert = np.stack([radius * part for part in points], -1)
    number = np.arange((rows + 1) * rows).reshape(rows + 1, rows)
    right = np.roll(number, -1, 1)
    face = np.stack([number[:-1], right[:-1], right[1:], number[:-1], right[1:], number[1:]], -1)
    vertices, faces = (" ".join(map(str, part.ravel().tolist())) for part in (vert.round(4), face))
    return f"""<mujoco>
      <asset><mesh name="bumpy" vertex="{vertices}" face="{faces}"/><material name="mirror" reflectance=".4"/></asset>
      <worldbody>
        <light pos="1 0 4"/><geom type="plane" size="3 3 .1" pos="0 0 -1.1" material="mirror"/>
        <geom type="mesh" mesh="bumpy" contype="0" conaffinity="0"/>
      </worldbody></mujoco>"""


@pytest.mark.skipif(not jit_enabled, reason="takes minutes in the interpreter")
def test_large_meshes_are_divided_among_threads():
    model = cardan.MjModel.from_xml_string(bumpy(72))
    assert model.nmeshface > PART_FACES
    data = cardan.MjData(model)
    cardan.mj_forward(model, data)
    pictures, inside = [], 0.0
    for threads in (1, 2, 3):
        with cardan.Renderer(model, 60, 80, threads=threads) as renderer:
            renderer.update_scene(data)
            pictures.append(renderer.render())
            renderer.enable_segmentation_rendering()
            inside = (renderer.render()[..., 0] == 1).mean()
    assert 0.05 < inside < 0.9
    np.testing.assert_array_equal(pictures[0], pictures[1])
    np.testing.assert_array_equal(pictures[0], pictures[2])


PLANE = '<geom type="plane" size=".5 .5 .1" pos="{x} 0 0" material="mirror" rgba=".3 .3 .3 1" zaxis="0 0 {up}"/>'
BOX = '<geom type="box" size=".5 .5 .05" pos="{x} 0 -.05" material="mirror" rgba=".3 .3 .3 1" zaxis="0 0 {up}"/>'


@pytest.mark.parametrize(
    ("left", "up", "sides"), [(PLANE, 1, (True, False)), (PLANE, -1, (False, True)), (BOX, -1, (False, False))]
)
def test_the_first_mirror_reflects(left: str, up: int, sides: tuple[bool, bool]) -> None:
    # the reference's own pictures of these scenes have reflections on the same sides
    model = cardan.MjModel.from_xml_string(f"""<mujoco>
      <visual><global elevation="-40"/></visual><statistic extent="2" center="0 0 0"/>
      <asset><material name="mirror" reflectance=".8"/></asset>
      <worldbody>
        {left.format(x=-0.6, up=up)}{PLANE.format(x=0.6, up=1)}
        <geom size=".15" pos="-.6 0 .4" rgba="1 0 0 1"/><geom size=".15" pos=".6 0 .4" rgba="1 0 0 1"/>
      </worldbody>
    </mujoco>""")
    data = cardan.MjData(model)
    cardan.mj_forward(model, data)
    with cardan.Renderer(model, 60, 80, threads=1) as renderer:
        renderer.update_scene(data)
        reflected = renderer.render().astype(int)
        renderer.scene.flags[cardan.mjtRndFlag.mjRND_REFLECTION.value] = 0
        plain = renderer.render().astype(int)
    differs = np.asarray(np.abs(reflected - plain).max(2) > 4)
    assert (differs[:, :40].any(), differs[:, 40:].any()) == sides


@pytest.mark.parametrize(("degrees", "tilted"), [(36.5, True), (37.2, False), (180.0, False)])
def test_normals_far_from_that_of_their_triangle_are_not_used(degrees: float, tilted: bool) -> None:
    angle = np.radians(degrees)
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    model = cardan.MjModel.from_xml_string(f"""<mujoco>
      <asset>
        <mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 -1" face="0 1 2  0 3 1  0 2 3  1 3 2"
              normal="{" ".join(str(x) for x in np.tile(normal, 4))}"/>
      </asset>
      <worldbody><geom type="mesh" mesh="wedge"/></worldbody>
    </mujoco>""")
    corner = model.mesh_vert[model.mesh_face[0]].astype(float)
    flat = np.cross(corner[1] - corner[0], corner[2] - corner[0])
    flat /= np.linalg.norm(flat)
    assets = Assets(model)
    shape = assets.shapes[assets.mesh_shape[0, 0]]
    own = model.mesh_normal[model.mesh_facenormal[0, 0]]
    np.testing.assert_allclose(shape.normal[shape.face[0, 0]], own if tilted else flat, atol=1e-6)


def test_of_two_surfaces_in_one_place_the_later_is_seen() -> None:
    model = cardan.MjModel.from_xml_string("""<mujoco><worldbody>
      <camera name="front" pos="0 0 3"/>
      <geom type="box" size="1 1 .5"/><geom type="box" size="1 1 .5"/>
    </worldbody></mujoco>""")
    data = cardan.MjData(model)
    cardan.mj_forward(model, data)
    with cardan.Renderer(model, 24, 32, threads=1) as renderer:
        renderer.enable_segmentation_rendering()
        renderer.update_scene(data, "front")
        segments = renderer.render()
    assert (segments[12, 16] == (1, mjtObj.mjOBJ_GEOM.value)).all()
