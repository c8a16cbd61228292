"""Enumerations and constants: every name and value of the reference, and the same behaviour."""

import copy
import operator
import pickle
import re
from decimal import Decimal
from fractions import Fraction
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
    assert set(enums.__all__) >= set(ENUMERATIONS)


LATER_MEMBERS = {
    "mjtDisableBit": {"mjDSBL_SPRING", "mjDSBL_DAMPER", "mjDSBL_AUTORESET"},
    "mjtEnableBit": {
        *("mjENBL_NATIVECCD", "mjENBL_SLEEP", "mjENBL_DIAGEXACT", "mjENBL_IPC", "mjENBL_SPECULATIVE"),
    },
    "mjtIntegrator": {"mjINT_DISCRETE"},
    "mjtTrn": {"mjTRN_SO3"},
    "mjtDyn": {"mjDYN_DCMOTOR", "mjDYN_PID"},
    "mjtGain": {"mjGAIN_DCMOTOR", "mjGAIN_SO3", "mjGAIN_PID"},
    "mjtBias": {"mjBIAS_DCMOTOR", "mjBIAS_SO3"},
    "mjtObj": {"mjOBJ_DEFAULT", "mjOBJ_MODEL"},
    "mjtEq": {"mjEQ_FLEXVERT", "mjEQ_FLEXSTRAIN"},
    "mjtState": {"mjSTATE_HISTORY", "mjSTATE_PLASTIC"},
    "mjtMouse": {"mjMOUSE_MOVE_V_REL", "mjMOUSE_MOVE_H_REL", "mjMOUSE_TURN_V", "mjMOUSE_TURN_H"},
    "mjtSensor": {
        *("mjSENS_TENDONACTFRC", "mjSENS_INSIDESITE", "mjSENS_CONTACT", "mjSENS_E_POTENTIAL", "mjSENS_E_KINETIC"),
        "mjSENS_TACTILE",
    },
}
"""Members that only MuJoCo 4.0 has; in the engine they have numbers of Cardan's own."""


HISTORY = 1 << 13  # bit of the history
OWN = {
    "mjtState": {
        "mjNSTATE": 14,
        "mjSTATE_PHYSICS": 0x000E | HISTORY,
        "mjSTATE_FULLPHYSICS": 0x100F | HISTORY,
        "mjSTATE_INTEGRATION": 0x1FFF | HISTORY,
    }
}
"""Combinations that include parts of the state that 3.1.6 does not have."""


@pytest.mark.parametrize("name", ENUMERATIONS)
def test_members_equal_the_reference(name):
    reference = {key: member.value for key, member in getattr(mujoco, name).__members__.items()}
    own = {key: member.value for key, member in getattr(enums, name).__members__.items()}
    later = LATER_MEMBERS.get(name, set())
    reference |= OWN.get(name, {})
    assert {key: value for key, value in own.items() if key not in later} == reference
    assert own.keys() - reference.keys() == later
    assert not {own[key] for key in later} & set(reference.values())


@pytest.mark.parametrize("name", ENUMERATIONS)
def test_members_show_as_in_the_reference(name):
    for key, reference in getattr(mujoco, name).__members__.items():
        if key in OWN.get(name, {}):
            continue
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


