"""Every type of sensor against the reference, from random states (level: forward)."""

import mujoco
import numpy as np
import pytest
from reference import data_from_reference, model_from_reference

import cardan
from cardan.enums import mjtSensor
from cardan.jit import Program
from cardan.sensor.table import SENSORS, needs_rne_post, needs_subtree_vel, sensor_stages

# sensors with tests of their own
ELSEWHERE = {
    int(getattr(mjtSensor, "mjSENS_" + tag)) for tag in ("GEOMDIST", "GEOMNORMAL", "GEOMFROMTO", "RANGEFINDER")
}
LATER_TAGS = ("CONTACT", "E_POTENTIAL", "E_KINETIC", "TENDONACTFRC", "INSIDESITE", "TACTILE")
LATER = {int(getattr(mjtSensor, "mjSENS_" + tag)) for tag in LATER_TAGS}
ELSEWHERE |= LATER  # 3.1.6 does not have these
OBJECTS = (("body", "arm"), ("xbody", "arm"), ("geom", "box"), ("site", "tip"), ("camera", "eye"))
REFERENCES = (None, ("body", "base"), ("xbody", "hand"), ("geom", "ball"), ("site", "mid"), ("camera", "eye"))
FRAMES = ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel")
SITE_TYPES = ("sphere", "capsule", "ellipsoid", "cylinder", "box")

BODIES = """
<worldbody>
 <geom name="floor" type="plane" size="5 5 1" condim="{condim}"/>
 <camera name="far" pos="0 -3 1" xyaxes="1 0 0 0 .3 1" resolution="640 480" fovy="50"/>
 <camera name="lens" pos="0 -3 1" xyaxes="1 0 0 0 .3 1" resolution="640 480" focal="0.02 0.03" sensorsize="0.03 0.02"
  principal="0.001 0.002"/>
 <body name="base" pos="0 0 .12"><freejoint/>
  <geom name="ball" size=".1"/><geom type="capsule" size=".05 .1" pos=".3 0 -.05" euler="0 90 0"/>
  <site name="mid" pos=".05 .02 .03" euler="10 20 30"/>
  {touch_sites}
  <body name="arm" pos="0 0 .3"><joint name="hinge" axis="0 1 .3" range="-10 10" limited="true"/>
   <geom name="box" type="box" size=".1 .05 .02" pos=".1 0 0" euler="5 6 7"/>
   <site name="tip" pos=".2 0 0" euler="40 0 20"/>
   <camera name="eye" mode="targetbody" target="base" pos="1 0 0" euler="10 20 30"/>
   <body name="hand" pos=".3 0 0"><joint name="slide" type="slide" range="-.01 .01" limited="true"/><geom size=".04"/>
    <body pos=".1 0 0"><joint name="cup" type="ball" range="0 5" limited="true"/>
     <geom size=".03" pos="0 .05 0"/></body></body></body></body>
</worldbody>
<tendon><fixed name="string" range="-.01 .01" limited="true">
 <joint joint="hinge" coef=".5"/><joint joint="slide" coef="2"/></fixed></tendon>
<actuator><motor name="motor" joint="hinge" gear="2"/><position name="servo" joint="slide" kp="30"/></actuator>
"""


def touch_sites():
    sites = []
    for kind in SITE_TYPES:
        for k, place in enumerate(("0 0 0", "0 0 -.15", ".2 0 -.05", "0 .15 0", "0 -.1 .1")):
            sites.append(
                f'<site name="{kind}{k}" type="{kind}" size=".13 .12 .1" pos="{place}" euler="{20 * k} 30 0"/>'
            )
    return "".join(sites)


