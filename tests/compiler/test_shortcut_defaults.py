"""Where actuator shortcuts take their parameters from, under 3.1 and under 4.0."""

import itertools

import numpy as np
import pytest
from later import later_run

import cardan

MODEL = """<mujoco><default>{}</default><worldbody><body><joint name="j" range="-1 1"/><geom size=".1"/></body>
</worldbody><actuator>{}</actuator></mujoco>"""
DEFAULTS = [
    "",
    '<position kp="7" kv="3"/>',
    '<velocity kv="5" gear="3"/>',
    '<motor gear="2" ctrlrange="-1 1"/>',
    '<general gainprm="9 1 2 3" biasprm="4 5 -6 7" dynprm="8 9 10"/>',
    '<general gainprm="9" biasprm="1 2 -3" biastype="affine" gaintype="affine" dyntype="filter" dynprm="4"/>',
    '<general biastype="affine" biasprm="1 2 -3" gainprm="3" dyntype="filter" dynprm=".5" actdim="1" actearly="true"/>',
    '<general dyntype="filterexact" dynprm=".1" gainprm="3"/>',
    '<general gainprm="9"/><position kp="7"/>',
    '<position kp="7"/><general gainprm="9"/>',
    '<position kp="2" kv="4"/><motor/>',
    '<position timeconst=".1"/>',
    '<position kp="3" inheritrange="2"/>',
    '<general inheritrange="2"/>',
    '<intvelocity kp="6"/>',
    '<cylinder area="3" timeconst=".2" bias="1 2 3"/>',
    '<muscle force="7" timeconst=".1 .2"/>',
    '<damper kv="2" ctrlrange="0 1"/>',
    '<general gaintype="affine" gainprm="0 0 -4"/>',
]
INNER = [
    "",
    '<position kp="8"/>',
    '<velocity kv="5"/>',
    '<general gear="3"/>',
    '<motor gear="3"/>',
    '<general gainprm="4"/>',
]
ACTUATORS = {
    "motor": "",
    "position": "",
    "velocity": "",
    "general": "",
    "intvelocity": 'actrange="-1 1"',
    "damper": 'ctrlrange="0 1"',
    "cylinder": "",
    "muscle": "",
}
FIELDS = (
    *("dyntype", "gaintype", "biastype", "dynprm", "gainprm", "biasprm", "gear", "actearly", "actnum"),
    *("ctrllimited", "ctrlrange", "actlimited", "actrange"),
)
FETCH = """
out = []
for xml in models:
    try:
        m = mujoco.MjModel.from_xml_string(xml)
        out.append({name: np.array(getattr(m, "actuator_" + name), float) for name in fields})
    except ValueError:
        out.append(None)
"""


def nested(outer: str, inner: str) -> str:
    """Defaults with a class inside the global one."""
    return f'{outer}<default class="c">{inner}</default>'


def models(outer: str) -> list[str]:
    """One actuator of each kind, in the global class and in classes inside."""
    actuators = [f'<{tag} joint="j" {more}{{}}/>' for tag, more in ACTUATORS.items()]
    plain = [MODEL.format(outer, actuator.format("")) for actuator in actuators]
    inside = [
        MODEL.format(nested(outer, inner), actuator.format(' class="c"'))
        for inner, actuator in itertools.product(INNER, actuators)
    ]
    return plain + inside


def assert_equal(expected: list[dict[str, np.ndarray] | None], compat: str, outer: str) -> None:
    """Models that the reference accepts compile to the same fields."""
    for there, xml in zip(expected, models(outer), strict=True):
        if there is None:
            continue
        m = cardan.MjModel.from_xml_string(xml, compat=compat)
        for name in FIELDS:
            found = np.asarray(getattr(m, f"actuator_{name}"), float)
            np.testing.assert_allclose(
                found, there[name].reshape(found.shape), rtol=1e-9, atol=1e-12, err_msg=name + xml
            )


@pytest.mark.parametrize("outer", DEFAULTS)
def test_as_in_4_0(outer: str) -> None:
    """From a class with the same shortcut, or with general and the same type of gain."""
    assert_equal(later_run(FETCH, models=models(outer), fields=FIELDS), "4.0", outer)


@pytest.mark.parametrize("outer", DEFAULTS)
def test_as_in_3_1(outer: str) -> None:
    """From the actuator defaults of the class, whatever set them."""
    mujoco = pytest.importorskip("mujoco")
    names = {"models": models(outer), "fields": FIELDS, "mujoco": mujoco, "np": np}
    exec(FETCH, names)
    assert_equal(names["out"], "3.1", outer)


def test_integrated_velocity_without_a_range() -> None:
    """Its activation is always limited in 3.1, which is an error without a range; in 4.0 only if there is a range."""
    xml = MODEL.format("", '<intvelocity joint="j"/>')
    assert not cardan.MjModel.from_xml_string(xml, compat="4.0").actuator_actlimited[0]
    with pytest.raises(ValueError, match="actrange"):
        cardan.MjModel.from_xml_string(xml, compat="3.1")
    said = MODEL.format("", '<intvelocity joint="j" actlimited="false" actrange="-1 1"/>')
    for compat in ("3.1", "4.0"):
        assert not cardan.MjModel.from_xml_string(said, compat=compat).actuator_actlimited[0]


@pytest.mark.parametrize("compat", ["3.1", "4.0"])
def test_version_of_a_specification(compat: str) -> None:
    """The version counts when the model is compiled."""
    xml = MODEL.format('<position kp="7"/>', '<velocity joint="j"/>')
    spec = cardan.MjSpec.from_string(xml, compat="3.1" if compat == "4.0" else "4.0")
    spec.compat = compat
    assert spec.compile().actuator_gainprm[0, 0] == (7.0 if compat == "3.1" else 1.0)
    assert spec.copy().compile().actuator_gainprm[0, 0] == (7.0 if compat == "3.1" else 1.0)


def test_defaults_of_later_shortcuts() -> None:
    """A motor takes their gear, a general actuator also their parameters."""
    for compat in ("3.1", "4.0"):
        xml = MODEL.format('<pid kp="3" gear="2" slewmax="1"/>', '<{} joint="j"/>')
        assert cardan.MjModel.from_xml_string(xml.format("motor"), compat=compat).actuator_gear[0, 0] == 2.0
        m = cardan.MjModel.from_xml_string(xml.format("general"), compat=compat)
        assert (m.actuator_biasprm[0, 1], m.actuator_dynprm[0, 1], m.nu, m.na) == (-3.0, 1.0, 2, 1)
