"""The flag ``autoreset``, against MuJoCo 4.0.0."""

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.step.report import SimulationWarning

MODEL = """<mujoco><option><flag autoreset="{}"/></option><worldbody><body><joint type="slide" damping=".1"/>
<geom size=".1" pos=".3 0 0"/><body pos=".5 0 0"><joint type="slide" axis="1 0 0"/><geom size=".1" pos=".3 0 0"/>
</body></body></worldbody></mujoco>"""

RUN = """
m = engine.MjModel.from_xml_string(xml)
d = engine.MjData(m)
d.time = 1.0
getattr(d, field)[0] = value
out = []
for _ in range(2):
    engine.mj_step(m, d)
    kinds = [int(getattr(engine.mjtWarning, "mjWARN_BAD" + name)) for name in ("QPOS", "QVEL", "QACC")]
    out.append((d.qpos.copy(), d.time, [int(d.warning[kind].number) for kind in kinds]))
"""


def here(xml: str, field: str, value: float) -> list:
    """States and counters of warnings after two steps."""
    scope = {"engine": cardan, "xml": xml, "field": field, "value": value}
    exec(RUN, scope)
    return scope["out"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("field", "value"), [("qpos", np.nan), ("qvel", np.nan), ("qfrc_applied", 1e20)])
@pytest.mark.parametrize("flag", ["enable", "disable"])
def test_bad_numbers(flag: str, field: str, value: float) -> None:
    """Without the flag, warnings are counted and the simulation continues with the bad numbers."""
    xml = MODEL.format(flag)
    there = later_run(RUN.replace("engine", "mujoco"), xml=xml, field=field, value=value)
    for (qpos, time, warned), (qpos4, time4, warned4) in zip(here(xml, field, value), there, strict=True):
        np.testing.assert_allclose(qpos, qpos4, rtol=1e-6)
        assert time == pytest.approx(time4)
        assert warned == warned4


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_single_checks() -> None:
    """``mj_checkPos`` and its siblings respect the flag."""
    for flag, reset in (("enable", True), ("disable", False)):
        m = cardan.MjModel.from_xml_string(MODEL.format(flag))
        for field, check in (("qpos", cardan.mj_checkPos), ("qvel", cardan.mj_checkVel), ("qacc", cardan.mj_checkAcc)):
            d = cardan.MjData(m)
            getattr(d, field)[1] = np.inf
            check(m, d)
            assert bool(np.isfinite(getattr(d, field)).all()) is reset
            kind = getattr(cardan.mjtWarning, f"mjWARN_BAD{field.upper()}")
            assert (d.warning[int(kind)].number, d.warning[int(kind)].lastinfo) == (1, 1)


def test_warning_is_reported() -> None:
    """A Python warning, once."""
    m = cardan.MjModel.from_xml_string(MODEL.format("disable"))
    d = cardan.MjData(m)
    d.qvel[0] = np.nan
    with pytest.warns(SimulationWarning, match="QVEL"):
        cardan.mj_step(m, d)
    assert np.isnan(d.qvel).all()
