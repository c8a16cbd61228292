"""Models that 4.0.0 refuses and 3.1.6 accepts: they are accepted under both versions, and compute finite numbers."""

import numpy as np
import pytest

import cardan

BODIES = """<worldbody><body><joint name="b" type="ball"/><geom size=".1"/></body>
<body pos="1 0 0"><joint name="h"/><geom size=".1" pos=".1 0 0"/><site name="s"/></body>
<body pos="2 0 0"><freejoint name="f"/><geom name="g" size=".1"/><site name="s2"/></body>
<camera name="c"/></worldbody>"""
FIXED = '<tendon><fixed stiffness="1" range="0 1">{}</fixed></tendon>'
MODELS = {
    "fixed tendon of a ball joint": BODIES + FIXED.format('<joint joint="b" coef="1"/>'),
    "fixed tendon of a free joint": BODIES + FIXED.format('<joint joint="f" coef="1"/>'),
    "fixed tendon with a joint twice": BODIES + FIXED.format('<joint joint="h" coef="1"/>' * 2),
    "projection by a camera without resolution": BODIES + '<sensor><camprojection site="s2" camera="c"/></sensor>',
    "height field of one row": """<asset><hfield name="h" nrow="1" ncol="3" size="1 1 1 .1" elevation="1 1 1"/></asset>
    <worldbody><geom type="hfield" hfield="h"/><body pos="0 0 1"><freejoint/><geom size=".2"/></body></worldbody>""",
    "flex under a moving body": """<worldbody><body name="q"><freejoint/><geom size=".1"/>
    <flexcomp name="f" dim="2" count="3 3 1" spacing=".1 .1 .1" radius=".01"/></body></worldbody>""",
    "one file twice": '<include file="a.xml"/><include file="./a.xml"/>',
}
FILES = {"a.xml": b'<mujoco><worldbody><body><freejoint/><geom size="1"/></body></worldbody></mujoco>'}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("compat", ["3.1", "4.0"])
@pytest.mark.parametrize("name", MODELS)
def test_accepted(name: str, compat: str) -> None:
    """Compiling and the forward dynamics work."""
    m = cardan.MjModel.from_xml_string(f"<mujoco>{MODELS[name]}</mujoco>", FILES, compat=compat)
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    assert np.isfinite(d.qacc).all()
    assert np.isfinite(d.sensordata).all()
