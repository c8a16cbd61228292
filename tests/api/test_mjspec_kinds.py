"""Types and numbers of the attributes of `MjSpec` in a process with compat 4.0: those of MuJoCo 4.0.0."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.compat import VARIABLE
from cardan.errors import MjcfError

# makes a specification with an element of each kind; `of(value)` returns a value, with its type, as plain data
MADE = """
mj = mujoco
spec = mj.MjSpec()
world = spec.worldbody
body = world.add_body(name="b")
made = {"option": spec.option, "compiler": spec.compiler, "LRopt": spec.compiler.LRopt, "body": body}
made |= {name: getattr(spec.visual, name) for name in ("global_", "headlight", "map", "quality", "rgba", "scale")}
made |= {"frame": body.add_frame(name="f"), "joint": body.add_joint(name="j"), "camera": body.add_camera(name="c")}
made |= {"freejoint": world.add_body(name="free").add_freejoint(), "geom": body.add_geom(name="g", size=[1, 1, 1])}
made |= {"site": body.add_site(name="s"), "light": body.add_light(name="l")}
for kind in ("material", "texture", "mesh", "hfield", "skin", "flex", "pair", "exclude", "text", "tuple", "key"):
    made[kind] = getattr(spec, "add_" + kind)(name=kind)
made["tendon"] = spec.add_tendon(name="t")
made["wrap"] = made["tendon"].wrap_joint("j", 1.0)
made["equality"] = spec.add_equality(name="e", type=mj.mjtEq.mjEQ_JOINT, name1="j")
made["sensor"] = spec.add_sensor(name="se", type=mj.mjtSensor.mjSENS_JOINTPOS)
made["actuator"], made["numeric"] = spec.add_actuator(name="a"), spec.add_numeric(name="n", size=1)

def of(value):
    if hasattr(type(value), "__members__"):
        return type(value).__name__, value.name, int(value)
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape
    return type(value).__name__
"""
SHOWN = (
    MADE
    + """
out = {}
for kind, struct in made.items():
    for name in dir(struct):
        value = None if name.startswith("_") else getattr(struct, name, None)
        if isinstance(value, (int, float, np.ndarray)) or hasattr(type(value), "__members__"):
            out[kind + "." + name] = of(value)
"""
)
SET = (
    MADE
    + """
out = {}
for kind, struct in made.items():
    for name in [name for name in dir(struct) if not name.startswith("_")]:
        enumeration = type(getattr(struct, name, None))
        for key, member in getattr(enumeration, "__members__", {}).items():
            try:
                setattr(struct, name, member)
                out[kind + "." + name + " = " + key] = of(getattr(struct, name)), int(getattr(struct, name))
            except Exception:
                pass
for name, enumeration in (("disableflags", mj.mjtDisableBit), ("enableflags", mj.mjtEnableBit)):
    for key, member in enumeration.__members__.items():
        try:
            setattr(spec.option, name, member)
            out[name + " = " + key] = spec.option.disableflags, spec.option.enableflags
            setattr(spec.option, name, 0)
        except Exception:
            pass
"""
)

WITHOUT = ("camera.intrinsic", "flex.stressyield", "flex.size", "flex.elastic3d", "flex.order", "mesh.needsdf",
           "mesh.octree_maxdepth", "actuator.ctrlspec")  # fmt: skip
"""Attributes that Cardan does not have."""

OTHER = {
    "flex.passive": "a truth value",
    "equality.objtype": "follows from the type",
}
"""Attributes with another type or value, and the reason."""

LATER = ("mjGEOM_", "mjNGEOM", "mjOBJ_", "mjEQ_", "DCMOTOR", "SO3", "PID", "mjTRN_UNDEFINED", "TACTILE", "SLEEP")
LATER += (
    "DIAGEXACT",
    "IPC",
    "SPECULATIVE",
    "mjSTAGE_NONE",
    "freejoint.",
    "joint.align",
    "mjNENABLE",
    "mjNDISABLE",
    "wrap.type",
)
"""Parts of assignments that Cardan may refuse: features that are missing, and values that mean nothing."""


@pytest.fixture(autouse=True)
def compat(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Set the version of the process for one test."""
    monkeypatch.setenv(VARIABLE, "")
    cardan.set_compat("4.0")
    yield
    cardan.set_compat(None)


def run(code: str) -> Any:
    """Run code with Cardan as ``mujoco``; return what it stored in ``out``."""
    names: dict[str, Any] = {"mujoco": cardan, "np": np}
    exec(code, names)
    return names["out"]


