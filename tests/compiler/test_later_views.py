"""Cameras, lights and visual settings of MuJoCo 3.2 to 4.0, against 4.0.0."""

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.errors import MjcfError

LIGHT_FIELDS = ("light_type", "light_texid", "light_intensity", "light_range", "light_softness", "light_castshadow")
CAMERA_FIELDS = ("cam_projection", "cam_output", "cam_fovy", "cam_resolution", "cam_sensorsize", "cam_intrinsic")
READ = """
m = mujoco.MjModel.from_xml_string(xml)
out = {name: np.array(getattr(m, name)) for name in names}
"""
VISUAL = """
m = mujoco.MjModel.from_xml_string(xml)
g = m.vis.global_
out = g.cameraid, g.orthographic, g.fovy, g.bvactive, m.vis.headlight.active
"""


def model(content: str, defaults: str = "") -> str:
    """The text of a model with a texture, defaults and content of the world."""
    texture = '<texture name="t" type="2d" builtin="flat" width="2" height="2"/>'
    return f"""<mujoco><default>{defaults}</default><asset>{texture}</asset>
    <worldbody>{content}</worldbody></mujoco>"""


def assert_as_in_4_0(xml: str, names: tuple[str, ...]) -> cardan.MjModel:
    """Compare fields of the compiled model; also those of the model that was saved and read again by 4.0.0."""
    there = later_run(READ, xml=xml, names=names)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    spec = cardan.MjSpec.from_string(xml, compat="4.0")
    spec.compile()
    again = later_run(READ, xml=spec.to_xml(), names=names)
    for name in names:
        np.testing.assert_allclose(getattr(m, name), there[name], rtol=1e-6, err_msg=name)
        np.testing.assert_allclose(again[name], there[name], rtol=1e-6, err_msg=f"{name}, saved")
    return m


@pytest.mark.parametrize(
    ("light", "defaults"),
    [
        ("", ""),
        *((f'type="{word}"', "") for word in ("spot", "directional", "point", "image")),
        ('type="image" texture="t"', ""),
        ('directional="true"', ""),
        ('intensity="3" range="-2" softness=".7" castshadow="false"', ""),
        ("", '<light type="directional" intensity="2"/>'),
        ('directional="false"', '<light type="point"/>'),
        ('type="spot"', '<light directional="true"/>'),
        ('class="k"', '<light type="point"/><default class="k"><light directional="true"/></default>'),
    ],
)
def test_lights(light: str, defaults: str) -> None:
    """The type of a light has two names, the later of which wins among default classes."""
    m = assert_as_in_4_0(model(f"<light {light}/>", defaults), LIGHT_FIELDS)
    np.testing.assert_array_equal(m.light_directional, m.light_type == 1)


@pytest.mark.parametrize(
    "camera",
    [
        "",
        'projection="orthographic" fovy="2"',
        'output="depth rgb"',
        'output="rgb depth distance normal segmentation"',
        'output=""',
        'focalpixel="3 4" sensorsize=".1 .2"',
        'projection="orthographic" focal="1 1" sensorsize=".1 .2"',
        'focal="1 1" sensorsize=".1 .2" principal=".01 .02" resolution="10 20"',
    ],
)
def test_cameras(camera: str) -> None:
    """Projection and kinds of images are fields; intrinsics need no resolution."""
    assert_as_in_4_0(model(f"<camera {camera}/>"), CAMERA_FIELDS)


def test_orthographic_of_3_2() -> None:
    """The projection had another name before 3.5."""
    for word, projection in (("true", 1), ("false", 0)):
        m = cardan.MjModel.from_xml_string(model(f'<camera orthographic="{word}"/>'))
        assert m.cam_projection.tolist() == [projection]


def test_shadows_of_geoms() -> None:
    """Geoms may cast no shadow."""
    xml = model('<geom size="1"/><geom size="1" castshadow="false"/>', "<geom/>")
    assert assert_as_in_4_0(xml, ("geom_castshadow",)).geom_castshadow.tolist() == [1, 0]


@pytest.mark.parametrize(
    "visual",
    [
        "",
        '<global cameraid="3" orthographic="true" fovy="300" bvactive="true"/>',
        *(f'<headlight active="{word}"/>' for word in ("0", "1", "2", "true", "false", "auto")),
    ],
)
def test_visual_settings(visual: str) -> None:
    """In 4.0, the headlight is automatic and bounding volumes are not marked."""
    xml = f"<mujoco><visual>{visual}</visual></mujoco>"
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    g = m.vis.global_
    there = later_run(VISUAL, xml=xml)
    assert (g.cameraid, g.orthographic, g.fovy, g.bvactive, m.vis.headlight.active) == there
    assert later_run(VISUAL, xml=cardan.MjSpec.from_string(xml, compat="4.0").to_xml()) == there


def test_visual_settings_of_3_1() -> None:
    """The headlight is on, and bounding volumes are marked."""
    m = cardan.MjModel.from_xml_string("<mujoco/>", compat="3.1")
    assert (m.vis.headlight.active, m.vis.global_.bvactive) == (1, 1)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('<light type="sun"/>', "'sun' is not one of its keywords"),
        ('<light type="spot" directional="true"/>', "directional and type are the same attribute"),
        ('<light softness="2"/>', "must be between 0 and 1, found 2"),
        ('<light texture="x"/>', "'x'"),
        ('<camera projection="flat"/>', "'flat' is not one of its keywords"),
        ('<camera output="rgb rgb"/>', "'rgb' occurs twice"),
        ('<camera output="rgb heat"/>', "'heat' is not one of its keywords"),
    ],
)
def test_wrong(content: str, message: str) -> None:
    """Errors name the attribute and say what would be right."""
    with pytest.raises(MjcfError, match=message):
        cardan.MjModel.from_xml_string(model(content))


def test_saved_for_3_1() -> None:
    """3.1.6 reads lights of a model of its behaviour."""
    mujoco = pytest.importorskip("mujoco")
    xml = model('<light type="directional"/><light class="k"/>', '<default class="k"><light type="spot"/></default>')
    m = mujoco.MjModel.from_xml_string(cardan.MjSpec.from_string(xml).to_xml())
    assert m.light_directional.tolist() == [1, 0]


def test_edited_lights() -> None:
    """A model of 3.1 is saved with edited ``light_directional``, one of 4.0 with edited ``light_type``."""
    for compat, field in (("3.1", "light_directional"), ("4.0", "light_type")):
        m = cardan.MjModel.from_xml_string(model("<light/>"), compat=compat)
        getattr(m, field)[0] = 1
        again = cardan.MjModel.from_xml_string(m.to_xml(), compat=compat)
        assert (again.light_type[0], again.light_directional[0]) == (1, 1)


def test_specification() -> None:
    """Structs have the names of 4.0, and those of 3.1."""
    spec = cardan.MjSpec()
    light = spec.worldbody.add_light(type="directional", intensity=2.0)
    assert light.directional
    light.directional = False
    assert light.type == cardan.mjtLightType.mjLIGHT_SPOT
    camera = spec.worldbody.add_camera(proj=1, output=5)
    assert (camera.proj, camera.output, camera.orthographic) == (1, 5, True)
    m = spec.compile()
    assert (m.light_type[0], m.light_intensity[0], m.cam_projection[0], m.cam_output[0]) == (0, 2.0, 1, 5)
