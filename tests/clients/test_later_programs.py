"""Programs of the newest versions of other packages get as far on Cardan as on MuJoCo 4.0.0."""

from __future__ import annotations

import pytest
from clients.comparison import installed
from clients.later_programs import PROGRAMS, Program, compared


@pytest.mark.skipif(
    not (installed("mujoco") or "").startswith("4."), reason="MuJoCo 4 is not installed here: make clients-later"
)
@pytest.mark.parametrize("program", PROGRAMS, ids=[program.package for program in PROGRAMS])
def test_results(program: Program) -> None:
    if installed(program.package) is None:
        pytest.skip(f"{program.package} is not installed; make clients-later installs and runs it")
    line, right = compared(program)
    assert right, line
