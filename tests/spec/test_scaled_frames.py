"""Scaled frames of MuJoCo 3.16: every compiled field as in 4.0.0, saving, ``MjSpec``, bad input."""

import numpy as np
import pytest
from later import later_run
from models import model_path

import cardan
from cardan.errors import MjcfError, UnsupportedFeature

FETCH = """
m = mujoco.MjModel.from_xml_string(xml)
out = {}
for name in dir(m):
    value = getattr(m, name) if not name.startswith("_") else None
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        out[name] = np.array(value)
out["names"] = m.names
"""
# bounding volumes and polygons of hulls have other layouts here
OTHER = ("bvh_aabb", "eq_data", "mesh_polynormal", "mesh_normal", "mesh_extrema", "oct_aabb", "oct_coeff")
AT = ("", 'scale="2" massscale="3"', 'scale="2" massscale="3" scaling="geometry"', 'massscale=".5"', 'scale="3 3 3"')


def assert_as_in_4_0(xml: str) -> cardan.MjModel:
    """Compare all fields of a model with those of 4.0.0. Return the model."""
    there = later_run(FETCH, xml=xml)
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    assert m.names == there.pop("names")
    count = 0
    for name, wanted in there.items():
        found = getattr(m, name, None)
        if name in OTHER or not isinstance(found, np.ndarray) or found.shape != wanted.shape:
            continue
        tolerance = 1e-6 if wanted.dtype == np.float32 else 1e-9
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance, err_msg=name)
        count += 1
    assert count > 100
    if m.neq:
        np.testing.assert_allclose(m.eq_data, there["eq_data"][:, :11], rtol=1e-9, atol=1e-12)
    return m


