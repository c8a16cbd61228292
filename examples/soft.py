"""Cloth and soft blocks: a sheet that hangs between four corners catches a ball, and blocks of two materials sag.

python examples/soft.py                      # prints how far the sheet and the blocks give way
python examples/soft.py --picture FILE.png   # also draws the last state

The sheet stretches and bends (``elastic2d="both"``). The blocks are beams of tetrahedra that are fixed at one end. The
integrator discrete is implicit in the stiffness, so that steps of 2 ms are stable. Without a file, nothing is drawn.
"""

from __future__ import annotations

import argparse

from PIL import Image

import cardan

BEAM = """<flexcomp name="{name}" type="grid" dim="3" count="9 3 3" spacing=".06 .06 .06" pos=".5 {y} .6" mass=".6"
  radius=".005" rgba="{rgba}"><elasticity young="{young}" poisson=".3" damping=".02"/>
  <contact selfcollide="none" contype="0" conaffinity="0"/><pin gridrange="0 0 0 0 2 2"/></flexcomp>"""
SCENE = f"""<mujoco><option timestep=".002" integrator="discrete" tolerance="1e-6"/>
<visual><global offwidth="640" offheight="400"/><headlight ambient=".4 .4 .4"/></visual>
<asset><texture type="skybox" builtin="gradient" rgb1=".9 .95 1" rgb2=".6 .75 .9" width="64" height="64"/></asset>
<worldbody>
<geom type="plane" size="2 2 .1" rgba=".8 .8 .8 1"/><light pos="0 -1 3" dir="0 .3 -1"/>
<flexcomp name="sheet" type="grid" dim="2" count="11 11 1" spacing=".08 .08 .08" pos="-.4 0 .7" mass=".3" radius=".01"
  rgba=".2 .5 .8 1"><elasticity young="3e4" poisson=".3" thickness=".01" damping=".01" elastic2d="both"/>
  <contact selfcollide="none" condim="3"/><pin grid="0 0 0 10 10 0 10 10"/></flexcomp>
<body name="ball" pos="-.4 0 1"><freejoint/><geom size=".12" mass=".5" rgba=".8 .3 .2 1"/></body>
{BEAM.format(name="soft", y="-.25", young="2e4", rgba=".9 .7 .2 1")}
{BEAM.format(name="stiff", y=".25", young="3e5", rgba=".3 .7 .4 1")}</worldbody></mujoco>"""
DURATION = 2.0
"""Time of the simulation, s."""


def lowest(d: cardan.MjData, name: str) -> float:
    """Height of the lowest vertex of a flex, m."""
    m = d.model
    flex = m.flex(name).id
    first = int(m.flex_vertadr[flex])
    return float(d.flexvert_xpos[first : first + int(m.flex_vertnum[flex]), 2].min())


def main() -> None:
    """Simulate, print heights, and draw the last state if a file is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", help="file for a picture of the last state")
    picture = parser.parse_args().picture
    m = cardan.MjModel.from_xml_string(SCENE)
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    names = ("sheet", "soft", "stiff")
    before = [lowest(d, name) for name in names]
    cardan.mj_step(m, d, round(DURATION / m.opt.timestep))
    for name, height in zip(names, before, strict=True):
        print(f"{name:6} gives way by {height - lowest(d, name):.3f} m")
    print(f"ball   at a height of {d.body('ball').xpos[2]:.3f} m")
    if picture:
        camera = cardan.MjvCamera()
        camera.lookat[:], camera.distance, camera.elevation, camera.azimuth = (0.1, 0, 0.5), 2.1, -15, 105
        with cardan.Renderer(m, 400, 640) as renderer:
            renderer.update_scene(d, camera)
            Image.fromarray(renderer.render()).save(picture)


if __name__ == "__main__":
    main()
