"""One model with nearly everything that the computation chapter describes, at a state where all of it acts.

Actuators with activation come last, since the reference looks up the activations of others wrongly
(docs/differences.md).
"""

from __future__ import annotations

from typing import Any

import numpy as np

BODIES = """
<geom type="plane" size="3 3 .1"/><camera name="cam" pos="0 -1 1"/>
<body name="hand" mocap="true" pos="0 1 1"><geom type="sphere" size=".05" contype="0" conaffinity="0"/></body>
<body name="A" pos="0 0 .28">
  <joint name="f" type="free" frictionloss=".05"/>
  <geom name="ga" type="box" size=".1 .1 .1" condim="4"/><site name="sa" pos=".05 0 0" size=".15"/>
  <camera name="c2" pos=".1 0 0" euler="10 20 30"/>
  <body name="B" pos=".3 0 0" gravcomp=".5">
    <joint name="b" type="ball" damping=".1" stiffness=".3" frictionloss=".02" range="0 40" limited="true" margin=".1"/>
    <geom name="gb" size=".06" pos=".1 0 -.03" condim="6" friction="1 .1 .01"/>
    <body name="C" pos=".2 0 0">
      <joint name="h" axis="0 1 .3" range="-20 20" limited="true" margin=".2" frictionloss=".1" armature=".01"
        actuatorfrclimited="true" actuatorfrcrange="-2 2"/>
      <geom name="gc" type="capsule" size=".04 .1" pos=".1 0 0" priority="1" solref="-100 -3"/>
      <site name="sc" pos=".1 .02 .03" euler="1 2 3"/>
      <body name="D" pos=".2 .1 0">
        <joint name="s" type="slide" axis="1 0 0" range="-.1 .1" limited="true" stiffness="5" springref=".02"/>
        <geom name="gd" type="ellipsoid" size=".05 .04 .03" fluidshape="ellipsoid"/><site name="sd"/>
      </body>
    </body>
  </body>
</body>
<body name="E" pos="1 0 .05">
  <joint name="e1" type="slide" axis="0 0 1"/><joint name="e2" axis="0 0 1" ref="10"/>
  <geom name="ge" type="cylinder" size=".1 .06" condim="1" gap=".01" margin=".03"/>
</body>
"""

CONSTRAINTS = """
<contact>
  <pair geom1="ga" geom2="ge" condim="3" friction="1 .5 .1 .01 .02" solreffriction=".03 .9" solref=".01 1"/>
  <exclude body1="A" body2="D"/>
</contact>
<tendon>
  <fixed name="tf" limited="true" range="-.1 .1" margin=".05" frictionloss=".1" stiffness="2" damping=".3">
    <joint joint="h" coef="1"/><joint joint="s" coef="-2"/>
  </fixed>
  <spatial name="ts" limited="true" range="0 .8" margin=".05" frictionloss=".03" springlength=".1 .3" stiffness="3">
    <site site="sa"/><site site="sc"/><pulley divisor="2"/><site site="sc"/><site site="sd"/>
  </spatial>
</tendon>
<equality>
  <connect body1="D" anchor=".01 .02 .03"/>
  <weld body1="E" body2="hand" torquescale=".3"/>
  <joint joint1="e1" joint2="h" polycoef=".01 .5 .2 .1 .05"/>
  <joint joint1="s" polycoef=".02 1 1 1 1"/>
  <tendon tendon1="ts" polycoef=".05 1 1" solref="-50 -2"/>
  {dense_only}
</equality>
"""
# the reference miscounts the entries of this row in sparse storage
DENSE_ONLY = '<tendon tendon1="tf" tendon2="ts" polycoef=".1 .2 .3 .1 .1"/>'

ACTUATORS = """
<actuator>
  <general joint="b" gear="1 2 3"/><general jointinparent="b" gear="1 .2 3"/>
  <general joint="f" gear="1 2 3 .4 .5 .6"/>
  <general name="reach" site="sc" refsite="sa" gear="1 2 3 0 0 0"/>
  <adhesion body="A" ctrlrange="0 2" gain="3"/>
  <position joint="e1" kp="10" kv="2" ctrllimited="true" ctrlrange="-.1 .1" forcelimited="true" forcerange="-.5 .5"/>
  <damper joint="e2" kv="3" ctrlrange="0 1"/>
  <general joint="h" dyntype="filterexact" dynprm=".05" gainprm="3" actearly="true" actlimited="true"
    actrange="-.4 .4"/>
  <general joint="s" dyntype="filter" dynprm=".002" gaintype="affine" gainprm="1 2 3" biastype="affine"
    biasprm=".1 .2 .3"/>
  <general tendon="ts" dyntype="integrator" actearly="true"/>
  <muscle name="m" joint="h" lengthrange="-.5 .5" timeconst=".03 .08" range=".7 1.1" force="20" scale="150" lmin=".4"
    lmax="1.7" vmax="1.2" fpmax="1.5" fvmax="1.3"/>
  <muscle tendon="ts" lengthrange=".1 2" tausmooth=".1"/>
</actuator>
"""