WIDTH = 'solimplimit=".9 .95 .002 .5 2" solimpfriction=".9 .95 .002 .5 2"'
PASSIVE = f'stiffness="2" damping="5" frictionloss="1" armature=".3" margin=".01" actuatorfrcrange="-3 4" {WIDTH}'
CONTENT = f"""
<body name="b" pos="1 2 3">
  <joint name="h" pos=".1 .2 .3" range="-1 1" ref="10" springref="20" {PASSIVE}/>
  <geom name="g" type="capsule" size=".1 .2" margin=".01" gap=".02" friction="1 .1 .01" solimp=".9 .95 .002 .5 2"/>
  <site name="s" pos="1 1 1" size=".1"/>
  <camera name="c" pos="1 0 0" focal="1 1" sensorsize="1 1" principal=".1 .1" ipd=".1"/>
  <light pos="1 1 1" attenuation="1 2 3" range="5" bulbradius=".3"/>
  <body name="c" pos=".4 .5 .6">
    <joint name="l" type="slide" range="-1 1" ref=".1" springref=".2" {PASSIVE}/>
    <inertial mass="2" pos=".1 .1 .1" diaginertia="1 2 2.5"/>
    <site name="t" pos="0 0 .1" type="box"/>
    <body><joint name="ball" type="ball" range="0 1" {PASSIVE.replace('damping="5"', "")} springdamper="1 1"/>
      <geom size=".2" density="500"/><geom type="box" size=".1 .2 .3" mass="2" pos="1 0 0"/></body>
  </body>
</body>
<body name="f" pos="1 1 1"><freejoint name="free"/><geom type="ellipsoid" size="1 2 3"/></body>
<body name="m" mocap="true" pos="1 2 3"/>
"""
RELATIONS = f"""
<tendon>
  <spatial name="sp" range="0 1" springlength=".1 .2" width=".01" stiffness="2" damping="3" frictionloss="1" {WIDTH}>
    <site site="s"/><site site="t"/></spatial>
  <spatial name="free_length" stiffness="2"><site site="s"/><site site="t"/></spatial>
  <fixed name="fx" range="0 1" stiffness="2" damping="3" springlength=".3">
    <joint joint="h" coef="2"/><joint joint="l" coef="3"/></fixed>
  <fixed name="angles" range="0 1" stiffness="2" {WIDTH}><joint joint="h" coef="2"/></fixed>
</tendon>
<equality>
  <connect body1="b" anchor="1 2 3" solimp=".9 .95 .002 .5 2"/>
  <weld body1="c" body2="b" torquescale=".7"/>
  <weld body1="c" body2="f" anchor="1 2 3" relpose="1 2 3 1 0 0 0"/>
  <joint joint1="h" joint2="l" polycoef="1 2 3 4 5"/>
  <joint joint1="l" polycoef="1 2 3 4 5"/>
  <tendon tendon1="sp" polycoef="1 2 3"/>
</equality>
<actuator>
  <motor joint="h" gear="2" ctrlrange="-1 1" forcerange="-2 2" lengthrange="0 1"/>
  <motor joint="l" gear="2" ctrlrange="-1 1" forcerange="-2 2"/>
  <position joint="h" kp="10" kv="2" ctrlrange="-1 1"/>
  <position joint="l" kp="10" dampratio="1" timeconst=".1" inheritrange="1"/>
  <velocity tendon="sp" kv="3" ctrlrange="-1 1"/>
  <general joint="l" gainprm="3" biastype="affine" biasprm="1 2 3" ctrlrange="-1 1" gear="2"/>
  <motor site="s" gear="1 2 3 4 5 6"/>
  <position site="s" refsite="t" gear="0 0 0 1 1 1" kp="10" ctrlrange="-1 1"/>
  <muscle tendon="sp" lengthrange=".1 .2"/>
  <muscle joint="h" force="10" lengthrange="0 1"/>
  <cylinder joint="h" area="2" bias="1 2 3" ctrlrange="-1 1"/>
  <damper joint="l" kv="3" ctrlrange="0 1"/>
  <adhesion body="b" gain="3" ctrlrange="0 1" forcerange="0 1"/>
  <intvelocity joint="l" kp="3" actrange="-1 1" ctrlrange="-1 1"/>
  <motor cranksite="s" slidersite="t" cranklength="2"/>
  <motor joint="free" gear="1 2 3 4 5 6" forcerange="-1 1"/>
</actuator>
<contact><pair geom1="g" geom2="floor" margin="1" gap=".5" friction="1 1 1 1 1"/></contact>
<sensor>
  <framepos objtype="site" objname="s" cutoff="1" noise=".1"/><touch site="s" cutoff="2"/>
  <jointpos joint="l" cutoff="2" noise="1"/><jointactuatorfrc joint="h" cutoff="2" noise="1"/>
  <rangefinder site="s" cutoff="2"/><torque site="s" cutoff="2"/><gyro site="s" cutoff="2"/>
  <tendonpos tendon="fx" cutoff="2"/><distance geom1="g" geom2="floor" cutoff="2"/>
</sensor>
<keyframe><key qpos=".5 .6 1 0 0 0 1 2 3 1 0 0 0" qvel="1 2 3 4 5 6 7 8 9 10 11" ctrl="{"1 " * 16}"
  act="1 1 1 1 1" mpos="1 2 3"/></keyframe>
"""
OUTSIDE = '<geom name="floor" type="plane" size="1 1 1" margin=".1"/>'


def model(frame: str, content: str = CONTENT, rest: str = RELATIONS) -> str:
    """A model with a frame around its bodies."""
    return f"<mujoco><worldbody>{OUTSIDE}<frame {frame}>{content}</frame></worldbody>{rest}</mujoco>"


@pytest.mark.parametrize("frame", AT)
def test_all_quantities(frame: str) -> None:
    assert_as_in_4_0(model(frame))


@pytest.mark.parametrize("frame", AT[1:3])
def test_nested(frame: str) -> None:
    """Scales of nested frames are multiplied; the pose of a frame belongs to its surroundings."""
    inner = f'<frame pos="1 0 0" euler="0 0 90" scale=".7" massscale="1.5">{CONTENT}</frame>'
    assert_as_in_4_0(model(f'pos="1 1 0" euler="30 0 0" {frame}', inner))


@pytest.mark.parametrize("frame", AT[1:3])
def test_humanoid(frame: str) -> None:
    text = model_path("humanoid").read_text()
    text = text.replace("<worldbody>", f"<worldbody><frame {frame}>").replace("</worldbody>", "</frame></worldbody>")
    assert_as_in_4_0(text)


