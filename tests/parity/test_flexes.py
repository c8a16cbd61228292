"""Compile parity of flexes: every field of the model, 1e-9, on random soft models and on some as they are used.

``CARDAN_FULL_TESTS=1`` tries 400 random models, else a share of them.
"""

from __future__ import annotations

import os
from pathlib import Path

import mujoco
import pytest
from fields_compared import differences
from gmsh_files import LITTLE, gmsh_2, gmsh_4
from models import model_path
from models_soft import soft_model

import cardan
from cardan.errors import MjcfError

FULL = os.environ.get("CARDAN_FULL_TESTS") == "1"


@pytest.mark.parametrize("seed", range(400 if FULL else 24))
def test_random_soft_model(seed: int) -> None:
    xml = soft_model(seed)
    try:
        expected = mujoco.MjModel.from_xml_string(xml)
    except ValueError as error:
        with pytest.raises(MjcfError):
            cardan.MjModel.from_xml_string(xml)
        pytest.skip(f"both refuse it: {error}")
    assert not differences(expected, cardan.MjModel.from_xml_string(xml))


@pytest.mark.parametrize("edge", ['<edge equality="true"/><pin id="1 5"/>', '<edge damping="2"/>'])
@pytest.mark.parametrize("joint", ["<freejoint/>", '<joint axis="1 2 3"/><joint type="slide"/>'])
def test_many_branches_on_a_moving_body(joint: str, edge: str) -> None:
    parent = f'<body name="p" euler="10 20 30">{joint}<geom size="0.1"/>'
    arm = '<body pos="1 0 0"><joint/><geom size="0.1"/><body pos="1 0 0"><joint/><geom size="0.1"/></body></body>'
    cloth = f'<flexcomp name="f" count="9 9 1" pos="1 0 0">{edge}</flexcomp>'
    xml = f"<mujoco><worldbody>{parent}{cloth}{arm}</body></worldbody></mujoco>"
    assert not differences(mujoco.MjModel.from_xml_string(xml), cardan.MjModel.from_xml_string(xml))


@pytest.mark.parametrize("pin", ['id="9 -5"', 'range="3 99"', 'grid="0 9"', 'gridrange="-1 0 9 9"'])
def test_pins_beyond_a_rigid_flexcomp(pin: str) -> None:
    comp = f'<flexcomp name="f" count="3 2 1" rigid="true"><pin {pin}/></flexcomp>'
    xml = f"<mujoco><worldbody>{comp}</worldbody></mujoco>"
    with pytest.warns(UserWarning, match="all points of a rigid flexcomp are pinned"):
        m = cardan.MjModel.from_xml_string(xml)
    assert not differences(mujoco.MjModel.from_xml_string(xml), m)


OBJ = b"v 0 0 0\nv 1 0 0\nv 1 1 0.1\nv 0 1 0\nv 0 0 0\nv 1 1 0.1\nv 5 5 5\nf 1 2 3\nf 5 6 4\n"
POINTS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1.5), (2, 2, 2)]
TETRAHEDRA = [(1, 2, 3, 4), (5, 2, 3, 4)]
FILES = {
    "surface.obj": OBJ,
    "old.msh": gmsh_2(POINTS, [(4, TETRAHEDRA)]),
    "text.msh": gmsh_4(POINTS, [(4, TETRAHEDRA)]),
    "binary.msh": gmsh_4(POINTS, [(4, TETRAHEDRA)], LITTLE),
}


@pytest.mark.parametrize("name", FILES)
def test_files(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(FILES[name])
    kind = 'type="mesh" dim="2"' if name.endswith("obj") else 'type="gmsh" dim="3"'
    comp = f'<flexcomp name="f" {kind} file="{tmp_path / name}" scale="1 2 0.5" pos="1 2 3" euler="10 20 30"/>'
    xml = f"<mujoco><worldbody>{comp}</worldbody></mujoco>"
    assert not differences(mujoco.MjModel.from_xml_string(xml), cardan.MjModel.from_xml_string(xml))


@pytest.mark.parametrize("name", ["flag_flex", "jelly_flex", "rope", "trampoline", "warp_rope"])
def test_model_as_it_is_used(name: str) -> None:
    path = str(model_path(name))
    assert not differences(mujoco.MjModel.from_xml_path(path), cardan.MjModel.from_xml_path(path))
