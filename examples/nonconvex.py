"""Meshes that are not convex: a mug is caught on a hook, and a nut is turned down a bolt.

Both scenes are run with the three ways in which a mesh may collide: by its convex hull, as in MuJoCo, by convex pieces
(``convex="decompose"``, which needs ``pip install 'cardan[decompose]'``), and by exact distances (``convex="exact"``).

    python examples/nonconvex.py                      # prints the comparison
    python examples/nonconvex.py --picture FILE.png   # also draws the last states
    python examples/nonconvex.py --write              # makes the meshes again (examples/meshes), in mm
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable
from itertools import pairwise
from math import pi
from pathlib import Path

import numpy as np
from PIL import Image

import cardan

FOLDER = Path(__file__).parent
WAYS = ("hull", "decompose", "exact")
STEPS = 2000
Surface = tuple[np.ndarray, np.ndarray]  # vertices, mm, and triangles


# --- meshes ----------------------------------------------------------------------------------------------------------


def strip(lower: list[int], upper: list[int]) -> list[tuple[int, int, int]]:
    """Triangles between two closed rings of vertices; seen from outside, they run to the right."""
    faces = []
    for k in range(len(lower)):
        a, b, c, d = lower[k - 1], lower[k], upper[k], upper[k - 1]
        faces += [(a, b, c), (a, c, d)]
    return faces


def fan(tip: int, ring: list[int]) -> list[tuple[int, int, int]]:
    """Triangles from a ring of vertices to a tip."""
    return [(tip, ring[k - 1], ring[k]) for k in range(len(ring))]


def handle_path(t: float) -> np.ndarray:
    """Point on the middle line of the handle, t from 0 to pi."""
    return np.array([40.0 + 28.0 * np.sin(t) ** 0.7, 0.0, 45.0 - 22.0 * np.cos(t)])


def mug(columns: int = 32, sections: int = 14) -> Surface:
    """A mug, 80 mm wide and 90 mm high, with walls of 4 mm, whose handle ends in two openings of the outer wall."""
    angle = 2.0 * pi * (np.arange(columns) - 1) / columns
    heights = (0, 18, 23, 28, 45, 62, 67, 72, 90)
    profile = [*((40.0, z) for z in heights), (36.0, 90.0), (36.0, 50.0), (36.0, 5.0)]
    points = [(r * np.cos(a), r * np.sin(a), z) for r, z in profile for a in angle]
    rings = [[columns * i + k for k in range(columns)] for i in range(len(profile))]
    openings = {(i, k) for i in (1, 2, 5, 6) for k in (1, 2)}  # rows and columns where the handle starts and ends
    faces = []
    for i in range(len(profile) - 1):
        wall = strip(rings[i], rings[i + 1])
        faces += [face for n, face in enumerate(wall) if (i, n // 2) not in openings]
    points += [(0.0, 0.0, 0.0), (0.0, 0.0, 5.0)]
    faces += fan(len(points) - 2, rings[0][::-1]) + fan(len(points) - 1, rings[-1])
    border = ((0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0))  # around an opening, from outside
    last = [rings[1 + i][k] for i, k in border]
    for t in pi * np.arange(1, sections) / sections:
        along = handle_path(t + 1e-4) - handle_path(t)
        up = np.array([-along[2], 0.0, along[0]]) / np.linalg.norm(along)
        round_section = [np.arctan2(i - 1, k - 1) for i, k in border]
        ring = [handle_path(t) + 4.5 * np.sin(a) * up + (0.0, 5.4 * np.cos(a), 0.0) for a in round_section]
        new = [*range(len(points), len(points) + len(ring))]
        points += [tuple(point) for point in ring]
        faces += strip(last, new)
        last = new
    faces += strip(last, [rings[7 - i][k] for i, k in border])
    return np.array(points), np.array(faces)


def hook(corners: int = 12, radius: float = 3.5) -> Surface:
    """A rod along x that is bent upwards at its end."""
    bend = np.linspace(0.0, pi / 2, 6)
    path = [(0.0, 0.0), (25.0, 0.0), *((50 + 15 * np.sin(a), 15 * (1 - np.cos(a))) for a in bend), (65.0, 30.0)]
    slope = np.array([0.0, 0.0, *bend, pi / 2])
    points, rings = [], []
    for (x, z), s in zip(path, slope, strict=True):
        rings.append([*range(len(points), len(points) + corners)])
        for a in 2.0 * pi * np.arange(corners) / corners:
            out = radius * np.sin(a)
            points.append((x - out * np.sin(s), radius * np.cos(a), z + out * np.cos(s)))
    faces = [face for low, high in pairwise(rings) for face in strip(low, high)]
    points += [(0.0, 0.0, 0.0), (65.0, 0.0, 30.0)]
    faces += fan(len(points) - 2, rings[0][::-1]) + fan(len(points) - 1, rings[-1])
    return np.array(points), np.array(faces)


PITCH, DEPTH, CORE = 6.0, 1.5, 10.0
"""Rise of the thread in a turn, its depth, and the radius at its bottom, mm."""


def thread(turns: int, gap: float, columns: int = 24, rows: int = 6) -> tuple[list, list[list[int]], np.ndarray]:
    """Points and rings of a threaded surface, `gap` outside the thread of the bolt, and the angles of the columns."""
    angle = 2.0 * pi * np.arange(columns) / columns
    points, rings = [], []
    for row in range(turns * rows + 1):
        turn = row / rows - angle / (2.0 * pi)
        radius = CORE + gap + DEPTH * 2.0 * np.abs(turn - np.floor(turn) - 0.5)
        rings.append([*range(len(points), len(points) + columns)])
        points += zip(radius * np.cos(angle), radius * np.sin(angle), [row * PITCH / rows] * columns, strict=True)
    return points, rings, angle


def bolt(turns: int = 6) -> Surface:
    """A threaded rod."""
    points, rings, _ = thread(turns, 0.0)
    faces = [face for low, high in pairwise(rings) for face in strip(low, high)]
    points += [(0.0, 0.0, 0.0), (0.0, 0.0, turns * PITCH)]
    faces += fan(len(points) - 2, rings[0][::-1]) + fan(len(points) - 1, rings[-1])
    return np.array(points), np.array(faces)


def nut(turns: int = 2, flat: float = 18.0) -> Surface:
    """A hexagonal nut with a threaded hole, 0.4 mm wider than the bolt."""
    points, rings, angle = thread(turns, 0.4)
    faces = [face[::-1] for low, high in pairwise(rings) for face in strip(low, high)]
    side = (angle + pi / 6) % (pi / 3) - pi / 6
    outside = []
    for height in (0.0, turns * PITCH):
        outside.append([*range(len(points), len(points) + len(angle))])
        points += zip(flat / np.cos(side) * np.cos(angle), flat / np.cos(side) * np.sin(angle), [height] * len(angle),
                      strict=True)  # fmt: skip
    faces += strip(*outside) + strip(outside[1], rings[-1]) + strip(rings[0], outside[0])
    return np.array(points), np.array(faces)


def obj(surface: Surface) -> str:
    """Return a surface as an OBJ file."""
    points, faces = surface
    lines = [f"v {x:.4g} {y:.4g} {z:.4g}" for x, y, z in points + 0.0]
    return "\n".join([*lines, *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces), ""])


# --- scenes ----------------------------------------------------------------------------------------------------------


def load(scene: str, way: str) -> cardan.MjModel:
    """Return the model of a scene in which all meshes collide in one of the `WAYS`."""
    text = re.sub(r'<mesh convex="\w+"/>', f'<mesh convex="{way}"/>', (FOLDER / f"{scene}.xml").read_text())
    text = text.replace('meshdir="meshes"', f'meshdir="{FOLDER / "meshes"}"')
    return cardan.MjModel.from_xml_string(text)


def mug_report(m: cardan.MjModel, d: cardan.MjData) -> str:
    """Tell where the mug is."""
    fallen = -0.056 - d.body("mug").xpos[2]
    return f"{'falls' if fallen > 0.05 else 'hangs on the hook'}: {1000 * fallen:.0f} mm lower than at the start"


def nut_report(m: cardan.MjModel, d: cardan.MjData) -> str:
    """Tell where the nut is."""
    x, y, z = 1000 * (d.body("nut").xpos - m.body("nut").pos)
    if abs(x) + abs(y) > 5.0:
        return "is thrown off the bolt"
    return f"moves by {z:.1f} mm"


REPORTS: dict[str, Callable[[cardan.MjModel, cardan.MjData], str]] = {
    "mug_on_hook": mug_report,
    "nut_on_bolt": nut_report,
}


def run(scene: str, way: str) -> tuple[cardan.MjModel, cardan.MjData, str]:
    """Simulate a scene; return model, data and a line of the table."""
    begin = time.perf_counter()
    m = load(scene, way)
    compiled = time.perf_counter() - begin
    d = cardan.MjData(m)
    if m.nkey:
        cardan.mj_resetDataKeyframe(m, d, 0)
    cardan.mj_step(m, d)  # compiles missing kernels
    contacts, spent = 0, 0.0
    for _ in range(STEPS):
        begin = time.perf_counter()
        cardan.mj_step(m, d)
        spent += time.perf_counter() - begin
        contacts += d.ncon
    cells = [scene, way, (m.geom_piece > 0).sum(), f"{compiled:.1f} s", f"{1e6 * spent / STEPS:.0f} us"]
    cells += [f"{contacts / STEPS:.1f}", REPORTS[scene](m, d)]
    return m, d, f"| {' | '.join(map(str, cells))} |"


def draw(m: cardan.MjModel, d: cardan.MjData) -> np.ndarray:
    """Return a picture of a scene (300, 400, 3)."""
    with cardan.Renderer(m, 300, 400) as renderer:
        renderer.update_scene(d, "side")
        return renderer.render()


def main() -> None:
    """Parse the command line; make the meshes, or run all scenes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="make the meshes again")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the last states, a row for each scene")
    arguments = parser.parse_args()
    if arguments.write:
        for shape in (mug, hook, nut, bolt):
            (FOLDER / "meshes" / f"{shape.__name__}.obj").write_text(obj(shape()))
        return
    titles = ("scene", "convex", "pieces", "compilation", "step", "contacts", "result")
    print(f"| {' | '.join(titles)} |\n|{' --- |' * len(titles)}")
    pictures = []
    for scene in REPORTS:
        for way in WAYS:
            m, d, row = run(scene, way)
            print(row, flush=True)
            pictures.append(draw(m, d) if arguments.picture else None)
    if arguments.picture:
        rows = [np.hstack(pictures[start : start + len(WAYS)]) for start in range(0, len(pictures), len(WAYS))]
        Image.fromarray(np.vstack(rows)).save(arguments.picture, optimize=True)


if __name__ == "__main__":
    main()
