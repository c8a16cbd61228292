"""Groups of options and records of lists: as objects they behave like the reference's."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import mujoco
import pytest
from reference import NEWER

import cardan

XML = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
  <body pos="0 0 .09"><freejoint/><inertial mass="1" diaginertia="1 1 1" pos="0 0 0"/><geom size=".1"/></body>
  <body pos="1 0 .09"><freejoint/><inertial mass="1" diaginertia="1 1 1" pos="0 0 0"/><geom size=".1"/></body>
</worldbody></mujoco>"""
ENGINES = pytest.mark.parametrize("engine", [cardan, mujoco], ids=["cardan", "reference"])
GROUPS = ("opt", "stat", *(f"vis.{name}" for name in ("global_", "headlight", "map", "quality", "scale")))
LISTS = ("contact", "warning", "timer", "solver")
RECORDS = ("MjContact", "MjWarningStat", "MjTimerStat", "MjSolverStat", "MjOption", "MjStatistic", "MjLROpt")


def world(engine: Any) -> tuple[Any, Any]:
    m = engine.MjModel.from_xml_string(XML)
    d = engine.MjData(m)
    engine.mj_forward(m, d)
    return m, d


def part_of(thing: Any, path: str) -> Any:
    for name in path.split("."):
        thing = getattr(thing, name)
    return thing


@pytest.mark.parametrize("path", GROUPS)
def test_groups_show_as_in_the_reference(path: str) -> None:
    ours, theirs = (part_of(world(engine)[0], path) for engine in (cardan, mujoco))
    newer = tuple(f"  {name.removeprefix(path + '.')}: " for name in NEWER if name.startswith(f"{path}."))
    assert [line for line in repr(ours).splitlines() if not line.startswith(newer)] == repr(theirs).splitlines()
    assert type(ours).__qualname__ == type(theirs).__qualname__


@pytest.mark.parametrize("name", ["warning", "timer"])
def test_lists_show_as_in_the_reference(name: str) -> None:
    ours, theirs = (getattr(world(engine)[1], name) for engine in (cardan, mujoco))
    assert repr(ours) == repr(theirs)
    assert repr(ours[0]) == repr(theirs[0])


@pytest.mark.parametrize("name", RECORDS)
def test_blank_structures_show_as_in_the_reference(name: str) -> None:
    blank = repr(getattr(cardan, name)())
    expected = repr(getattr(mujoco, name)())
    later = ("  geom", "  adhesion", "  surfacevel", "  law", "  deformation", "  lagged", "  sleep_tolerance")
    assert [line for line in blank.splitlines() if not line.startswith(later)] == [
        line for line in expected.splitlines() if "  geom" not in line
    ]  # ids of geoms are what was in the memory there


@pytest.mark.parametrize("name", [*RECORDS, "MjVisual"])
def test_members_are_visible_on_the_classes(name: str) -> None:
    members = {member for member in dir(getattr(mujoco, name)) if not member.startswith("_")}
    assert members <= set(dir(getattr(cardan, name)))


@ENGINES
def test_the_same_record_is_the_same_object(engine: Any) -> None:
    _, d = world(engine)
    assert d.contact[0] is d.contact[0]
    assert d.contact[:1][0] is d.contact[0]
    assert d.contact[1:][0] is d.contact[1]
    assert [a is b for a, b in zip(d.contact, d.contact, strict=True)] == [True, True]


@ENGINES
def test_a_record_shows_what_stands_in_its_row_now(engine: Any) -> None:
    m, d = world(engine)
    first = d.contact[0]
    d.qpos[2] += 0.005
    engine.mj_forward(m, d)
    assert first is d.contact[0]
    assert first.dist == d.contact.dist[0] == pytest.approx(-0.005)
    first.geom1 = 7
    assert d.contact.geom1[0] == 7


def test_records_follow_an_arena_that_grows() -> None:
    _, d = world(cardan)
    first = d.contact[0]
    dist = first.dist
    d.grow("ncon", 1000)
    first.dist = 2 * dist
    assert d.contact.dist[0] == 2 * dist


@ENGINES
def test_copies_of_visual_options_stand_alone(engine: Any) -> None:
    m, _ = world(engine)
    for clone in (copy.copy(m.vis), copy.deepcopy(m.vis)):
        assert clone == m.vis
        clone.map.znear = 5.0
        assert m.vis.map.znear == pytest.approx(0.01)
        assert clone != m.vis


@ENGINES
@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [
        ("m.vis", "absent", 3), ("m.vis.map", "absent", 3), ("m.opt", "absent", 3), ("m", "absent", 3),
        ("d", "absent", 3), ("d", "contact", 3), ("d.contact", "dist", 3),
        ("d.contact", "absent", 3), ("d.contact[0]", "absent", 3), ("d.warning[0]", "absent", 3),
    ],
)  # fmt: skip
def test_what_can_not_be_set_is_an_attribute_error(engine: Any, owner: str, name: str, value: Any) -> None:
    m, d = world(engine)
    thing = eval(owner, {"m": m, "d": d})
    with pytest.raises(AttributeError):
        setattr(thing, name, value)


@pytest.mark.parametrize(("owner", "name"), [("m.vis", "map"), ("m", "opt")])
def test_structures_are_set_from_structures(owner: str, name: str) -> None:
    """As in MuJoCo 4.0; 3.1.6 does not set them at all."""
    thing = eval(owner, {"m": world(cardan)[0]})
    with pytest.raises(TypeError, match=name):
        setattr(thing, name, 3)


@ENGINES
@pytest.mark.parametrize(
    "expression", ["MjOption(3)", "MjStatistic(3)", "MjContact(3)", "MjVisual()", "MjVisual.Map()"]
)
def test_wrong_arguments_of_constructors_are_type_errors(engine: Any, expression: str) -> None:
    with pytest.raises(TypeError):
        eval(f"engine.{expression}", {"engine": engine})


def test_pickles_stand_alone() -> None:
    m, d = world(cardan)
    for path in (*GROUPS, "vis.rgba", "vis"):
        assert pickle.loads(pickle.dumps(part_of(m, path))) == part_of(m, path)
    for name in LISTS:
        record = getattr(d, name)[0]
        assert pickle.loads(pickle.dumps(record)) == record
    clone = pickle.loads(pickle.dumps(m.opt))
    clone.timestep = 1.0
    assert m.opt.timestep == 0.002


@ENGINES
def test_arrays_of_records_are_the_same_objects(engine: Any) -> None:
    m, d = world(engine)
    contact = d.contact[0]
    frame = contact.frame
    assert contact.frame is frame and contact.pos is contact.pos and contact.pos is not frame
    contact.pos = [1, 2, 3]
    assert [*contact.pos] == [*d.contact.pos[0]] == [1, 2, 3]
    engine.mj_step(m, d)
    assert contact.frame is frame and frame.tolist() == d.contact.frame[0].tolist()


def test_arrays_of_records_follow_the_arena() -> None:
    _, d = world(cardan)
    contact = d.contact[0]
    before = contact.pos
    d.grow("ncon", 1000)
    assert contact.pos is not before
    contact.pos[:] = (7, 8, 9)
    assert d.contact.pos[0].tolist() == [7, 8, 9]
