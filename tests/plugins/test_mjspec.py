"""Plugins in models that a program edits: states, keyframes and instances follow."""

from __future__ import annotations

import cardan

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