def sensors(cutoff=""):
    rows = []
    for tag in FRAMES:
        bound = "" if "quat" in tag or "axis" in tag else cutoff
        for kind, name in OBJECTS:
            for ref in REFERENCES:
                relative = f'reftype="{ref[0]}" refname="{ref[1]}"' if ref else ""
                rows.append(f'<{tag} objtype="{kind}" objname="{name}" {relative} {bound}/>')
    for tag in ("framelinacc", "frameangacc"):
        rows += [f'<{tag} objtype="{kind}" objname="{name}" {cutoff}/>' for kind, name in OBJECTS]
    for tag in ("accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer"):
        rows += [f'<{tag} site="{site}" {cutoff}/>' for site in ("tip", "mid")]
    rows += [f'<touch site="{kind}{k}" {cutoff}/>' for kind in SITE_TYPES for k in range(5)]
    for tag in ("jointpos", "jointvel", "jointlimitpos", "jointlimitvel", "jointlimitfrc", "jointactuatorfrc"):
        rows += [f'<{tag} joint="{joint}" {cutoff}/>' for joint in ("hinge", "slide")]
    rows.append('<ballquat joint="cup"/>')
    for tag in ("jointlimitpos", "jointlimitvel", "jointlimitfrc", "ballangvel"):
        rows.append(f'<{tag} joint="cup" {cutoff}/>')
    for tag in ("tendonpos", "tendonvel", "tendonlimitpos", "tendonlimitvel", "tendonlimitfrc"):
        rows.append(f'<{tag} tendon="string" {cutoff}/>')
    for tag in ("actuatorpos", "actuatorvel", "actuatorfrc"):
        rows += [f'<{tag} actuator="{actuator}" {cutoff}/>' for actuator in ("motor", "servo")]
    for tag in ("subtreecom", "subtreelinvel", "subtreeangmom"):
        rows += [f'<{tag} body="{body}" {cutoff}/>' for body in ("base", "arm")]
    rows += [f'<camprojection site="tip" camera="{camera}" {cutoff}/>' for camera in ("far", "lens", "eye")]
    return f"<sensor>{''.join(rows)}<clock {cutoff}/></sensor>"


def xml(cone="pyramidal", condim=3, cutoff=""):
    option = f'<option magnetic="1 2 3" cone="{cone}" timestep="0.003"/>'
    bodies = BODIES.format(condim=condim, touch_sites=touch_sites())
    return f'<mujoco><compiler autolimits="true"/>{option}{bodies}{sensors(cutoff)}</mujoco>'


def states(ref, n):
    """Data of the reference after forward dynamics from `n` states along a random trajectory."""
    rng = np.random.default_rng(3)
    data = mujoco.MjData(ref)
    data.qvel[:] = rng.normal(size=ref.nv)
    for _ in range(n):
        data.ctrl[:] = rng.normal(size=ref.nu)
        data.xfrc_applied[2] = rng.normal(size=6)
        for _ in range(20):
            mujoco.mj_step(ref, data)
        mujoco.mj_forward(ref, data)
        yield data


def computed(m, ref_data):
    d = data_from_reference(m, ref_data)
    d.sensordata[:] = np.nan
    stages = [stage for when in (1, 2, 3) for stage in sensor_stages(m, when)]
    assert Program(stages).run(m, d) == 0
    return d.sensordata


@pytest.mark.parametrize(("cone", "condim"), [("pyramidal", 3), ("pyramidal", 1), ("elliptic", 4), ("pyramidal", 6)])
@pytest.mark.parametrize("cutoff", ["", 'cutoff="0.3"'])
def test_all_types(cone, condim, cutoff):
    ref = mujoco.MjModel.from_xml_string(xml(cone, condim, cutoff))
    m = model_from_reference(ref)
    touched = limited = 0
    for ref_data in states(ref, 8):
        np.testing.assert_allclose(computed(m, ref_data), ref_data.sensordata, rtol=1e-9, atol=1e-9)
        touched += np.count_nonzero(ref_data.sensordata[m.sensor_adr[m.sensor_type == 0]])
        limited += np.count_nonzero(ref_data.sensordata[m.sensor_adr[m.sensor_type == 19]])
    assert touched
    assert limited


def test_the_table_agrees_with_the_reference():
    ref = mujoco.MjModel.from_xml_string(xml())
    table = {kind.type: kind for kind in SENSORS}
    assert set(table) - ELSEWHERE == set(ref.sensor_type.tolist())
    for i in range(ref.nsensor):
        kind = table[int(ref.sensor_type[i])]
        assert (kind.stage, kind.dim, kind.datatype) == (
            ref.sensor_needstage[i],
            ref.sensor_dim[i],
            ref.sensor_datatype[i],
        )


def test_disabled_sensors_keep_their_values():
    ref = mujoco.MjModel.from_xml_string(xml())
    ref.opt.disableflags = mujoco.mjtDisableBit.mjDSBL_SENSOR
    m = model_from_reference(ref)
    assert np.isnan(computed(m, next(states(ref, 1)))).all()


def test_needs():
    everything = model_from_reference(mujoco.MjModel.from_xml_string(xml()))
    assert needs_rne_post(everything)
    assert needs_subtree_vel(everything)
    assert sum(len(sensor_stages(everything, when)) for when in (1, 2, 3)) == len(
        {kind.type for kind in SENSORS} - ELSEWHERE
    )
    clock = model_from_reference(mujoco.MjModel.from_xml_string("<mujoco><sensor><clock/></sensor></mujoco>"))
    assert not needs_rne_post(clock)
    assert not needs_subtree_vel(clock)
    assert [len(sensor_stages(clock, when)) for when in (1, 2, 3)] == [1, 0, 0]


