"""Large functions that a stage calls at many places stay functions: their tangents are those of copies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cardan
from cardan.jit import jit_enabled
from cardan.tangents import scalar, stages
from cardan.tangents.scalar import read_scalar

llvm = pytest.importorskip("llvmlite.binding")
pytest.importorskip("numba")
pytestmark = pytest.mark.skipif(not jit_enabled, reason="about native code")

MODULE = """
define i32 @field(ptr %retptr, ptr %excinfo, ptr %arg.array) {
  ret i32 0
}
define i32 @leaf(ptr %retptr, ptr %excinfo, ptr %arg.m, i64 %x) {
  %a = call i32 @field(ptr null, ptr null, ptr null)
  %b = call i32 @field(ptr null, ptr null, ptr null)
  ret i32 0
}
define i32 @middle(i64 %x) {
  %a = call i32 @leaf(ptr null, ptr null, ptr null, i64 %x)
  %b = call i32 @leaf(ptr null, ptr null, ptr null, i64 %x)
  %y = add i64 %x, 1
  ret i32 %b
}
define i32 @stage(i64 %x) {
  %a = call i32 @middle(i64 %x)
  %b = call i32 @middle(i64 %x)
  %c = call i32 @middle(i64 %x)
  ret i32 %c
}
define i64 @root(i64 %x) {
  %a = call i32 @stage(i64 %x)
  ret i64 0
}
"""

ARM = """<mujoco><worldbody><body><joint name="a" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/>
  <body pos=".5 0 0" euler="20 10 0"><joint type="ball"/><geom type="capsule" size=".1 .2" euler="0 40 10"/></body>
</body><body pos="1 0 0"><freejoint/><geom size=".1" pos="0 .1 0"/></body></worldbody></mujoco>"""


def test_those_are_kept_that_save_most(monkeypatch):
    module = llvm.parse_assembly(MODULE)
    calls = scalar.Calls(module)
    assert calls.sizes == {"field": 1, "leaf": 3, "middle": 4, "stage": 4, "root": 2}
    assert calls.plain == {"leaf", "middle", "stage", "root"}
    assert calls.inlined_sizes(set()) == {"field": 1, "leaf": 5, "middle": 14, "stage": 46, "root": 48}
    assert calls.inlined_sizes({"middle"})["root"] == 6
    assert calls.copies("root", set()) == {"stage": 1, "middle": 3, "leaf": 6, "field": 12}
    assert calls.copies("root", {"middle"}) == {"stage": 1, "middle": 3, "leaf": 2, "field": 4}
    for worth, kept in ((29, set()), (28, {"middle"}), (1, {"middle", "leaf"})):
        monkeypatch.setattr(scalar, "WORTH_IT", worth)
        assert scalar.shared_functions(module, "root") == kept


SCALAR = """
define i32 @gone(ptr %retptr, ptr %excinfo, ptr %arg.m, i64 %x) {
B0:
  %a = call i32 @needed(ptr %retptr, ptr null, ptr %arg.m, i64 %x)
  ret i32 0
}
define i32 @needed_too(ptr %retptr, ptr %excinfo, ptr %arg.m, i64 %x) {
B0:
  ret i32 0
}
define i32 @needed(ptr %retptr, ptr %excinfo, ptr %arg.m, i64 %x) {
B0:
  %a = call i32 @needed_too(ptr %retptr, ptr null, ptr %arg.m, i64 %x)
  ret i32 0
}
define void @stage(ptr %retptr, ptr %excinfo, i64 %arg.m, i64 %arg.d) {
B0:
  %a = tail call i32 @needed(ptr %retptr, ptr null, ptr null, i64 1)
  ret void
}
"""


def test_functions_that_nothing_calls_any_more_are_left_out():
    assert set(read_scalar(SCALAR).parts) == {"@needed", "@needed_too"}


def _tangents(monkeypatch: pytest.MonkeyPatch, folder: Path, worth: int) -> tuple[int, dict[str, np.ndarray]]:
    """Number of functions that kinematics keeps, and changes of what it computes along all directions."""
    from cardan.derive.program import TangentProgram
    from cardan.dynamics.kinematics import kinematics
    from cardan.jit.front.stage import entry_of

    monkeypatch.setenv("CARDAN_CACHE_DIR", str(folder))
    monkeypatch.setattr(scalar, "WORTH_IT", worth)
    kept = (stages._read, stages.touched, stages.written, stages.access, stages.needed)
    for function in kept:
        function.cache_clear()
    try:
        m = cardan.MjModel.from_xml_string(ARM)
        d = cardan.MjData(m)
        d.qpos[:] = np.linspace(0.1, 0.9, m.nq)
        cardan.mj_kinematics(m, d)
        outputs = ("d.xpos", "d.xquat", "d.geom_xpos", "d.geom_xmat")
        program = TangentProgram(m, d, [kinematics], ["d.qpos"], outputs, blocks=2)
        program.start()
        program.plant("d.qpos", np.eye(m.nq))
        assert program.run() == 0
        parts = len(stages._read(entry_of(kinematics))[0].parts)
        return parts, {name: program.columns(name, m.nq).copy() for name in outputs}
    finally:
        for function in kept:
            function.cache_clear()


def test_tangents_through_functions_are_those_of_copies(monkeypatch, tmp_path):
    none, copies = _tangents(monkeypatch, tmp_path / "copies", 10**9)
    several, calls = _tangents(monkeypatch, tmp_path / "calls", 1)
    assert none == 0 and several > 0
    for name, expected in copies.items():
        assert np.abs(expected).max() > 0.1
        np.testing.assert_allclose(calls[name], expected, rtol=1e-12, atol=1e-13)
