"""Derivatives by parameters of the model, each against extrapolated differences of a step; and at a corner."""

from __future__ import annotations

import numpy as np
import pytest
from derive.differences import Outcome, moved, richardson

import cardan

TENDONS = """<mujoco><option timestep=".005" {option}/><default><geom contype="0" conaffinity="0"/></default><worldbody>
<geom name="floor" type="plane" size="5 5 1" contype="1" conaffinity="1"/>
<site name="a" pos="-.3 0 1"/><geom name="drum" type="cylinder" size=".08 .2" pos="0 0 1.1" zaxis="0 1 0"/>
<body pos=".2 0 1.05"><joint name="j" axis="0 1 0" damping=".2" stiffness="2" springref=".1" armature=".03"
frictionloss=".05" limited="true" range="-.2 .15" solreflimit=".03 .8" solimplimit=".8 .95 .02 .4 3"/>
<geom name="upper" type="capsule" size=".03" fromto="0 0 0 .4 0 0" mass=".7"/><site name="b" pos=".15 .02 .05"/>
<body pos=".4 0 0"><joint name="k" axis="0 1 .2" damping=".1"/>
<geom type="box" size=".1 .02 .03" pos=".1 0 0" mass=".4"/>
<geom name="ball" size=".05" pos=".3 0 0" mass=".2"/><site name="c" pos=".2 0 .04"/><site name="side" pos=".3 0 .2"/>
</body></body>
<body name="block" pos="-1 0 .0985"><freejoint/>
<geom name="block" type="box" size=".15 .12 .1" mass="2" contype="1" conaffinity="1" condim="4" friction=".4 .02 .01"
solref=".03 .9" solimp=".85 .97 .004 .3 2.5"/></body></worldbody>
<tendon><spatial name="t" stiffness="40" damping=".5" springlength=".3" limited="true" range="0 .42" width=".01"
frictionloss=".2" solreflimit=".04 1"><site site="a"/><geom geom="drum"/><site site="b"/></spatial>
<spatial name="u" stiffness="10"><site site="a"/><site site="b"/><geom geom="ball" sidesite="side"/><site site="c"/>
</spatial><fixed name="f"><joint joint="j" coef="1"/><joint joint="k" coef="-.5"/></fixed></tendon>
<actuator><general name="g" joint="j" gear="2" gainprm="3" biastype="affine" biasprm=".1 -2 -.3"/>
<general tendon="u" gear=".8" gaintype="affine" gainprm="5 .3 -.1" dyntype="filter" dynprm=".04"/>
<muscle joint="k" lengthrange="-1 1" gear="1.5" force="30"/><motor joint="k" ctrlrange="-1 1"/></actuator>
<equality><joint joint1="j" joint2="k" polycoef="0 .5 .1" solref=".1 1" solimp=".5 .8 .1"/></equality>
<sensor><tendonpos tendon="t"/><tendonpos tendon="u"/><accelerometer site="c"/><touch site="c"/><framepos objtype="geom"
objname="block"/></sensor></mujoco>"""
NAMES = (
    *("body_mass", "body_inertia", "body_ipos", "body_gravcomp", "geom_friction", "geom_solref", "geom_solimp"),
    *("geom_size", "geom_pos", "dof_damping", "dof_armature", "dof_frictionloss", "dof_solref", "dof_solimp"),
    *("jnt_stiffness", "jnt_range", "jnt_solref", "jnt_solimp", "jnt_margin", "qpos_spring", "site_pos"),
    *("actuator_gear", "actuator_gainprm", "actuator_biasprm", "actuator_dynprm", "actuator_ctrlrange"),
    *("tendon_stiffness", "tendon_damping", "tendon_lengthspring", "tendon_range", "tendon_solref_lim"),
    *("tendon_solimp_lim", "tendon_frictionloss", "tendon_solref_fri", "wrap_prm", "eq_data", "eq_solref", "eq_solimp"),
    *("opt.gravity", "opt.timestep", "opt.impratio", "opt.density", "opt.viscosity", "opt.wind"),
)
OF = ("qvel", "act", "sensordata")
ROVER = """<mujoco><option timestep=".004" integrator="implicitfast" cone="elliptic" tolerance="0" iterations="200"
ls_tolerance="1e-10" ls_iterations="100" density="1.2" viscosity=".01"/>
<default><geom solimp=".9 .95 .001 .5 2.3"/></default><worldbody>
<geom name="floor" type="plane" size="5 5 1"/>
<body name="rover" pos="0 0 .099"><freejoint/><geom name="hull" type="box" size=".2 .1 .03" pos="0 0 .05" mass="3"/>
<body pos=".2 0 0"><joint name="front" axis="0 1 0" damping=".05" armature=".002"/>
<geom name="wheel" type="capsule" size=".1 .1" euler="90 0 0" mass=".4" friction=".9 .01 .001" condim="3"
solref="-4000 -60" solimp=".8 .9 .003 .4 2.6"/></body>
<body pos="-.2 0 0"><joint name="rear" axis="0 1 0" damping=".03"/><geom type="sphere" size=".1" mass=".5" condim="6"
friction=".7 .02 .005"/></body>
<body pos="0 0 .1"><joint name="mast" type="ball" stiffness="4" damping=".2"/>
<geom type="capsule" size=".02" fromto="0 0 0 0 0 .3" mass=".2"/><site name="top" pos="0 0 .3"/></body></body>
</worldbody><tendon><fixed name="axle" stiffness="3" damping=".1" limited="true" range="-.4 .02">
<joint joint="front" coef="1"/><joint joint="rear" coef="-.7"/></fixed></tendon>
<equality><weld body1="rover" body2="world" relpose="0 0 .097 1 .01 0 0" solref=".5 1"
solimp=".1 .2 .05 .5 2.4"/></equality>
<actuator><position joint="front" kp="4" kv=".3" gear="1.5"/><velocity joint="rear" kv=".8"/></actuator>
<sensor><accelerometer site="top"/><framequat objtype="site" objname="top"/><tendonvel tendon="axle"/>
</sensor></mujoco>"""
ROVER_NAMES = (
    *("body_mass", "body_inertia", "body_iquat", "geom_friction", "geom_solref", "geom_solimp", "geom_size"),
    *("dof_damping", "dof_armature", "jnt_stiffness", "actuator_gear", "actuator_gainprm", "actuator_biasprm"),
    *("tendon_stiffness", "tendon_damping", "tendon_lengthspring", "tendon_range", "eq_data", "eq_solref", "eq_solimp"),
    *("opt.gravity", "opt.timestep", "opt.impratio", "opt.density", "opt.viscosity"),
)
"""A second scene: direct stiffness, rolling and torsional friction, a ball joint, a weld, an implicit integrator."""


