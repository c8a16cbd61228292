"""Colours of vertices by the light model of OpenGL 1.5 (specification, section 2.14.1, "Lighting")."""

from __future__ import annotations

from math import sqrt

from cardan.jit import kernel
from cardan.maths.pose import Vec3
from cardan.render.kernel_views import Frame
from cardan.render.single import ONE, ZERO, single

SMALL = single(1e-30)
MOST_SHININESS = single(128.0)
DARK = single(12.0)
"""A power of a cosine is less than e to the minus power times (1 - cosine): beyond this, no highlight is seen."""


@kernel
def power_of(base: float, exponent: float) -> float:
    """A power with an exponent that isn't negative: by squaring (Knuth, volume 2, section 4.6.3) if it is whole."""
    whole = int(exponent)
    if whole != exponent:
        return single(base**exponent)
    result, factor = ONE, base
    while whole > 0:
        if whole & 1:
            result *= factor
        factor *= factor
        whole >>= 1
    return result


@kernel
def attenuation(f: Frame, light: int, distance: float) -> float:
    """How much of a light arrives at a distance."""
    return ONE / max(
        f.light_attenuation[light, 0]
        + f.light_attenuation[light, 1] * distance
        + f.light_attenuation[light, 2] * distance * distance,
        SMALL,
    )


@kernel
def strength(f: Frame, light: int, distance: float, along: float) -> float:
    """Attenuation and falling off from the axis; `along` is the cosine of the angle from the axis."""
    if f.light_directional[light]:
        return ONE
    fall = attenuation(f, light, distance)
    if f.light_cutoff[light] > -ONE:
        if along < f.light_cutoff[light]:
            return ZERO
        if f.light_exponent[light] > ZERO:
            fall *= power_of(max(along, ZERO), f.light_exponent[light])
    return fall


@kernel
def unit(x: float, y: float, z: float) -> tuple[float, float, float, float]:
    """The unit vector along a vector, and the length."""
    length = single(sqrt(max(x * x + y * y + z * z, SMALL)))
    scale = ONE / length
    return (x * scale, y * scale, z * scale, length)


@kernel
def to_light(f: Frame, light: int, p: Vec3) -> tuple[float, float, float, float, float]:
    """Unit vector from a point to a light, distance, and cosine of the angle from the light's axis."""
    if f.light_directional[light]:
        return (-f.light_dir[light, 0], -f.light_dir[light, 1], -f.light_dir[light, 2], ZERO, ONE)
    x, y, z, distance = unit(f.light_pos[light, 0] - p[0], f.light_pos[light, 1] - p[1], f.light_pos[light, 2] - p[2])
    along = -(x * f.light_dir[light, 0] + y * f.light_dir[light, 1] + z * f.light_dir[light, 2])
    return (x, y, z, distance, along)


@kernel
def to_eye(f: Frame, view: int, p: Vec3) -> Vec3:
    """Unit vector from a point to the camera of a view."""
    x, y, z, _ = unit(
        single(f.view_eye[view, 0]) - p[0], single(f.view_eye[view, 1]) - p[1], single(f.view_eye[view, 2]) - p[2]
    )
    return (x, y, z)


@kernel
def highlight(f: Frame, geom: int, n: Vec3, direction: Vec3, eye: Vec3) -> float:
    """The specular term: the cosine between normal and half vector, to the power of the shininess."""
    x, y, z, _ = unit(direction[0] + eye[0], direction[1] + eye[1], direction[2] + eye[2])
    cosine = n[0] * x + n[1] * y + n[2] * z
    power = MOST_SHININESS * f.geom_shininess[geom]
    if cosine <= ZERO or power * (ONE - cosine) > DARK:
        return ZERO
    return power_of(cosine, power)


@kernel
def set_color(f: Frame, v: int, channel: int, r: float, g: float, b: float) -> None:
    """Store a colour of a vertex: no part is above 1 (section 2.14.6, "Clamping or masking")."""
    f.vert_color[v, channel] = min(r, ONE)
    f.vert_color[v, channel + 1] = min(g, ONE)
    f.vert_color[v, channel + 2] = min(b, ONE)


@kernel
def reflectance_of(f: Frame, view: int) -> float:
    """Share of the colour of things that a view shows: mirrors dim them, but not their highlights."""
    return f.geom_reflectance[f.view_mirror[view]] if f.view_mirror[view] >= 0 else ONE


@kernel
def light_vertex(f: Frame, view: int, geom: int, v: int, place: Vec3, normal: Vec3) -> None:
    """Colours of a vertex: what all lights without shadows give, then that of each light with shadows."""
    p = (single(place[0]), single(place[1]), single(place[2]))
    n = (single(normal[0]), single(normal[1]), single(normal[2]))
    dim = reflectance_of(f, view)
    red, green, blue = dim * f.geom_rgba[geom, 0], dim * f.geom_rgba[geom, 1], dim * f.geom_rgba[geom, 2]
    if f.geom_flat[geom]:
        for channel in range(4, f.ncolor):
            f.vert_color[v, channel] = ZERO
        set_color(f, v, 0, red, green, blue)
        return
    base = f.geom_emission[geom]
    r, g, b = base * red, base * green, base * blue
    specular = f.geom_specular[geom]
    eye = to_eye(f, view, p)
    for light in range(f.nlight):
        x, y, z, distance, along = to_light(f, light, p)
        share = strength(f, light, distance, along)
        lr, lg, lb = (
            f.light_ambient[light, 0] * red,
            f.light_ambient[light, 1] * green,
            f.light_ambient[light, 2] * blue,
        )
        cosine = n[0] * x + n[1] * y + n[2] * z
        if cosine > ZERO and share > ZERO:
            shine = specular * highlight(f, geom, n, (x, y, z), eye) if specular > ZERO else ZERO
            lr += cosine * f.light_diffuse[light, 0] * red + shine * f.light_specular[light, 0]
            lg += cosine * f.light_diffuse[light, 1] * green + shine * f.light_specular[light, 1]
            lb += cosine * f.light_diffuse[light, 2] * blue + shine * f.light_specular[light, 2]
        layer = 4 * f.light_layer[light]
        if layer > 0:
            set_color(f, v, layer, share * lr, share * lg, share * lb)
        else:
            r += share * lr
            g += share * lg
            b += share * lb
    set_color(f, v, 0, r, g, b)
