"""Inverse kinematics: an arm reaches points behind two pillars, with and without regard to collisions.

python examples/reach.py                      # prints success, collisions and times
python examples/reach.py --picture FILE.png   # also draws the arm at one target, both ways

Without a file, nothing is drawn.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from PIL import Image

import cardan
from cardan import ik

LINK = '<geom name="{name}" type="capsule" size="{size}" fromto="{line}" rgba="{color}"/>'
ORANGE, GREY = ".9 .5 .15 1", ".75 .75 .78 1"
ARM = f"""
<mujoco>
  <visual><global offwidth="640" offheight="640"/></visual>
  <asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1=".7 .8 .9" rgb2="1 1 1" width="64" height="64"/>
    <texture name="tiles" type="2d" builtin="checker" rgb1=".82 .85 .88" rgb2=".9 .92 .94" width="128" height="128"/>
    <material name="tiles" texture="tiles" texrepeat="8 8"/>
  </asset>
  <worldbody>
    <light pos="1 -1 3" dir="-.3 .3 -1"/>
    <geom name="floor" type="plane" size="1.5 1.5 .1" material="tiles"/>
    <geom name="left pillar" type="cylinder" size=".03 .36" pos=".28 .13 .36" rgba=".3 .45 .75 1"/>
    <geom name="right pillar" type="cylinder" size=".03 .36" pos=".28 -.13 .36" rgba=".3 .45 .75 1"/>
    <body name="shoulder" pos="0 0 .33"><joint name="j1" axis="0 0 1" range="-170 170"/>
      {LINK.format(name="base", size=0.07, line="0 0 -.3 0 0 0", color=GREY)}
      <body name="upper"><joint name="j2" axis="0 1 0" range="-110 110"/>
        {LINK.format(name="upper", size=0.055, line="0 0 .02 0 0 .28", color=ORANGE)}
        <body pos="0 0 .32"><joint name="j3" axis="0 0 1" range="-170 170"/><geom size=".06" rgba="{GREY}"/>
          <body name="elbow"><joint name="j4" axis="0 -1 0" range="-170 5"/>
            {LINK.format(name="fore", size=0.05, line="0 0 .04 0 0 .36", color=ORANGE)}
            <body name="forearm" pos="0 0 .38"><joint name="j5" axis="0 0 1" range="-166 166"/>
              <geom size=".05" rgba="{GREY}"/>
              <body name="wrist"><joint name="j6" axis="0 -1 0" range="-120 120"/>
                {LINK.format(name="wrist", size=0.04, line="0 0 .03 0 0 .12", color=ORANGE)}
                <body name="hand" pos="0 0 .14"><joint name="j7" axis="0 0 1" range="-166 166"/>
                  <geom name="palm" type="box" size=".05 .02 .02" rgba="{GREY}"/>
                  <geom name="left" type="box" size=".01 .015 .04" pos=".045 0 .05" rgba="{GREY}"/>
                  <geom name="right" type="box" size=".01 .015 .04" pos="-.045 0 .05" rgba="{GREY}"/>
                  <site name="grip" pos="0 0 .07" size=".01" rgba="1 0 0 1"/>
                </body>
              </body>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>"""
OBSTACLES = ["left pillar", "right pillar", "floor"]
MOVING = ["upper", "fore", "wrist", "palm", "left", "right"]
MARGIN = 0.01
HAND = ik.FrameTask("grip", "site")


def targets_behind_pillars(count: int) -> np.ndarray:
    """Poses (count, 7) on an arc behind the pillars, in which the hand points down."""
    angle = np.linspace(-0.5, 0.5, count)
    poses = np.zeros((count, 7))
    poses[:, 0], poses[:, 1], poses[:, 2] = 0.5 * np.cos(angle), 0.5 * np.sin(angle), 0.2
    poses[:, 4], poses[:, 5] = np.cos(angle / 2), np.sin(angle / 2)
    return poses


def smallest_distance(m: cardan.MjModel, q: np.ndarray) -> float:
    """Smallest distance between the arm and the obstacles at a configuration, m."""
    d = cardan.MjData(m)
    d.qpos[:] = q
    cardan.mj_kinematics(m, d)
    pairs = ((m.geom(a).id, m.geom(b).id) for a in MOVING for b in OBSTACLES)
    return min(cardan.mj_geomDistance(m, d, a, b, 1.0, None) for a, b in pairs)


def draw(m: cardan.MjModel, q: np.ndarray) -> np.ndarray:
    """Picture of the arm (640, 640, 3)."""
    d, camera = cardan.MjData(m), cardan.MjvCamera()
    d.qpos[:] = q
    cardan.mj_forward(m, d)
    camera.lookat[:], camera.distance, camera.elevation, camera.azimuth = (0.3, 0, 0.4), 1.7, -25, 115
    with cardan.Renderer(m, 640, 640) as renderer:
        renderer.update_scene(d, camera)
        return renderer.render()


def main() -> None:
    """Reach all targets both ways, print the results, and draw the worst target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", help="file for a picture of the arm at one target, without and with distances")
    file = parser.parse_args().picture
    m, targets = cardan.MjModel.from_xml_string(ARM), targets_behind_pillars(41)
    free = ik.solve(m, HAND, targets)
    options = {"avoid": [(MOVING, OBSTACLES)], "margin": MARGIN}
    careful = ik.solve(m, HAND, targets, **options)
    for name, found in (("without distances", free), ("with distances", careful)):
        near = np.array([smallest_distance(m, q) for q in found.q])
        print(f"{name:18} {found.ok.mean():6.1%} reached, {np.mean(near < 0):6.1%} collide, nearest {near.min():.3f} m")
    begin = time.perf_counter()
    ik.solve(m, HAND, np.repeat(targets, 20, 0), **options)
    print(f"{(time.perf_counter() - begin) / len(targets) / 20 * 1e6:.0f} us for each target with distances")
    if file:
        worst = int(np.argmin([smallest_distance(m, q) for q in free.q]))
        Image.fromarray(np.hstack([draw(m, free.q[worst]), draw(m, careful.q[worst])])).save(file)


if __name__ == "__main__":
    main()
