"""Models whose actuators have several controls, activations or forces (MuJoCo since 3.7), and states of them."""

from __future__ import annotations

import numpy as np

import cardan

BODIES = """<mujoco><option timestep="0.01" integrator="{}"/><compiler autolimits="true"/><worldbody>
<body><joint name="hinge" axis="0 1 0" range="-120 60"/><geom size=".1" mass="1" pos=".3 0 0"/>
  <body pos=".3 0 0"><joint name="slide" type="slide" axis="1 0 0"/><geom size=".1" mass="1"/></body></body>
<body pos="2 0 0"><joint name="ball" type="ball"/><geom type="box" size=".1 .2 .3" mass="1" contype="0"/>
  <site name="site" euler="10 20 30"/>
  <body pos=".5 0 0"><joint name="elbow" axis="0 1 0"/><geom size=".1" pos=".1 0 0" contype="0"/>
    <site name="turned" euler="40 0 30"/></body></body>
<site name="fixed" euler="0 30 0"/></worldbody><actuator>{}</actuator><sensor>{}</sensor></mujoco>"""

ACTUATORS = {
    "pid": """
<pid name="all" joint="hinge" kp="30" kv="2" ki="15" imax=".1" slewmax="2" posrange="-1 2" velrange="-.2 .3"
  ffrange="-1 1" input="pos vel ff" gear="2"/>
<position joint="slide" kp="3" kv="1"/>
<pid name="inherits" joint="hinge" kp="3" dampratio=".5" inheritrange=".5"/>
<pid joint="slide" input="vel" kp="2" kv="3"/>
<pid joint="ball" kp="5" kv=".2" ki="1" gear="1 .3 0" slewmax="20"/>
<pid site="site" refsite="fixed" kp="5" kv=".2" ki="1" gear="0 0 0 1 2 0" input="pos ff" forcerange="-3 3"/>
<pid site="site" kp="5" kv=".2" gear="0 0 0 1 2 0" input="pos vel" nsample="3" delay=".02"/>
<general name="early" joint="hinge" gaintype="pid" dyntype="pid" gainprm="3" dynprm=".2 3" biastype="affine"
  biasprm=".3 -2 -1" actearly="true" actrange="-2 2"/>
<velocity joint="slide"/><general joint="slide" input="pressure"/>""",
    "dcmotor": """
<dcmotor name="plain" joint="hinge" motorconst=".5" resistance="2" gear="2" ctrlrange="-6 6"/>
<dcmotor joint="hinge" nominal="12 .3 200" inductance="0 .03" saturation=".2 0 30"/>
<dcmotor name="all" joint="slide" motorconst=".5 .8" resistance="2" inductance=".04" thermal="3 2 0 .004 25 20"
  lugre="30 .5 .2 .3 .5" cogging=".1 3 .2" input="pos vel ff voltage" controller="5 2 .3 3 .4 6" saturation=".3"/>
<dcmotor joint="slide" motorconst=".5" resistance="2" thermal="3 2 0 .004 25 20" lugre="30 .5 .2 .3 .5"
  input="vel ff" controller="0 0 .3 3" nsample="4" delay=".02"/>
<dcmotor joint="ball" motorconst=".5" resistance="2" gear="1 .3 0" input="pos" controller="5 1 .2 20"/>
<dcmotor site="site" refsite="fixed" motorconst=".5" resistance="2" gear="0 0 0 1 .3 0" input="none"
  lugre="3 .05 .2 .3 .5"/>
<position joint="slide" kp="3"/>""",
    "orientation": """
<motor joint="hinge"/><orientation name="expmap" joint="ball" kp="2" kv=".5"/>
<orientation joint="ball" kp="2" dampratio=".5" input="quat" ctrlrange="-.6 .7"/>
<orientation site="turned" refsite="site" kp="2" kv=".5"/>
<orientation site="turned" refsite="fixed" kp="2" dampratio=".5"/>
<general name="integrated" joint="ball" gaintype="so3" biastype="so3" dyntype="integrator" gainprm="2"
  biasprm=".3 -2 -.5" gear="2 1"/>
<general joint="ball" gaintype="so3" biastype="so3" dyntype="integrator" gainprm="2" biasprm="0 -2 -.5"
  actearly="true" actrange="-3 3"/>
<orientation joint="ball" kp="2" kv=".5" nsample="4" delay=".02"/>
<pid joint="hinge" ki="1"/>""",
}
"""Actuators, by kind."""
SENSORS = {
    "pid": '<actuatorpos actuator="all"/><actuatorvel actuator="all"/><actuatorfrc actuator="early"/>',
    "dcmotor": '<actuatorpos actuator="all"/><actuatorfrc actuator="plain"/><actuatorfrc actuator="all"/>',
    "orientation": (
        '<actuatorpos actuator="expmap"/><actuatorvel actuator="integrated"/><actuatorfrc actuator="expmap"/>'
    ),
}


def text(kind: str, integrator: str = "Euler") -> str:
    """Text of the model with actuators of a kind."""
    return BODIES.format(integrator, ACTUATORS[kind], SENSORS[kind])


def state_of(m: cardan.MjModel, seed: int = 0) -> dict[str, np.ndarray]:
    """Random controls, positions, velocities and activations."""
    random = np.random.default_rng(seed)
    qpos = m.qpos0.copy()
    cardan.mj_integratePos(m, qpos, random.normal(size=m.nv) * 0.6, 1.0)
    state = {"ctrl": random.normal(size=m.nu), "qpos": qpos, "qvel": random.normal(size=m.nv) * 0.8}
    return state | {"act": random.normal(size=m.na) * 0.3}


def started(kind: str, integrator: str, compat: str = "4.0", seed: int = 0) -> tuple[cardan.MjModel, cardan.MjData]:
    """A model of a kind, and data in a random state."""
    m = cardan.MjModel.from_xml_string(text(kind, integrator), compat=compat)
    d = cardan.MjData(m)
    for name, values in state_of(m, seed).items():
        getattr(d, name)[:] = values
    return m, d
