"""Models that the benchmarks make themselves: chains, piles, muscled arms, robots of meshes, terrain (MJCF text)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

SPACING = 0.24  # metres between the bodies of a pile before they fall
PILE_SHAPES = (
    '<geom type="sphere" size=".1"/>',
    '<geom type="capsule" size=".06 .08"/>',
    '<geom type="box" size=".1 .08 .06"/>',
    '<geom type="cylinder" size=".08 .08"/>',
    '<geom type="ellipsoid" size=".1 .08 .07"/>',
    '<geom type="mesh" mesh="stone"/>',
)


def chain(bodies: int) -> str:
    """A chain of rods on hinges of alternating axes, which swings without contacts: `bodies` degrees of freedom.

    It is written as URDF, because the reference doesn't read XML that is nested 500 deep.
    """
    axes = ("0 1 0", "0 0 1")
    inertia = '<inertia ixx="1e-4" iyy="3e-4" izz="3e-4" ixy="0" ixz="0" iyz="0"/>'
    inertial = f'<origin xyz=".05 0 0"/><mass value=".15"/>{inertia}'
    links = "".join(f'<link name="rod{k}"><inertial>{inertial}</inertial></link>' for k in range(bodies))
    joints = "".join(
        f'<joint name="hinge{k}" type="continuous"><parent link="rod{k - 1}"/><child link="rod{k}"/>'
        f'<origin xyz="{0.1 if k else 0} 0 0"/><axis xyz="{axes[k % 2]}"/><dynamics damping=".1"/></joint>'
        for k in range(bodies)
    )
    settings = '<mujoco><compiler fusestatic="true"/><option timestep="0.001"/></mujoco>'
    return f'<robot name="chain">{settings}<link name="rod-1"/>{links}{joints}</robot>'


def numbers(values: np.ndarray) -> str:
    """An attribute's numbers."""
    return " ".join(f"{value:.6g}" for value in np.ravel(values))


def points_on_sphere(rng: np.random.Generator, count: int) -> np.ndarray:
    """Random directions (count, 3)."""
    points = rng.standard_normal((count, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def pile(bodies: int) -> str:
    """Free bodies of six shapes in a lattice of random orientations above a square pit, about as high as it is wide."""
    rng = np.random.default_rng(bodies)
    side = max(2, round(bodies ** (1 / 3)))
    half = 0.5 * SPACING * side + 0.05
    falling = []
    for k in range(bodies):
        x, y, z = k % side, k // side % side, k // side**2
        position = SPACING * np.array([x - 0.5 * (side - 1), y - 0.5 * (side - 1), z + 0.6])
        position[:2] += rng.uniform(-0.02, 0.02, 2)
        shape = PILE_SHAPES[k % len(PILE_SHAPES)]
        quat = numbers(rng.standard_normal(4))
        falling.append(f'<body pos="{numbers(position)}" quat="{quat}"><freejoint/>{shape}</body>')
    walls = "".join(
        f'<geom type="plane" size="1 1 1" pos="{-x * half} {-y * half} 0" zaxis="{x} {y} 0"/>'
        for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1))
    )
    stone = numbers(0.09 * points_on_sphere(np.random.default_rng(0), 24))
    return f"""<mujoco><option timestep="0.004"/><size memory="1G"/>
<asset><mesh name="stone" vertex="{stone}"/></asset>
<worldbody><geom type="plane" size="1 1 1"/>{walls}{"".join(falling)}</worldbody></mujoco>"""


def humanoids(path: Path, count: int) -> str:
    """Copies of the shared humanoid, two metres apart in rows of ten, which fall to the ground; without its motors."""
    root = ElementTree.parse(path).getroot()
    for section in ("contact", "tendon", "actuator", "keyframe"):
        for element in root.findall(section):
            root.remove(element)
    world = root.find("worldbody")
    torso = next(body for body in world.findall("body") if body.find("freejoint") is not None)
    world.remove(torso)
    for camera in torso.findall("camera"):
        torso.remove(camera)
    for light in world.findall("light"):
        world.remove(light)
    text = ElementTree.tostring(torso, "unicode")
    names = re.compile(r' name="[^"]*"')
    text = names.sub("", text)
    for k in range(count):
        frame = ElementTree.SubElement(world, "frame", pos=f"{2 * (k % 10)} {2 * (k // 10)} 0")
        frame.append(ElementTree.fromstring(text))
    ElementTree.SubElement(root, "size", memory="1G")
    return ElementTree.tostring(root, "unicode")


