"""Colours of vertices by the light model of OpenGL 1.5 (specification, section 2.14.1, "Lighting").

Up to `MOST_LIT` vertices of one geom are lit together. Their data is stored in `lit` as rows of `MOST_LIT` numbers,
like vector registers. Partly filled rows are processed completely, too.
"""

from __future__ import annotations

from math import cos, pi, radians, sqrt, tan

import numpy as np

from cardan.jit import exact, kernel
from cardan.render.camera import View, axes_of, length_of, make_view
from cardan.render.kernel_views import Assets, Frame
from cardan.render.kernels import ONE, ZERO, int32, picture_stage, single
from cardan.visual import MjvScene
from cardan.visual.cameras import AMBIENT, ATTENUATION, BYTES, CUTOFF, DIFFUSE, DIR, EXPONENT, LIGHT_POS, SPECULAR

SMALL = single(1e-30)
MOST_SHININESS = single(128.0)
DARK = single(12.0)
"""Limit of p (1 - c) above which a highlight c^p is invisible, because c^p is less than exp(-p (1 - c)); c is a cosine,
and p is the shininess."""
MOST_LIT = 16
"""Number of vertices that are lit together."""
PLACE, NORMAL, EYE, LIGHT, SUM, COLOR = (3 * MOST_LIT * k for k in range(6))
"""Index in a table of the first of three rows for: positions in the world frame; normals; directions to the camera;
directions to a light; colours due to all lights without shadows; colours due to one light."""
SHARE, COSINE, ALONG, HALF, FACTOR, POWER = (3 * MOST_LIT * 6 + MOST_LIT * k for k in range(6))
"""Index in a table of the row for: the fraction of a light that arrives; the cosine between the light's direction and
the normal; the cosine to the light's axis; the cosine between normal and half vector; bases of powers; results of
powers."""
LIT_NUMBERS = 3 * MOST_LIT * 6 + MOST_LIT * 6
"""Number of entries in a table, which has all the rows above."""
DULL, SHINES = int32(0), int32(1)
FIRST, SECOND, THIRD = 0, MOST_LIT, 2 * MOST_LIT
"""Offsets of the rows x, y and z from the first row of a position or direction."""


@kernel
def raise_factors(f: Frame, at: int, exponent: float) -> None:
    """Raise the numbers in row `FACTOR` to a power >= 0, and store the results in row `POWER`.

    Integer powers are computed by repeated squaring, which overwrites row `FACTOR` (Knuth, volume 2, section 4.6.3).
    """
    whole = int(exponent)
    if whole != exponent:
        for i in range(at, at + MOST_LIT):
            f.lit[i + POWER] = single(f.lit[i + FACTOR] ** exponent)
        return
    for i in range(at, at + MOST_LIT):
        f.lit[i + POWER] = ONE
    while whole > 0:
        if whole & 1:
            for i in range(at, at + MOST_LIT):
                f.lit[i + POWER] *= f.lit[i + FACTOR]
        for i in range(at, at + MOST_LIT):
            f.lit[i + FACTOR] *= f.lit[i + FACTOR]
        whole >>= 1


@kernel
def unit(x: float, y: float, z: float) -> tuple[float, float, float, float]:
    """Return the unit vector along (`x`, `y`, `z`), and the length of (`x`, `y`, `z`)."""
    length = single(sqrt(max(x * x + y * y + z * z, SMALL)))
    scale = ONE / length
    return (x * scale, y * scale, z * scale, length)


@kernel
def face_light(f: Frame, light: int, at: int) -> None:
    """Compute, for each vertex, the unit vector to a light, the attenuation, and the cosine to the light's axis.

    If the light is directional, the attenuation is 1, and the cosine is not computed.
    """
    ax, ay, az = f.light_dir[light, 0], f.light_dir[light, 1], f.light_dir[light, 2]
    if f.light_directional[light]:
        for i in range(at, at + MOST_LIT):
            f.lit[i + LIGHT + FIRST] = -ax
            f.lit[i + LIGHT + SECOND] = -ay
            f.lit[i + LIGHT + THIRD] = -az
            f.lit[i + SHARE] = ONE
        return
    px, py, pz = f.light_pos[light, 0], f.light_pos[light, 1], f.light_pos[light, 2]
    c0, c1, c2 = f.light_attenuation[light, 0], f.light_attenuation[light, 1], f.light_attenuation[light, 2]
    for i in range(at, at + MOST_LIT):
        x, y, z, distance = unit(
            px - f.lit[i + PLACE + FIRST], py - f.lit[i + PLACE + SECOND], pz - f.lit[i + PLACE + THIRD]
        )
        f.lit[i + LIGHT + FIRST] = x
        f.lit[i + LIGHT + SECOND] = y
        f.lit[i + LIGHT + THIRD] = z
        f.lit[i + ALONG] = -(x * ax + y * ay + z * az)
        f.lit[i + SHARE] = ONE / max(c0 + c1 * distance + c2 * distance * distance, SMALL)


