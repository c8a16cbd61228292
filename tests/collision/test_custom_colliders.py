"""Own collision functions, the contact filter, contacts added by hand: in Python, and compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt
from typing import Any

import mujoco
import numpy as np
import pytest

import cardan
from cardan import mjtGeom
from cardan.step.hooks import hooks

SPHERE, BOX, PLANE = int(mjtGeom.mjGEOM_SPHERE), int(mjtGeom.mjGEOM_BOX), int(mjtGeom.mjGEOM_PLANE)
SCENE = """
<mujoco>
  <option{flags}
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="a" pos="0 0 .05"><freejoint/><geom name="a0" size=".1"/>
      <geom name="a1" size=".1" contype="0" conaffinity="0"/></body>
    <body name="b" pos=".05 0 .05"><freejoint/><geom name="b0" type="box" size=".1 .1 .1"/></body>
    <body name="c" pos="5 0 .05"><freejoint/><geom name="c0" size=".1"/></body>
    <body name="e" pos="5.15 0 .05"><freejoint/><geom name="e0" size=".1"/></body>
  </worldbody>
  {rest}
</mujoco>
"""
NO_MIDPHASE = '><flag midphase="disable"/></option>'
PAIR = '<contact><pair geom1="b0" geom2="a0"/></contact>'

Made = Callable[..., Any]


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    cardan.mj_resetCallbacks()
    for types in list(hooks.colliders):
        cardan.set_collider(*types, None)


def text(flags: str = "/>", rest: str = "") -> str:
    return SCENE.format(flags=flags, rest=rest)


def model(flags: str = "/>", rest: str = "") -> cardan.MjModel:
    return cardan.MjModel.from_xml_string(text(flags, rest))


def collided(m: cardan.MjModel) -> cardan.MjData:
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    return d


def pairs(m: Any, d: Any) -> set[tuple[str, str]]:
    """Names of the geoms in contact."""
    return {(m.geom(int(a)).name, m.geom(int(b)).name) for a, b in np.reshape(d.contact.geom[: d.ncon], (-1, 2))}


# --- collision functions ----------------------------------------------------------------------------------------------


def tuples(m: Any, d: Any, geom1: int, geom2: int, margin: float) -> Any:
    """Two spheres, 1 cm larger than they are."""
    between = d.geom_xpos[geom2] - d.geom_xpos[geom1]
    apart = np.linalg.norm(between)
    dist = apart - m.geom_size[geom1, 0] - m.geom_size[geom2, 0] - 0.01
    return [(dist, d.geom_xpos[geom1] + 0.5 * between, between)] if dist < margin else []


def compiled(m: Any, d: Any, geom1: int, geom2: int, margin: float) -> int:
    """The same, compiled."""
    x = d.geom_xpos[geom2, 0] - d.geom_xpos[geom1, 0]
    y = d.geom_xpos[geom2, 1] - d.geom_xpos[geom1, 1]
    z = d.geom_xpos[geom2, 2] - d.geom_xpos[geom1, 2]
    apart = sqrt(x * x + y * y + z * z)
    dist = apart - m.geom_size[geom1, 0] - m.geom_size[geom2, 0] - 0.01
    if dist >= margin:
        return 0
    middle = (d.geom_xpos[geom1, 0] + 0.5 * x, d.geom_xpos[geom1, 1] + 0.5 * y, d.geom_xpos[geom1, 2] + 0.5 * z)
    cardan.put_contact(d, 0, dist, middle, (x / apart, y / apart, z / apart))
    return 1


def contact_objects(m: Any, d: Any, geom1: int, geom2: int, margin: float) -> Any:
    """The same, with contact objects."""
    found = []
    for dist, pos, normal in tuples(m, d, geom1, geom2, margin):
        con = cardan.MjContact()
        con.dist, con.pos = dist, pos
        con.frame[:3] = normal / np.linalg.norm(normal)
        found.append(con)
    return found


@pytest.mark.parametrize("function", [tuples, contact_objects, cardan.kernel(compiled)])
def test_spheres_of_ones_own(function: Made) -> None:
    m = model()
    (before,) = (con for con in collided(m).contact if m.geom("c0").id in con.geom and m.geom("e0").id in con.geom)
    assert before.dist == pytest.approx(-0.05)
    cardan.set_collider(SPHERE, SPHERE, function)
    d = collided(m)
    (con,) = (con for con in d.contact if m.geom("c0").id in con.geom and m.geom("e0").id in con.geom)
    assert con.dist == pytest.approx(-0.06, abs=1e-12)
    assert con.pos == pytest.approx(before.pos, abs=1e-12)
    assert con.frame == pytest.approx(before.frame, abs=1e-12)
    assert np.array_equal(con.friction, before.friction) and con.efc_address >= 0
    cardan.mj_step(m, d, 20)
    cardan.set_collider(SPHERE, SPHERE, None)
    assert collided(m).contact.dist[-1] == pytest.approx(-0.05)


def test_numba_function() -> None:
    numba = pytest.importorskip("numba")

    @numba.njit
    def nothing(m: Any, d: Any, geom1: int, geom2: int, margin: float) -> int:
        return 0

    m = model()
    cardan.set_collider(BOX, PLANE, nothing)
    assert cardan.get_collider(PLANE, BOX) is nothing
    assert pairs(m, collided(m)) == {("floor", "a0"), ("a0", "b0"), ("floor", "c0"), ("floor", "e0"), ("c0", "e0")}


def test_function_of_one_model_wins() -> None:
    m, other = model(), model()
    cardan.set_collider(SPHERE, SPHERE, lambda *arguments: [])
    cardan.set_collider(SPHERE, SPHERE, tuples, m)
    assert ("c0", "e0") in pairs(m, collided(m))
    assert ("c0", "e0") not in pairs(other, collided(other))
    cardan.set_collider(SPHERE, SPHERE, None, m)
    assert cardan.get_collider(SPHERE, SPHERE, m) is None
    assert ("c0", "e0") not in pairs(m, collided(m))


def test_order_of_geoms_is_that_of_types() -> None:
    seen = set()

    def look(m: Any, d: Any, geom1: int, geom2: int, margin: float) -> Any:
        seen.add((m.geom(geom1).name, m.geom(geom2).name, margin))
        return None

    cardan.set_collider(BOX, SPHERE, look)
    m = model()
    collided(m)
    assert seen == {("a0", "b0", 0.0)}


def test_many_contacts_of_one_pair() -> None:
    def many(m: Any, d: Any, geom1: int, geom2: int, margin: float) -> Any:
        return [(-0.001 * k, (k, 0, 0), (0, 0, 2)) for k in range(50)]

    cardan.set_collider(PLANE, SPHERE, many)
    d = collided(model())
    assert d.ncon >= 150
    assert d.contact.frame[1].tolist()[:3] == [0, 0, 1]


@pytest.mark.parametrize(
    ("returned", "error", "words"),
    [
        ([(0.0, (0, 0, 0), (0, 0, 1))] * 51, ValueError, "at most 50"),
        ([(0.0, (0, 0, 0), (0, 0, 0))], ValueError, "no length"),
        ([(float("nan"), (0, 0, 0), (0, 0, 1))], ValueError, "finite"),
        ([(0.0, (0, 0), (0, 0, 1))], ValueError, "position"),
        ([1.0], TypeError, "must return MjContact objects or tuples"),
    ],
)
def test_wrong_contacts_are_refused(returned: Any, error: type[Exception], words: str) -> None:
    m = model()
    cardan.set_collider(SPHERE, SPHERE, lambda *arguments: returned)
    with pytest.raises(error, match=words):
        collided(m)


def test_error_of_a_collision_function_comes_out() -> None:
    def broken(*arguments: Any) -> Any:
        raise KeyError("broken")

    m = model()
    cardan.set_collider(SPHERE, SPHERE, broken, m)
    with pytest.raises(KeyError, match="broken"):
        collided(m)


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="99 is not the type"):
        cardan.set_collider(99, SPHERE, tuples)
    with pytest.raises(TypeError, match="must be callable"):
        cardan.set_collider(SPHERE, SPHERE, 3)  # pyright: ignore[reportArgumentType]


# --- the filter -------------------------------------------------------------------------------------------------------


def without_first(m: Any, d: Any, geom1: int, geom2: int) -> int:
    """Nothing collides with geom 0."""
    return 1 if geom1 == 0 or geom2 == 0 else 0


@pytest.mark.parametrize("function", [without_first, cardan.kernel(lambda m, d, i, j: i == 0 or j == 0)])
@pytest.mark.parametrize(("flags", "rest"), [("/>", ""), (NO_MIDPHASE, ""), ("/>", PAIR)])
def test_filter_as_in_the_reference(function: Made, flags: str, rest: str) -> None:
    rm, m = mujoco.MjModel.from_xml_string(text(flags, rest)), model(flags, rest)
    rd = mujoco.MjData(rm)
    for refusing in (without_first, lambda m, d, geom1, geom2: 1, lambda m, d, geom1, geom2: 0):
        mujoco.set_mjcb_contactfilter(refusing)
        try:
            mujoco.mj_forward(rm, rd)
        finally:
            mujoco.set_mjcb_contactfilter(None)
        cardan.set_mjcb_contactfilter(function if refusing is without_first else refusing)
        assert pairs(m, collided(m)) == pairs(rm, rd)
    cardan.set_mjcb_contactfilter(None)
    mujoco.mj_forward(rm, rd)
    assert pairs(m, collided(m)) == pairs(rm, rd)


def test_filter_of_one_model() -> None:
    m, other = model(), model()
    cardan.set_callback(m, "contactfilter", without_first)
    assert pairs(m, collided(m)) == {("a0", "b0"), ("c0", "e0")}
    assert ("floor", "b0") in pairs(other, collided(other))


@pytest.mark.parametrize("verdict", [None, 1.0, "x"])
def test_filter_must_return_an_integer(verdict: Any) -> None:
    cardan.set_mjcb_contactfilter(lambda *arguments: verdict)
    with pytest.raises(TypeError, match="did not return an integer"):
        collided(model())


# --- contacts by hand -------------------------------------------------------------------------------------------------


def test_added_contact_makes_constraints_as_in_the_reference() -> None:
    rm, m = mujoco.MjModel.from_xml_string(text()), model()
    rd, d = mujoco.MjData(rm), collided(m)
    mujoco.mj_forward(rm, rd)
    for lib, owner, data in ((mujoco, rm, rd), (cardan, m, d)):
        assert lib.mj_addContact(owner, data, data.contact[0]) == 0
        lib.mj_makeConstraint(owner, data)
    assert (d.ncon, d.nefc) == (rd.ncon, rd.nefc)
    assert d.contact.dist == pytest.approx(rd.contact.dist[: rd.ncon], abs=1e-12)


@pytest.mark.parametrize("place", ["collider", "filter"])
def test_contacts_added_by_a_function_that_collision_detection_calls(place: str) -> None:
    """The arena must not move while the stage that called the function goes on writing to it."""
    stayed = []

    def add(m: Any, d: Any) -> None:
        con = cardan.MjContact()
        con.dim = 1
        for k in range(100):
            before = d._memory.arrays["contact.dist"]
            con.dist = -float(k)
            assert cardan.mj_addContact(m, d, con) == 0
            stayed.append(before is d._memory.arrays["contact.dist"])

    def collide(m: Any, d: Any, geom1: int, geom2: int, margin: float) -> Any:
        add(m, d)
        return [(-7.0, (0, 0, 0), (0, 0, 1))]

    def refuse_none(m: Any, d: Any, geom1: int, geom2: int) -> int:
        add(m, d)
        return 0

    if place == "collider":
        cardan.set_collider(SPHERE, SPHERE, collide)
    else:
        cardan.set_mjcb_contactfilter(refuse_none)
    m = model()
    d = cardan.MjData(m)
    cardan.mj_kinematics(m, d)
    cardan.mj_collision(m, d)
    dist = d.contact.dist.tolist()
    added = [-float(k) for k in range(100)]
    first = dist.index(-1.0) - 1
    assert dist[first : first + 100] == added
    if place == "collider":
        assert dist[first + 100] == -7.0
    assert stayed and all(stayed)


def test_a_collider_cannot_replace_the_data_that_it_looks_at() -> None:
    m = model()
    other = collided(m)

    def copy(m: Any, d: Any, geom1: int, geom2: int, margin: float) -> Any:
        cardan.mj_copyData(d, m, other)

    cardan.set_collider(SPHERE, SPHERE, copy)
    with pytest.raises(RuntimeError, match="collision detection is running"):
        collided(m)


def test_memory_grows_for_added_contacts() -> None:
    m = model()
    d = collided(m)
    con = cardan.MjContact()
    con.dim = 1
    for _ in range(1000):
        assert cardan.mj_addContact(m, d, con) == 0
    assert d.ncon > 1000
    with pytest.raises(TypeError, match="con must be an MjContact"):
        cardan.mj_addContact(m, d, 3)  # pyright: ignore[reportArgumentType]
    for dim in (0, -1, 7):
        con.dim = dim
        with pytest.raises(ValueError, match=f"con.dim is {dim}"):
            cardan.mj_addContact(m, d, con)
