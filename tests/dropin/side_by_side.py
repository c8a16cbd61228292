"""The same user code on both engines: what it gives, or how it fails."""

from __future__ import annotations

import copy
import pickle
from types import ModuleType
from typing import Any

import numpy as np

XML = """<mujoco><option timestep="0.005"/><visual><global offwidth="800"/></visual>
<worldbody><light name="l" pos="0 0 3"/><geom name="floor" type="plane" size="5 5 .1"/><camera name="c" pos="0 -3 1"/>
<body name="torso" pos="0 0 .5"><freejoint name="root"/><geom name="ball" size=".2"/><site name="s" pos=".1 0 0"/>
 <body name="arm" pos=".3 0 0"><joint name="j" axis="0 1 0" damping=".1" range="-90 90" limited="true"/>
  <geom name="cap" type="capsule" fromto="0 0 0 .3 0 0" size=".05"/></body></body>
<body name="mo" mocap="true" pos="1 1 1"><geom size=".05" contype="0" conaffinity="0"/></body>
</worldbody>
<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>
<actuator><motor name="m" joint="j" ctrlrange="-1 1" ctrllimited="true"/></actuator>
<sensor><jointpos name="jp" joint="j"/><framepos name="fp" objtype="site" objname="s"/></sensor>
<keyframe><key name="k" qpos="0 0 1 1 0 0 0 .3" ctrl=".5"/></keyframe>
<custom><numeric name="nn" data="1 2 3"/><text name="tt" data="hello"/>
 <tuple name="tu"><element objtype="body" objname="torso" prm="2"/></tuple></custom>
</mujoco>"""

WARM_UP_STEPS = 3


def comparable(value: Any) -> Any:
    """A value as plain Python, with its kind, type and shape; numbers to nine digits, no sign of zero."""
    if isinstance(value, np.ndarray):
        return "array", str(value.dtype), value.shape, (np.round(value.astype(float), 9) + 0.0).tolist()
    if isinstance(value, (tuple, list)):
        return [comparable(item) for item in value]
    if isinstance(value, dict):
        return {key: comparable(item) for key, item in value.items()}
    if isinstance(value, float):
        return round(value, 9) + 0.0
    if isinstance(value, int):
        return "int", int(value)
    if isinstance(value, (str, bytes, type(None))):
        return type(value).__name__, value
    return "object", type(value).__name__


def error_kind(error: BaseException) -> str:
    """Name of the error's class; ValueError for classes made from it."""
    return "ValueError" if isinstance(error, ValueError) else type(error).__name__


def outcome(mujoco: ModuleType, code: str) -> tuple[str, Any]:
    """The value of the last line of code that uses `mujoco`, `m` and `d` (after a few steps), or its kind of error."""
    m = mujoco.MjModel.from_xml_string(XML)
    d = mujoco.MjData(m)
    mujoco.mj_step(m, d, WARM_UP_STEPS)
    names = {"mujoco": mujoco, "m": m, "d": d, "np": np, "copy": copy, "pickle": pickle, "XML": XML}
    *head, last = code.strip().split("\n")
    try:
        try:
            result = compile(last, "user code", "eval")
        except SyntaxError:
            exec(code, names)
            return "value", None
        exec("\n".join(head), names)
        return "value", comparable(eval(result, names))
    except Exception as error:
        return "error", error_kind(error)
    finally:
        mujoco.set_mjcb_control(None)
        mujoco.set_mjcb_passive(None)
