"""Arguments that don't fit: each function refuses what the reference refuses, with the same kind of error."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import mujoco
import numpy as np
import pytest
from mju_cases import CASES, copies
from reference import data_from_reference, model_from_reference

import cardan

XML = """
<mujoco><worldbody><geom type="plane" size="2 2 .1"/>
 <body name="a" pos="0 0 .09"><freejoint/><geom name="g" size=".1"/><site name="s"/>
  <body name="b" pos=".3 0 0"><joint axis="0 1 0"/><joint type="ball"/>
   <geom size=".05 .1" type="capsule"/></body></body>
</worldbody></mujoco>"""
REF = mujoco.MjModel.from_xml_string(XML)
REF_DATA = mujoco.MjData(REF)
REF_DATA.qvel[:] = 0.1 * np.arange(REF.nv)
mujoco.mj_forward(REF, REF_DATA)
NQ, NV, NEFC = REF.nq, REF.nv, REF_DATA.nefc
RNG = np.random.default_rng(2)


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape)


def unit(n: int) -> np.ndarray:
    v = RNG.normal(size=n)
    return v / np.linalg.norm(v)


def r(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


JAC = [zeros(3, NV), zeros(3, NV)]
# arguments after (m, d); what changes in place is compared afterwards
CALLS: dict[str, list[Any]] = {
    "mj_jac": [*JAC, r(3), 2], "mj_jacBody": [*JAC, 2], "mj_jacBodyCom": [*JAC, 2], "mj_jacGeom": [*JAC, 1],
    "mj_jacSite": [*JAC, 0], "mj_jacSubtreeCom": [zeros(3, NV), 1], "mj_jacPointAxis": [*JAC, r(3), unit(3), 2],
    "mj_angmomMat": [zeros(3, NV), 1], "mj_objectVelocity": [1, 2, zeros(6), 1],
    "mj_objectAcceleration": [5, 2, zeros(6), 0], "mj_contactForce": [0, zeros(6)],
    "mj_applyFT": [r(3), r(3), r(3), 2, r(NV)], "mj_mulM": [zeros(NV), r(NV)], "mj_mulM2": [zeros(NV), r(NV)],
    "mj_solveM": [zeros(2, NV), r(2, NV)], "mj_solveM2": [zeros(2, NV), r(2, NV)],
    "mj_mulJacVec": [zeros(NEFC), r(NV)], "mj_mulJacTVec": [zeros(NV), r(NEFC)], "mj_rne": [1, zeros(NV)],
    "mj_constraintUpdate": [r(NEFC), zeros(1), 0],
    "mj_getState": [zeros(mujoco.mj_stateSize(REF, 15)), 15], "mj_setState": [r(mujoco.mj_stateSize(REF, 15)), 15],
}  # fmt: skip
MODEL_CALLS: dict[str, list[Any]] = {
    "mj_fullM": [zeros(NV, NV), r(REF.nM)], "mj_integratePos": [r(NQ), r(NV), 0.3],
    "mj_differentiatePos": [zeros(NV), 0.3, r(NQ), r(NQ)], "mj_normalizeQuat": [r(NQ)], "mj_stateSize": [8191],
}  # fmt: skip
DATA_CALLS: dict[str, list[Any]] = {"mj_local2Global": [zeros(3), zeros(9), r(3), unit(4), 2, 0]}


def engines() -> Iterator[tuple[Any, Any, Any]]:
    """Both engines with a model and a data in the same state."""
    ref_data = mujoco.MjData(REF)
    ref_data.qvel[:] = REF_DATA.qvel
    mujoco.mj_forward(REF, ref_data)
    mujoco.mj_rnePostConstraint(REF, ref_data)
    m = model_from_reference(REF)
    yield mujoco, REF, ref_data
    yield cardan, m, data_from_reference(m, ref_data)


ENGINES = list(engines())


def call(engine: Any, m: Any, d: Any, name: str, arguments: list[Any]) -> Any:
    first = [m, d] if name in CALLS else [m] if name in MODEL_CALLS else [d] if name in DATA_CALLS else []
    return getattr(engine, name)(*first, *arguments)


ALL = {**CALLS, **MODEL_CALLS, **DATA_CALLS}


@pytest.mark.parametrize("name", ALL)
def test_values(name: str) -> None:
    if name == "mj_mulM2":
        pytest.skip("differs: docs/differences.md")
    kept = []
    for engine, m, d in ENGINES:
        arguments = copies(ALL[name])
        kept.append((call(engine, m, d, name, arguments), arguments))
    assert kept[0][0] == kept[1][0]
    for own, their in zip(kept[1][1], kept[0][1], strict=True):
        if isinstance(their, np.ndarray):
            np.testing.assert_allclose(own, their, rtol=1e-9, atol=1e-10)


Change = Callable[[np.ndarray], Any]


def read_only(a: np.ndarray) -> np.ndarray:
    b = a.copy()
    b.flags.writeable = False
    return b


def strided(a: np.ndarray) -> np.ndarray:
    b = np.zeros((*a.shape[:-1], 2 * a.shape[-1]), a.dtype)
    return b[..., ::2]


CHANGES: dict[str, Change] = {
    "longer": lambda a: np.zeros((a.shape[0] + 1, *a.shape[1:]), a.dtype),
    "shorter": lambda a: np.zeros((a.shape[0] - 1, *a.shape[1:]), a.dtype),
    "wider": lambda a: np.zeros((*a.shape, 2), a.dtype),
    "float32": lambda a: a.astype(np.float32),
    "int64": lambda a: a.astype(np.int64),
    "text": lambda a: "text",
    "list": lambda a: a.tolist(),
    "none": lambda a: None,
    "number": lambda a: 1.0,
    "read-only": read_only,
    "strided": strided,
    "column": lambda a: a.reshape(-1, 1).copy(),
    "row": lambda a: a.reshape(1, -1).copy(),
    "Fortran order": np.asfortranarray,
}


def outcome(engine: Any, m: Any, d: Any, name: str, arguments: list[Any]) -> str:
    """Name of the exception that a call raises, or "fine"."""
    try:
        call(engine, m, d, name, arguments)
    except Exception as error:
        return type(error).__name__
    return "fine"


def arguments_of(name: str) -> list[Any]:
    if name in ALL:
        return copies(ALL[name])
    return [make() for make in CASES[name]]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", [*ALL, *CASES])
def test_what_does_not_fit(name: str, change: str) -> None:
    if change == "none" and "Optional" in (getattr(mujoco, name).__doc__ or ""):
        pytest.skip("some of these crash the reference")
    base = arguments_of(name)
    for k, value in enumerate(base):
        if not isinstance(value, np.ndarray):
            continue
        outcomes = []
        for engine, m, d in ENGINES:
            arguments = copies(base)
            arguments[k] = CHANGES[change](value)
            outcomes.append(outcome(engine, m, d, name, arguments))
        assert outcomes[1] == outcomes[0], list(inspect.signature(getattr(cardan, name)).parameters)


# functions of objects; each object is replaced in turn by what it isn't
OBJECTS: dict[str, Callable[[Any, Any, Any], list[Any]]] = {
    "mj_setConst": lambda e, m, d: [m, d],
    "mj_id2name": lambda e, m, d: [m, 5, 0],
    "mj_name2id": lambda e, m, d: [m, 5, "g"],
    "mj_addM": lambda e, m, d: [m, d, zeros(NV, NV), None, None, None],
    "mj_isPyramidal": lambda e, m, d: [m],
    "mj_isSparse": lambda e, m, d: [m],
    "mj_isDual": lambda e, m, d: [m],
    "mj_getTotalmass": lambda e, m, d: [m],
    "mj_setTotalmass": lambda e, m, d: [m, 1.0],
    "mj_resetDataKeyframe": lambda e, m, d: [m, d, 0],
    "mjv_defaultFreeCamera": lambda e, m, d: [m, e.MjvCamera()],
    "mjv_updateScene": lambda e, m, d: [m, d, e.MjvOption(), e.MjvPerturb(), e.MjvCamera(), 7, e.MjvScene(m, 10)],
}


@pytest.mark.parametrize("name", OBJECTS)
def test_what_is_no_object(name: str) -> None:
    for engine, m, d in ENGINES:
        for k, value in enumerate(OBJECTS[name](engine, m, d)):
            if isinstance(value, (int, float, str, np.ndarray)) or value is None:
                continue
            for wrong in (3, "text", object(), type(value)):
                arguments = OBJECTS[name](engine, m, d)
                arguments[k] = wrong
                with pytest.raises(TypeError):
                    getattr(engine, name)(*arguments)


@pytest.mark.parametrize("value", [2**31, 2**32, 2**32 + 1, 2**62, 2**63, 2**64, -(2**31) - 1])
@pytest.mark.parametrize("name", ["mj_jacBody", "mj_contactForce", "mj_jacSite"])
def test_integers_of_more_than_32_bits(name: str, value: int) -> None:
    for engine, m, d in ENGINES:
        arguments = copies(CALLS[name])
        arguments[next(k for k, given in enumerate(arguments) if isinstance(given, int))] = value
        for _ in range(2):  # also by native code
            with pytest.raises(TypeError):
                getattr(engine, name)(m, d, *arguments)


WITH_INTEGERS = {
    "mj_step": lambda engine, m, d, n: engine.mj_step(m, d, n),
    "mj_step, by name": lambda engine, m, d, n: engine.mj_step(m, d, nstep=n),
    "mj_id2name": lambda engine, m, d, n: engine.mj_id2name(m, n, 0),
    "mj_name2id": lambda engine, m, d, n: engine.mj_name2id(m, n, "x"),
    "mj_resetDataKeyframe": lambda engine, m, d, n: engine.mj_resetDataKeyframe(m, d, n),
    "mj_RungeKutta": lambda engine, m, d, n: engine.mj_RungeKutta(m, d, n),
    "mj_rne": lambda engine, m, d, n: engine.mj_rne(m, d, n, np.zeros(m.nv)),
    "mj_forwardSkip": lambda engine, m, d, n: engine.mj_forwardSkip(m, d, n, 0),
    "mj_stateSize": lambda engine, m, d, n: engine.mj_stateSize(m, n),
    "mju_warningText": lambda engine, m, d, n: engine.mju_warningText(n, 0),
}


@pytest.mark.parametrize("value", [2**31, 2**32, 2**32 + 1, 2**62, 2**63, -(2**31) - 1])
@pytest.mark.parametrize("name", WITH_INTEGERS)
def test_integers_that_are_no_int_of_c(name: str, value: int) -> None:
    outcomes = []
    for engine, m, d in ENGINES:
        engine.mj_step(m, d)  # cardan's next call is native from its start
        with pytest.raises((TypeError, engine.FatalError)) as error:
            WITH_INTEGERS[name](engine, m, d, value)
        outcomes.append(error.type.__name__)
    assert outcomes[0] == outcomes[1]


def test_an_integer_that_is_too_large_is_named() -> None:
    _, m, d = next(row for row in ENGINES if row[0] is cardan)
    with pytest.raises(TypeError, match="mj_step: nstep must be an integer of 32 bits, not 2147483648"):
        cardan.mj_step(m, d, 2**31)


@pytest.mark.parametrize("value", [-1, 2**31, 2**63, 10**19 - 1, 2**64])
def test_sizes_have_no_sign(value: int) -> None:
    """The reference cuts numbers of 20 digits, from 10^19."""
    outcomes = []
    for engine in (mujoco, cardan):
        for function, arguments in ((engine.mju_writeNumBytes, ()), (engine.mju_warningText, (0,))):
            try:
                outcomes.append(function(*arguments, value))
            except TypeError:
                outcomes.append("TypeError")
    assert outcomes[2:] == outcomes[:2]