def field_of(m: cardan.MjModel, name: str) -> np.ndarray:
    """The numbers of a field, to be changed in place."""
    scalars = m._memory.scalars
    return scalars[name] if name in scalars else m._memory.arrays[name].reshape(-1)


def after_step(d: cardan.MjData) -> Outcome:
    """What `OF` are after a step from the state of a data, and which rows are active."""
    e = moved(d, 0, 0.0)
    e.ctrl[:] = d.ctrl
    cardan.mj_step(d.model, e)
    piece = e.efc_type.tobytes() + e.efc_id.tobytes() + e.efc_state.tobytes()
    return Outcome(np.concatenate([getattr(e, name) for name in OF]), piece)


def by_number(d: cardan.MjData, field: np.ndarray, k: int, step: float) -> Outcome:
    """The same with a number of a field of the model changed."""
    before = field[k]
    field[k] = before + step
    found = after_step(d)
    field[k] = before
    return found


def state(cone: str) -> cardan.MjData:
    """A state with limits, friction, contacts and wrapping tendons at work."""
    m = cardan.MjModel.from_xml_string(TENDONS.format(option=f'cone="{cone}" tolerance="0" iterations="200"'))
    d = cardan.MjData(m)
    d.qvel[-6:-3] = 0.5, 0.2, 0.0
    d.ctrl[:] = 0.4, 0.7, 0.3, 0.2
    for _ in range(30):
        cardan.mj_step(m, d)
    cardan.mj_forward(m, d)
    assert d.ncon >= 4
    assert d.nf == 2
    assert d.nl >= 1
    return d


def rover() -> cardan.MjData:
    """A vehicle that turns its wheels on the floor, with a limit of its tendon at work."""
    d = cardan.MjData(cardan.MjModel.from_xml_string(ROVER))
    d.qvel[:] = 0.1 * np.random.default_rng(2).normal(size=d.model.nv)
    d.ctrl[:] = 0.3, 0.5
    for _ in range(40):
        cardan.mj_step(d.model, d)
    cardan.mj_forward(d.model, d)
    assert d.ncon >= 2
    assert d.ne == 6
    return d


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_parameters(cone: str) -> None:
    check(state(cone), NAMES)


def test_parameters_of_another_scene() -> None:
    check(rover(), ROVER_NAMES)


