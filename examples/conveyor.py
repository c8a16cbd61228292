"""A conveyor without moving parts, and a ceiling that holds balls: surface velocities and adhesion of geoms.

python examples/conveyor.py                      # prints where things are after 2 s
python examples/conveyor.py --picture FILE.png   # also draws the last state

Without a file, nothing is drawn.
"""

from __future__ import annotations

import argparse

from PIL import Image

import cardan

SCENE = """<mujoco><visual><global offwidth="640" offheight="400"/></visual><worldbody>
<light pos="0 -2 4" dir="0 .4 -1"/>
<geom type="plane" size="4 4 .1" rgba=".5 .55 .6 1"/>
<geom type="box" size="1.2 .3 .1" pos="0 0 .3" surfacevel=".5 0 0" rgba=".2 .35 .6 1"/>
<geom type="box" size="1.2 .3 .05" pos="0 .8 1.2" adhesion="3" margin=".01" gap=".01" rgba=".7 .3 .3 1"/>
<body name="box" pos="-1 0 .5"><freejoint/><geom type="box" size=".1 .1 .1" mass="1" rgba=".8 .6 .3 1"/></body>
<body name="light" pos="-.4 .8 1.05"><freejoint/><geom size=".1" mass=".2" rgba=".4 .7 .4 1"/></body>
<body name="heavy" pos=".4 .8 1.05"><freejoint/><geom size=".1" mass="1" rgba=".3 .3 .3 1"/></body>
</worldbody></mujoco>"""


def main() -> None:
    """Run the scene for 2 s and print the positions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", help="file for a picture of the last state")
    picture = parser.parse_args().picture
    m = cardan.MjModel.from_xml_string(SCENE)
    d = cardan.MjData(m)
    cardan.mj_step(m, d, round(2.0 / m.opt.timestep))
    for name in ("box", "light", "heavy"):
        print(name, d.body(name).xpos.round(3).tolist())
    if picture:
        camera = cardan.MjvCamera()
        camera.lookat[:], camera.distance, camera.elevation, camera.azimuth = (0, 0.3, 0.6), 3.5, -15, 100
        with cardan.Renderer(m, 400, 640) as renderer:
            renderer.update_scene(d, camera)
            Image.fromarray(renderer.render()).save(picture)


if __name__ == "__main__":
    main()