def cloth(side: int) -> str:
    """A cloth of side x side vertices, held at two corners, with edges of constant length; it collides with itself."""
    corners = f"0 {side - 1}"
    return f"""<mujoco><option timestep="0.002" solver="CG" iterations="20" tolerance="1e-6"/><size memory="1G"/>
<worldbody><geom type="sphere" size=".2" pos="0 0 -.25"/>
<flexcomp name="cloth" type="grid" count="{side} {side} 1" spacing="{1 / side} {1 / side} .1" dim="2" mass="1"
  radius="{0.2 / side}"><edge equality="true" damping="0.01"/><contact selfcollide="auto"/><pin id="{corners}"/>
</flexcomp>
</worldbody></mujoco>"""


def muscle_arm(segments: int = 15) -> str:
    """An arm of segments with two hinges each; four muscles a segment wrap around its joints' spheres or cylinders."""
    bodies, tendons, muscles = [], [], []
    sides = (("x", "y"), ("x", "-y"), ("y", "x"), ("y", "-x"))
    places = {"x": (1, 0), "-x": (-1, 0), "y": (0, 1), "-y": (0, -1)}
    for k in range(segments):
        wrap = '<geom name="wrap{0}" type="sphere" size=".03"/>' if k % 2 else ""
        wrap = wrap or '<geom name="wrap{0}" type="cylinder" size=".03 .05" euler="90 0 0"/>'
        sites = ""
        for side, (x, y) in places.items():
            sites += f'<site name="in{side}{k}" pos="{0.035 * x} {0.035 * y} -.06"/>'
            sites += f'<site name="out{side}{k + 1}" pos="{0.035 * x} {0.035 * y} -.14"/>'
            sites += f'<site name="side{side}{k}" pos="{0.06 * x} {0.06 * y} 0"/>'
        bodies.append(
            f'<body pos="0 0 {-0.2 if k else 0}"><joint axis="1 0 0" range="-60 60" limited="true"/>'
            f'<joint axis="0 1 0" range="-60 60" limited="true"/>'
            f'<geom type="capsule" size=".02" fromto="0 0 0 0 0 -.2"/>'
            f"{wrap.format(k)}{sites}"
        )
        for n, (_, side) in enumerate(sides):
            tendons.append(
                f'<spatial name="t{k}_{n}"><site site="out{side}{k}"/><geom geom="wrap{k}" sidesite="side{side}{k}"/>'
                f'<site site="in{side}{k}"/></spatial>'
            )
            muscles.append(f'<muscle tendon="t{k}_{n}" lengthrange=".08 .2" force="100"/>')
    root = "".join(f'<site name="out{s}0" pos="{0.035 * x} {0.035 * y} .06"/>' for s, (x, y) in places.items())
    return f"""<mujoco><option timestep="0.002"/>
<default><geom contype="0" conaffinity="0"/><joint damping=".5" armature=".01"/>
</default><worldbody>{root}{"".join(bodies)}{"</body>" * segments}</worldbody>
<tendon>{"".join(tendons)}</tendon><actuator>{"".join(muscles)}</actuator></mujoco>"""


def terrain(rows: int, rng: np.random.Generator) -> np.ndarray:
    """Heights of rough ground between 0 and 1, at `rows` x `rows` points."""
    x, y = np.meshgrid(np.linspace(-10, 10, rows), np.linspace(-10, 10, rows))
    return 0.5 + 0.2 * np.sin(1.3 * x) * np.cos(1.1 * y) + 0.02 * rng.standard_normal(x.shape)


