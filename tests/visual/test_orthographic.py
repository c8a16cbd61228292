"""Orthographic cameras, types of lights and geoms without shadows in scenes, against MuJoCo 4.0.0."""

import numpy as np
import pytest
from later import later_run

import cardan

MODEL = """<mujoco><visual><global orthographic="{}" fovy="3"/></visual><worldbody>
<light type="point" cutoff="30"/><light type="directional"/><light type="image"/>
<geom name="a" size=".3" pos="0 0 1"/><geom name="b" size=".3" pos=".9 0 .3" castshadow="false"/>
<camera projection="orthographic" fovy="4" pos="0 0 5"/><camera fovy="30" pos="0 0 5"/>
<camera projection="orthographic" sensorsize=".1 .2" focal=".3 .4" principal=".01 .02" pos="0 0 5"/>
</worldbody></mujoco>"""
PLACES = ((0.5, 0.5), (0.63, 0.52), (0.3, 0.7), (0.72, 0.5), (0.1, 0.9))
SCENE = """
m = engine.MjModel.from_xml_string(xml)
d = engine.MjData(m)
engine.mj_forward(m, d)
scene = engine.MjvScene(m, 100)
option = engine.MjvOption()
camera = engine.MjvCamera()
engine.mjv_defaultFreeCamera(m, camera)
camera.lookat[:] = 0, 0, 0.5
if number >= 0:
    camera.type, camera.fixedcamid = 2, number
engine.mjv_updateScene(m, d, option, None, camera, 7, scene)
names = ("frustum_center", "frustum_width", "frustum_bottom", "frustum_top", "orthographic")
out = [[getattr(eye, name) for name in names] for eye in scene.camera]
out.append([engine.mjv_frustumHeight(scene), camera.orthographic])
for x, y in places:
    point, geom, flex, skin = np.zeros((3, 1)), *(np.zeros((1, 1), np.int32) for _ in range(3))
    engine.mjv_select(m, d, option, 1.5, x, y, scene, point, geom, flex, skin)
    out.append([geom[0, 0], *point.ravel()])
out.append([geom.castshadow for geom in scene.geoms[:2]])
"""


@pytest.mark.parametrize("number", [-1, 0, 1, 2])
@pytest.mark.parametrize("free", ["true", "false"])
def test_cameras(free: str, number: int) -> None:
    """Windows of free and fixed cameras, and what the mouse selects in them."""
    names = {"xml": MODEL.format(free), "number": number, "places": PLACES}
    there = later_run(SCENE.replace("engine", "mujoco"), **names)
    scope = {"engine": cardan, "np": np, **names}
    exec(SCENE.replace("np.zeros((3, 1))", "np.zeros(3)").replace("(1, 1)", "1").replace("[0, 0]", "[0]"), scope)
    assert len(scope["out"]) == len(there)
    for ours, theirs in zip(scope["out"], there, strict=True):
        np.testing.assert_allclose(np.array(ours, float), np.array(theirs, float), rtol=1e-5, atol=1e-5)


def test_lights() -> None:
    """A point light has no cone; image lights are for other renderers."""
    m = cardan.MjModel.from_xml_string(MODEL.format("false"))
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    scene = cardan.MjvScene(m, 100)
    cardan.mjv_updateScene(m, d, cardan.MjvOption(), None, cardan.MjvCamera(), 7, scene)
    lights = [(bool(light.headlight), bool(light.directional), light.cutoff) for light in scene.lights[: scene.nlight]]
    assert lights == [(True, True, 0.0), (False, False, 180.0), (False, True, 0.0)]
    for compat, field in (("3.1", "light_directional"), ("4.0", "light_type")):
        m = cardan.MjModel.from_xml_string("<mujoco><worldbody><light/></worldbody></mujoco>", compat=compat)
        getattr(m, field)[0] = 1
        d = cardan.MjData(m)
        cardan.mj_forward(m, d)
        cardan.mjv_updateScene(m, d, cardan.MjvOption(), None, cardan.MjvCamera(), 7, scene)
        assert scene.lights[1].directional
