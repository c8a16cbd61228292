"""Random models with flexes, as MJCF text, drawn by a seed."""

from __future__ import annotations

import numpy as np

COUNTS = {1: ((3, 7), (1, 2), (1, 2)), 2: ((2, 5), (2, 5), (1, 2)), 3: ((2, 4), (2, 4), (2, 4))}
GEOMS = (
    'type="plane" size="1 1 .1"',
    'type="sphere" size=".08"',
    'type="capsule" size=".05 .08"',
    'type="ellipsoid" size=".05 .08 .1"',
    'type="cylinder" size=".05 .08"',
    'type="box" size=".05 .08 .07"',
    'type="mesh" mesh="tetrahedron"',
)
ASSETS = '<asset><mesh name="tetrahedron" vertex="-.1 -.1 -.1 .1 -.1 -.1 0 .1 -.1 0 0 .1"/></asset>'
OPTIONS = """<option integrator="{integrator}" solver="{solver}" cone="{cone}" jacobian="{jacobian}" tolerance="1e-14"
  iterations="300" gravity="{gravity}"><flag energy="enable"/></option>"""


def choose(rng: np.random.Generator, *values: object) -> object:
    """One of the values."""
    return values[int(rng.integers(len(values)))]


def words(values: np.ndarray) -> str:
    """Numbers as text."""
    return " ".join(f"{value:.4g}" for value in values)


def contact(rng: np.random.Generator, jacobian: str) -> str:
    """Contact parameters of a flex. Torsion of sparse rows is wrong in the reference (docs/differences.md)."""
    condim = choose(rng, 1, 3) if jacobian == "sparse" else choose(rng, 1, 3, 4, 6)
    return (
        f'<contact condim="{condim}" margin="{choose(rng, 0, 0.004)}" gap="{choose(rng, 0, 0.001)}" '
        f'friction="{words(rng.uniform(0.1, 1, 3) * (1, 0.01, 0.001))}" solmix="{rng.uniform(0.5, 2):.3g}" '
        f'solref="{words(rng.uniform((0.01, 0.8), (0.04, 1.2)))}" priority="{choose(rng, 0, 0, 1)}" '
        f'contype="{choose(rng, 1, 1, 3)}" conaffinity="{choose(rng, 1, 1, 2)}" '
        f'selfcollide="{choose(rng, "none", "narrow", "bvh", "sap", "auto")}" '
        f'internal="{choose(rng, "true", "false")}" activelayers="{choose(rng, 1, 2)}"/>'
    )


def flexcomp(rng: np.random.Generator, name: str, jacobian: str) -> str:
    """A grid of any dimension."""
    dim = int(rng.integers(1, 4))
    count = [int(rng.integers(low, high)) for low, high in COUNTS[dim]]
    edge = f'equality="{choose(rng, "true", "false")}" damping="{choose(rng, 0, 0.5)}"'
    if dim == 1:
        edge += f' stiffness="{choose(rng, 0, 20)}"'
    pins = f'<pin id="{words(rng.choice(np.prod(count), 2, replace=False))}"/>' if rng.random() < 0.4 else ""
    rigid = rng.random() < 0.15
    inner = f"<edge {edge}/>{'' if rigid else pins}{contact(rng, jacobian)}"
    text = (
        f'<flexcomp name="{name}" type="grid" dim="{dim}" count="{words(np.array(count))}" '
        f'mass="{rng.uniform(0.5, 2):.3g}" spacing=".06 .06 .06" radius="{rng.uniform(0.004, 0.012):.3g}" '
        f'pos="{words(rng.uniform(-0.05, 0.05, 3))}" '
        f'euler="{words(rng.uniform(-30, 30, 3))}" rigid="{str(rigid).lower()}">{inner}</flexcomp>'
    )
    if rigid or rng.random() < 0.3:
        joint = choose(rng, "<freejoint/>", '<joint type="ball"/>', "<joint/>")
        text = f'<body name="{name}-body">{joint}<geom size=".02" pos="0 0 .2" contype="0"/>{text}</body>'
    return text


def random_soft_model(seed: int) -> str:
    """One or two flexes among a few geoms, with random options."""
    rng = np.random.default_rng(seed)
    jacobian = str(choose(rng, "dense", "sparse"))
    options = OPTIONS.format(
        integrator=choose(rng, "Euler", "RK4", "implicit", "implicitfast"),
        solver=choose(rng, "Newton", "Newton", "CG", "PGS"),
        cone=choose(rng, "pyramidal", "elliptic"),
        jacobian=jacobian,
        gravity=words(rng.uniform(-5, 5, 3)),
    )
    world = "".join(flexcomp(rng, f"f{i}", jacobian) for i in range(int(rng.integers(1, 3))))
    for _ in range(int(rng.integers(1, 4))):
        geom = choose(rng, *GEOMS)
        place = f'pos="{words(rng.uniform(-0.08, 0.08, 3) - (0, 0, 0.08))}" euler="{words(rng.uniform(-180, 180, 3))}"'
        free = "plane" not in str(geom) and rng.random() < 0.6
        world += f"<body {place}>{'<freejoint/>' if free else ''}<geom {geom} margin='{choose(rng, 0, 0.002)}'/></body>"
    return f"<mujoco>{options}{ASSETS}<worldbody>{world}</worldbody></mujoco>"
