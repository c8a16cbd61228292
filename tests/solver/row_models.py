"""Small models for the tests of the solver: one a kind of constraint row, and one with a large island."""

from __future__ import annotations

ROWS = """
<mujoco>
  <option cone="{cone}" jacobian="{jacobian}" impratio="2"/>
  <worldbody>
    <geom type="plane" size="5 5 .1" condim="{condim}"/>
    <body name="a" pos="0 0 .09"><freejoint/><geom size=".1" mass="1" condim="{condim}" friction=".8 .02 .01"/></body>
    <body name="b" pos=".15 0 .1"><freejoint/><geom size=".1" mass=".5" condim="{condim}" friction=".3 .02 .01"/></body>
    <body name="c" pos="0 1 1">
      <joint name="c1" axis="0 1 0" range="-20 20" limited="true" frictionloss=".3" damping=".1"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
      <body pos=".3 0 0">
        <joint name="c2" axis="0 1 0" frictionloss=".05"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
        <body pos=".3 0 0"><joint name="c3" type="ball" range="0 30" limited="true"/><geom size=".05"/></body>
      </body>
    </body>
    <body name="e" pos="0 -1 1"><joint name="e1" type="slide" axis="0 0 1"/><geom size=".05"/></body>
    <body name="f" pos="1 -1 1"><joint name="f1" type="slide" axis="0 0 1"/><geom size=".05"/></body>
    <body name="g" pos="2 0 .5"><freejoint/><geom size=".05"/></body>
  </worldbody>
  <equality>
    <joint joint1="e1" joint2="f1" polycoef="0 1 .1 0 0"/>
    <connect body1="g" body2="c" anchor="0 0 .1"/>
  </equality>
</mujoco>
"""


def pile(count: int, cone: str = "pyramidal", jacobian: str = "auto") -> str:
    """A row of `count` overlapping chains of two links on the floor, all touching: one island."""
    bodies = "".join(
        f'<body pos="{0.19 * k} 0 .099"><freejoint/><geom size=".1"/>'
        f'<body pos="0 .25 0"><joint axis="1 0 0"/><geom size=".099"/></body></body>'
        for k in range(count)
    )
    return (
        f'<mujoco><option cone="{cone}" jacobian="{jacobian}"/><worldbody>'
        f'<geom type="plane" size="50 5 .1"/>{bodies}</worldbody></mujoco>'
    )


ISLANDS = pile(2).replace("</worldbody>", '<body pos="0 3 .09"><freejoint/><geom size=".1"/></body></worldbody>')