@kernel
def fall_off(f: Frame, light: int, at: int) -> None:
    """Multiply the fraction of a light that arrives by the cone's fall-off; outside the cone, the fraction is 0."""
    cutoff, exponent = f.light_cutoff[light], f.light_exponent[light]
    if f.light_directional[light] or cutoff <= -ONE:
        return
    for i in range(at, at + MOST_LIT):
        along = f.lit[i + ALONG]
        f.lit[i + FACTOR] = max(along, ZERO)
        f.lit[i + SHARE] = ZERO if along < cutoff else f.lit[i + SHARE]
    if exponent > ZERO:
        raise_factors(f, at, exponent)
        for i in range(at, at + MOST_LIT):
            f.lit[i + SHARE] *= f.lit[i + POWER]


@kernel
def find_cosines(f: Frame, at: int, power: float) -> bool:
    """Compute cosines of normals to the light direction and the half vector; return whether a highlight is visible."""
    shines = DULL
    for i in range(at, at + MOST_LIT):
        nx, ny, nz = f.lit[i + NORMAL + FIRST], f.lit[i + NORMAL + SECOND], f.lit[i + NORMAL + THIRD]
        x, y, z = f.lit[i + LIGHT + FIRST], f.lit[i + LIGHT + SECOND], f.lit[i + LIGHT + THIRD]
        f.lit[i + COSINE] = nx * x + ny * y + nz * z
        hx, hy, hz, _ = unit(x + f.lit[i + EYE + FIRST], y + f.lit[i + EYE + SECOND], z + f.lit[i + EYE + THIRD])
        half = nx * hx + ny * hy + nz * hz
        half = ZERO if (half <= ZERO) | (power * (ONE - half) > DARK) else half
        f.lit[i + HALF] = half
        f.lit[i + FACTOR] = half
        shines |= SHINES if half > ZERO else DULL
    return shines != 0


@kernel
def add_light(f: Frame, geom: int, light: int, channel: int, color: float, at: int) -> None:
    """Store one channel of the colours due to a light in rows `COLOR`; `color` is this channel of the geom's colour."""
    row = channel * MOST_LIT
    ambient, diffuse = f.light_ambient[light, channel] * color, f.light_diffuse[light, channel] * color
    specular = f.geom_specular[geom] * f.light_specular[light, channel]
    for i in range(at, at + MOST_LIT):
        cosine, half = f.lit[i + COSINE], f.lit[i + HALF]
        shine = specular * f.lit[i + POWER] if half > ZERO else ZERO
        direct = cosine * diffuse + shine if cosine > ZERO else ZERO
        f.lit[i + COLOR + row] = f.lit[i + SHARE] * (ambient + direct)


@kernel
def put_colors(f: Frame, row: int, channel: int, table: int, count: int) -> None:
    """Copy the colours of `count` vertices, clamped to 1, from three rows of a table to `vert_color`.

    `row` is the first of the rows, and `channel` is the first column of `vert_color` (section 2.14.6, "Clamping or
    masking").
    """
    at = table * LIT_NUMBERS + row
    for k in range(count):
        i = at + k
        v = f.lit_vert[table * MOST_LIT + k]
        f.vert_color[v, channel] = min(f.lit[i + FIRST], ONE)
        f.vert_color[v, channel + 1] = min(f.lit[i + SECOND], ONE)
        f.vert_color[v, channel + 2] = min(f.lit[i + THIRD], ONE)


@kernel
def light_vertices(f: Frame, view: int, geom: int, table: int, count: int) -> None:
    """Compute the colours of vertices of a geom due to all lights without shadows, and due to each light with shadows.

    `table` is the index of the table in `lit` that contains the positions and normals of `count` vertices; `lit_vert`
    contains the vertex indices.
    """
    at = table * LIT_NUMBERS
    # mirrors dim surfaces, but not their highlights
    dim = f.geom_reflectance[f.view_mirror[view]] if f.view_mirror[view] >= 0 else ONE
    flat, base = f.geom_flat[geom] != 0, f.geom_emission[geom]
    for channel in range(3):
        color = dim * f.geom_rgba[geom, channel]
        color = color if flat else base * color
        for i in range(at, at + MOST_LIT):
            f.lit[i + SUM + channel * MOST_LIT] = color
    if flat:
        for k in range(count):
            for channel in range(4, f.ncolor):
                f.vert_color[f.lit_vert[table * MOST_LIT + k], channel] = ZERO
        put_colors(f, SUM, 0, table, count)
        return
    px, py, pz = single(f.view_eye[view, 0]), single(f.view_eye[view, 1]), single(f.view_eye[view, 2])
    for i in range(at, at + MOST_LIT):
        x, y, z = f.lit[i + PLACE + FIRST], f.lit[i + PLACE + SECOND], f.lit[i + PLACE + THIRD]
        x, y, z, _ = unit(px - x, py - y, pz - z)
        f.lit[i + EYE + FIRST] = x
        f.lit[i + EYE + SECOND] = y
        f.lit[i + EYE + THIRD] = z
    power = MOST_SHININESS * f.geom_shininess[geom]
    for light in range(f.nlight):
        face_light(f, light, at)
        fall_off(f, light, at)
        if find_cosines(f, at, power):
            raise_factors(f, at, power)
        layer = 4 * f.light_layer[light]
        for channel in range(3):
            add_light(f, geom, light, channel, dim * f.geom_rgba[geom, channel], at)
        if layer > 0:
            put_colors(f, COLOR, layer, table, count)
        else:
            for i in range(at, at + 3 * MOST_LIT):
                f.lit[i + SUM] += f.lit[i + COLOR]
    put_colors(f, SUM, 0, table, count)


