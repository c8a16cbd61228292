"""The computation chapter on one model with nearly everything in it: each flag, option, edit and part (all levels)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pytest
from data_compared import DATA_FIELDS, data_differences
from parity.chapter_model import chapter_model, start

import cardan

DISABLE = (
    *("constraint", "equality", "frictionloss", "limit", "contact", "passive", "gravity", "clampctrl", "warmstart"),
    *("filterparent", "actuation", "refsafe", "sensor", "midphase", "eulerdamp"),
)
ENABLE = ("override", "energy", "fwdinv", "invdiscrete", "multiccd", "island")
OVERRIDE = 'o_margin=".02" o_solref=".03 .8" o_solimp=".8 .9 .01 .4 3" o_friction=".5 .4 .01 .003 .002"'
TOLERANCES = (1e-8, 1e-7)

Program = Callable[[Any, Any, Any], Any]


def steps(engine: Any, m: Any, d: Any, count: int = 2) -> None:
    """Single steps from the keyframe, then forward dynamics."""
    start(engine, m, d)
    for _ in range(count):
        engine.mj_step(m, d)
    engine.mj_forward(m, d)


def both(xml: str, program: Program = steps) -> tuple[Any, Any, Any]:
    """The data of both engines after the same program, and the reference's model."""
    results = []
    for engine in (mujoco, cardan):
        m = engine.MjModel.from_xml_string(xml)
        d = engine.MjData(m)
        program(engine, m, d)
        results.append((d, m))
    (expected, rm), (found, _) = results
    return expected, found, rm


def differences(
    xml: str, program: Program = steps, tolerances: tuple[float, float] = TOLERANCES, leave_out: tuple[str, ...] = ()
) -> list[str]:
    """Fields, warnings and energies that differ after the same program."""
    expected, found, rm = both(xml, program)
    names = tuple(name for name in DATA_FIELDS if name not in leave_out and (rm.opt.solver == 0 or name != "efc_AR"))
    lines = list(data_differences(expected, found, names, tolerances, "chapter"))
    warned = [[w.number for w in d.warning] for d in (expected, found)]
    return lines if warned[0] == warned[1] else [*lines, f"warnings {warned}"]


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("flag", DISABLE)
def test_disabled(flag: str, cone: str) -> None:
    assert differences(chapter_model(f'cone="{cone}"', f'{flag}="disable"')) == []


@pytest.mark.parametrize("flags", list(itertools.combinations(DISABLE, 2))[::4], ids="-".join)
def test_disabled_pairs(flags: tuple[str, str]) -> None:
    assert differences(chapter_model("", " ".join(f'{flag}="disable"' for flag in flags))) == []


@pytest.mark.parametrize("flags", list(itertools.combinations_with_replacement(ENABLE, 2)), ids="-".join)
def test_enabled(flags: tuple[str, str]) -> None:
    settings = f'{OVERRIDE} density="1.2" viscosity=".1" wind="1 2 3" magnetic=".1 .2 .3"'
    assert differences(chapter_model(settings, " ".join(f'{flag}="enable"' for flag in set(flags)))) == []


# forces inside the cone get another state there, and CG is far from converged after 3000 iterations
LOOSE = {"PGS": ((1e-6, 1e-6), ("efc_state", "efc_AR")), "Newton": (TOLERANCES, ())}


@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicit", "implicitfast"])
@pytest.mark.parametrize("jacobian", ["dense", "sparse"])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("solver", ["Newton", "PGS"])
def test_solvers_and_integrators(solver: str, cone: str, jacobian: str, integrator: str) -> None:
    settings = f'solver="{solver}" cone="{cone}" jacobian="{jacobian}" integrator="{integrator}" impratio="3"'
    tolerances, leave_out = LOOSE[solver]
    xml = chapter_model(settings).replace('iterations="300"', 'iterations="3000"')
    assert differences(xml, tolerances=tolerances, leave_out=leave_out) == []


def options(**values: Any) -> Program:
    """Steps with options set at run time."""

    def program(engine: Any, m: Any, d: Any) -> None:
        for name, value in values.items():
            setattr(m.opt, name, value)
        steps(engine, m, d)

    return program


@pytest.mark.parametrize("cone", [0, 1])
@pytest.mark.parametrize(
    "values",
    [
        {"timestep": 0.0},
        {"timestep": -0.001},
        {"timestep": 0.1},
        {"gravity": [1, 2, 3]},
        {"wind": [1, 2, 3], "density": 100.0, "viscosity": 1.0},
        {"impratio": 0.0},
        {"impratio": -1.0},
        {"impratio": 1e10},
        {"iterations": 0},
        {"iterations": -5},
        {"tolerance": 0.0},
        {"tolerance": -1.0},
        {"ls_iterations": -3},
        {"ls_tolerance": 0.0},
        {"density": -5.0},
        {"disableflags": 0x7FFF},
        {"disableactuator": 1},
        {"cone": 5},
        {"magnetic": [1, 0, 0]},
    ],
    ids=str,
)
def test_options_at_run_time(values: dict[str, Any], cone: int) -> None:
    assert differences(chapter_model(), options(**{"cone": cone, **values}), (1e-6, 1e-6)) == []