def check(d: cardan.MjData, names: tuple[str, ...]) -> None:
    """Derivatives by all numbers of some fields agree with differences of a step, where these are smooth."""
    m = d.model
    tangents = cardan.derivatives(m, d, OF, names)
    for name in names:
        field = field_of(m, name)
        exact = np.concatenate([tangents[of, name].reshape(-1, field.size) for of in OF])
        assert np.isfinite(exact).all()
        smooth = 0
        for k in np.flatnonzero(field).tolist():  # 0 switches off
            size = 1e-4 * max(abs(field[k]), 0.01)
            expected, is_smooth = richardson(lambda step, f=field, k=k: by_number(d, f, k, step), size)
            if is_smooth:
                smooth += 1
                scale = max(1.0, np.abs(expected).max())
                np.testing.assert_allclose(exact[:, k], expected, rtol=0.0, atol=1e-6 * scale, err_msg=f"{name} {k}")
        assert smooth or not field.any(), name


def test_rows_of_friction_that_is_varied_from_zero() -> None:
    """Friction loss of 0 makes no row; its derivative is that of a row, however many more there are then."""
    axes = [f'<body pos="{k} 0 0"><joint type="slide" axis="1 0 0"/><geom size=".1"/></body>' for k in range(40)]
    m = cardan.MjModel.from_xml_string(f"<mujoco><worldbody>{''.join(axes)}</worldbody></mujoco>")
    d = cardan.MjData(m)
    d.qvel[:] = 1.0
    found = cardan.derivatives(m, d, ("qvel",), ("dof_frictionloss",))["qvel", "dof_frictionloss"]
    np.testing.assert_allclose(found, -m.opt.timestep * np.diag(1.0 / m.body_mass[1:]), rtol=1e-10)


def test_impedance_at_its_corner() -> None:
    """Where a contact is as deep as the impedance's width, the derivatives are those of one side."""
    m = cardan.MjModel.from_xml_string(
        """<mujoco><option timestep=".005" tolerance="0"/><worldbody><geom type="plane" size="1 1 1"/>
        <body pos="0 0 .1"><joint type="slide" axis="0 0 1"/><geom size=".1"/></body></worldbody>
        <default><geom solimp=".5 .9 .0078125 .5 1" condim="1"/></default></mujoco>"""
    )
    d = cardan.MjData(m)
    d.qpos[0] = -(2.0**-7)
    cardan.mj_forward(m, d)
    assert d.contact.dist[0] == -(2.0**-7)
    assert m.geom_solimp[0, 2] == 2.0**-7
    found = cardan.derivatives(m, d, ("qvel",), ("qpos", "geom_solimp"))
    by_width = found["qvel", "geom_solimp"].reshape(-1)[[2, 7]]
    sides = []
    for step in (1e-7, -1e-7):
        values = []
        for half in (1.0, 0.5):
            e = moved(d, 0, half * step)
            cardan.mj_step(m, e)
            base = moved(d, 0, 0.0)
            cardan.mj_step(m, base)
            values.append((e.qvel[0] - base.qvel[0]) / (half * step))
        sides.append(2.0 * values[1] - values[0])
    exact = found["qvel", "qpos"].item()
    assert abs(sides[0] - sides[1]) > 1e-3 * abs(sides[0])
    assert min(abs(exact - side) for side in sides) < 1e-6 * abs(exact)
    assert np.isfinite(by_width).all()


def test_power_of_an_impedance_that_has_a_formula_of_its_own() -> None:
    """At the power 2 the step takes no power of a number; the derivative by it is none the less that of one."""
    m = cardan.MjModel.from_xml_string(
        """<mujoco><default><geom solimp=".1 .9 .02 .4 2"/></default><worldbody><geom type="plane" size="1 1 1"/>
        <body pos="0 0 .095"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""
    )
    d = cardan.MjData(m)
    outcomes = []
    for power in (2.0 - 1e-5, 2.0 + 1e-5):
        m.geom_solimp[:, 4] = power
        cardan.mj_forward(m, d)
        outcomes.append(d.qacc.copy())
    difference = (outcomes[1] - outcomes[0]) / 2e-5
    m.geom_solimp[:, 4] = 2.0
    found = cardan.derivatives(m, d, ("qacc",), ("geom_solimp",), after="forward")["qacc", "geom_solimp"]
    assert np.abs(difference).max() > 0.1
    np.testing.assert_allclose(found[:, :, 4].sum(axis=1), difference, rtol=0.0, atol=1e-7 * np.abs(difference).max())