PAIR = (
    '<frame scale="2" massscale="3"><body name="a"><joint name="h1"/><joint name="s1" type="slide"/>'
    '<geom name="g1" size="1" margin=".1"/><site name="p1"/></body></frame>'
    '<frame scale="5" massscale="7"><body name="b"><joint name="h2"/><joint name="s2" type="slide"/>'
    '<geom name="g2" size="1"/><site name="p2" pos="1 1 1"/></body></frame>'
    '<body name="c"><joint name="s3" type="slide"/><geom name="g3" size="1"/><site name="p3" pos="3 0 0"/></body>'
)
POLYNOMIAL = 'polycoef="1 2 3 4 5" solimp=".9 .95 .01 .5 2"'
SPRING = 'stiffness="1" damping="1" range="0 1" springlength="1"'


@pytest.mark.parametrize(
    "rest",
    [
        f'<equality><joint joint1="s1" joint2="s2" {POLYNOMIAL}/><joint joint1="s3" joint2="s2" {POLYNOMIAL}/>'
        f'<joint joint1="h1" joint2="h2" {POLYNOMIAL}/></equality>',
        '<equality><connect body1="a" body2="b" anchor="1 2 3"/><connect body1="c" body2="a" anchor="1 2 3"/>'
        '<weld body1="a" body2="b" anchor="1 2 3" relpose="1 2 3 1 0 0 0"/><weld body1="b" body2="c"/>'
        '<weld body1="b"/><connect site1="p1" site2="p2"/><weld site1="p3" site2="p2"/></equality>',
        '<contact><pair geom1="g1" geom2="g2" margin="1" friction="1 1 1 1 1"/><pair geom1="g3" geom2="g2"/></contact>',
        f'<tendon><spatial {SPRING}><site site="p1"/><site site="p2"/></spatial><spatial {SPRING}><site site="p1"/>'
        f'<site site="p3"/></spatial><fixed {SPRING}><joint joint="s1" coef="1"/><joint joint="s2" coef="1"/></fixed>'
        f'<fixed {SPRING}><joint joint="s3" coef="1"/><joint joint="s2" coef="1"/></fixed></tendon>',
        '<actuator><position site="p1" refsite="p2" gear="1 0 0 1 1 1" kp="10" ctrlrange="-1 1"/>'
        '<position site="p3" refsite="p2" kp="10"/><motor cranksite="p1" slidersite="p3" cranklength="1"/></actuator>'
        '<sensor><framepos objtype="site" objname="p1" reftype="site" refname="p2" cutoff="1"/>'
        '<distance geom1="g1" geom2="g2" cutoff="1"/></sensor>',
    ],
)
def test_objects_of_different_scales(rest: str) -> None:
    assert_as_in_4_0(model("", PAIR, rest))


ASSETS = (
    '<asset><mesh name="A" builtin="sphere" params="1"/>'
    '<mesh name="B" vertex="0 0 0 1 0 0 0 1 0 0 0 1" refpos="1 2 3" scale="2 1 1"/>'
    '<hfield name="H" nrow="2" ncol="2" size="1 1 1 1" elevation="0 1 2 3"/></asset>'
)
GEOMS = (
    '<frame scale="2"><geom type="mesh" mesh="B"/><geom type="hfield" hfield="H"/></frame>'
    '<geom type="mesh" mesh="A"/><geom type="mesh" mesh="B"/><frame scale="3"><geom type="mesh" mesh="B"/>'
    '<geom type="mesh" mesh="A"/><geom type="hfield" hfield="H"/></frame>'
    '<frame scale="2"><geom type="mesh" mesh="B"/></frame>'
)


def test_instances_of_assets() -> None:
    """The first scale of a mesh keeps its name, others get a number."""
    m = assert_as_in_4_0(model("", GEOMS, ASSETS))
    assert [m.mesh(i).name for i in range(m.nmesh)] == ["A", "B", "B@1", "B@2", "A@1"]
    assert [m.hfield(i).name for i in range(m.nhfield)] == ["H", "H@1"]


