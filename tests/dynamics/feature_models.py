"""Small models, one a feature of the smooth dynamics, as MJCF."""

JOINTS = """
<mujoco>
  <option><flag contact="disable" energy="enable"/></option>
  <worldbody>
    <body pos="0 0 1" quat="1 2 3 4">
      <freejoint/>
      <geom type="box" size=".1 .2 .3" pos=".1 0 0" euler="10 20 30"/>
      <geom type="sphere" size=".1" pos=".2 .3 0"/>
      <site pos=".1 0 0"/><site euler="0 0 20"/><site/>
      <body pos="1 0 0" euler="20 0 10">
        <joint type="ball" pos=".1 .2 .3"/>
        <geom size=".1 .3" type="capsule"/>
        <body pos="1 0 0">
          <joint axis="0 1 0" pos="0 .1 0" ref="20"/>
          <joint type="slide" axis="0 1 1" ref=".3"/>
          <joint axis="1 1 0" pos=".1 .1 0" armature=".3"/>
          <geom size=".1 .2" type="capsule" pos=".1 .1 .1" euler="4 5 6"/>
          <body pos="0 0 .3"><geom size=".1 .1 .1" type="ellipsoid"/></body>
        </body>
      </body>
      <body pos="0 1 0"><joint type="ball"/><inertial pos=".1 .2 .3" mass="2" fullinertia="1 2 2.5 .1 .2 .3"/></body>
    </body>
    <body pos="1 1 2"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><geom size=".1"/></body>
    <body pos="3 1 2"><freejoint/><geom size=".1 .2 .3" type="box"/></body>
    <body pos="3 3 3" mocap="true" euler="10 20 30"><geom size=".1"/>
      <body pos="1 0 0"><geom size=".1" pos="0 0 1"/></body></body>
    <body pos="3 3 4" euler="0 0 30"><geom size=".1"/>
      <body pos="1 0 0"><joint/><geom size=".1" pos="0 0 1"/></body></body>
  </worldbody>
</mujoco>
"""

CAMERAS = """
<mujoco>
  <option><flag contact="disable"/></option>
  <worldbody>
    <light mode="targetbodycom" target="b" pos="1 1 3" dir="0 0 -2"/>
    <camera mode="targetbody" target="c" pos="2 1 3"/>
    <body name="b" pos="0 0 1" euler="10 20 30">
      <freejoint/>
      <geom type="box" size=".1 .2 .3" pos=".1 0 0"/>
      <camera mode="fixed" pos="0 1 1" euler="10 20 30"/><camera mode="track" pos="1 0 1" euler="0 20 0"/>
      <camera mode="trackcom" pos="1 0 1" euler="20 0 0"/><camera mode="targetbody" target="c" pos="1 1 0"/>
      <camera mode="targetbodycom" target="c" pos="0 0 1"/>
      <light mode="fixed" pos="0 1 1" dir="1 2 3"/><light mode="track" pos="1 0 1" dir="1 0 1"/>
      <light mode="trackcom" pos="1 0 1" dir="1 0 1"/><light mode="targetbody" target="c" pos="1 1 0" dir="1 0 0"/>
      <body name="c" pos="1 0 0"><joint type="ball"/><geom size=".1"/>
        <body pos="1 0 0"><joint axis="0 1 0"/><geom size=".1 .2" type="capsule"/></body></body>
    </body>
  </worldbody>
</mujoco>
"""

TENDONS = """
<mujoco>
  <option jacobian="{jacobian}"><flag contact="disable" energy="enable"/></option>
  <worldbody>
    <body pos="0 0 1">
      <joint name="a" axis="0 1 0"/><geom size=".1 .2" type="capsule" pos="0 0 .3"/>
      <body pos="0 0 1"><joint name="b" axis="1 0 0" ref="10"/><geom size=".1 .2" type="capsule" pos="0 .2 .3"/></body>
      <body pos="0 1 0"><joint name="c" type="slide" axis="1 1 0"/>
        <geom size=".1 .2" type="capsule" pos="0 0 .3"/></body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="one" stiffness="10" damping="2"><joint joint="b" coef="2"/><joint joint="a" coef="-3"/></fixed>
    <fixed name="two" stiffness="20" springlength="-.1 .1"><joint joint="c" coef=".7"/></fixed>
    <fixed name="three" damping="3" springlength=".4"><joint joint="c" coef=".7"/><joint joint="b" coef="1"/></fixed>
    <fixed name="four" stiffness="5" springlength="1 2"><joint joint="a" coef="1.5"/><joint joint="b" coef="1"/></fixed>
  </tendon>
  <actuator>
    <motor tendon="one" gear="3"/><position tendon="two" kp="20"/><velocity tendon="three" kv="4"/>
    <general joint="a" biastype="affine" biasprm="1 2 -3" gaintype="affine" gainprm="1 2 -.5"/>
  </actuator>
</mujoco>
"""

PASSIVE = """
<mujoco>
  <option gravity="1 2 -9"><flag contact="disable" energy="enable" {flag}/></option>
  <worldbody>
    <body pos="0 0 1" euler="10 20 30" gravcomp="1">
      <joint type="free" stiffness="10" damping="2"/><geom size=".1 .2 .3" type="box"/>
      <body pos="0 0 1" gravcomp=".5"><joint type="ball" stiffness="4" damping="1" actuatorgravcomp="{act}"/>
        <geom size=".1 .2" type="capsule" pos="0 .2 .3"/>
        <body pos="0 0 1"><joint stiffness="3" springref="20" damping=".5" actuatorgravcomp="{act}"
          actuatorfrcrange="-2 2" actuatorfrclimited="true" name="h"/><geom size=".1"/>
          <geom size=".1" pos=".3 0 0"/></body>
      </body>
    </body>
    <body pos="0 3 0" gravcomp="2"><joint type="slide" stiffness="30" springdamper=".1 1"/><geom size=".1"/></body>
  </worldbody>
  {actuators}
</mujoco>
"""

