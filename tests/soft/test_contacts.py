"""Contacts of flexes: with geoms, with each other and with themselves; parity with the reference (forward, step)."""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np
import pytest
from reference import model_from_reference
from scipy.optimize import minimize
from soft.comparison import compare
from soft.flex_models import grid

import cardan
from cardan import mjtGeom

SPHERE = int(mjtGeom.mjGEOM_SPHERE)

MODEL = """<mujoco><option gravity="0 0 -9.81" {option}/>
<asset><mesh name="tetrahedron" vertex="-.1 -.1 -.1 .1 -.1 -.1 0 .1 -.1 0 0 .1"/>
  <hfield name="field" nrow="5" ncol="5" size=".3 .3 .05 .1" elevation="{elevation}"/></asset>
<worldbody>{world}</worldbody></mujoco>"""
ELEVATION = " ".join(f"{value:.3f}" for value in np.random.default_rng(5).uniform(0, 1, 25))
COUNTS = {1: "6 1 1", 2: "4 4 1", 3: "3 3 2"}
GEOMS = {
    "plane": 'type="plane" size="1 1 .1" pos="0 0 -.01"',
    "hfield": 'type="hfield" hfield="field" pos="0 0 -.05"',
    "sphere": 'type="sphere" size=".08" pos="0 0 -.07"',
    "capsule": 'type="capsule" size=".05 .08" pos="0 0 -.04" euler="80 30 0"',
    "ellipsoid": 'type="ellipsoid" size=".05 .08 .1" pos="0 0 -.08"',
    "cylinder": 'type="cylinder" size=".05 .08" pos="0 0 -.07" euler="5 10 0"',
    "box": 'type="box" size=".05 .08 .07" pos="0 0 -.06" euler="5 10 0"',
    "mesh": 'type="mesh" mesh="tetrahedron" pos="0 0 -.07"',
}
SETTINGS = ('jacobian="dense"', 'jacobian="sparse" cone="elliptic"')


def model(world: str, option: str = "") -> str:
    """A model with the assets that the geoms need."""
    return MODEL.format(world=world, option=option, elevation=ELEVATION)


def flex(name: str, dim: int, contact: str, attributes: str = "", count: str = "") -> str:
    """A damped flex."""
    return grid(name, dim, count or COUNTS[dim], f'<edge damping="1"/><contact {contact}/>', attributes)


def geom_models() -> Iterator[tuple[str, str]]:
    """A flex of each dimension on a geom of each type, of other parameters."""
    for kind, geom in GEOMS.items():
        for dim in (1, 2, 3):
            # distances to height fields are off by the margin in the reference (docs/differences.md)
            margin = 0.0 if kind == "hfield" else 0.006
            own = f'selfcollide="none" internal="false" margin="{margin}" gap="{margin / 6}" condim="4"'
            world = f'<geom {geom} margin="{margin / 3}" solref=".01 .9" solmix="2"/>{flex("f", dim, own)}'
            yield f"{kind}-{dim}", model(world, SETTINGS[0])


def self_models() -> Iterator[tuple[str, str]]:
    """Flexes with each other and with themselves, by all methods."""
    for dim in (1, 2, 3):
        for method in ("narrow", "bvh", "sap", "auto"):
            for option in SETTINGS:
                one = flex("f", dim, f'selfcollide="{method}" margin=".004" gap=".001"', 'pos="0 0 0"')
                other = flex("g", dim, 'selfcollide="none" priority="1"', 'pos=".02 .01 .03"')
                yield f"{dim}-{method}-{option[10:15]}", model(one + other, option)
    pinned = grid("f", 2, "5 5 1", '<pin id="0 1 6 12"/><contact selfcollide="sap" internal="true"/>')
    yield "pinned", model(f'<body name="b"><freejoint/><geom size=".06" pos=".1 .1 0"/>{pinned}</body>')
    layers = grid("f", 3, "5 5 5", '<contact selfcollide="none" activelayers="2"/>')
    yield "layers", model(f'{layers}<body pos=".1 0 0"><freejoint/><geom size=".15"/></body>')
    rigid = grid("f", 2, "4 4 1", "", 'rigid="true"')
    free = f'<body name="b"><freejoint/><geom size=".01" pos="0 0 .1"/>{rigid}</body>'
    yield "rigid", model(f'{free}<geom type="plane" size="1 1 1" pos="0 0 -.005"/><geom size=".1" pos="0 0 -.09"/>')


MODELS = {**dict(geom_models()), **dict(self_models())}


@pytest.mark.parametrize("name", MODELS)
def test_forward_and_step(name: str) -> None:
    rm = mujoco.MjModel.from_xml_string(MODELS[name])
    rm.opt.tolerance, rm.opt.iterations = 1e-14, 200
    contacts = sum(compare(rm, seed, 0.01) for seed in range(2))
    assert contacts > 0 or name.startswith("1-")


def test_forces_on_vertices_are_weighted_by_distance() -> None:
    """A contact's force is spread over the vertices of its element by inverse distance, squares of weights sum to 1."""
    m = model_from_reference(mujoco.MjModel.from_xml_string(MODELS["sphere-2"]))
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    force, spread = np.zeros(6), np.zeros((m.nflexvert, 3))
    for i in range(d.ncon):
        cardan.mj_contactForce(m, d, i, force)
        vertices = m.flex_elem.reshape(-1, 3)[d.contact.elem[i, 1]]
        inverse = 1.0 / np.linalg.norm(d.flexvert_xpos[vertices] - d.contact.pos[i], axis=1)
        frame = d.contact.frame[i].reshape(3, 3)
        spread[vertices] += np.outer(inverse / np.linalg.norm(inverse), frame.T @ force[:3])
    assert d.ncon > 0
    np.testing.assert_allclose(d.qfrc_constraint.reshape(-1, 3), spread, atol=1e-9)


