"""Sleeping trees: islands at rest fall asleep, sleep together, and wake together."""

import copy
import pickle

import numpy as np
import pytest
from later import later_run

import cardan
from cardan.errors import FatalError, MjcfError

MODEL = """<mujoco><option {option}><flag sleep="enable" {flag}/></option><worldbody>
<geom name="floor" type="plane" size="5 5 .1"/>{bodies}</worldbody>{more}</mujoco>"""
BOX = '<body name="{name}" pos="{pos}" {more}><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
SLIDE = """<body name="{name}" pos="{pos}" {more}><joint name="j{name}" type="slide" axis="1 0 0"/>
<geom type="box" size=".1 .1 .1"/><site name="s{name}"/></body>"""
STACK = [("a", "0 0 .11", ""), ("b", "1 0 .11", ""), ("c", "1 0 .32", "")]
PATTERN = """
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
names = ("tree_asleep", "tree_awake", "body_awake", "nv_awake", "nbody_awake", "nparent_awake", "ntree_awake")
lists = (("body_awake_ind", "nbody_awake"), ("parent_awake_ind", "nparent_awake"), ("dof_awake_ind", "nv_awake"))
out = []
for _ in range(steps + 1):
    row = {name: np.copy(getattr(d, name)) for name in (*names, "qpos", "ncon", "nefc")}
    row |= {name: getattr(d, name)[:getattr(d, size)].copy() for name, size in lists}
    out.append(row)
    mujoco.mj_step(m, d)
"""


def boxes(rows, shape: str = BOX, **values: str) -> str:
    """A model of boxes: names, positions, further attributes."""
    bodies = "".join(shape.format(name=name, pos=pos, more=more) for name, pos, more in rows)
    return MODEL.format(
        **({"option": "", "flag": "", "more": ""} | values | {"bodies": bodies + values.get("bodies", "")})
    )


def made(xml: str, steps: int = 0, compat: str = "4.0") -> tuple[cardan.MjModel, cardan.MjData]:
    """A model and its data after some steps."""
    m = cardan.MjModel.from_xml_string(xml, compat=compat)
    d = cardan.MjData(m)
    cardan.mj_step(m, d, steps)
    return m, d


def assert_as_in_4_0(xml: str, steps: int, tolerance: float = 1e-9) -> None:
    """Assert that trees sleep and wake in the same steps as in 4.0.0, at the same places."""
    there = later_run(PATTERN, xml=xml, steps=steps)
    scope = {"mujoco": cardan, "np": np, "steps": steps, "xml": xml}
    code = PATTERN.replace("from_xml_string(xml)", 'from_xml_string(xml, compat="4.0")')
    exec(code, scope)
    for step, (ours, theirs) in enumerate(zip(scope["out"], there, strict=True)):
        for name, value in theirs.items():
            if name == "qpos":
                np.testing.assert_allclose(ours[name], value, rtol=0, atol=tolerance, err_msg=f"{name}, step {step}")
            else:
                np.testing.assert_array_equal(ours[name], value, err_msg=f"{name}, step {step}")


def test_boxes_fall_asleep_and_a_ball_wakes_them() -> None:
    """A box falls asleep, then a stack of two; a ball that lands on the stack wakes it."""
    ball = '<body pos="1 0 5.5"><freejoint/><geom size=".1"/></body>'
    assert_as_in_4_0(boxes(STACK, bodies=ball), 700)


@pytest.mark.parametrize("integrator", ["Euler", "implicit", "implicitfast"])
def test_under_3_1(integrator: str) -> None:
    """The rules are the same under compat 3.1, without the flag island."""
    xml = boxes(STACK, option=f'integrator="{integrator}"')
    m, d = made(xml, 300, compat="3.1")
    assert d.tree_asleep.tolist() == [0, 2, 1]
    before = d.qpos.copy()
    cardan.mj_step(m, d, 10)
    np.testing.assert_array_equal(d.qpos, before)
    assert d.ncon == 0
    assert not d.qvel.any()