SENSORS = """
<touch site="sa"/><accelerometer site="sc"/><velocimeter site="sc"/><gyro site="sc"/><force site="sc"/>
<torque site="sc"/><magnetometer site="sc"/><rangefinder site="sc"/><jointpos joint="h"/><jointvel joint="s"/>
<tendonpos tendon="ts"/><tendonvel tendon="tf"/><actuatorpos actuator="reach"/><actuatorvel actuator="m"/>
<actuatorfrc actuator="m"/><jointactuatorfrc joint="h"/><ballquat joint="b"/><ballangvel joint="b"/>
<jointlimitpos joint="h"/><jointlimitvel joint="h"/><jointlimitfrc joint="h"/><jointlimitfrc joint="s"/>
<tendonlimitpos tendon="ts"/><tendonlimitvel tendon="ts"/><tendonlimitfrc tendon="tf"/>
<jointlimitpos joint="b" cutoff=".3"/><subtreecom body="A"/><subtreelinvel body="A"/><subtreeangmom body="A"/>
<clock/><force site="sa"/><torque site="sa" cutoff="1"/><accelerometer site="sd" cutoff="3"/>
"""

KEY = """
<keyframe><key time=".3" qpos="0 0 .25 1 .1 .02 .03 1 .2 -.1 .1 .2 .05 -.013 .2"
  qvel=".1 .2 .3 .1 .2 .3 .1 .2 .3 .4 -.1 .2 -.3" act=".1 .2 .3 .4 .2" ctrl=".1 .2 .3 .2 1.5 .4 .5 .4 .5 .6 .7 .6"
  mpos="0 1.1 .9" mquat="1 .1 .1 .1"/></keyframe>
"""

OBJECTS = (("body", "C"), ("xbody", "C"), ("geom", "gd"), ("site", "sd"), ("camera", "c2"))
REFERENCES = (None, ("body", "B"), ("xbody", "B"), ("geom", "ga"), ("site", "sa"), ("camera", "cam"))
FRAME_SENSORS = (
    *("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel"),
    *("framelinacc", "frameangacc"),
)
CUT_OFF = ("framepos", "framelinvel", "frameangacc")


def frame_sensors() -> str:
    """Sensors of frames: each kind of object, seen from each kind of reference."""
    text = []
    for kind in FRAME_SENSORS:
        for objtype, name in OBJECTS:
            cutoff = 'cutoff=".3"' if kind in CUT_OFF and objtype in ("xbody", "camera") else ""
            for seen_from in REFERENCES[:1] if kind.endswith("acc") else REFERENCES:
                relative = f'reftype="{seen_from[0]}" refname="{seen_from[1]}"' if seen_from else ""
                text.append(f'<{kind} objtype="{objtype}" objname="{name}" {relative} {cutoff}/>')
    return "\n".join(text)


def chapter_model(options: str = "", flags: str = "") -> str:
    """The model as MJCF, with attributes of `option` and of `flag`; the solvers run to convergence."""
    dense_only = "" if "sparse" in options else DENSE_ONLY
    return f"""<mujoco>
<option timestep="0.005" tolerance="1e-15" iterations="300" {options}><flag {flags}/></option><size nuserdata="3"/>
<worldbody>{BODIES}</worldbody>{CONSTRAINTS.format(dense_only=dense_only)}{ACTUATORS}
<sensor>{SENSORS}{frame_sensors()}</sensor>{KEY}</mujoco>"""


def start(engine: Any, m: Any, d: Any) -> None:
    """The state of the keyframe, with forces from outside."""
    engine.mj_resetDataKeyframe(m, d, 0)
    rng = np.random.default_rng(1)
    d.xfrc_applied[1:] = 0.3 * rng.standard_normal((m.nbody - 1, 6))
    d.qfrc_applied[:] = 0.2 * rng.standard_normal(m.nv)
