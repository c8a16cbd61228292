"""A wall of bricks that sleeps until a ball hits it: trees at rest cost almost nothing.

python examples/brick_wall.py                      # prints how many bricks are awake, and the time of a step
python examples/brick_wall.py --picture FILE.png   # also draws the wall after the hit; bricks that sleep are dark

Without a file, nothing is drawn.
"""

from __future__ import annotations

import argparse
import time

from PIL import Image

import cardan

ROWS, COLUMNS = 10, 16
HALF = 0.1, 0.05, 0.04  # half sides of a brick, m
SHOT = 1.0  # time at which the ball is shot, s
SPEED = 12.0  # speed of the ball, m/s
AWAKE, ASLEEP = (0.85, 0.45, 0.3, 1), (0.35, 0.2, 0.15, 1)
SCENE = """<mujoco><option timestep="2e-3"><flag sleep="enable"/></option>
<visual><global offwidth="640" offheight="400"/></visual>
<default><default class="brick"><geom type="box" size="{size}" density="800" friction=".8"/></default></default>
<worldbody><light pos="-1 -3 4" dir=".2 .6 -1"/><geom type="plane" size="6 6 .1" rgba=".5 .55 .6 1"/>{bricks}
<body name="ball" pos="0 -1.5 .42" sleep="never"><freejoint/><geom size=".12" density="3000" rgba=".2 .3 .6 1"/></body>
</worldbody></mujoco>"""


def wall() -> cardan.MjModel:
    """Return a model of a wall in running bond, with a ball in front of it."""
    bricks = []
    for row in range(ROWS):
        for column in range(COLUMNS):
            x = (column - 0.5 * COLUMNS + 0.5 * (row % 2)) * 2.02 * HALF[0]
            place = f"{x} 0 {(2 * row + 1) * HALF[2]}"
            bricks.append(f'<body pos="{place}"><freejoint/><geom class="brick"/></body>')
    return cardan.MjModel.from_xml_string(SCENE.format(size="{} {} {}".format(*HALF), bricks="".join(bricks)))


def main() -> None:
    """Let the wall fall asleep, shoot the ball, and print the number of bricks that are awake."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", help="file for a picture of the wall after the hit")
    picture = parser.parse_args().picture
    m = wall()
    d = cardan.MjData(m)
    hold = d.body("ball").xpos.copy()
    for tenth in range(18):
        begin = time.perf_counter()
        for _ in range(round(0.1 / m.opt.timestep)):
            if d.time < SHOT:  # the ball waits
                d.qpos[-7:-4], d.qvel[-6:] = hold, 0.0
            cardan.mj_step(m, d)
        if abs(d.time - SHOT) < 1e-9:
            d.qvel[-6:-3] = 0.0, SPEED, 0.0
        microseconds = (time.perf_counter() - begin) / round(0.1 / m.opt.timestep) * 1e6
        awake = int((d.tree_asleep[:-1] < 0).sum())
        print(f"{(tenth + 1) / 10:.1f} s: {awake} of {ROWS * COLUMNS} bricks are awake, {microseconds:.0f} us a step")
    if picture:
        for tree in range(m.ntree - 1):
            geom = m.body_geomadr[m.tree_bodyadr[tree]]
            m.geom_rgba[geom] = AWAKE if d.tree_asleep[tree] < 0 else ASLEEP
        camera = cardan.MjvCamera()
        camera.lookat[:], camera.distance, camera.elevation, camera.azimuth = (0, 0, 0.35), 3.6, -18, 120
        with cardan.Renderer(m, 400, 640) as renderer:
            renderer.update_scene(d, camera)
            Image.fromarray(renderer.render()).save(picture)


if __name__ == "__main__":
    main()