WIDEST = 160.0
"""Angle of a light's view, degrees, at or above which the light casts no shadows."""
DEGREE = pi / 180.0
NO_CONE = 180.0
"""Cutoff angle, degrees, at or above which a light shines in all directions."""
NO_LENGTH = 1e-12
DIRECTIONAL_SHIFT, A_BYTE = 8, 255
"""Position (bits) and mask of the flag for parallel rays in a light's word of flags."""


@kernel
def wide(f: Frame, light: int, word: int) -> float:
    """Return word `word` of a light in double precision; ``float`` alone keeps single precision in compiled code."""
    return 1.0 * float(f.scene_light_f[light, word])


@picture_stage
@exact
def take_lights(a: Assets, f: Frame, i: int, j: int) -> int:
    """Copy the lights of a scene to picture `f`, without shadows; return 0. The integers `i` and `j` are unused."""
    for light in range(f.nlight):
        for k in range(3):
            f.light_pos[light, k] = f.scene_light_f[light, LIGHT_POS + k]
            f.light_attenuation[light, k] = f.scene_light_f[light, ATTENUATION + k]
            f.light_ambient[light, k] = f.scene_light_f[light, AMBIENT + k]
            f.light_diffuse[light, k] = f.scene_light_f[light, DIFFUSE + k]
            f.light_specular[light, k] = f.scene_light_f[light, SPECULAR + k]
        x, y, z = wide(f, light, DIR), wide(f, light, DIR + 1), wide(f, light, DIR + 2)
        length = max(sqrt(x * x + y * y + z * z), NO_LENGTH)
        f.light_dir[light, 0] = x / length
        f.light_dir[light, 1] = y / length
        f.light_dir[light, 2] = z / length
        angle = wide(f, light, CUTOFF)
        f.light_cutoff[light] = cos(angle * DEGREE) if angle < NO_CONE else -1.0
        f.light_exponent[light] = f.scene_light_f[light, EXPONENT]
        f.light_directional[light] = f.scene_light_i[light, BYTES] >> DIRECTIONAL_SHIFT & A_BYTE
        f.light_layer[light] = 0
    return 0


def shadow_view(
    scene: MjvScene, light: int, clip: float, scale: float, near: float, far: float, size: int
) -> View | None:
    """Make a light's view for its shadow map; return None if the light needs no map.

    A light needs no map if it casts no shadows, has no direction, or has a cone that is empty or too wide. `clip` is
    half the width of the view of directional lights, m; `scale` is the fraction of the cone that the views of other
    lights show. `near` and `far` are the distances of the clipping planes, m; the map has `size` x `size` pixels.
    """
    values = scene.light_values[light]
    if not values["castshadow"] or values["headlight"]:
        return None
    position, direction = values["pos"].astype(float), values["dir"].astype(float)
    if length_of(direction) < 1e-9:
        return None
    axes = axes_of(direction, np.array([0.0, 0.0, 1.0]) if abs(direction[2]) < 0.99 else np.array([0.0, 1.0, 0.0]))
    if values["directional"]:
        # the map shows both directions along the light from its position
        window = (-clip, clip, -clip, clip)
        return make_view(axes, position, window, (size, size), False, near, far, shadow=True)
    angle = 2.0 * float(values["cutoff"]) * scale
    if not 0.0 < angle < WIDEST:
        return None
    half = tan(radians(0.5 * angle))
    return make_view(axes, position, (-half, half, -half, half), (size, size), True, near, far, shadow=True)


def light_lines(light: View, view: View) -> np.ndarray:
    """Multiply each row of a light's matrix by `base` and `ray` of a view; return all products, (24,)."""
    turn = light.rows[:, :3]
    base = turn @ view.base
    base[:, 0] += light.rows[:, 3]
    return np.concatenate([base, turn @ view.ray], 1).ravel()
