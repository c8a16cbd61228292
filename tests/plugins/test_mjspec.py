"""Plugins in models that a program edits: states, keyframes and instances follow."""

from __future__ import annotations

import pytest

import cardan
from cardan.errors import MjcfError

PID = """
<mujoco>
  <extension><plugin plugin="mujoco.pid"><instance name="p"><config key="ki" value="1"/></instance></plugin></extension>
  <worldbody>
    <body name="b"><joint name="j" type="slide"/><geom size=".1"/></body>
    <body name="c" pos="1 0 0"><joint name="k" type="slide"/><geom size=".1"/></body>
  </worldbody>
  <actuator>
    <plugin name="first" joint="j" instance="p"/>
    <plugin name="second" joint="k" plugin="mujoco.pid">
      <config key="ki" value="3"/><config key="slewmax" value="2"/>
    </plugin>
  </actuator>
  <keyframe><key act="1 2 3"/></keyframe>
</mujoco>"""


def test_recompiling_keeps_activations() -> None:
    spec = cardan.MjSpec.from_string(PID)
    m = spec.compile()
    d = cardan.MjData(m)
    d.act[:] = 1.0, 2.0, 3.0
    spec.body("b").add_geom(size=[0.1, 0, 0])
    _, again = spec.recompile(m, d)
    assert again.act.tolist() == [1.0, 2.0, 3.0]


def test_deleting_an_actuator_takes_its_activations() -> None:
    spec = cardan.MjSpec.from_string(PID)
    spec.delete(spec.body("b"))
    m = spec.compile()
    assert (m.nu, m.na, m.key_act.tolist()) == (1, 2, [[2.0, 3.0]])


def test_attached_models_bring_their_plugins() -> None:
    spec, child = cardan.MjSpec(), cardan.MjSpec.from_string(PID)
    spec.attach(child, prefix="x_", frame=spec.worldbody.add_frame())
    spec.attach(child, prefix="y_", frame=spec.worldbody.add_frame())
    m = spec.compile()
    assert (m.nu, m.nplugin, m.na) == (4, 4, 6)
    assert m.key_act[0].tolist() == [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]
    assert cardan.mj_name2id(m, cardan.mjtObj.mjOBJ_PLUGIN, "y_p") >= 0
    again = cardan.MjModel.from_xml_string(spec.to_xml())
    assert again.actuator_plugin.tolist() == m.actuator_plugin.tolist()


def built() -> cardan.MjSpec:
    """A slider that a plugin drives, a site with a touch grid, and an elastic chain."""
    spec = cardan.MjSpec()
    body = spec.worldbody.add_body(name="b")
    body.add_joint(name="j", type="slide")
    body.add_geom(size=[0.1, 0, 0])
    body.add_site(name="s")
    spec.add_plugin("mujoco.pid", "servo", {"kp": 4, "ki": 0.5})
    spec.add_actuator(name="a", trntype=cardan.mjtTrn.mjTRN_JOINT, target="j", plugin="servo")
    grid = spec.add_plugin("mujoco.sensor.touch_grid", "grid", {"size": [3, 2], "fov": "90 45"})
    sensor = spec.add_sensor(type=cardan.mjtSensor.mjSENS_PLUGIN, objtype=cardan.mjtObj.mjOBJ_SITE, objname="s")
    sensor.plugin = grid
    spec.add_plugin("mujoco.elasticity.cable", "rod", {"twist": 1e6, "bend": 1e6})
    for _ in range(2):
        body = body.add_body(pos=[0.1, 0, 0], plugin="rod")
        body.add_joint(type="ball")
        body.add_geom(type="capsule", size=[0.01, 0.04, 0])
    return spec


def test_instances_are_added_and_used() -> None:
    m = built().compile()
    assert (m.nplugin, m.nu, m.na, m.nsensordata) == (3, 1, 1, 6)
    assert cardan.plugin_config(m, int(m.actuator_plugin[0])) == {"kp": "4", "ki": "0.5"}
    rod = cardan.mj_name2id(m, cardan.mjtObj.mjOBJ_PLUGIN, "rod")
    assert m.body_plugin.tolist() == [-1, -1, rod, rod]
    d = cardan.MjData(m)
    d.ctrl[0] = 1.0
    cardan.mj_forward(m, d)
    assert d.actuator_force[0] == pytest.approx(4 * 1.0 + 0.5 * m.opt.timestep)


def test_instances_are_read_changed_and_taken_away() -> None:
    spec = built()
    assert [found.plugin_name for found in spec.plugins] == [
        "mujoco.pid", "mujoco.sensor.touch_grid", "mujoco.elasticity.cable"
    ]  # fmt: skip
    assert spec.actuators[0].plugin is spec.plugin("servo")
    spec.plugin("servo").config = {"kp": 7}
    spec.bodies[-1].plugin = None
    m = spec.compile()
    assert cardan.plugin_config(m, int(m.actuator_plugin[0])) == {"kp": "7"}
    assert (m.na, m.body_plugin[-1]) == (0, -1)
    again = cardan.MjModel.from_xml_string(spec.to_xml())
    assert again.actuator_plugin.tolist() == m.actuator_plugin.tolist()


def test_wrong_instances_are_explained() -> None:
    spec = built()
    with pytest.raises(MjcfError, match=r"there is no plugin instance 'serv'.*servo"):
        spec.bodies[1].plugin = "serv"
    with pytest.raises(MjcfError, match="'servo' already"):
        spec.add_plugin("mujoco.pid", "servo")
    with pytest.raises(MjcfError, match="set the type first"):
        spec.add_sensor(type=cardan.mjtSensor.mjSENS_CLOCK).plugin = "grid"
    spec.bodies[1].plugin = "servo"
    with pytest.raises(MjcfError, match="does not support passive forces"):
        spec.compile()