def quadruped(rows: int = 200, file: Path | None = None) -> str:
    """A walking machine with feet of meshes on a rough height field, of `rows` x `rows` points or from a file."""
    rng = np.random.default_rng(3)
    ground = f'file="{file}"' if file else f'nrow="{rows}" ncol="{rows}" elevation="{numbers(terrain(rows, rng))}"'
    foot = numbers(0.05 * points_on_sphere(rng, 40) * [1.5, 1, 0.8])
    legs = "".join(
        f"""<body pos="{0.3 * sx} {0.2 * sy} 0"><joint name="roll{sx}{sy}" axis="1 0 0" range="-40 40"/>
<joint name="hip{sx}{sy}" axis="0 1 0" range="-80 80"/><geom type="capsule" size=".03" fromto="0 0 0 0 0 -.25"/>
<body pos="0 0 -.25"><joint name="knee{sx}{sy}" axis="0 1 0" range="-120 120"/>
<geom type="capsule" size=".025" fromto="0 0 0 0 0 -.22"/>
<geom type="mesh" mesh="foot" pos="0 0 -.24"/></body></body>"""
        for sx in (-1, 1)
        for sy in (-1, 1)
    )
    servos = "".join(
        f'<position joint="{name}{sx}{sy}" kp="60"/>'
        for name in ("roll", "hip", "knee")
        for sx in (-1, 1)
        for sy in (-1, 1)
    )
    return f"""<mujoco><option timestep="0.002"/><default><joint damping="1" armature=".02"/></default>
<asset><mesh name="foot" vertex="{foot}"/>
<hfield name="ground" size="10 10 .6 .2" {ground}/></asset>
<worldbody><geom type="hfield" hfield="ground"/>
<body pos="0 0 1.1"><freejoint/><geom type="box" size=".35 .15 .08"/>{legs}</body></worldbody>
<actuator>{servos}</actuator></mujoco>"""


def bumpy_sphere(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and faces of a sphere with bumps: `rows` rings of twice as many vertices, and two poles."""
    columns = 2 * rows
    latitude = np.pi * (np.arange(rows) + 1) / (rows + 1)
    longitude = 2 * np.pi * np.arange(columns) / columns
    theta, phi = (angle.ravel() for angle in np.meshgrid(latitude, longitude, indexing="ij"))
    radius = 0.3 * (1.0 + 0.05 * np.sin(9 * theta) * np.cos(7 * phi))
    ring = radius[:, None] * np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=1)
    vertex = np.concatenate([ring, [[0, 0, 0.3], [0, 0, -0.3]]])
    i, j = (at.ravel() for at in np.indices((rows - 1, columns)))
    a, b = i * columns + j, i * columns + (j + 1) % columns
    c, d = a + columns, b + columns
    j = np.arange(columns)
    after, last = (j + 1) % columns, (rows - 1) * columns
    north, south = np.full(columns, len(ring)), np.full(columns, len(ring) + 1)
    corners = ((a, c, d), (a, d, b), (north, j, after), (south, last + after, last + j))
    return vertex, np.concatenate([np.stack(part, axis=1) for part in corners])


def mesh_robot(meshes: int = 50, vertices: int = 500) -> str:
    """A tree of bodies with a mesh of its own each (for the time to compile)."""
    rng = np.random.default_rng(4)
    shapes = [numbers(0.1 * points_on_sphere(rng, vertices) * rng.uniform(0.5, 1, 3)) for _ in range(meshes)]
    assets = "".join(f'<mesh name="part{k}" vertex="{shape}"/>' for k, shape in enumerate(shapes))
    return f"<mujoco><asset>{assets}</asset><worldbody>{''.join(_limbs(meshes))}</worldbody></mujoco>"


def _limbs(count: int, length: int = 10) -> Iterator[str]:
    """Limbs of `length` links each."""
    for first in range(0, count, length):
        links = range(first, min(first + length, count))
        for k in links:
            pos = f"{0.5 * (first // length)} 0 1" if k == first else "0 0 -.2"
            yield f'<body pos="{pos}"><joint axis="0 1 0"/><geom type="mesh" mesh="part{k}"/>'
        yield "</body>" * len(links)