STRETCHED = {
    "box": '<body pos="1 1 1" euler="0 0 90"><geom type="box" size="1 1 1" pos="1 0 0" mass="2"/></body>',
    "ellipsoid and sites": '<body><geom type="ellipsoid" size="1 1 1"/><site size="1" pos="1 1 1"/>'
    '<site type="capsule" size="1 1"/><site type="box" size="1 1 1" euler="0 0 45"/>'
    '<site type="cylinder" size="1" fromto="0 0 0 1 1 1"/></body>',
    "plane": '<geom type="plane" size="1 1 1" euler="90 0 0"/><camera pos="1 1 1"/><light pos="1 1 1"/>',
    "joints": '<body><joint axis="1 0 0" pos="1 1 1" range="-1 1" damping="1"/><joint type="slide" axis="0 1 0" '
    'range="-1 1" solimplimit=".9 .95 1 .5 2" margin="1"/><geom type="box" size="1 1 1"/></body>',
    "free": '<body pos="1 2 3"><freejoint/><geom type="box" size="1 1 1"/></body>',
    "inertia": '<body euler="0 0 45"><joint type="ball"/><inertial pos="1 1 1" mass="2" diaginertia="1 2 2.5"/></body>',
    "full inertia": '<body><joint/><inertial pos="1 1 1" mass="2" fullinertia="1 2 2.5 .1 .2 .3"/></body>',
    "nested": '<frame euler="0 0 90" scale="1 5 1" scaling="geometry"><body pos="1 1 1"><geom type="box" '
    'size="1 1 1" pos="1 1 1"/></body></frame><frame scale="2"><body pos="1 0 0"><geom type="ellipsoid" '
    'size="1 1 1"/></body></frame>',
    "mesh": '<geom type="mesh" mesh="B" pos="1 1 1"/><geom type="hfield" hfield="H"/>',
}


@pytest.mark.parametrize("name", STRETCHED)
def test_stretched(name: str) -> None:
    assert_as_in_4_0(model('scale="2 3 4" scaling="geometry"', STRETCHED[name], ASSETS if name == "mesh" else ""))


def test_stretched_capsule() -> None:
    content = '<geom type="capsule" size="1" fromto="1 0 0 3 0 0"/><geom type="cylinder" size="1 1" zaxis="1 0 0"/>'
    assert_as_in_4_0(model('scale="4 2 2" scaling="geometry"', content, ""))


@pytest.mark.parametrize("frame", ["", 'scale="2"', 'scale="2 3 4" scaling="geometry"'])
def test_keyframes_of_turned_frames(frame: str) -> None:
    """Positions in the world are scaled about the origin of the frame, along its axes."""
    content = '<body mocap="true"/><body pos="1 1 1"><freejoint/><geom type="box" size="1 1 1"/></body>'
    key = '<keyframe><key qpos="1 2 3 1 0 0 0" qvel="1 2 3 4 5 6" mpos="1 2 3"/></keyframe>'
    assert_as_in_4_0(model(f'pos="1 0 0" euler="0 0 90" {frame}', content, key))


@pytest.mark.parametrize("text", [model(AT[1]), model("", GEOMS, ASSETS), model(AT[2], PAIR, "")])
def test_saved(text: str) -> None:
    """A saved model has the scaled values; 4.0.0 reads it, and finds the same numbers."""
    spec = cardan.MjSpec.from_string(text, compat="4.0")
    m = spec.compile()
    saved = spec.to_xml()
    assert " massscale=" not in saved
    again = assert_as_in_4_0(saved)
    for name in ("geom_size", "body_mass", "jnt_range", "actuator_gainprm", "mesh_vert", "hfield_size", "key_qpos"):
        np.testing.assert_allclose(getattr(again, name), getattr(m, name), rtol=1e-6, atol=1e-12, err_msg=name)


def test_spec() -> None:
    """The tree keeps the values that the user wrote; another scale starts from them."""
    spec = cardan.MjSpec.from_string('<mujoco><worldbody><frame name="f"><geom size="1"/></frame></worldbody></mujoco>')
    frame = spec.frame("f")
    assert spec.compile().geom_size[0, 0] == 1.0
    frame.scale = [2, 2, 2]
    assert spec.compile().geom_size[0, 0] == 2.0
    frame.scale, frame.scaling, frame.massscale = [3, 3, 3], 1, 2.0
    assert spec.compile().geom_size[0, 0] == 3.0
    assert spec.geoms[0].size[0] == 1.0