EDITS: dict[str, Callable[[np.ndarray], Any]] = {
    "body_gravcomp": lambda a: a + 0.3,
    "geom_size": lambda a: a * 1.1,
    "geom_friction": lambda a: a * 0.3,
    "geom_margin": lambda a: a + 0.05,
    "geom_solref": lambda a: a * 1.1,
    "geom_condim": lambda a: 0 * a + 3,
    "geom_priority": lambda a: 0 * a + 1,
    "geom_conaffinity": lambda a: 0 * a + 2,
    "jnt_range": lambda a: a * 0.5,
    "jnt_limited": lambda a: 1 - a,
    "jnt_margin": lambda a: a + 0.1,
    "jnt_stiffness": lambda a: a + 1,
    "jnt_actfrclimited": lambda a: 1 - a,
    "dof_damping": lambda a: a + 0.3,
    "dof_frictionloss": lambda a: 0 * a + 0.2,
    "qpos_spring": lambda a: a + 0.1,
    "site_pos": lambda a: a + 0.02,
    "tendon_damping": lambda a: a + 1,
    "tendon_limited": lambda a: 1 - a,
    "tendon_length0": lambda a: a + 0.1,
    "wrap_prm": lambda a: a * 1.5,
    "actuator_gainprm": lambda a: a * 1.1,
    "actuator_biasprm": lambda a: a * 1.2 + 0.01,
    "actuator_gear": lambda a: a * 0.7,
    "actuator_ctrllimited": lambda a: 1 - a,
    "actuator_forcelimited": lambda a: 1 - a,
    "actuator_actlimited": lambda a: 1 - a,
    "actuator_actearly": lambda a: 1 - a,
    "actuator_dynprm": lambda a: a * 2,
    "eq_data": lambda a: a * 1.05,
    "eq_solimp": lambda a: a * 0.95,
    "sensor_cutoff": lambda a: a * 0.5 + 0.1,
    "pair_friction": lambda a: a * 0.5,
    "pair_margin": lambda a: a + 0.1,
    "pair_solreffriction": lambda a: 0 * a,
    "exclude_signature": lambda a: 0 * a,
    "body_invweight0": lambda a: a * 3,
}


@pytest.mark.parametrize("field", EDITS)
def test_edits_at_run_time(field: str) -> None:
    def program(engine: Any, m: Any, d: Any) -> None:
        array = getattr(m, field)
        engine.mj_forward(m, d)
        array[:] = EDITS[field](array.astype(float))
        steps(engine, m, d)

    assert differences(chapter_model(), program) == []


def edit_data(field: str, value: Any) -> Program:
    """Steps from the keyframe after numbers of the data were set."""

    def program(engine: Any, m: Any, d: Any) -> None:
        start(engine, m, d)
        getattr(d, field)[:] = value
        engine.mj_step(m, d, 2)

    return program


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("eq_active", 0),
        ("eq_active", [0, 1, 0, 1, 0, 0]),
        ("mocap_pos", 1.3),
        ("mocap_quat", [[2, 1, 0, 0.5]]),
        ("mocap_quat", 0),
        ("qacc_warmstart", 1e3),
        ("act", 3),
        ("act", -3),
        ("ctrl", 1e3),
    ],
)
def test_inputs_at_run_time(field: str, value: Any) -> None:
    assert differences(chapter_model(), edit_data(field, value)) == []


@pytest.mark.parametrize("sensors", [0, 1])
@pytest.mark.parametrize("skipstage", [-1, 0, 1, 2, 3])
@pytest.mark.parametrize("integrator", ["Euler", "implicit", "implicitfast"])
@pytest.mark.parametrize("flags", ["", 'invdiscrete="enable" energy="enable"'])
def test_inverse(flags: str, integrator: str, skipstage: int, sensors: int) -> None:
    def program(engine: Any, m: Any, d: Any) -> None:
        start(engine, m, d)
        engine.mj_forward(m, d)
        d.qacc[:] = 0.3 * np.arange(m.nv) - 2
        d.sensordata[:] = 7
        engine.mj_inverseSkip(m, d, skipstage, sensors)

    # scratch of the reference
    assert differences(chapter_model(f'integrator="{integrator}"', flags), program, leave_out=("qLU",)) == []


@pytest.mark.parametrize("flags", ["", 'invdiscrete="enable"'])
@pytest.mark.parametrize("integrator", ["Euler", "implicit", "implicitfast"])
def test_comparison_of_forward_and_inverse(integrator: str, flags: str) -> None:
    def program(engine: Any, m: Any, d: Any) -> None:
        m.opt.iterations = 2
        m.opt.solver = 1
        start(engine, m, d)
        engine.mj_forward(m, d)
        engine.mj_compareFwdInv(m, d)

    expected, found, _ = both(chapter_model(f'integrator="{integrator}"', flags), program)
    np.testing.assert_allclose(found.solver_fwdinv, expected.solver_fwdinv, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(found.qfrc_inverse, expected.qfrc_inverse, atol=1e-5 * np.abs(expected.qacc).max())


def test_largest_use() -> None:
    """`maxuse_con` and `maxuse_efc` are the largest numbers since the last reset."""
    expected, found, _ = both(chapter_model(), edit_data("eq_active", 0))
    assert found.maxuse_con == expected.maxuse_con > 0
    assert found.maxuse_efc == expected.maxuse_efc > 0
    cardan.mj_resetData(found.model, found)
    assert found.maxuse_con == found.maxuse_efc == 0
