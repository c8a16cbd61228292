"""Stages and kernels: refusals, bounds checks in the interpreter, stack arrays, resuming."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cardan.jit import OK, Program, collider, jit_enabled, kernel, stack_array, stage
from cardan.jit.driver.program import PAUSED
from cardan.jit.memory.view import call_collider, register_function
from cardan.model.mjdata import MjData
from cardan.model.mjmodel import MjModel
from cardan.model.tables import GROW_CON

ROOT = Path(__file__).resolve().parents[2]
needs_jit = pytest.mark.skipif(not jit_enabled, reason="about native code")
needs_interpreter = pytest.mark.skipif(jit_enabled, reason="about the interpreter")


@pytest.fixture
def pair():
    m = MjModel({"nv": 4, "nq": 4, "nbody": 2, "nM": 4, "nD": 4, "nB": 8})
    m.dof_parentid[:] = -1
    m.dof_bodyid[:] = 1
    m.dof_Madr[:] = range(m.nv)
    m.body_dofnum[1] = m.nv
    m.finalize()
    m.body_pos[1] = 1, 2, 3
    return m, MjData(m)


@kernel
def twice(x):
    return 2 * x


@stage
def fields_of_all_kinds(m, d):
    d.time = d.time + m.opt.timestep
    d.xpos[1, 2] = twice(m.body_pos[1, 2])
    d.warning.number[3] += 1
    d.eq_active[0] = 1 if len(d.eq_active) > 0 else 0
    return OK


@stage
def uses_the_stack(m, d):
    a = stack_array(6)
    for i in range(6):
        a[i] = i
    total = 0.0
    for i in range(6):
        total += a[i]
    d.qvel[0] = total
    return OK


@stage
def reads_outside(m, d):
    d.qvel[0] = d.qvel[m.nv]
    return OK


@stage
def reads_before(m, d):
    d.qvel[0] = d.qvel[-1]
    return OK


@stage
def writes_to_the_model(m, d):
    m.body_mass[0] = 3.0
    return OK


@stage
def allocates(m, d):
    values = np.zeros(m.nv)
    d.qvel[0] = values[0]
    return OK


@stage
def raises(m, d):
    if d.qvel[0] > 0:
        raise ValueError("no")
    return OK


@stage
def asks_for_an_unknown_field(m, d):
    d.qvel[0] = m.body_colour[0]
    return OK


@stage
def asks_for_room(m, d):
    if len(d.contact.dist) < 100:
        d.work.need = 100
        return GROW_CON
    d.ncon = 100
    for i in range(100):
        d.contact.dist[i] = i
    return OK


@stage
def counts(m, d):
    d.qvel[1] += 1.0
    return OK


@stage
def python_arithmetic(m, d):
    d.qvel[0] = -7 // 2
    d.qvel[1] = -7 % 3
    d.qvel[2] = 1.0 / (d.time * 0.0 + 4.0)
    return OK


@stage
def does_nothing(m, d):
    pass


def finished(program, status, m, d, repeat):
    """The status after all pauses of a program."""
    while status == PAUSED:
        status = program.resume(m, d, repeat)
    return status


def test_the_same_values_in_both_modes(pair):
    m, d = pair
    assert Program([python_arithmetic]).run(m, d) == OK
    assert d.qvel[:3].tolist() == [-4, 2, 0.25]


def test_scalars_groups_and_arrays():
    m = MjModel({"nv": 4, "nbody": 2, "neq": 1, "nM": 4, "nD": 4, "nB": 8})
    m.dof_parentid[:] = -1
    m.dof_bodyid[:] = 1
    m.dof_Madr[:] = range(m.nv)
    m.body_dofnum[1] = m.nv
    m.finalize()
    m.body_pos[1] = 1, 2, 3
    m.opt.timestep = 0.5
    d = MjData(m)
    program = Program([fields_of_all_kinds])
    assert finished(program, program.run(m, d, repeat=3), m, d, 3) == OK
    assert d.time == 1.5
    assert d.xpos[1, 2] == 6
    assert d.warning[3].number == 3
    assert d.eq_active[0] == 1


def test_stack_arrays(pair):
    m, d = pair
    Program([uses_the_stack]).run(m, d)
    assert d.qvel[0] == 15


def test_a_stage_without_a_result_is_fine(pair):
    assert Program([does_nothing]).run(*pair) == OK


def test_a_request_stops_the_program_and_it_resumes_there(pair):
    m, d = pair
    program = Program([counts, asks_for_room, counts])
    assert finished(program, program.run(m, d, repeat=2), m, d, 2) == GROW_CON
    assert d.qvel[1] == 1
    d.grow("ncon", d.view.work.need)
    assert finished(program, program.resume(m, d, repeat=2), m, d, 2) == OK
    assert d.qvel[1] == 4
    assert d.contact.dist.tolist() == list(range(100))


@needs_jit
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (writes_to_the_model, "writes_to_the_model"),
        (allocates, r"not a pure kernel.*NRT"),
        (asks_for_an_unknown_field, "body_colour"),
    ],
)
def test_impure_kernels_are_refused(bad, message):
    from cardan.jit.front.compile import KernelError

    with pytest.raises(KernelError, match=f"(?s){message}"):
        Program([bad])


@needs_jit
def test_a_kernel_that_raises_is_refused():
    from cardan.jit.front.compile import KernelError

    with pytest.raises(KernelError, match=r"raises"):
        Program([raises])


@needs_interpreter
@pytest.mark.parametrize("bad", [reads_outside, reads_before])
def test_out_of_bounds_is_caught(pair, bad):
    with pytest.raises(IndexError, match="qvel"):
        Program([bad]).run(*pair)


@needs_interpreter
def test_the_model_is_read_only(pair):
    with pytest.raises(TypeError, match="may not write"):
        Program([writes_to_the_model]).run(*pair)


@needs_jit
def test_these_tests_pass_with_jit_off():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__],
        cwd=ROOT, env=os.environ | {"CARDAN_JIT": "0"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@collider
def touches_once(m, d, geom1, geom2):
    return geom1 + geom2


@stage
def calls_a_collider(m, d):
    d.ncon = call_collider(d.nisland, m, d, 3, 4)
    return OK


def test_calls_by_address(pair):
    from cardan.jit import addresses

    m, d = pair
    d.nisland = addresses([touches_once])[0]
    Program([calls_a_collider]).run(m, d)
    assert d.ncon == 7


def test_numbers_of_python_functions_are_not_zero():
    assert register_function(twice) >= 1
    assert register_function(twice) == register_function(twice)


def test_many_repetitions_are_cut_by_pauses_and_are_as_many_as_asked_for(pair):
    m, d = pair
    program = Program([counts, does_nothing])
    status, pauses = program.run(m, d, repeat=1000), 0
    while status == PAUSED:
        pauses += 1
        status = program.resume(m, d, repeat=1000)
    assert (status, d.qvel[1]) == (OK, 1000)
    assert (pauses > 0) == jit_enabled
    program.adapt(100, 1e-5)
    assert program.patience == 200
    program.adapt(100, 1.0)
    assert program.patience == 1