TOUCHING = """<mujoco><option gravity="0 0 0"/><worldbody>
 <body><freejoint/><geom size=".1"/>{sites}</body>
 <body pos=".19 0 0"><freejoint/><geom size=".1"/>{sites}</body></worldbody><sensor>{sensors}</sensor></mujoco>"""


def test_touch_on_both_sides_of_a_contact():
    places = [(x, y) for x in (-0.15, -0.08, 0.0, 0.08, 0.15) for y in (0, 0.03)]
    sites = "".join(f'<site name="{{b}}{k}" size=".04" pos="{x} {y} 0"/>' for k, (x, y) in enumerate(places))
    both = TOUCHING.split("{sites}")
    text = both[0] + sites.replace("{b}", "a") + both[1] + sites.replace("{b}", "b") + both[2]
    rows = "".join(f'<touch site="{b}{k}"/>' for b in "ab" for k in range(len(places)))
    ref = mujoco.MjModel.from_xml_string(text.replace("{sensors}", rows))
    ref_data = mujoco.MjData(ref)
    mujoco.mj_forward(ref, ref_data)
    assert 0 < np.count_nonzero(ref_data.sensordata) < ref.nsensor
    np.testing.assert_allclose(computed(model_from_reference(ref), ref_data), ref_data.sensordata, rtol=1e-9)


MUSCLES = """<mujoco><option timestep=".004"/><worldbody><site name="wall" pos="-.2 0 .3"/>
 <body><joint name="a" axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/>
  <site name="mid" pos=".15 0 .04"/>
  <geom name="wrap" type="cylinder" size=".05 .1" euler="90 0 0" contype="0" conaffinity="0"/>
  <body pos=".3 0 0"><joint name="b" type="ball"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/>
   <site name="end" pos=".2 0 .04" euler="10 20 30"/><site name="ref" pos=".1 0 .1"/></body></body></worldbody>
<tendon><spatial name="t" limited="true" range="0 .5"><site site="wall"/><geom geom="wrap"/><site site="mid"/>
 <site site="end"/>
 </spatial></tendon>
<actuator><muscle name="m" tendon="t" force="100" lengthrange=".2 .9"/><general name="s" site="end" refsite="wall"
 gear="1 2 0 0 .1 0"/><adhesion name="ad" body="world" ctrlrange="0 1"/></actuator>
<sensor>{}</sensor></mujoco>"""


@pytest.mark.parametrize("integrator", [0, 1])
def test_spatial_tendons_and_muscles(integrator):
    tags = ("tendonpos", "tendonvel", "tendonlimitpos", "tendonlimitvel", "tendonlimitfrc")
    rows = [f'<{tag} tendon="t"/>' for tag in tags]
    rows += [
        f'<{tag} actuator="{name}"/>' for tag in ("actuatorpos", "actuatorvel", "actuatorfrc") for name in ("m", "s")
    ]
    rows += [f'<{tag} site="end"/>' for tag in ("accelerometer", "force", "torque", "gyro")]
    rows += [
        '<jointactuatorfrc joint="a"/>',
        '<subtreeangmom body="world"/>',
        '<framelinacc objtype="site" objname="ref"/>',
    ]
    ref = mujoco.MjModel.from_xml_string(MUSCLES.format("".join(rows)))
    ref.opt.integrator = integrator
    m = model_from_reference(ref)
    limited = 0
    for ref_data in states(ref, 8):
        np.testing.assert_allclose(computed(m, ref_data), ref_data.sensordata, rtol=1e-9, atol=1e-9)
        limited += ref_data.sensordata[2] != 0
    assert limited


@pytest.mark.parametrize("stage", ["pos", "vel", "acc"])
def test_user_sensors_find_momenta_and_forces(stage):
    """A callback may read whatever there is at its stage: subtree momenta, then accelerations and forces of bodies."""
    xml = f"""<mujoco><worldbody><body><joint axis="0 1 0"/><geom size=".1" pos=".2 0 0"/></body></worldbody>
<sensor><user dim="1" needstage="{stage}"/></sensor></mujoco>"""
    results = []
    for engine in (mujoco, cardan):
        m = engine.MjModel.from_xml_string(xml)
        d = engine.MjData(m)
        d.qvel[:] = 1
        engine.mj_forward(m, d)
        results.append(np.concatenate([d.cacc.ravel(), d.cfrc_int.ravel(), d.subtree_linvel.ravel()]))
    np.testing.assert_allclose(results[1], results[0], atol=1e-12)
    assert results[0].any() == (stage != "pos")