ACTUATORS = """
<mujoco>
  <option><flag contact="disable" {flag}/></option>
  <worldbody>
    <body pos="0 0 1" euler="10 20 30">
      <joint name="free" type="free"/><geom size=".1 .2 .3" type="box"/>
      <body pos="0 0 1"><joint name="ball" type="ball"/><geom size=".1 .2" type="capsule" pos="0 .2 .3"/>
        <body pos="0 0 1"><joint name="hinge" actuatorfrcrange="-2 2" actuatorfrclimited="true"/>
          <geom size=".1" pos=".3 0 0"/>
          <body pos="1 0 0"><joint name="slide" type="slide"/><geom size=".1"/></body></body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="free" gear="1 2 3 4 5 6"/>
    <motor jointinparent="free" gear="1 2 3 4 5 6"/>
    <position joint="ball" gear="1 2 3" kp="7"/>
    <position jointinparent="ball" gear="1 2 3" kp="3"/>
    <motor jointinparent="hinge" ctrllimited="true" ctrlrange="-.1 .1" gear="3"/>
    <general joint="hinge" dyntype="integrator" gainprm="3" actlimited="true" actrange="-.2 .2" group="1"/>
    <general joint="slide" dyntype="filter" dynprm=".1" gainprm="3" biastype="affine" biasprm="1 2 3" group="2"/>
    <general joint="slide" dyntype="filterexact" dynprm=".1" gaintype="affine" gainprm="1 2 3" actearly="true"/>
    <general joint="slide" dyntype="integrator" gainprm="3" actlimited="true" actrange="-.2 .2" actearly="true"/>
    <general joint="slide" gainprm="30" forcelimited="true" forcerange="-.2 .2" ctrllimited="true" ctrlrange="-.1 .1"/>
    <velocity joint="slide" kv="3" forcelimited="true" forcerange="-.2 .2"/>
    <general joint="slide" dyntype="filter" dynprm="0" gaintype="affine" gainprm="1 2 3" ctrllimited="true"
      ctrlrange="-.1 .1"/>
    <general joint="hinge" gaintype="affine" gainprm="1 2 3" ctrllimited="true" ctrlrange="-.1 .1"/>
    <damper joint="hinge" kv="4" ctrlrange="0 1"/>
  </actuator>
</mujoco>
"""

FORCES = """
<mujoco>
  <option cone="{cone}" solver="Newton" tolerance="1e-12"/>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body name="a" pos="0 0 .1"><freejoint/><geom type="capsule" size=".15 .2" condim="{condim}" friction="1 .1 .1"
      euler="90 0 0"/>
      <body name="b" pos="0 .5 .1"><joint type="ball"/><geom type="sphere" size=".25" condim="1"/></body></body>
    <body name="c" pos="1 .5 .2"><freejoint/><geom type="sphere" size=".25" condim="{condim}"/></body>
    <body name="d" pos="1 .5 1"><freejoint/><geom type="sphere" size=".25" condim="3"/></body>
    <body name="e" pos="2 .5 1"><joint axis="1 0 0"/><geom type="sphere" size=".25" pos="0 .1 .1"/></body>
  </worldbody>
  <equality>
    <connect body1="b" body2="c" anchor=".1 .2 .3"/>
    <weld body1="c" body2="d" relpose="0 0 .5 1 .1 .2 .3" anchor=".1 .2 .3"/>
    <weld body1="e" torquescale="3"/><connect body1="d" body2="e" anchor=".3 .2 .1"/>
  </equality>
</mujoco>
"""

ONLY_MOTORS = '<actuator><motor joint="h" gear="5"/></actuator>'

MODELS = {
    "joints": JOINTS,
    "cameras": CAMERAS,
    "tendons-dense": TENDONS.format(jacobian="dense"),
    "tendons-sparse": TENDONS.format(jacobian="sparse"),
    "passive": PASSIVE.format(flag="", act="false", actuators=ONLY_MOTORS),
    "passive-off": PASSIVE.format(flag='passive="disable"', act="true", actuators=ONLY_MOTORS),
    "gravity-off": PASSIVE.format(flag='gravity="disable"', act="true", actuators=ONLY_MOTORS),
    "gravcomp-by-actuators": PASSIVE.format(flag="", act="true", actuators=ONLY_MOTORS),
    "gravcomp-without-actuators": PASSIVE.format(flag="", act="true", actuators=""),
    "gravcomp-actuation-off": PASSIVE.format(flag='actuation="disable"', act="true", actuators=ONLY_MOTORS),
    "actuators": ACTUATORS.format(flag=""),
    "actuation-off": ACTUATORS.format(flag='actuation="disable"'),
    "clampctrl-off": ACTUATORS.format(flag='clampctrl="disable"'),
    **{
        f"forces-{cone}-{condim}": FORCES.format(cone=cone, condim=condim)
        for cone in ("pyramidal", "elliptic")
        for condim in (1, 3, 4, 6)
    },
}
