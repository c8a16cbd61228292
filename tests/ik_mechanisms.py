"""Models for tests of inverse kinematics."""

from functools import cache

import cardan

ARM = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="shoulder" pos="0 0 .33">
      <joint name="j1" axis="0 0 1" range="-170 170"/><geom name="g1" type="capsule" size=".06" fromto="0 0 0 0 0 .1"/>
      <body name="upper">
        <joint name="j2" axis="0 1 0" range="-110 110"/>
        <geom name="g2" type="capsule" size=".05" fromto="0 0 .1 0 0 .3"/>
        <body pos="0 0 .32"><joint name="j3" axis="0 0 1" range="-170 170"/><geom size=".05"/>
          <body name="elbow" pos=".08 0 0"><joint name="j4" axis="0 -1 0" range="-170 5"/>
            <geom name="g4" type="capsule" size=".04" fromto="-.08 0 .05 -.08 0 .3"/>
            <body name="forearm" pos="-.08 0 .38"><joint name="j5" axis="0 0 1" range="-166 166"/><geom size=".04"/>
              <body name="wrist"><joint name="j6" axis="0 -1 0" range="-5 210"/><geom size=".04" pos=".05 0 0"/>
                <body name="hand" pos=".09 0 0" euler="180 0 0"><joint name="j7" axis="0 0 1" range="-166 166"/>
                  <geom name="g7" type="box" size=".03 .02 .05" pos="0 0 .1"/>
                  <site name="tool" pos=".02 .01 .2" euler="10 20 30"/>
                </body>
              </body>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>"""
"""An arm with seven hinges."""

TREE = """
<mujoco>
  <worldbody>
    <geom name="base" type="box" size=".1 .1 .1"/>
    <body name="trunk" pos=".1 .2 1"><freejoint name="root"/><geom name="chest" type="box" size=".2 .1 .3"/>
      <body name="left" pos=".2 0 .2"><joint name="ball" type="ball"/>
        <geom type="capsule" size=".04" fromto="0 0 0 .3 0 0"/>
        <body name="slider" pos=".3 0 0"><joint name="slide" type="slide" axis="1 1 0" range="-.2 .2"/>
          <geom name="fist" type="ellipsoid" size=".1 .05 .04" pos=".05 .02 0" euler="0 30 0"/>
          <site name="tip" pos=".1 .02 .03" euler="40 0 20"/></body></body>
      <body name="right" pos="-.2 0 .2" euler="0 0 30"><joint name="h1" axis="0 1 0"/><joint name="h2" axis="1 0 0"/>
        <geom type="capsule" size=".04" fromto="0 0 0 -.3 0 0"/>
        <body name="low" pos="-.3 0 0"><joint name="h3" axis="0 1 1"/><geom size=".05" pos="-.1 0 0"/></body></body>
    </body>
  </worldbody>
</mujoco>"""
"""A floating trunk with joints of all types."""

PLANAR = """
<mujoco>
  <worldbody>
    <body name="a"><joint name="a" axis="0 0 1"/><geom type="capsule" size=".02" fromto="0 0 0 1 0 0"/>
      <body name="b" pos="1 0 0"><joint name="b" axis="0 0 1"/>
        <geom name="end" type="capsule" size=".02" fromto="0 0 0 .7 0 0"/><site name="tip" pos=".7 0 0"/></body></body>
    <body name="post" pos="0 -3 0"><geom name="post" size=".3"/></body>
  </worldbody>
</mujoco>"""
"""Two links in a plane, 1 m and 0.7 m long."""

FOUR_BAR = """
<mujoco>
  <worldbody>
    <body name="crank"><joint name="crank" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 0 0 .3"/>
      <body name="rod" pos="0 0 .3"><joint name="rod" axis="0 1 0"/>
        <geom type="capsule" size=".02" fromto="0 0 0 .8 0 0"/><site name="middle" pos=".4 0 .1"/></body></body>
    <body name="rocker" pos=".8 0 -.2"><joint name="rocker" axis="0 1 0"/>
      <geom type="capsule" size=".02" fromto="0 0 0 0 0 .5"/></body>
    <body name="follower" pos="0 1 0"><joint name="follower" type="slide" axis="0 0 1"/><geom size=".1"/></body>
  </worldbody>
  <equality>
    <connect body1="rod" body2="rocker" anchor=".8 0 0"/>
    <joint joint1="follower" joint2="crank" polycoef=".1 .5 .2 0 0"/>
  </equality>
</mujoco>"""
"""A closed loop of four links, and a slide coupled to the crank."""


@cache
def model(xml: str) -> cardan.MjModel:
    """Return the compiled model, which tests share."""
    return cardan.MjModel.from_xml_string(xml)
