"""Colours of vertices by the light model of OpenGL 1.5 (specification, section 2.14.1, "Lighting").

Vertices of one geom are lit together, up to `MOST_LIT` at once: what is found out about them stands in `lit`, one row
of `MOST_LIT` numbers after the other, as vectors hold them. Rows that aren't full are worked on as a whole, too.
"""

from __future__ import annotations

from math import sqrt

from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.render.kernel_views import Frame
from cardan.render.single import ONE, ZERO, int32, single

SMALL = single(1e-30)
MOST_SHININESS = single(128.0)
DARK = single(12.0)
"""A power of a cosine is less than e to the minus power times (1 - cosine): beyond this, no highlight is seen."""
MOST_LIT = 16
"""Vertices that are lit together."""
PLACE, NORMAL, EYE, LIGHT, SUM, COLOR = (3 * MOST_LIT * k for k in range(6))
"""Rows of three coordinates, or colours, each: the vertices' places in the world, normals, directions to the camera and
to a light; colours by all lights without shadows, and by one light."""
SHARE, COSINE, ALONG, HALF, FACTOR, POWER = (3 * MOST_LIT * 6 + MOST_LIT * k for k in range(6))
"""Rows: how much of a light arrives; cosines of the angles to the normal, to the light's axis, and between normal and
half vector; and what powers are made of."""
LIT_NUMBERS = 3 * MOST_LIT * 6 + MOST_LIT * 6
"""Numbers of a table of all these rows."""
DULL, SHINES = int32(0), int32(1)
FIRST, SECOND, THIRD = 0, MOST_LIT, 2 * MOST_LIT
"""Where the coordinates of a place or direction begin among its rows."""


@kernel
def raise_factors(f: Frame, at: int, exponent: float) -> None:
    """Powers of the row `FACTOR` into `POWER`; exponents aren't negative: by squaring (Knuth, volume 2, 4.6.3)."""
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
    """The unit vector along a vector, and the length."""
    length = single(sqrt(max(x * x + y * y + z * z, SMALL)))
    scale = ONE / length
    return (x * scale, y * scale, z * scale, length)


@kernel
def put_unit(f: Frame, row: int, x: float, y: float, z: float) -> float:
    """Store the unit vector along a vector in rows from `row` on; returns the length."""
    x, y, z, length = unit(x, y, z)
    f.lit[row + FIRST] = x
    f.lit[row + SECOND] = y
    f.lit[row + THIRD] = z
    return length


@kernel
def face_point(f: Frame, at: int, row: int, point: Vec3) -> None:
    """Unit vectors from the vertices' places to a point."""
    px, py, pz = single(point[0]), single(point[1]), single(point[2])
    for i in range(at, at + MOST_LIT):
        x, y, z = f.lit[i + PLACE + FIRST], f.lit[i + PLACE + SECOND], f.lit[i + PLACE + THIRD]
        put_unit(f, i + row, px - x, py - y, pz - z)


@kernel
def face_light(f: Frame, light: int, at: int) -> None:
    """Unit vectors from vertices to a light, how much of it arrives, and cosines of the angles from its axis."""
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
    """Make light less from the axis of its cone outwards, and none beyond it."""
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
    """Cosines between normals and directions to a light, and half vectors: 0 where highlights aren't seen.

    Returns:
        Whether there are highlights.
    """
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
    """One part, red, green or blue, of the colours by a light, into `COLOR`; `color` is that part of the geom's."""
    row = channel * MOST_LIT
    ambient, diffuse = f.light_ambient[light, channel] * color, f.light_diffuse[light, channel] * color
    specular = f.geom_specular[geom] * f.light_specular[light, channel]
    for i in range(at, at + MOST_LIT):
        cosine, half = f.lit[i + COSINE], f.lit[i + HALF]
        shine = specular * f.lit[i + POWER] if half > ZERO else ZERO
        direct = cosine * diffuse + shine if cosine > ZERO else ZERO
        f.lit[i + COLOR + row] = f.lit[i + SHARE] * (ambient + direct)


@kernel
def reflectance_of(f: Frame, view: int) -> float:
    """Share of the colour of things that a view shows: mirrors dim them, but not their highlights."""
    return f.geom_reflectance[f.view_mirror[view]] if f.view_mirror[view] >= 0 else ONE


@kernel
def set_color(f: Frame, v: int, channel: int, r: float, g: float, b: float) -> None:
    """Store a colour of a vertex: no part is above 1 (section 2.14.6, "Clamping or masking")."""
    f.vert_color[v, channel] = min(r, ONE)
    f.vert_color[v, channel + 1] = min(g, ONE)
    f.vert_color[v, channel + 2] = min(b, ONE)


@kernel
def put_colors(f: Frame, row: int, channel: int, table: int, count: int) -> None:
    """Store colours from rows `row` on as those of their vertices."""
    at = table * LIT_NUMBERS + row
    for k in range(count):
        i = at + k
        set_color(f, f.lit_vert[table * MOST_LIT + k], channel, f.lit[i + FIRST], f.lit[i + SECOND], f.lit[i + THIRD])


@kernel
def light_vertices(f: Frame, view: int, geom: int, table: int, count: int) -> None:
    """Colours of vertices: what all lights without shadows give, then that of each light with shadows.

    Args:
        f: the frame.
        view: the view.
        geom: whose vertices they are.
        table: number of the table in `lit` that has their places and normals, and in `lit_vert` their numbers.
        count: number of vertices.
    """
    at, dim = table * LIT_NUMBERS, reflectance_of(f, view)
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
    face_point(f, at, EYE, (f.view_eye[view, 0], f.view_eye[view, 1], f.view_eye[view, 2]))
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