GEOMETRY = 'scale="1 2 3" scaling="geometry"'


@pytest.mark.parametrize(
    ("frame", "content", "words"),
    [
        ('scale="0"', "", "scale: must be finite and positive, found 0 0 0"),
        ('scale="1e-300"', "", "lengths are scaled by 1e-300, masses by 0: out of range"),
        ('scale="-1 1 1"', "", "scale: must be finite and positive, found -1 1 1"),
        ('scale="1 2"', "", "scale: expected 1 or 3 numbers, found 2"),
        ('scale="1 2 3"', "", "scale: different factors need scaling='geometry'"),
        ('massscale="-1"', "", "massscale: must be finite and not negative, found -1"),
        ('scaling="foo"', "", "'foo' is not one of its keywords"),
        (GEOMETRY, '<geom size="1"/>', "a sphere can only be scaled equally in all directions; use an ellipsoid"),
        (GEOMETRY, '<geom type="box" size="1 1 1" euler="0 0 45"/>', "this box is not aligned"),
        (GEOMETRY, '<geom type="capsule" size="1 1"/>', "this capsule can only be scaled equally"),
        (GEOMETRY, '<body><joint axis="1 1 0"/><geom type="box" size="1 1 1"/></body>', "axis: must be aligned"),
        ('scale="2"', '<body><geom size="1"/><plugin plugin="mujoco.elasticity.cable"/></body>', "cannot be scaled"),
    ],
)
def test_errors(frame: str, content: str, words: str) -> None:
    with pytest.raises(MjcfError, match=words):
        cardan.MjModel.from_xml_string(model(frame, content, ""))


def test_turned_meshes_are_not_stretched() -> None:
    with pytest.raises(UnsupportedFeature, match="meshes stretched along other axes than their own"):
        cardan.MjModel.from_xml_string(model(GEOMETRY, '<geom type="mesh" mesh="B" euler="0 0 45"/>', ASSETS))


CONTROLLED = """<body pos=".1 .2 .3"><joint name="h"/><geom size=".1"/><site name="s"/><body>
<joint name="b" type="ball"/><geom size=".1"/></body><body><joint name="l" type="slide"/>
<geom size=".1"/></body></body>"""
PID = """<pid joint="{}" kp="1" {} ki=".3" imax=".2" slewmax=".7" input="pos vel ff" posrange="-1 1" velrange="-2 2"
 ffrange="-3 3" forcerange="-5 5"/>"""
CONTROLLERS = f"""<actuator>{PID.format("h", 'kv=".5"')}{PID.format("l", 'dampratio="1"')}
<orientation joint="b" kp="1" kv=".3" forcerange="0 3" ctrlrange="-1 1"/><orientation joint="b" dampratio=".3"/>
<orientation site="s" refsite="r" kp="1" kv=".3" input="quat"/>
<general joint="b" gaintype="so3" biastype="so3" biasprm=".1 -1 -.2" dyntype="integrator"/>
<general joint="l" gaintype="pid" dyntype="pid" biastype="affine" gainprm="2" biasprm=".5 -3 -4" dynprm="5 6"/>
</actuator><keyframe><key ctrl="{"1 " * 21}" act="{"1 " * 9}"/></keyframe>"""
REFERENCE = '<mujoco><worldbody><site name="r"/>'


@pytest.mark.parametrize("frame", AT)
def test_controllers(frame: str) -> None:
    """PID controllers and orientation servos are scaled with what they move."""
    assert_as_in_4_0(model(frame, CONTROLLED, CONTROLLERS).replace("<mujoco><worldbody>", REFERENCE))


def test_motors_are_not_scaled() -> None:
    """Electrical parameters have no dimensions of mechanics: only scales without units take DC motors."""
    motor = '<actuator><dcmotor joint="h" motorconst="1" resistance="1"/></actuator>'
    with pytest.raises(MjcfError, match="the parameters of this actuator cannot be scaled; use scaling='geometry'"):
        cardan.MjModel.from_xml_string(model(AT[1], CONTROLLED, motor))
    assert_as_in_4_0(model(AT[2], CONTROLLED, motor))
