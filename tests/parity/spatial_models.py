"""Models of spatial tendons and of all transmissions."""

TRANSMISSIONS = """
<mujoco>
  <worldbody>
    <geom type="plane" size="3 3 .1"/>
    <site name="w" pos="0 .1 2"/>
    <body name="A" pos="0 0 1.3"><freejoint/><geom name="ga" size=".1"/><site name="a1" pos=".1 0 0"/>
      <body name="B" pos="0 0 -.5" euler="10 20 30"><joint axis="1 0 0"/><geom size=".1" pos="0 0 -.1"/>
        <site name="b1" pos=".01 0 -.3"/>
        <body pos="0 0 -.5" name="C" euler="3 2 40"><joint type="ball"/>
          <geom size=".1 .2" type="capsule" pos="0 0 -.1"/><site name="c1" pos="0.02 0 -.3"/></body></body>
      <body pos="0 1 -.5"><joint axis="1 0 0"/><geom size=".1" pos="0 0 -.1"/><site name="d1" pos="0.05 0 -.3"/></body>
    </body>
    <body name="E" pos="2 2 .2"><freejoint/><geom size=".1" pos=".1 0 0" gap=".5" margin=".5"/>
      <geom size=".1" pos="-.1 0 0" gap=".2" margin=".5"/><site name="e1" pos="0.05 0.2 -.3"/></body>
  </worldbody>
  <actuator>
    <general site="c1" gear="1 2 3 4 5 6"/>
    <general site="c1" refsite="w" gear="1 2 3 0 0 0"/>
    <general site="c1" refsite="w" gear="0 0 0 1 2 3"/>
    <general site="c1" refsite="b1" gear="1 2 3 0 0 0"/>
    <general site="c1" refsite="b1" gear="0 0 0 1 2 3"/>
    <general site="c1" refsite="d1" gear="1 2 3 4 5 6"/>
    <general site="e1" refsite="c1" gear="1 2 3 4 5 6"/>
    <general site="b1" refsite="c1" gear="1 2 3 4 5 6"/>
    <general cranksite="a1" slidersite="d1" cranklength="3" gear="2"/>
    <general cranksite="a1" slidersite="w" cranklength="8" gear="2"/>
    <general cranksite="c1" slidersite="a1" cranklength=".1" gear="2"/>
    <general cranksite="e1" slidersite="a1" cranklength="12" gear="2"/>
    <adhesion body="E" ctrlrange="0 1" gain="3"/>
    <general body="C" gear="2"/>
  </actuator>
</mujoco>
"""

PATHS = """
<mujoco>
  <option jacobian="{jacobian}"><flag contact="disable" energy="enable"/></option>
  <worldbody>
    <site name="w" pos="0 0 2"/>
    <body name="A" pos="0 0 1"><freejoint/><geom size=".1"/><site name="a1" pos=".1 0 0"/><site name="a2" pos="0 .2 0"/>
      <geom name="g" size=".1" pos="0 0 -.3"/>
      <body pos="0 0 -.5"><joint name="j" axis="1 0 0"/><geom size=".1" pos="0 0 -.1"/><site name="b1" pos=".01 0 -.3"/>
        <geom name="h" type="cylinder" size=".08 .1" pos="0 0 -.4" euler="80 10 0" contype="0" conaffinity="0"/>
        <site name="side" pos=".2 .1 -.4"/>
        <body pos="0 0 -.5"><joint axis="0 1 0"/><geom size=".1" pos="0 0 -.1"/>
          <site name="c1" pos="0.02 0 -.3"/></body>
      </body>
      <body pos="0 1 -.5"><joint axis="1 0 0"/><geom size=".1" pos="0 0 -.1"/><site name="d1" pos="0.05 0 -.3"/></body>
    </body>
    <body pos="2 2 2"><joint/><geom size=".1" pos=".1 0 0"/><site name="e1" pos="0.05 0.2 -.3"/></body>
  </worldbody>
  <tendon>
    <spatial stiffness="3"><site site="a1"/><site site="a2"/></spatial>
    <spatial stiffness="3" damping="2"><site site="a1"/><site site="b1"/></spatial>
    <fixed><joint joint="j" coef="2"/></fixed>
    <spatial damping="2" springlength=".1 .2"><site site="b1"/><site site="d1"/></spatial>
    <spatial stiffness="5" springlength="3" limited="true" range="1 2"><site site="w"/><site site="d1"/></spatial>
    <spatial name="t4" frictionloss=".3"><site site="a1"/><geom geom="g"/><site site="b1"/><pulley divisor="2"/>
      <site site="c1"/><site site="e1"/></spatial>
    <spatial><site site="a1"/><geom geom="g"/><site site="a2"/><site site="d1"/></spatial>
    <spatial name="t6" springlength=".1 .7" stiffness="10"><pulley divisor="2"/><site site="c1"/><site site="e1"/>
      <pulley divisor="3"/><site site="w"/><geom geom="h" sidesite="side"/><site site="e1"/></spatial>
    <spatial name="t7"><site site="b1"/><geom geom="h" sidesite="side"/><site site="c1"/><geom geom="h"/>
      <site site="d1"/></spatial>
  </tendon>
  <actuator>
    <motor tendon="t4" gear="3"/><muscle tendon="t6" lengthrange="0 2"/><position tendon="t7" kp="20"/>
  </actuator>
  <sensor><tendonpos tendon="t4"/><tendonvel tendon="t6"/></sensor>
</mujoco>
"""

# actuators with an activation come last: the reference's implicit integrators need that (docs/differences.md)
MUSCLES = """
<mujoco>
  <worldbody>
    <body><joint name="j" axis="0 1 0" range="-60 50"/><geom size=".05 .2" type="capsule" pos=".2 0 0"/>
      <body pos=".4 0 0"><joint name="k" axis="0 1 0" range="0 90"/><geom size=".05 .2" type="capsule" pos=".2 0 0"/>
      </body></body>
  </worldbody>
  <option integrator="{integrator}"/>
  <actuator>
    <general joint="j" gaintype="muscle" gainprm=".5 1.5 -1 9 .3 1.8 1.2 1.1 1.4" lengthrange="-1 1" group="1"/>
    <damper joint="j" kv="2" ctrlrange="0 1"/>
    <muscle joint="j" lengthrange="-.5 .5"/>
    <muscle joint="k" lengthrange="-.5 1.5" force="30" tausmooth=".3" gear="-1"/>
    <muscle joint="k" lengthrange="-.5 1.5" scale="20" ctrlrange="0 .5" forcerange="-1 .2"/>
    <general joint="j" dyntype="muscle" dynprm=".02 .03" gainprm="2" actearly="true" actlimited="true" actrange="0 .4"/>
    <cylinder joint="k" diameter=".3" timeconst=".1" bias=".1 .2 -.3"/>
    <intvelocity joint="j" kp="3" actrange="-1 1" dampratio="1"/>
  </actuator>
</mujoco>
"""
