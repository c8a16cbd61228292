"""Two geoms of each pair of types, in contact."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import cardan
from cardan.enums.codes import ENBL_NATIVECCD

GEOMS = {
    "plane": 'type="plane" size="2 2 .1"',
    "hfield": 'type="hfield" hfield="hills"',
    "sphere": 'type="sphere" size=".2"',
    "capsule": 'type="capsule" size=".15 .2"',
    "ellipsoid": 'type="ellipsoid" size=".15 .2 .25"',
    "cylinder": 'type="cylinder" size=".2 .15"',
    "box": 'type="box" size=".2 .15 .25"',
    "mesh": 'type="mesh" mesh="stone"',
}
ORDER = tuple(GEOMS)
FLAT = ("plane", "hfield")
PAIRS = tuple(
    (first, second)
    for i, first in enumerate(ORDER)
    for second in ORDER[i:]
    if second not in FLAT and not (first in FLAT and second in FLAT)
)
SCENE = """
<mujoco>
  <option><flag multiccd="{multiccd}"/></option>
  <asset>
    <mesh name="stone" vertex="{stone}"/>
    <hfield name="hills" nrow="6" ncol="6" size="1 1 .1 .1" elevation="{hills}"/>
  </asset>
  <worldbody>
    <body name="first" pos="0 0 0"><freejoint/><geom {first} {mass}/></body>
    <body name="second" pos="0 0 .2"><freejoint/><geom {second} mass="1"/></body>
  </worldbody>
</mujoco>
"""


def _numbers(values: np.ndarray) -> str:
    return " ".join(f"{value:.6f}" for value in values.reshape(-1))


def scene(
    first: str, second: str, multiccd: bool = False, nativeccd: bool = False, compat: str = "3.1"
) -> cardan.MjModel:
    """A model of two free bodies with a geom of each type."""
    rng = np.random.default_rng(5)
    points = rng.normal(size=(14, 3))
    text = SCENE.format(
        first=GEOMS[first],
        second=GEOMS[second],
        mass="" if first in FLAT else 'mass="1"',
        stone=_numbers(0.22 * points / np.linalg.norm(points, axis=1)[:, None]),
        hills=_numbers(rng.uniform(size=36)),
        multiccd="enable" if multiccd else "disable",
    )
    if first in FLAT:  # planes and height fields stand still
        text = text.replace(
            '<body name="first" pos="0 0 0"><freejoint/>', '<body name="first" pos="0 0 0" mocap="true">'
        )
    m = cardan.MjModel.from_xml_string(text, compat=compat)
    if nativeccd:
        m.opt.enableflags |= ENBL_NATIVECCD
    return m


def touching(m: cardan.MjModel, count: int, seed: int = 0, depth: float = 0.1) -> Iterator[cardan.MjData]:
    """States in which the two geoms touch, not too deep."""
    rng = np.random.default_rng(seed)
    d = cardan.MjData(m)
    found = 0
    for _ in range(400 * count):
        for quat in (*(d.qpos[k + 3 : k + 7] for k in range(0, m.nq, 7)), *d.mocap_quat):
            quat[:] = rng.normal(size=4)
            quat /= np.linalg.norm(quat)
        d.qpos[m.nq - 7 : m.nq - 4] = rng.uniform(-0.4, 0.4, 3)
        cardan.mj_fwdPosition(m, d)
        if d.ncon and -depth < d.contact.dist.min() < -1e-3:
            found += 1
            yield d
        if found == count:
            return