@pytest.fixture
def beside_a_flex() -> Iterator[cardan.MjModel]:
    """Two spheres that overlap, beside a flex."""
    flexcomp = '<flexcomp name="f" type="grid" dim="1" count="3 1 1" spacing=".1 .1 .1" pos="3 3 3" radius=".01"/>'
    balls = '<body><freejoint/><geom size=".1"/></body><body pos=".15 0 0"><freejoint/><geom size=".1"/></body>'
    yield cardan.MjModel.from_xml_string(f"<mujoco><worldbody>{balls}{flexcomp}</worldbody></mujoco>")
    cardan.set_mjcb_contactfilter(None)
    cardan.set_collider(SPHERE, SPHERE, None)


def number_of_contacts(m: cardan.MjModel) -> int:
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    return d.ncon


def test_contact_filters_hold_beside_flexes(beside_a_flex: cardan.MjModel) -> None:
    assert number_of_contacts(beside_a_flex) == 1
    cardan.set_mjcb_contactfilter(lambda m, d, geom1, geom2: 1)
    assert number_of_contacts(beside_a_flex) == 0


def test_own_colliders_hold_beside_flexes(beside_a_flex: cardan.MjModel) -> None:
    cardan.set_collider(SPHERE, SPHERE, lambda m, d, geom1, geom2, margin: ())
    assert number_of_contacts(beside_a_flex) == 0


def test_shapes_collide_beside_flexes() -> None:
    torus = '<plugin plugin="mujoco.sdf.torus"><config key="radius1" value="0.1"/></plugin>'
    text = f"""<mujoco><extension><plugin plugin="mujoco.sdf.torus"/></extension>
      <asset><mesh name="torus">{torus}</mesh></asset><worldbody>
      <body><freejoint/><geom type="sdf" size=".1" mass="1" mesh="torus">{torus}</geom></body>
      <body pos=".1 0 .06"><freejoint/><geom size=".05"/></body>%s</worldbody></mujoco>"""
    flexcomp = '<flexcomp name="f" type="grid" dim="1" count="3 1 1" spacing=".1 .1 .1" pos="3 3 3" radius=".01"/>'
    alone, beside = (cardan.MjModel.from_xml_string(text % part) for part in ("", flexcomp))
    assert number_of_contacts(alone) == number_of_contacts(beside) > 0


def triangle(name: str, corners: str) -> str:
    return f'''<flexcomp name="{name}" type="direct" dim="2" point="{corners}" element="0 1 2" radius=".01" mass="1">
      <contact internal="false" selfcollide="none"/></flexcomp>'''


def distance(first: np.ndarray, second: np.ndarray) -> float:
    """Least distance of two triangles (3, 3), by quadratic programming over their barycentric coordinates."""
    sums = [{"type": "eq", "fun": lambda z, k=k: z[k : k + 3].sum() - 1} for k in (0, 3)]
    found = minimize(
        lambda z: np.sum((z[:3] @ first - z[3:] @ second) ** 2),
        np.full(6, 1 / 3),
        bounds=[(0, 1)] * 6,
        constraints=sums,
        options={"ftol": 1e-15, "maxiter": 200},
    )
    return float(np.sqrt(found.fun))


def test_triangles_that_are_apart_do_not_touch() -> None:
    # the reference starts its search at the centre of the triangle's box, which is not in the triangle
    corners = ("-.1 .3 -.2 -.3 -.2 .1 .3 -.3 -.3", ".2 0 -.2 .2 -.2 0 -.2 .2 0")
    text = f"<mujoco><worldbody>{triangle('a', corners[0])}{triangle('b', corners[1])}</worldbody></mujoco>"
    rm, m = mujoco.MjModel.from_xml_string(text), cardan.MjModel.from_xml_string(text)
    rd = mujoco.MjData(rm)
    mujoco.mj_forward(rm, rd)
    assert distance(*(np.array(part.split(), float).reshape(3, 3) for part in corners)) > 0.08 > 2 * 0.01
    assert rd.contact.dist[0] < -0.5
    assert number_of_contacts(m) == 0


@pytest.mark.parametrize(
    ("bodies", "contacts"), [("a b c d", 1), ("a b a d", 0), ("a b c b", 0), ("a a b b", 1), ("world b c world", 0)]
)
def test_elements_on_the_same_body_do_not_touch(bodies: str, contacts: int) -> None:
    sliders = "".join(f'<joint type="slide" axis="{axis}"/>' for axis in ("1 0 0", "0 1 0", "0 0 1"))
    inside = f'{sliders}<geom size=".001" contype="0" conaffinity="0"/>'
    names = [name for name in dict.fromkeys(bodies.split()) if name != "world"]
    world = "".join(f'<body name="{name}">{inside}</body>' for name in names)
    text = f"""<mujoco><worldbody>{world}</worldbody><deformable>
      <flex name="f" dim="1" body="{bodies}" vertex="-.1 0 0 .1 0 0 0 -.1 .005 0 .1 .005" element="0 1 2 3"
      radius=".01">
      <contact internal="false"/></flex></deformable></mujoco>"""
    rm = mujoco.MjModel.from_xml_string(text)
    rd = mujoco.MjData(rm)
    mujoco.mj_forward(rm, rd)
    assert number_of_contacts(cardan.MjModel.from_xml_string(text)) == rd.ncon == contacts
