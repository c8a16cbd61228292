"""Enumerations and constants: every name and value of the reference, and the same behaviour."""

import copy
import pickle
import re
from pathlib import Path

import mujoco
import numpy as np
import pytest

from cardan import constants, enums

ENUMERATIONS = [name for name in dir(mujoco) if name.startswith("mjt")]
CONSTANTS = [
    name for name in dir(mujoco) if re.match("mj[A-Z]", name) and isinstance(getattr(mujoco, name), int | float | tuple)
]


def header_defines() -> dict[str, float]:
    """Numeric `#define` lines of the headers, by name."""
    text = "".join(Path(mujoco.HEADERS_DIR, f"{h}.h").read_text() for h in ("mjmodel", "mjvisualize"))
    return {name: float(value) for name, value in re.findall(r"^#define (mj\w+)\s+([\d.E+-]+)", text, re.MULTILINE)}


def test_every_enumeration_exists():
    assert sorted(enums.__all__) == sorted(ENUMERATIONS)


@pytest.mark.parametrize("name", ENUMERATIONS)
def test_members_equal_the_reference(name):
    reference = {key: member.value for key, member in getattr(mujoco, name).__members__.items()}
    assert {key: member.value for key, member in getattr(enums, name).__members__.items()} == reference


@pytest.mark.parametrize("name", ENUMERATIONS)
def test_members_show_as_in_the_reference(name):
    for key, reference in getattr(mujoco, name).__members__.items():
        member = getattr(getattr(enums, name), key)
        assert (str(member), repr(member), f"{member}", member.name) == (
            str(reference),
            repr(reference),
            f"{reference}",
            reference.name,
        )
        assert bool(member) == bool(reference)
        assert hash(member) == hash(reference)
        assert type(member)(member.value) == member


@pytest.mark.parametrize("name", ENUMERATIONS)
def test_enumerations_have_a_docstring(name):
    assert len(getattr(enums, name).__doc__) > len("short")


@pytest.mark.parametrize(
    "expression",
    [
        *("g + 1", "1 - g", "g * 2", "g / 4", "g // 4", "g % 4", "-g", "int(g)", "float(g)", "'%d' % g"),
        *("g | 1", "1 | g", "g & 2", "g ^ 1", "g << 1", "g >> 1", "b | c", "0xff ^ b"),
        *("g == 6", "6 == g", "g != 6", "g == 6.0", "g == 'box'", "g == None", "g == c"),
        *("{6: 1}[g]", "{g: 1}[6]", "list(range(g))", "[0] * g"),
    ],
)
def test_operations_give_the_same_as_in_the_reference(expression):
    values = [
        eval(
            expression,
            {"g": m.mjtGeom.mjGEOM_BOX, "b": m.mjtDisableBit.mjDSBL_CONTACT, "c": m.mjtDisableBit.mjDSBL_LIMIT},
        )
        for m in (mujoco, enums)
    ]
    assert values[0] == values[1]
    assert type(values[0]) is type(values[1])


def test_bits_switch_on_and_off():
    flags = 0
    flags |= enums.mjtDisableBit.mjDSBL_CONTACT | enums.mjtDisableBit.mjDSBL_GRAVITY
    flags &= ~enums.mjtDisableBit.mjDSBL_GRAVITY
    assert flags == mujoco.mjtDisableBit.mjDSBL_CONTACT
    assert type(flags) is int


def test_members_equal_those_of_the_reference_and_numpy_numbers():
    assert enums.mjtGeom.mjGEOM_BOX == mujoco.mjtGeom.mjGEOM_BOX
    assert enums.mjtGeom.mjGEOM_BOX != mujoco.mjtGeom.mjGEOM_PLANE
    assert np.int32(6) == enums.mjtGeom.mjGEOM_BOX
    assert (np.array([1, 6]) == enums.mjtGeom.mjGEOM_BOX).tolist() == [False, True]
    assert np.arange(9)[enums.mjtGeom.mjGEOM_BOX] == enums.mjtGeom(np.int32(6))


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda member: pickle.loads(pickle.dumps(member))])
def test_members_survive_copying(clone):
    assert clone(enums.mjtGeom.mjGEOM_BOX) is enums.mjtGeom.mjGEOM_BOX


@pytest.mark.parametrize(("value", "error"), [(99, ValueError), ("box", TypeError), (None, TypeError)])
def test_bad_values_raise_as_in_the_reference(value, error):
    with pytest.raises(error):
        mujoco.mjtGeom(value)
    with pytest.raises(error, match="mjtGeom"):
        enums.mjtGeom(value)


def test_the_error_of_a_bad_value_names_the_valid_ones():
    with pytest.raises(ValueError, match=r"Invalid int value for mjtJoint: 4; valid values are 0 \(mjJNT_FREE\)"):
        enums.mjtJoint(4)


def test_members_are_compile_time_numbers_in_compiled_code():
    numba = pytest.importorskip("numba")
    box, limit = enums.mjtGeom.mjGEOM_BOX, enums.mjtDisableBit.mjDSBL_LIMIT

    @numba.njit
    def kernel(kind, flags):
        return kind == box, (flags & limit) != 0, kind == enums.mjtGeom.mjGEOM_PLANE

    assert kernel(6, 8) == kernel.py_func(6, 8) == (True, True, False)


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_equal_the_reference(name):
    value = getattr(constants, name)
    assert value == getattr(mujoco, name)
    assert type(value) is type(getattr(mujoco, name))


def test_constants_that_only_the_headers_have():
    defines = header_defines()
    assert {"mjMAXTREEDEPTH", "mjNFLUID", "mjNISLAND"} <= set(defines)
    assert {name: getattr(constants, name) for name in defines} == defines