@pytest.mark.parametrize(
    "option", ['solver="PGS"', 'solver="CG"', 'integrator="implicitfast"', 'noslip_iterations="2"']
)
def test_solvers_and_integrators(option: str) -> None:
    """Islands are the same for all solvers."""
    _, d = made(boxes(STACK, option=option), 1000)
    assert d.tree_asleep.tolist() == [0, 2, 1]


def test_no_sleep_without_islands() -> None:
    """Without islands, trees stay awake (as in 4.0.0); with RK4, the flag is an error."""
    _, d = made(boxes(STACK, flag='island="disable"'), 300)
    assert d.tree_asleep.tolist() == [-11] * 3
    with pytest.raises(FatalError, match="RK4"):
        made(boxes(STACK, option='integrator="RK4"'), 1)


SLEEPER = boxes([("a", "0 0 .5", 'sleep="init"'), ("b", "5 5 .5", 'sleep="init"')], flag='gravity="disable"')


@pytest.mark.parametrize("field", ["qvel", "qfrc_applied", "xfrc_applied", "qpos"])
@pytest.mark.parametrize("value", [1e-300, -0.0])
def test_inputs_wake(field: str, value: float) -> None:
    """Any bit that is set in a velocity or a force wakes a tree, and so does a changed position."""
    m, d = made(SLEEPER, 3)
    assert d.tree_asleep.tolist() == [0, 1]
    getattr(d, field)[1 if field == "xfrc_applied" else 0] = value
    cardan.mj_kinematics(m, d)
    assert d.tree_asleep.tolist() == [-11 if field != "qpos" or value else 0, 1]


def test_velocities_of_single_numbers() -> None:
    """A tree wakes by its own dofs, not by those of its neighbours."""
    m, d = made(SLEEPER, 3)
    for dof in range(m.nv):
        cardan.mj_resetData(m, d)
        d.qvel[dof] = 1e-9
        cardan.mj_forward(m, d)
        tree = int(m.dof_treeid[dof])
        assert (d.tree_asleep < 0).tolist() == [tree == 0, tree == 1]


WAKING = {
    "contact": ("", "", "d.qpos[7] = -5 + .19"),
    "weld": ('<equality><weld body1="a" body2="b" active="false"/></equality>', "", "d.eq_active[0] = 1"),
    "to mocap": ('<equality><weld body1="a" body2="mo" active="false"/></equality>', "", "d.eq_active[0] = 1"),
    "to the world": ('<equality><weld body1="a" active="false"/></equality>', "", "d.eq_active[0] = 1"),
    "mocap": ("", "", "d.mocap_pos[0] = 0, 0, .69"),
    "limit": (
        '<tendon><spatial range="0 6"><site site="sa"/><site site="sb"/></spatial></tendon>',
        "",
        "d.qpos[-1] = 2",
    ),
    "no limit": (
        '<tendon><spatial range="0 9"><site site="sa"/><site site="sb"/></spatial></tendon>',
        "",
        "d.qpos[-1] = 2",
    ),
    "friction": ('<tendon><spatial frictionloss="1"><site site="sa"/><site site="sb"/></spatial></tendon>', "", ""),
    "position": ("", "", "d.qpos[0] += .1"),
    "joints": ('<equality><joint joint1="ja" joint2="jb" active="false"/></equality>', "", "d.eq_active[0] = 1"),
}


@pytest.mark.parametrize("steps", [0, 4])
@pytest.mark.parametrize("kind", list(WAKING))
def test_waking(kind: str, steps: int) -> None:
    """What wakes a tree in 4.0.0 wakes it here, with the same number of steps before it may sleep again."""
    more, _, change = WAKING[kind]
    first = SLIDE if kind in ("joints", "limit", "no limit", "friction") else BOX
    mocap = '<body name="mo" pos="3 3 .69" mocap="true"><geom type="box" size=".1 .1 .1"/></body>'
    bodies = SLIDE.format(name="b", pos="5 0 .5", more="") + mocap
    xml = boxes([("a", "0 0 .5", 'sleep="init"')], first, bodies=bodies, flag='gravity="disable"', more=more)
    code = f"""
m = mujoco.MjModel.from_xml_string(xml)
d = mujoco.MjData(m)
for _ in range(steps):
    mujoco.mj_step(m, d)
{change}
mujoco.mj_forward(m, d)
out = [d.tree_asleep.tolist(), d.ncon, d.nefc]
for _ in range(3):
    mujoco.mj_step(m, d)
    out += [d.tree_asleep.tolist()]
"""
    there = later_run(code, xml=xml, steps=steps)
    scope = {"mujoco": cardan, "xml": xml, "steps": steps}
    exec(code.replace("from_xml_string(xml)", 'from_xml_string(xml, compat="4.0")'), scope)
    assert scope["out"] == there


