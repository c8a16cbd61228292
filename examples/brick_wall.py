"""A wall of stacked bricks that sleeps until a ball hits it: trees at rest cost almost nothing.

python examples/brick_wall.py                      # prints how many bricks are awake, and the time of a step
python examples/brick_wall.py --picture FILE.png   # also draws the wall at 0.9 s; bricks that sleep are dark

Without a file, nothing is drawn.
"""

from __future__ import annotations

import argparse
import time

from PIL import Image

import cardan

ROWS, COLUMNS = 4, 25
HALF = 0.1, 0.06, 0.05  # half sides of a brick, m
SHOT = 0.3  # time at which the ball is shot, s
SPEED = 5.0  # speed of the ball, m/s
DRAWN = 8  # tenth of a second whose end is drawn
AWAKE, ASLEEP = (0.95, 0.55, 0.3, 1), (0.45, 0.25, 0.2, 1)
SCENE = """<mujoco><option timestep="2e-3" sleep_tolerance="5e-3"><flag sleep="enable"/></option>
<visual><global offwidth="640" offheight="400"/></visual>
<default><default class="brick"><geom type="box" size="{size}" density="800" friction=".8"/></default></default>
<worldbody><light pos="1 -3 4" dir="-.2 .6 -1" diffuse="1 1 1"/>
<geom type="plane" size="6 6 .1" rgba=".7 .75 .8 1"/>{bricks}
<body name="ball" pos="0 -1.5 .2" sleep="never"><freejoint/><geom size=".12" density="3000" rgba=".2 .3 .6 1"/></body>
</worldbody></mujoco>"""


def wall() -> cardan.MjModel:
    """Return a model of a wall of stacks that almost touch, with a ball in front of it."""
    bricks = []
    for row in range(ROWS):
        for column in range(COLUMNS):
            x = (column - 0.5 * (COLUMNS - 1)) * 2.05 * HALF[0]
            place = f"{x} 0 {(2 * row + 1) * HALF[2]}"
            bricks.append(f'<body pos="{place}" sleep="init"><freejoint/><geom class="brick"/></body>')
    return cardan.MjModel.from_xml_string(SCENE.format(size="{} {} {}".format(*HALF), bricks="".join(bricks)))


def draw(m: cardan.MjModel, d: cardan.MjData, file: str) -> None:
    """Draw the wall; bricks that sleep are dark."""
    for tree in range(m.ntree - 1):
        geom = m.body_geomadr[m.tree_bodyadr[tree]]
        m.geom_rgba[geom] = AWAKE if d.tree_asleep[tree] < 0 else ASLEEP
    option = cardan.MjvOption()
    option.flags[cardan.mjtVisFlag.mjVIS_ISLAND] = False  # own colours, not those of islands
    camera = cardan.MjvCamera()
    camera.lookat[:], camera.distance, camera.elevation, camera.azimuth = (0, 0, 0.15), 3.4, -22, 110
    with cardan.Renderer(m, 400, 640) as renderer:
        renderer.update_scene(d, camera, option)
        Image.fromarray(renderer.render()).save(file)


def main() -> None:
    """Shoot the ball at the wall, which sleeps from the start, and print the number of bricks that are awake."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", help="file for a picture of the wall at 0.9 s")
    picture = parser.parse_args().picture
    m = wall()
    d = cardan.MjData(m)
    hold = d.body("ball").xpos.copy()
    for tenth in range(25):
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
        if picture and tenth == DRAWN:
            draw(m, d, picture)


if __name__ == "__main__":
    main()
