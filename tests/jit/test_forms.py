"""Forms of native code: worlds that stand side by side, single precision; what the modules of both refer to."""

import os
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from cardan.dynamics.kinematics import kinematics
from cardan.jit import jit_enabled
from cardan.jit.binding.arguments import CallAbi
from cardan.jit.cache.fingerprint import fingerprint
from cardan.jit.front.precision import single_constant
from cardan.jit.front.stage import DOUBLE, HERE, INTERLEAVED, SINGLE, WORLD, Form, entry_of
from cardan.jit.target.processor import target_machine

ENTRY = entry_of(kinematics)

needs_jit = pytest.mark.skipif(not jit_enabled, reason="about native code")


def test_there_is_one_fingerprint_a_form():
    forms = [Form(layout, precision) for layout in (WORLD, INTERLEAVED) for precision in (DOUBLE, SINGLE)]
    assert len({fingerprint(ENTRY, form) for form in forms}) == len(forms)
    assert fingerprint(ENTRY) == fingerprint(ENTRY, HERE) == fingerprint(ENTRY, forms[0])


def test_forms_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="diagonal"):
        Form("diagonal")
    with pytest.raises(ValueError, match="float16"):
        Form(precision="float16")


def test_constants_are_rounded():
    assert single_constant(0.1) == float(np.float32(0.1))
    assert single_constant(-1e300) == -float(np.finfo(np.float32).max)
    assert single_constant(-float("inf")) == -float("inf")


@needs_jit
def test_interleaved_code_asks_for_the_world_that_runs():
    from cardan.jit.front.compile import linked_module

    text = linked_module(ENTRY, Form(INTERLEAVED))
    assert {"cardan_world", "cardan_nworld"} <= set(re.findall(r"^declare i64 @(\w+)\(\)", text, re.MULTILINE))
    assert "cardan_" not in linked_module(ENTRY).replace(ENTRY.symbol, "").replace("cardan.", "")


@needs_jit
@pytest.mark.parametrize("layout", [WORLD, INTERLEAVED])
def test_single_precision_has_no_double_left(layout):
    from cardan.jit.front.compile import emit, link_entry

    module = link_entry(ENTRY, Form(layout, SINGLE))
    emit(ENTRY.name, module, target_machine())
    text = str(module)
    assert "fmul" in text
    assert not re.search(r"\bdouble\b|\.f64\b", text)


NUMBA_FIRST = """
import numba, numpy as np
numba.njit(lambda n: np.zeros(n).sum())(3)  # compiles Numba's memory allocator
import cardan
m = cardan.MjModel.from_xml_string("<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>")
batch = cardan.Batch(m, 2, dtype='float32')
batch.step()
assert (batch.qpos[:, 2] < 0.0).all()
"""


@needs_jit
def test_single_precision_after_functions_of_the_user(tmp_path):
    """Numba compiles its runtime once in a process, with the user's first function that allocates memory."""
    pytest.importorskip("numba")
    environment = os.environ | {"CARDAN_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", NUMBA_FIRST], check=True, env=environment)


@needs_jit
def test_functions_of_the_interface_have_one_form():
    from cardan.jit.front.compile import link_entry

    entry = replace(ENTRY, abi=CallAbi("f", (), ()))
    with pytest.raises(ValueError, match="for one world in double precision"):
        link_entry(entry, Form(INTERLEAVED))


def test_tolerances_are_what_single_precision_resolves():
    least = 2.0**-21
    assert [single_constant(x) for x in (1e-12, -1e-9, 1.0 + 1e-9, 1.0 - 1e-7)] == [least, -least, 1 + least, 1 - least]
    assert single_constant(1e-15) == float(np.float32(1e-15))
    assert single_constant(1.0) == 1.0
    assert single_constant(1e-3) == float(np.float32(1e-3))