def test_types_are_those_of_4_0() -> None:
    """Every number, array and member: type, type of the numbers, shape; members also by number."""
    ours = run(SHOWN)
    for name, kind in later_run(SHOWN).items():
        if name in WITHOUT:
            struct = name.partition(".")[0]
            with pytest.raises(AttributeError, match="is not supported: "):
                getattr(run(MADE + "out = made")[struct], name.partition(".")[2])
        elif name not in OTHER:
            assert ours.get(name) == kind, name


def test_members_are_read_back() -> None:
    """Each member of each enumeration, assigned to each attribute that has such members."""
    ours = run(SET)
    for assignment, result in later_run(SET).items():
        if assignment.partition(" ")[0] in OTHER:
            continue
        if assignment in ours or not any(part in assignment for part in LATER):
            assert ours.get(assignment) == result, assignment


def test_missing_bits_name_their_feature() -> None:
    """Bits of features that Cardan does not have yet."""
    spec = cardan.MjSpec()
    with pytest.raises(MjcfError, match="speculative contacts"):
        spec.option.enableflags = cardan.mjtEnableBit.mjENBL_SPECULATIVE


def test_bits_that_equal_a_count() -> None:
    """The number of bits equals one of the bits."""
    m = cardan.MjModel.from_xml_string("<mujoco/>", compat="4.0")
    m.opt.enableflags = cardan.mjtEnableBit.mjENBL_INVDISCRETE
    assert m.opt.enableflags == cardan.mjtEnableBit.mjENBL_INVDISCRETE == 8


def test_parameters_of_contact_sensors() -> None:
    """``intprm`` of contact sensors: bits of the data, reduction, number of contacts."""
    spec: Any = cardan.MjSpec()
    spec.worldbody.add_body().add_geom(name="g", size=[0.1, 0, 0])
    kinds: Any = {"type": cardan.mjtSensor.mjSENS_CONTACT, "objtype": cardan.mjtObj.mjOBJ_GEOM, "objname": "g"}
    sensor = spec.add_sensor(intprm=[1, 0, 1], **kinds)
    assert sensor.get_data_size() == 1
    sensor.intprm[:2] = [0b11, 2]
    assert sensor.get_data_size() == 4
    assert 'data="found force" reduce="maxforce"' in spec.to_xml()
    for wrong, text in (([1 << 9, 0, 1], "9 bits of the data"), ([0, 0, 1], "data"), ([1, 4, 1], "not a reduction")):
        sensor.intprm = wrong
        with pytest.raises(MjcfError, match=text):
            spec.compile()
    sensor.intprm = [1, 0, 1]
    spec.compile()
    spec.add_sensor(**kinds)
    with pytest.raises(MjcfError, match="data"):
        spec.compile()
    spec.compat = "3.1"
    assert spec.compile().sensor_dim.tolist() == [1, 1]
    spec.compat = "4.0"
    spec.delete(spec.sensors[-1])
    assert spec.add_sensor(type=cardan.mjtSensor.mjSENS_CLOCK).intprm.tolist() == [0, 0, 0]


def test_single_precision_is_written_in_decimal() -> None:
    """Colours are shown in single precision; saved models have the shortest decimal numbers."""
    spec = cardan.MjSpec()
    geom = spec.worldbody.add_geom(size=[1, 1, 1], rgba=[0.1, 0.2, 0.3, 1])
    assert geom.rgba.dtype == np.float32
    geom.rgba[0] = 0.7
    assert geom.element["rgba"] == (0.7, 0.2, 0.3, 1.0)
    other = spec.worldbody.add_geom(size=[1, 1, 1], rgba=geom.rgba)
    assert other.element["rgba"] == geom.element["rgba"]


def test_alignment_of_free_joints() -> None:
    """``align`` of a joint of type free, which MJCF has only for ``freejoint``."""
    spec: Any = cardan.MjSpec()
    body = spec.worldbody.add_body()
    body.add_geom(size=[0.1, 0, 0], pos=[1, 0, 0])
    joint = body.add_joint(
        name="j", type=cardan.mjtJoint.mjJNT_FREE, align=cardan.mjtAlignFree.mjALIGNFREE_TRUE, group=2
    )
    assert (joint.type, joint.align, joint.group) == (0, cardan.mjtAlignFree.mjALIGNFREE_TRUE, 2)
    assert spec.compile().body_pos[1].tolist() == [1, 0, 0]
    with pytest.raises(MjcfError, match="no align"):
        spec.worldbody.add_body().add_joint().align = cardan.mjtAlignFree.mjALIGNFREE_TRUE