OPERATORS = ("+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "**", "==", "!=", "<", "<=", ">", ">=")
OPERANDS = {
    "int": 5, "zero": 0, "negative": -3, "bool": True, "large": 2**40, "float": 2.5, "whole float": 6.0, "text": "box",
    "bytes": b"6", "none": None, "list": [6], "tuple": (1, 2), "complex": 2j, "fraction": Fraction(5, 2),
    "decimal": Decimal("2.5"), "int32": np.int32(6), "uint8": np.uint8(200), "float32": np.float32(1.5),
    "float64": np.float64(1.5), "bool_": np.bool_(True), "point": np.array(3), "array": np.array([1, 6]),
    "reals": np.array([1.5, 6.0]),
}  # fmt: skip


def outcome(expression, names):
    """Value and type of an expression (arrays with their element type), or the type of its error."""
    try:
        value = eval(expression, {"np": np, "copy": copy, "pickle": pickle, "operator": operator, **names})
    except Exception as error:
        return type(error)
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, [repr(entry) for entry in value.ravel().tolist()]
    return (type(value).__name__, repr(value))


def names_of(module):
    """What the expressions of these tests are about, in one of the two packages."""
    return {
        "J": module.mjtGeom, "g": module.mjtGeom.mjGEOM_BOX, "z": module.mjtGeom.mjGEOM_PLANE,
        "b": module.mjtDisableBit.mjDSBL_CONTACT, "c": module.mjtDisableBit.mjDSBL_LIMIT,
    }  # fmt: skip


UNDEFINED = {("<<", "large"), ("<<", "uint8"), ("<<", "negative"), (">>", "negative"), (">>", "large")}
"""Shifts by more bits than there are, or by fewer than none: undefined in C."""
REFUSED = {(sign, operand) for sign in ("/", "//", "%") for operand in ("array", "reals")}
"""Errors there when the member stands on the left, but not on the right."""


@pytest.mark.parametrize("operand", OPERANDS)
@pytest.mark.parametrize("sign", OPERATORS)
def test_operators_give_the_same_as_in_the_reference(sign, operand):
    expressions = [f"x {sign} g"] + [f"g {sign} x"] * ((sign, operand) not in UNDEFINED | REFUSED)
    for expression in expressions:
        results = [outcome(expression, names_of(m) | {"x": OPERANDS[operand]}) for m in (mujoco, enums)]
        assert results[0] == results[1], expression


@pytest.mark.parametrize("sign", OPERATORS)
def test_operators_between_members_give_the_same_as_in_the_reference(sign):
    for expression in (f"g {sign} z", f"g {sign} b", f"b {sign} c", f"g {sign} g", f"z {sign} g"):
        results = [outcome(expression, names_of(m)) for m in (mujoco, enums)]
        assert results[0] == results[1], expression


@pytest.mark.parametrize(
    "expression",
    [
        *("-g", "+g", "~g", "abs(g)", "round(g)", "int(g)", "float(g)", "complex(g)", "bool(z)", "not z", "z or 5"),
        *(
            "isinstance(g, int)",
            "isinstance(g, J)",
            "issubclass(J, int)",
            "callable(g)",
            "hash(g)",
            "operator.index(g)",
        ),
        *("'%d' % g", "'%5.2f' % g", "'%s' % g", "'{}'.format(g)", "'{0.name}'.format(g)", "f'{g:d}'", "f'{g!r:>40}'"),
        *("{6: 1}[g]", "{g: 1}[6]", "{g, 6, z}", "6 in {g}", "g in (6, 7)", "[6, 7].index(g)", "{g: 1}.get(J(6))"),
        *("list(range(g))", "[0] * g", "'ab' * g", "list(range(9))[g]", "list(range(9))[z:g]", "bytes([g])", "hex(g)"),
        *("np.arange(9)[g]", "np.eye(9)[g, z]", "np.zeros(g)", "np.array(g)", "np.array([g, 1.5])", "np.full(2, g)"),
        *("np.array([g, z], dtype=np.int32)", "np.array([1, 6]) == g", "np.int32(6) == g", "np.isin([6, 7], [g])"),
        *("np.add(g, 1)", "np.sum([g, z])", "np.isscalar(g)", "np.max([g, z])", "np.bitwise_and(7, g)", "sum([g, z])"),
        *("min(g, z)", "sorted([g, z])", "sorted([g, z], key=int)", "max([g, z], key=int)"),
        *("J(6)", "J(6) is g", "J(value=6)", "J(g)", "J(b)", "J(True)", "J(6.0)", "J(6.5)", "J('6')", "J(None)", "J()"),
        *("J(99)", "J(-1)", "J(6, 7)", "J(np.int32(6))", "J(np.array(6))", "J(np.array([6]))", "J(np.float64(6))"),
        *("J['mjGEOM_BOX']", "len(J)", "list(J)", "g in J", "6 in J", "'mjGEOM_BOX' in J", "reversed(J)", "bool(J)"),
        *("J.__members__", "g.__members__", "J.__members__ is J.__members__", "J.__members__['mjGEOM_BOX'] is g"),
        *("J.__name__", "J.__qualname__", "g.mjGEOM_PLANE", "g.name", "g.value", "J.absent", "g.absent", "g.real"),
        *("[x for x in dir(g) if not x.startswith('_')]", "[x for x in dir(J) if not x.startswith('_')]"),
        *("setattr(g, 'name', 'a')", "setattr(g, 'value', 3)", "setattr(g, 'absent', 3)", "delattr(g, 'name')"),
        *("g.__init__(3), g", "g.__getstate__()", "g.__eq__('a')", "g.__add__('a')", "g.__lt__(3)", "vars(g)"),
        *("pickle.loads(pickle.dumps(g))", "pickle.loads(pickle.dumps(g)) is g", "pickle.loads(pickle.dumps(J)) is J"),
        *("copy.copy(g)", "copy.copy(g) is g", "copy.deepcopy([g, {z: g}])", "copy.deepcopy(J) is J"),
        *("type('Own', (J,), {})(6)", "type('Own', (J,), {}).mjGEOM_BOX", "type('Own', (J,), {'A': 1}).A"),
        *("isinstance(type('Own', (J,), {})(6), J)", "type('Own', (J,), {})(6) == g"),
    ],
)
def test_expressions_give_the_same_as_in_the_reference(expression):
    results = [outcome(expression, names_of(module)) for module in (mujoco, enums)]
    assert results[0] == results[1]


def test_members_match_in_patterns():
    def kind(value):
        match value:
            case int():
                return "integer"
            case enums.mjtGeom.mjGEOM_PLANE:
                return "plane"
            case enums.mjtGeom(value=6):
                return "box"
        return "other"

    assert [kind(enums.mjtGeom(n)) for n in (0, 6, 7)] == ["plane", "box", "other"]


def test_shifts_keep_all_bits():
    assert enums.mjtGeom.mjGEOM_BOX << 62 == 6 * 2**62
    with pytest.raises(ValueError, match="negative shift count"):
        enums.mjtGeom.mjGEOM_BOX << -1


def test_bits_switch_on_and_off():
    flags = 0
    flags |= enums.mjtDisableBit.mjDSBL_CONTACT | enums.mjtDisableBit.mjDSBL_GRAVITY
    flags &= ~int(enums.mjtDisableBit.mjDSBL_GRAVITY)
    assert flags == mujoco.mjtDisableBit.mjDSBL_CONTACT
    assert type(flags) is int


def test_members_equal_those_of_the_reference_and_numpy_numbers():
    assert enums.mjtGeom.mjGEOM_BOX == mujoco.mjtGeom.mjGEOM_BOX
    assert enums.mjtGeom.mjGEOM_BOX != mujoco.mjtGeom.mjGEOM_PLANE
    assert np.int32(6) == enums.mjtGeom.mjGEOM_BOX
    assert (np.array([1, 6]) == enums.mjtGeom.mjGEOM_BOX).tolist() == [False, True]
    assert np.arange(9)[enums.mjtGeom.mjGEOM_BOX] == enums.mjtGeom(np.int32(6))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_every_member_survives_pickling(protocol):
    members = [member for name in ENUMERATIONS for member in getattr(enums, name).__members__.values()]
    copies = pickle.loads(pickle.dumps(members, protocol))
    assert [(type(m), m.value) for m in copies] == [(type(m), m.value) for m in members]


def test_pickles_of_the_reference_are_read():
    """They make an empty member and give it its number; with the door open, the class is found by its name there."""
    member = enums.mjtGeom.__new__(enums.mjtGeom)
    member.__setstate__(mujoco.mjtGeom.mjGEOM_BOX.__getstate__())
    assert repr(member) == repr(mujoco.mjtGeom.mjGEOM_BOX)


def test_the_error_of_a_bad_value_names_the_valid_ones():
    with pytest.raises(ValueError, match=r"Invalid int value for mjtJoint: 4; valid values are 0 \(mjJNT_FREE\)"):
        enums.mjtJoint(4)
    with pytest.raises(TypeError, match=r"mjtJoint.*takes an integer, not 'slide'"):
        enums.mjtJoint("slide")


def test_members_are_compile_time_numbers_in_compiled_code():
    import numba

    import cardan.jit.front.native  # noqa: F401 (as Cardan does before it compiles)

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
