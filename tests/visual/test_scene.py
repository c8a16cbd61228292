"""Scenes beside the reference's: geoms in order with every member, lights, cameras."""

from __future__ import annotations

import mujoco
import pytest
from marks import takes_minutes_interpreted
from models import EXAMPLES, model_path
from visual.scenes_compared import Pair, differences, scene
from visual.settings import PERTURB, SHOWN, combinations, compare, single_flags

import cardan

HUMANOID = EXAMPLES / "humanoid.xml"


@pytest.fixture(scope="module")
def humanoid() -> Pair:
    return Pair(HUMANOID, steps=50)


CAMERAS = {
    "free": {"lookat": [1, 2, 3], "distance": 4, "azimuth": 33, "elevation": -20},
    "tracking": {"type": 1, "trackbodyid": 3, "distance": 3, "lookat": [1, 1, 1]},
    "fixed": {"type": 2, "fixedcamid": 0},
    "fixed, moving": {"type": 2, "fixedcamid": 1},
}


@pytest.mark.parametrize("name", CAMERAS)
def test_cameras_and_the_headlight(humanoid: Pair, name: str) -> None:
    assert differences(*humanoid.scenes(camera=CAMERAS[name])) == []


def test_bad_cameras(humanoid: Pair) -> None:
    for camera, words in (
        ({"type": 1}, "track body id -1 is outside"),
        ({"type": 2, "fixedcamid": 99}, "fixed camera id 99 is outside"),
        ({"type": 9}, "unknown camera type 9"),
    ):
        with pytest.raises(cardan.FatalError, match=words):
            scene(cardan, humanoid.m, humanoid.d, camera=camera)


EVERYTHING = """
<mujoco>
  <option><flag island="enable"/></option>
  <asset><material name="a" rgba=".1 .2 .3 1" emission=".4" specular=".3" shininess=".7" reflectance=".2"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <geom name="wall" type="box" size=".1 .1 .1" pos="5 5 0" euler="10 20 30"/>
    <light name="l" pos="1 2 3" dir="0 .1 -1"/>
    <light directional="true" pos="1 2 9" dir="1 0 -1"/>
    <camera name="c" pos="0 -3 1" xyaxes="1 0 0 0 0 1"/>
    <camera name="sensor" pos="0 -3 2" resolution="10 10" sensorsize=".01 .02" focal=".02 .03" principal=".001 .002"/>
    <site name="ws" pos=".3 0 0" euler="10 0 0"/>
    <body name="static" pos="0 0 3"><geom size=".05"/><site name="ss"/></body>
    <body name="mocap" mocap="true" pos="2 2 2">
      <geom size=".05" contype="0" conaffinity="0"/>
      <body name="child" pos="0 0 1"><geom size=".05" contype="0" conaffinity="0"/></body>
    </body>
    <body name="free" pos="0 0 .28" euler="0 10 0">
      <freejoint name="free"/>
      <geom type="box" size=".1 .2 .3" rgba="1 0 0 .5" material="a"/>
      <site name="s" type="ellipsoid" size=".1 .2 .3" material="a" pos=".1 .2 .3" euler="20 30 0"/>
      <body name="arm" pos=".5 0 .2">
        <joint name="hinge" axis="0 1 0"/>
        <geom type="capsule" size=".05 .2"/>
        <site name="armsite" pos="0 0 .1" zaxis="1 0 0"/>
        <body pos="0 0 .4">
          <joint name="ball" type="ball"/>
          <geom type="ellipsoid" size=".1 .2 .3"/>
          <site name="e"/>
          <camera name="moving" pos="0 0 .2"/>
        </body>
      </body>
    </body>
    <body name="slider" pos="-1 0 1">
      <joint name="slide" type="slide" axis="1 0 0" limited="true" range="-1 1"/>
      <joint name="other" axis="1 1 0" pos=".1 0 0" group="4"/>
      <geom size=".1" pos="0 0 .1"/>
      <geom size=".15" pos="0 .2 .1"/>
      <site name="crank" euler="180 0 0"/>
    </body>
    <body name="sphere" pos="2 0 .19"><freejoint/><geom name="ball" size=".2" condim="6"/></body>
    <body name="second" pos="2.39 0 .19"><freejoint/><geom size=".2" condim="1"/></body>
    <body name="near" pos="3 0 .25"><freejoint/><geom size=".2" margin=".1" gap=".1"/></body>
  </worldbody>
  <equality>
    <connect name="con" body1="arm" body2="slider" anchor="0 0 .1"/>
    <weld body1="second" body2="near"/>
    <joint joint1="hinge" joint2="slide"/>
  </equality>
  <tendon>
    <fixed name="fixed"><joint joint="hinge" coef="1"/></fixed>
    <spatial name="ts" width=".01" rgba="1 0 0 1" limited="true" range="0 1">
      <site site="ws"/><geom geom="ball"/><site site="s"/><pulley divisor="2"/><site site="ws"/><site site="e"/>
    </spatial>
    <spatial name="slack" springlength="0 4" stiffness="1"><site site="ss"/><site site="e"/></spatial>
    <spatial name="folded" limited="true" range="0 6"><site site="ss"/><site site="s"/></spatial>
  </tendon>
  <actuator>
    <motor name="m1" joint="hinge" ctrllimited="true" ctrlrange="-1 1"/>
    <motor joint="slide" ctrllimited="true" ctrlrange=".5 2"/>
    <motor name="mb" joint="ball" gear="1 2 3"/>
    <motor name="mt" tendon="ts"/>
    <motor name="ms" site="s" gear="1 0 0 0 1 0"/>
    <motor site="e" refsite="s" gear="1 0 0 0 0 0"/>
    <general name="sc" cranksite="crank" slidersite="armsite" cranklength=".8"/>
    <adhesion name="ad" body="sphere" ctrlrange="0 1"/>
    <muscle joint="other" ctrllimited="true" ctrlrange="0 1" lengthrange="0 1"/>
    <motor joint="free"/>
    <motor tendon="fixed"/>
    <general joint="slide" dyntype="integrator" actlimited="true" actrange="-1 3" group="4"/>
  </actuator>
  <sensor><rangefinder site="s"/><rangefinder site="ss"/><rangefinder site="crank"/></sensor>
</mujoco>"""