FLEX = (
    '<deformable><flex name="f" dim="1" body="a b" vertex="0 0 .3 0 0 .3" element="0 1">'
    '<contact selfcollide="none"/></flex></deformable>{edge}'
)
POLICIES = {
    "none": "",
    "motor": '<actuator><motor joint="ja"/></actuator>',
    "motor at sites": '<actuator><motor site="sa" refsite="sb"/></actuator>',
    "crank": '<actuator><motor cranksite="sa" slidersite="sb" cranklength=".1"/></actuator>',
    "body": '<actuator><adhesion body="a" gain="1" ctrlrange="0 1"/></actuator>',
    "tendon": '<tendon><spatial><site site="sa"/><site site="sb"/></spatial></tendon>',
    "spring": '<tendon><spatial stiffness="1"><site site="sa"/><site site="sb"/></spatial></tendon>',
    "damper": '<tendon><spatial damping="1"><site site="sa"/><site site="sb"/></spatial></tendon>',
    "three": '<tendon><spatial><site site="sa"/><site site="sb"/><site site="sc"/></spatial></tendon>',
    "own": '<tendon><fixed stiffness="1"><joint joint="ja" coef="1"/></fixed></tendon>',
    "flex": FLEX.format(edge=""),
    "rigid flex": FLEX.format(edge="").replace("a b", "b"),
    "inactive edges": FLEX.format(edge='<equality><flex flex="f" active="false"/></equality>'),
}


@pytest.mark.parametrize("inner", ["", '<elasticity young="1e4"/>', '<edge damping="1"/>', '<edge equality="true"/>'])
def test_policies_of_solids(inner: str) -> None:
    """Vertices of flexes may sleep if elasticity or constraints hold them together."""
    xml = f"""<mujoco><worldbody><flexcomp name="f" type="grid" dim="3" count="2 2 2" spacing=".1 .1 .1" radius=".01">
{inner}</flexcomp></worldbody></mujoco>"""
    there = later_run("out = mujoco.MjModel.from_xml_string(xml).tree_sleep_policy.tolist()", xml=xml)
    assert cardan.MjModel.from_xml_string(xml, compat="4.0").tree_sleep_policy.tolist() == there


@pytest.mark.parametrize("given", ["", 'sleep="never"', 'sleep="allowed"', 'sleep="init"'])
@pytest.mark.parametrize("kind", list(POLICIES))
def test_policies(kind: str, given: str) -> None:
    """Actuators and tendons decide which trees may sleep, unless the user does."""
    rows = [("a", "0 0 2", given), ("b", "1 0 2", ""), ("c", "2 0 2", "")]
    xml = boxes(rows, SLIDE, more=POLICIES[kind])
    code = """
try:
    out = mujoco.MjModel.from_xml_string(xml).tree_sleep_policy.tolist()
except ValueError as error:
    out = "error"
"""
    there = later_run(code, xml=xml)
    if there == "error":
        with pytest.raises(MjcfError, match="tree 0 may not sleep"):
            cardan.MjModel.from_xml_string(xml)
        return
    m = cardan.MjModel.from_xml_string(xml, compat="4.0")
    assert m.tree_sleep_policy.tolist() == there
    for again in (m.to_xml(), cardan.MjSpec.from_string(xml).to_xml()):
        assert cardan.MjModel.from_xml_string(again).tree_sleep_policy.tolist() == there


