"""Constraint stages without numbers of the reference: growth of the arena, products with J, the interpreter."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from reference import copy_state, data_from_reference, model_from_reference

import cardan
from cardan.constraint.jacobian import mul_jac_t_vec, mul_jac_vec
from cardan.constraint.make import MAKE_CONSTRAINT, constraint_stages
from cardan.constraint.update import reference_constraint
from cardan.jit import Program
from cardan.model.mjdata import MjData
from cardan.model.tables import CAPACITIES

SPHERES = """
<mujoco><option jacobian="{jacobian}" cone="{cone}"/><worldbody><geom type="plane" size="9 9
  1"/>{bodies}</worldbody></mujoco>
"""
BODY = '<body pos="{x} 0 .09"><freejoint/><geom size=".1" condim="6"/></body>'
STORAGES = pytest.mark.parametrize("jacobian", ["dense", "sparse"])


def spheres(jacobian, cone="pyramidal", count=30):
    bodies = "".join(BODY.format(x=0.5 * k) for k in range(count))
    ref_m = mujoco.MjModel.from_xml_string(SPHERES.format(jacobian=jacobian, cone=cone, bodies=bodies))
    ref_d = mujoco.MjData(ref_m)
    mujoco.mj_forward(ref_m, ref_d)
    return ref_m, ref_d


def run_growing(program, m, d):
    """Run as the pipeline does: enlarge the arena when asked."""
    requests = 0
    status = program.run(m, d)
    while status:
        requests += 1
        d.grow(CAPACITIES[status - 1], d._memory.scalars["work.need"][0])
        status = program.resume(m, d)
    return requests


@STORAGES
def test_arena_grows(jacobian):
    ref_m, ref_d = spheres(jacobian)
    m = model_from_reference(ref_m)
    d = MjData(m)
    copy_state(ref_d, d)
    d.grow("ncon", ref_d.ncon)
    full = data_from_reference(m, ref_d)
    for name, array in d._memory.arrays.items():
        if not name.startswith(("efc_", "work.")) and array.shape == full._memory.arrays[name].shape:
            array[...] = full._memory.arrays[name]
    for name in ("dist", "pos", "frame", "includemargin", "friction", "solref", "solimp", "dim", "geom"):
        d._memory.arrays[f"contact.{name}"][: ref_d.ncon] = full._memory.arrays[f"contact.{name}"][: ref_d.ncon]
    d.ncon = ref_d.ncon
    assert run_growing(Program(constraint_stages(m)), m, d) >= 2
    assert d.nefc == ref_d.nefc == 300
    np.testing.assert_allclose(d.efc_J, ref_d.efc_J, atol=1e-12)


@STORAGES
def test_products_with_jacobian(jacobian):
    ref_m, ref_d = spheres(jacobian, "elliptic", 3)
    m = model_from_reference(ref_m)
    d = data_from_reference(m, ref_d)
    dense = np.array([_unit_product(m, d, k) for k in range(m.nv)]).T
    force = np.random.default_rng(0).normal(size=d.nefc)
    force[1] = 0.0
    result = np.full(m.nv, 7.0)
    mul_jac_t_vec(m.view, d.view, force, result)
    np.testing.assert_allclose(result, dense.T @ force, atol=1e-12)
    expected = np.zeros(ref_d.nefc)
    mujoco.mj_mulJacVec(ref_m, ref_d, expected, np.ones(ref_m.nv))
    np.testing.assert_allclose(dense.sum(axis=1), expected, atol=1e-12)


def _unit_product(m, d, k):
    result = np.zeros(d.nefc)
    mul_jac_vec(m.view, d.view, np.eye(m.nv)[k], result)
    return result


@STORAGES
def test_stages_in_interpreter_equal_native(jacobian):
    ref_m, ref_d = spheres(jacobian, "elliptic", 3)
    m = model_from_reference(ref_m)
    native, interpreted = data_from_reference(m, ref_d), data_from_reference(m, ref_d)
    stages = [*constraint_stages(m), reference_constraint]
    assert Program(stages).run(m, native) == 0
    for function in stages:
        assert function(m.view, interpreted.view) == 0
    for name in ("efc_J", "efc_pos", "efc_KBIP", "efc_D", "efc_R", "efc_aref", "efc_type", "efc_id"):
        np.testing.assert_allclose(getattr(native, name), getattr(interpreted, name), rtol=1e-12, atol=1e-12)


def test_model_gets_only_the_stages_it_needs():
    ref_m, _ = spheres("dense", count=1)
    names = [function.__name__ for function in constraint_stages(model_from_reference(ref_m))]
    assert names == ["clear_constraint", "make_friction", "make_limit", "make_contact", "record_use"]
    assert len(MAKE_CONSTRAINT) == 11


COUPLED = """<mujoco><worldbody><body><joint name="a"/><geom size=".1"/></body></worldbody>
 <equality><joint joint1="a"/></equality></mujoco>"""


@pytest.mark.parametrize("kind", ["CONNECT", "WELD", "TENDON", "FLEX"])
def test_equality_whose_type_was_edited_to_one_without_its_objects(kind: str) -> None:
    """The second object of a joint held at a constant is -1, which is no body; the reference reads past its arrays."""
    m = cardan.MjModel.from_xml_string(COUPLED)
    d = cardan.MjData(m)
    m.eq_type[0] = getattr(cardan.mjtEq, f"mjEQ_{kind}")
    with pytest.raises(cardan.FatalError, match=f"equality 0 of type mjEQ_{kind} is of objects that are not there"):
        cardan.mj_step(m, d)
    d.eq_active[0] = 0
    cardan.mj_step(m, d)
    assert d.ne == 0


@pytest.mark.parametrize("kind", [-1, 5, 77])
def test_unknown_type_of_equality(kind: int) -> None:
    for engine in (mujoco, cardan):
        m = engine.MjModel.from_xml_string(COUPLED)
        d = engine.MjData(m)
        m.eq_type[0] = kind
        with pytest.raises(engine.FatalError, match=f"mj_ne: unknown constraint type .*{kind}"):
            engine.mj_step(m, d)
        d.eq_active[0] = 0
        engine.mj_step(m, d)
        assert d.ne == 0
        m.eq_type[0], d.eq_active[0] = cardan.mjtEq.mjEQ_JOINT, 1
        engine.mj_step(m, d)
        assert d.ne == 1
