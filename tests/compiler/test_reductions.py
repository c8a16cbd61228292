"""What the compiler leaves out: the dynamics stay as they are."""

from __future__ import annotations

import numpy as np
import pytest

from cardan.api.loading import load_string

PRECISION = 1e-8  # principal axes are found by iteration; the reference differs between both models by 3e-9 as well

TREE = """<worldbody><body name="p"><freejoint/><geom size=".1"/>
<body name="s" pos="0 1 0" euler="0 0 30"><geom type="box" size=".1 .2 .3" euler="10 20 30"/>
<body name="q" pos="1 0 0"><joint axis="0 1 0"/><geom size=".1" pos="0 0 .2" contype="0" conaffinity="0"/></body></body>
</body></worldbody>"""


@pytest.mark.parametrize("setting", ["fusestatic", "discardvisual"])
def test_inertia_at_qpos0_is_the_same(setting: str) -> None:
    whole = load_string(f"<mujoco>{TREE}</mujoco>")
    less = load_string(f'<mujoco><compiler {setting}="true"/>{TREE}</mujoco>')
    assert less.nbody + less.ngeom < whole.nbody + whole.ngeom
    np.testing.assert_allclose(less.dof_M0, whole.dof_M0, rtol=PRECISION)
    np.testing.assert_allclose(less.dof_invweight0, whole.dof_invweight0, rtol=PRECISION)
