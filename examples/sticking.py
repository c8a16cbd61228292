"""Friction that sticks, and friction that does not lift: four scenes with MuJoCo's laws and with those of Cardan.

python examples/sticking.py                      # prints a table
python examples/sticking.py --picture FILE.png   # also draws the hand after 60 s, without and with contacts that stick

Without a file, nothing is drawn.
"""

from __future__ import annotations

import argparse
from math import atan, cos, degrees, sin
from pathlib import Path

import numpy as np
from PIL import Image

import cardan

HAND = Path(__file__).parent / "hand_with_mug.xml"
FRICTION, GRAVITY = 0.5, 9.81
SLOPE = """<mujoco><option cone="elliptic"/><default><geom friction=".5 .005 .0001"/></default><worldbody>
<geom type="plane" size="5 5 1" euler="0 {angle} 0"/><body pos="{x} 0 {z}" euler="0 {angle} 0"><freejoint/>
<geom name="box" type="box" size=".1 .1 .1" mass="1" stick="true"/></body></worldbody></mujoco>"""
PINCH = """<mujoco><option cone="elliptic"/><default><geom stick="true"/></default><worldbody>
<body pos="-.03 0 .5"><joint name="left" type="slide" axis="1 0 0"/><geom type="box" size=".01 .03 .03" mass=".1"/>
</body><body pos=".03 0 .5"><joint name="right" type="slide" axis="-1 0 0"/>
<geom type="box" size=".01 .03 .03" mass=".1"/></body>
<body name="capsule" pos="0 0 .5"><freejoint/><geom type="capsule" size=".02 .03" mass=".05"/></body></worldbody>
<actuator><motor joint="left"/><motor joint="right"/></actuator></mujoco>"""
FAST = """<mujoco><option cone="elliptic" timestep=".001"/><default><geom friction=".5 .005 .0001" solref=".004 1"
stick="true" lagged="true"/></default><worldbody><geom type="plane" size="50 5 1"/><body name="box" pos="0 0 .1">
<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><geom type="box" size=".1 .1 .1" mass="1"/></body>
</worldbody></mujoco>"""


def without_memory(m: cardan.MjModel) -> cardan.MjModel:
    """Give all contacts of a model MuJoCo's laws, and return the model."""
    m.geom_stick = 0
    m.geom_lagged = 0
    return m


def creep_on_slope(m: cardan.MjModel) -> float:
    """Speed of a box on a slope at 0.99 of the limit, m/s, between 20 and 120 s."""
    d = cardan.MjData(m)
    cardan.mj_step(m, d, 10_000)
    start = d.qpos[:3].copy()
    cardan.mj_step(m, d, 50_000)
    return float(np.linalg.norm(d.qpos[:3] - start)) / 100


def creep_of_capsule(m: cardan.MjModel) -> float:
    """Speed of a capsule between two plates that press with 50 times the needed force, m/s, between 2 and 12 s."""
    d = cardan.MjData(m)
    d.ctrl[:] = 50 * 0.5 * 0.05 * GRAVITY
    cardan.mj_step(m, d, 1000)
    height = d.body("capsule").xpos[2]
    cardan.mj_step(m, d, 5000)
    return float(height - d.body("capsule").xpos[2]) / 10


def hop(m: cardan.MjModel) -> float:
    """Largest height that a box gains while it slides from 10 m/s on, m."""
    d = cardan.MjData(m)
    cardan.mj_step(m, d, 500)
    start, highest = float(d.qpos[1]), 0.0
    d.qvel[0] = 10
    for _ in range(1500):
        cardan.mj_step(m, d)
        highest = max(highest, d.qpos[1] - start)
    return highest


def held(m: cardan.MjModel) -> tuple[float, cardan.MjData]:
    """Way that a mug sinks in a hand between 2 and 62 s, m, and the data at the end."""
    d = cardan.MjData(m)
    d.ctrl[:] = 1
    cardan.mj_step(m, d, 1000)
    height = float(d.body("mug").xpos[2])
    cardan.mj_step(m, d, 30_000)
    return height - float(d.body("mug").xpos[2]), d


def picture(m: cardan.MjModel, d: cardan.MjData) -> np.ndarray:
    """Picture of the hand (640, 640, 3)."""
    camera = cardan.MjvCamera()
    camera.lookat[:], camera.distance, camera.elevation, camera.azimuth = (0, 0, 0.23), 0.42, -12, 140
    with cardan.Renderer(m, 640, 640) as renderer:
        renderer.update_scene(d, camera)
        return renderer.render()


def main() -> None:
    """Run all scenes and print what they measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", help="file for a picture of the hand")
    file = parser.parse_args().picture
    angle = atan(0.99 * FRICTION)
    slope = SLOPE.format(angle=degrees(angle), x=0.1 * sin(angle), z=0.1 * cos(angle))
    scenes = (("slope, creep in m/s", slope, creep_on_slope), ("capsule, creep in m/s", PINCH, creep_of_capsule))
    for name, xml, measure in (*scenes, ("fast box, hop in m", FAST, hop)):
        models = without_memory(cardan.MjModel.from_xml_string(xml)), cardan.MjModel.from_xml_string(xml)
        print(f"{name:24}", *(f"{measure(m):10.1e}" for m in models))
    hands = without_memory(cardan.MjModel.from_xml_path(str(HAND))), cardan.MjModel.from_xml_path(str(HAND))
    results = [held(m) for m in hands]
    print(f"{'mug, way in m':24}", *(f"{way:10.1e}" for way, _ in results))
    if file:
        pictures = [picture(m, d) for m, (_, d) in zip(hands, results, strict=True)]
        Image.fromarray(np.hstack(pictures)).save(file)


if __name__ == "__main__":
    main()