@pytest.fixture(scope="module")
def everything() -> Pair:
    pair = Pair(EVERYTHING)
    pair.rd.ctrl[:] = [0.5, 0.3, 0.2, -0.4, 0.3, 0.1, 0.2, 0.6, 0.7, 0.1, -0.2, 0.9]
    pair.rd.xfrc_applied[2] = [1, 2, 3, 0.1, 0.2, 0.3]
    pair.rd.xfrc_applied[6, :3] = [0, 5, 0]
    for _ in range(3):
        mujoco.mj_step(pair.rm, pair.rd)
    pair.take_over()
    return pair


SETTINGS = {**dict(single_flags()), **dict(combinations())}


@pytest.mark.parametrize("name", SETTINGS)
def test_everything(everything: Pair, name: str) -> None:
    assert compare(everything, SETTINGS[name])[1] == []


@pytest.mark.parametrize("body", range(11))
def test_selected_bodies(everything: Pair, body: int) -> None:
    assert compare(everything, {"perturb": {**PERTURB, "select": body}, "flags": SHOWN, "label": 12})[1] == []


def test_rays_that_meet_something(everything: Pair) -> None:
    assert everything.d.sensordata.max() > 0
    found = scene(cardan, everything.m, everything.d)
    lines = [geom for geom in found.geoms[: found.ngeom] if geom.type == cardan.mjtGeom.mjGEOM_LINE]
    assert len(lines) == (everything.d.sensordata > 0).sum()


@pytest.mark.parametrize("activation", [0.0005, 0.5, -0.5, 2.0])
def test_colours_of_actuators_with_an_activation(activation: float) -> None:
    limits = ("", 'ctrlrange=".001 1"', 'ctrlrange="-1 3"', 'ctrlrange="-2 -1"')
    actuators = "".join(
        f'<general joint="j" dyntype="integrator" {control} {own}/>'
        for control in limits
        for own in ("", 'actlimited="true" actrange="-4 2"')
    )
    pair = Pair(f"""<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody>
    <actuator>{actuators}</actuator></mujoco>""")
    pair.rd.act[:] = activation
    pair.rd.ctrl[:] = 0.3
    pair.take_over()
    for flags in ({"ACTUATOR": 1}, {"ACTUATOR": 1, "ACTIVATION": 1}):
        assert differences(*pair.scenes(flags=flags)) == []


def test_adding_geoms(humanoid: Pair) -> None:
    scenes = []
    for package, m, d in ((mujoco, humanoid.rm, humanoid.rd), (cardan, humanoid.m, humanoid.d)):
        scn = scene(package, m, d)
        package.mjv_addGeoms(m, d, package.MjvOption(), package.MjvPerturb(), 2, scn)
        scenes.append(scn)
    assert differences(*scenes) == []
    assert scenes[1].ngeom > 30


def test_a_scene_that_is_full(humanoid: Pair) -> None:
    d = cardan.MjData(humanoid.m)
    cardan.mj_forward(humanoid.m, d)
    with pytest.warns(RuntimeWarning, match="Increase maxgeom above 5"):
        scn = scene(cardan, humanoid.m, d, maxgeom=5)
    assert (scn.ngeom, d.warning.number[3], d.warning.lastinfo[3]) == (5, 1, 5)


def test_wrong_scenes(humanoid: Pair) -> None:
    other = cardan.MjModel.from_xml_string("<mujoco/>")
    with pytest.raises(ValueError, match="other sizes"):
        scene(cardan, other, humanoid.d)
    with pytest.raises(TypeError, match="scn must be an MjvScene"):
        cardan.mjv_makeLights(humanoid.m, humanoid.d, None)


def test_plugins_are_asked_first() -> None:
    seen = []

    def show(m: object, d: object, opt: object, scn: cardan.MjvScene, instance: int) -> None:
        cardan.mjv_initGeom(scn.geoms[scn.ngeom], 2, [1, 1, 1], [0, 0, 9], [1, 0, 0, 0, 1, 0, 0, 0, 1], [1, 0, 0, 1])
        scn.ngeom += 1
        seen.append(instance)

    cardan.register_plugin("test.shown", capabilities="passive", compute=lambda m, d, i, c: None, visualize=show)
    m = cardan.MjModel.from_xml_string("""
        <mujoco><extension><plugin plugin="test.shown"><instance name="one"/></plugin></extension>
        <worldbody><body><plugin instance="one"/><geom size=".1"/></body></worldbody></mujoco>""")
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    scn = scene(cardan, m, d)
    assert seen == [0]
    assert [geom.pos[2] for geom in scn.geoms[: scn.ngeom]] == [9, 0]


@takes_minutes_interpreted
def test_searches_of_signed_distances() -> None:
    m = cardan.MjModel.from_xml_path(str(model_path("nut")))
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    scn = scene(cardan, m, d, flags={"SDFITER": 1})
    ends = [geom for geom in scn.geoms[: scn.ngeom] if geom.type == cardan.mjtGeom.mjGEOM_SPHERE and geom.objid == -1]
    assert len(ends) == 2 * m.opt.sdf_initpoints
