"""Small pieces of user code give the same values, or the same kind of error, on both engines."""

from pathlib import Path

import mujoco
import pytest
from dropin.side_by_side import outcome

import cardan

PIECES = (Path(__file__).parent / "user_code.txt").read_text().split("\n---\n")


LATER = {
    "m.opt = m.opt": "values of options can be assigned",
    "m.vis = m.vis": "values of options can be assigned",
    "m.stat = 1": "values of options can be assigned, from such options only",
    "len(mujoco.mjtSensor.__members__)": "sensors of later versions",
    "mujoco.mj_setKeyframe(m,d,0)": "a function of later versions",
    "mujoco.mj_setKeyframe(m,d,k=0)": "a function of later versions",
    "mujoco.mj_id2name(m,mujoco.mjtObj.mjOBJ_MODEL,0)": "models have names",
    "m.signature if hasattr(m,'signature') else None": "a field of later versions",
    "m.B_rownnz if hasattr(m,'B_rownnz') else None": "a field of later versions",
    "sorted(n for n in dir(d.contact) if not n.startswith('_'))": "fields of later versions",
    "[name for name in dir(d.contact) if name[0] != '_']": "fields of later versions",
    "d.bind": "binding of elements",
    "mujoco.mj_setKeyframe(m,d,4)": "a function of later versions",
    "st,se=R([m]*2,d,s,nstep=5)": "several models in a rollout",
    "sorted(n for n in dir(m.opt) if not n.startswith(('_', 'ccd_')))": "options of later versions",
    "d.island_dofnum.shape, d.dof_island.shape, d.tree_island if hasattr(d,'tree_island') else 0": "later fields",
}
"""Lines of pieces that use a feature of versions after 3.1.6, and the feature; 3.1.6 fails, or has fewer names."""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("code", PIECES, ids=lambda code: code.strip().split("\n")[-1][:60])
def test_user_code(code):
    ours, theirs = outcome(cardan, code), outcome(mujoco, code)
    if LATER.keys() & set(code.strip().split("\n")):
        assert ours != theirs
    else:
        assert ours == theirs
