"""A DC motor that heats up while it holds a weight: its resistance grows, so that the arm sinks a little.

python examples/dc_motor.py                      # prints current, temperature and angle over time
python examples/dc_motor.py --picture FILE.png   # also draws the temperature of the winding over time

Without a file, nothing is drawn.
"""

from __future__ import annotations

import argparse

from PIL import Image, ImageDraw

import cardan

SCENE = """<mujoco><option timestep=".002"/><worldbody>
<body><joint name="arm" axis="0 1 0" damping=".01"/><geom type="capsule" size=".02 .15" pos=".15 0 0" euler="0 90 0"
  mass=".1"/><geom name="weight" size=".05" pos=".3 0 0" mass=".4"/></body></worldbody>
<actuator><dcmotor name="motor" joint="arm" motorconst=".5" resistance="1.2" inductance=".002" input="pos"
  controller="20 0 1 0 0 24" thermal="4 3 0 .0039 25 25" lugre="200 2 .02 .03 .1"/></actuator></mujoco>"""
DURATION, ROW = 30.0, 6.0
"""Time of the simulation and between printed rows, s."""
SIZE, EDGE = (640, 400), 50


def draw(times: list[float], temperatures: list[float], path: str) -> None:
    """Draw temperatures (degrees Celsius) over times (s) to an image file."""
    image = Image.new("RGB", SIZE, "white")
    pen = ImageDraw.Draw(image)
    width, height = SIZE[0] - 2 * EDGE, SIZE[1] - 2 * EDGE
    top = max(temperatures)
    points = [
        (EDGE + width * time / times[-1], EDGE + height * (1.0 - (value - 25.0) / (top - 25.0)))
        for time, value in zip(times, temperatures, strict=True)
    ]
    pen.rectangle((EDGE, EDGE, SIZE[0] - EDGE, SIZE[1] - EDGE), outline="gray")
    pen.line(points, fill="firebrick", width=3)
    pen.text((EDGE, EDGE - 20), f"temperature of the winding: 25 to {top:.0f} degrees Celsius", fill="black")
    pen.text((SIZE[0] - EDGE - 60, SIZE[1] - EDGE + 10), f"{times[-1]:.0f} s", fill="black")
    image.save(path)


def main() -> None:
    """Hold the weight horizontally, and print the state of the motor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", help="file for a picture of the temperature over time")
    picture = parser.parse_args().picture
    m = cardan.MjModel.from_xml_string(SCENE)
    d = cardan.MjData(m)
    first = m.actuator("motor").actadr[0]
    times, temperatures = [], []
    print("time, s   current, A   temperature, C   angle, rad")
    while d.time < DURATION:
        cardan.mj_step(m, d, round(0.1 / m.opt.timestep))
        heat, _, current = d.act[first : first + 3]  # with the deflection of bristles between
        times.append(d.time)
        temperatures.append(25.0 + heat)
        if round(10.0 * d.time) % round(10.0 * ROW) == 0:
            print(f"{d.time:7.1f} {current:12.3f} {25.0 + heat:16.2f} {d.qpos[0]:12.4f}")
    if picture:
        draw(times, temperatures, picture)


if __name__ == "__main__":
    main()