def test_wrong_place_of_a_policy() -> None:
    """Only the root of a tree has a policy."""
    for body in ('<body sleep="never"><geom size=".1"/></body>', SLIDE.format(name="x", pos="0 0 0", more="").replace(
        "</body>", '<body sleep="init"><joint/><geom size=".1"/></body></body>'
    )):  # fmt: skip
        with pytest.raises(MjcfError, match="root of a kinematic tree"):
            cardan.MjModel.from_xml_string(boxes([], bodies=body))


def test_trees_that_cannot_sleep_from_the_start() -> None:
    """A tree in contact with one that is not to sleep stays awake, with a warning."""
    xml = boxes([("a", "0 0 .0998", 'sleep="init"'), ("b", "0 0 .28", "")])
    with pytest.warns(RuntimeWarning, match="1 trees were marked as sleep='init' but only 0 could be slept. Body 'a'"):
        m, d = made(xml)
    assert d.tree_asleep.tolist() == [-11, -10]
    with pytest.warns(RuntimeWarning, match="could be slept"):
        cardan.mj_resetData(m, d)
    cardan.mj_step(m, d)


def test_keyframes_and_resets() -> None:
    """A reset lets trees sleep again; a keyframe that moves them wakes them in the next step."""
    key = '<keyframe><key qpos="0 0 .5 1 0 0 0"/><key qpos="0 0 .6 1 0 0 0"/></keyframe>'
    m, d = made(boxes([("a", "0 0 .5", 'sleep="init"')], more=key))
    for k, after in enumerate((0, -10)):
        cardan.mj_resetDataKeyframe(m, d, k)
        assert d.tree_asleep[0] == 0
        cardan.mj_step(m, d)
        assert d.tree_asleep[0] == after
    cardan.mj_step(m, d)
    d.qvel[0] = np.nan
    with pytest.warns(RuntimeWarning, match="unstable"):
        cardan.mj_step(m, d)
    assert d.tree_asleep[0] == 0


def test_copies_continue_alike() -> None:
    """Copies and pickles contain what sleeps."""
    m, d = made(boxes(STACK), 200)
    others = [copy.copy(d), pickle.loads(pickle.dumps(d)), cardan.MjData(m)]
    cardan.mj_copyData(others[2], m, d)
    for one in (d, *others):
        one.xfrc_applied[1, 0] = 1.0
        cardan.mj_step(m, one, 50)
        assert one.tree_asleep.tolist() == [-11, 2, 1]
        np.testing.assert_array_equal(one.qpos, d.qpos)


def test_disabling_the_flag_wakes() -> None:
    """Without the flag, everything is computed."""
    m, d = made(SLEEPER.replace('gravity="disable"', ""), 5)
    assert not d.qvel.any()
    m.opt.enableflags = 0
    cardan.mj_step(m, d, 2)
    assert d.qvel[2] < -0.01


def test_worlds_of_a_batch_sleep_alone() -> None:
    """Each world has trees of its own that sleep; the results are those of single data."""
    m, _ = made(boxes(STACK))
    batch = cardan.Batch(m, 3)
    batch.step(200)
    single = cardan.MjData(m)
    cardan.mj_step(m, single, 200)
    assert batch.tree_asleep.tolist() == [[0, 2, 1]] * 3
    batch.xfrc_applied[1, 1, 0] = 0.1
    batch.step(50)
    assert (batch.tree_asleep < 0).tolist() == [[False] * 3, [True, False, False], [False] * 3]
    np.testing.assert_array_equal(batch.qpos[2], single.qpos)


def test_refused_derivatives() -> None:
    """Finite differences and exact derivatives name the flag."""
    m, d = made(boxes(STACK))
    n = 2 * m.nv
    for function in (
        lambda: cardan.mjd_transitionFD(m, d, 1e-6, True, np.zeros((n, n)), None, None, None),
        lambda: cardan.mjd_inverseFD(m, d, 1e-6, False, np.zeros((m.nv, m.nv)), *[None] * 6),
        lambda: cardan.mjd_transition(m, d, np.zeros((n, n)), None, None, None),
    ):
        with pytest.raises((FatalError, NotImplementedError), match="sleep"):
            function()
