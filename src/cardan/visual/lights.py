"""Lights of the scene (stage): the headlight, which moves with the camera, and the lights of the model."""

from __future__ import annotations

from typing import Any

from cardan.jit import OK, kernel, stage
from cardan.maths.vector import get3, normalize3
from cardan.model.kernel_views import Data, Model
from cardan.visual import fields
from cardan.visual.cameras import camera_average
from cardan.visual.memory import CAMERA, LIGHT, NLIGHT

MAXLIGHT = fields.MAXLIGHT
POS, DIR, ATTENUATION, CUTOFF, EXPONENT = (LIGHT[k] for k in ("pos", "dir", "attenuation", "cutoff", "exponent"))
AMBIENT, DIFFUSE, SPECULAR, BYTES = (LIGHT[k] for k in ("ambient", "diffuse", "specular", "headlight"))
BULBRADIUS = LIGHT["bulbradius"]
CAM_POS, CAM_FORWARD = CAMERA["pos"], CAMERA["forward"]
IS_HEADLIGHT, IS_DIRECTIONAL, CASTS_SHADOW = 1, 1 << 8, 1 << 16


@kernel
def _put3(array: Any, i: int, word: int, v: Any) -> None:
    """Write three numbers of a light."""
    for k in range(3):
        array[i, word + k] = v[k]


@kernel
def _clear(d: Data, i: int) -> None:
    d.work.scn_light_i[i, BYTES] = 0
    for k in range(BYTES):
        d.work.scn_light_f[i, k] = 0.0
    d.work.scn_light_f[i, BULBRADIUS] = 0.0


@kernel
def _headlight(m: Model, d: Data) -> None:
    """Set light 0: directional, at the camera."""
    lights = d.work.scn_light_f
    _clear(d, 0)
    d.work.scn_light_i[0, BYTES] = IS_HEADLIGHT | IS_DIRECTIONAL
    _put3(lights, 0, POS, camera_average(d, CAM_POS))
    _put3(lights, 0, DIR, normalize3(camera_average(d, CAM_FORWARD)))
    head = m.vis.headlight
    for k in range(3):
        lights[0, AMBIENT + k] = head.ambient[k]
        lights[0, DIFFUSE + k] = head.diffuse[k]
        lights[0, SPECULAR + k] = head.specular[k]


@kernel
def _model_light(m: Model, d: Data, light: int, i: int) -> None:
    """Set light `i` of the scene from a light of the model. Directional lights have no cone and no attenuation."""
    lights = d.work.scn_light_f
    _clear(d, i)
    directional = m.light_directional[light] != 0
    d.work.scn_light_i[i, BYTES] = IS_DIRECTIONAL * directional + CASTS_SHADOW * (m.light_castshadow[light] != 0)
    _put3(lights, i, POS, get3(d.light_xpos, light))
    _put3(lights, i, DIR, get3(d.light_xdir, light))
    _put3(lights, i, AMBIENT, get3(m.light_ambient, light))
    _put3(lights, i, DIFFUSE, get3(m.light_diffuse, light))
    _put3(lights, i, SPECULAR, get3(m.light_specular, light))
    lights[i, BULBRADIUS] = m.light_bulbradius[light]
    if not directional:
        _put3(lights, i, ATTENUATION, get3(m.light_attenuation, light))
        lights[i, CUTOFF] = m.light_cutoff[light]
        lights[i, EXPONENT] = m.light_exponent[light]


@stage
def make_lights(m: Model, d: Data) -> int:
    """Set the headlight if it is on, then the active lights of the model, up to the largest number of lights."""
    count = 0
    if m.vis.headlight.active != 0:
        _headlight(m, d)
        count = 1
    for light in range(m.nlight):
        if m.light_active[light] != 0 and count < MAXLIGHT:
            _model_light(m, d, light, count)
            count += 1
    d.work.scn_state[NLIGHT] = count
    return OK
