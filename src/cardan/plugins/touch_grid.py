"""The plugin ``mujoco.sensor.touch_grid``: contact forces on a body, binned by their direction from a site.

The site looks along its negative Z axis. A contact of the site's body at (x, y, z) in the site's frame has the azimuth
atan2(x, -z) and the elevation atan2(y, sqrt(x^2 + z^2)). The field of view is divided into a grid of cells. The value
of a cell is the sum of the forces on the body, in the site's frame, of all contacts in the cell. The channels are the
normal force (along Z), the forces along X and Y, and the torques in the same order. Values are ordered by channel, then
by elevation, then by azimuth. Edges of cells are at

    fov ((1 - gamma) u + gamma u^5),    u = -1 ... 1 in even steps.

If gamma > 0, cells are smaller near the centre, as in a fovea.

Attributes: `size`, numbers of columns and rows of cells; `fov`, half of the horizontal (at most 180) and vertical (at
most 90) field of view, degrees; `gamma`, foveation, 0 to 1; `nchannel`, number of channels, 1 to 6 (1 if it is 0 or not
given).

Source: results of MuJoCo.
"""

from __future__ import annotations

from math import atan2, sqrt
from typing import Any

import numpy as np

from cardan.dynamics.external import contact_force
from cardan.enums.codes import OBJ_SITE, STAGE_ACC
from cardan.jit import kernel
from cardan.maths.types import Vec3
from cardan.maths.vector import get3, get9, mul_mat_t_vec3, scale3, sub3
from cardan.model.kernel_views import Data, Model
from cardan.plugins.registry import Config, Plugin, PluginMemory, config_of, indices_of, number, numbers_of

CHANNELS = 6


def grid_of(config: Config) -> tuple[tuple[int, int], tuple[float, float], float, int]:
    """Return the numbers of columns and rows, half the field of view (2 angles, rad), foveation, number of channels.

    Raises:
        ValueError: an attribute is invalid.
    """
    across, up = _pair(config, "size")
    if not (across >= 1.0 and up >= 1.0):
        raise ValueError(f"size must be two positive numbers of cells, found {config['size']!r}")
    wide, high = _pair(config, "fov")
    if not (0.0 < wide <= 180.0 and 0.0 < high <= 90.0):
        raise ValueError(f"fov must be up to 180 and up to 90 degrees, found {config['fov']!r}")
    gamma, channels = number(config, "gamma", 0.0), number(config, "nchannel", 1.0)
    if not 0.0 <= gamma <= 1.0:
        raise ValueError(f"gamma must be from 0 to 1, found {gamma:g}")
    if not 0.0 <= channels < CHANNELS + 1:
        raise ValueError(f"nchannel must be from 1 to {CHANNELS}, found {channels:g}")
    return (int(across), int(up)), (np.radians(wide), np.radians(high)), gamma, max(1, int(channels))


def _pair(config: Config, key: str) -> tuple[float, float]:
    """Return the two numbers of attribute `key`. Raises ValueError if the attribute is anything else."""
    words = config.get(key, "").split()
    if len(words) != 2:
        raise ValueError(f"{key} must be two numbers, found {config.get(key, '')!r}")
    return number({key: words[0]}, key, 0.0), number({key: words[1]}, key, 0.0)


def nsensordata(config: Config) -> int:
    """Number of elements of a sensor's value."""
    (across, up), _, _, channels = grid_of(config)
    return across * up * channels


def init(m: Any, d: Any, instance: int) -> PluginMemory:
    """Return the memory of an instance: numbers of cells and channels, and the edges of the cells.

    Raises:
        ValueError: a sensor of the instance is not attached to a site.
    """
    if (m.sensor_objtype[m.sensor_plugin == instance] != OBJ_SITE).any():
        raise ValueError("mujoco.sensor.touch_grid must be about a site: give objtype and objname of one")
    counts, fov, gamma, channels = grid_of(config_of(m, instance))
    even = [np.linspace(-1.0, 1.0, count + 1) for count in counts]
    edges = [half * ((1.0 - gamma) * u + gamma * u**5) for half, u in zip(fov, even, strict=True)]
    return PluginMemory(np.concatenate(edges), np.array([*counts, channels], np.int64))


@kernel
def cell_of(d: Data, start: int, count: int, angle: float) -> int:
    """Return the cell that contains an angle, or -1. The `count` + 1 edges of the cells start at number `start`.

    An angle on an edge belongs to the cell below the edge.
    """
    if not d.work.plugin_number[start] < angle < d.work.plugin_number[start + count]:
        return -1
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        if d.work.plugin_number[start + middle] < angle:
            low = middle
        else:
            high = middle
    return low


@kernel
def add_contact(m: Model, d: Data, instance: int, sensor: int, contact: int, sign: float) -> None:
    """Add a contact's force on the sensor's body to the cell of the contact, unless the contact is out of view.

    `sign` is 1 if the contact's second geom is on the body, else -1.
    """
    site = m.sensor_objid[sensor]
    xmat = get9(d.site_xmat, site)
    index, start = indices_of(d, instance), numbers_of(d, instance)
    across, up = d.work.plugin_index[index], d.work.plugin_index[index + 1]
    x, y, z = mul_mat_t_vec3(xmat, sub3(get3(d.contact.pos, contact), get3(d.site_xpos, site)))
    column = cell_of(d, start, across, atan2(x, -z))
    row = cell_of(d, start + across + 1, up, atan2(y, sqrt(x * x + z * z)))
    if column < 0 or row < 0:
        return
    found = contact_force(m, d, contact)
    frame = get9(d.contact.frame, contact)
    force = mul_mat_t_vec3(xmat, mul_mat_t_vec3(frame, scale3((found[0], found[1], found[2]), sign)))
    torque = mul_mat_t_vec3(xmat, mul_mat_t_vec3(frame, scale3((found[3], found[4], found[5]), sign)))
    cells = across * up
    at = m.sensor_adr[sensor] + row * across + column
    channels = d.work.plugin_index[index + 2]
    add_vector(d, at, cells, force, channels)
    add_vector(d, at + 3 * cells, cells, torque, channels - 3)


@kernel
def add_vector(d: Data, at: int, stride: int, vector: Vec3, count: int) -> None:
    """Add the first `count` components of a vector, in the order Z, X, Y, to channels `stride` numbers apart."""
    if count > 0:
        d.sensordata[at] += vector[2]
    if count > 1:
        d.sensordata[at + stride] += vector[0]
    if count > 2:
        d.sensordata[at + 2 * stride] += vector[1]


@kernel
def compute(m: Model, d: Data, instance: int, capability: int) -> None:
    """Write the values of an instance's sensors."""
    for sensor in range(m.nsensor):
        if m.sensor_plugin[sensor] == instance:
            for k in range(m.sensor_adr[sensor], m.sensor_adr[sensor] + m.sensor_dim[sensor]):
                d.sensordata[k] = 0.0
            body = m.body_weldid[m.site_bodyid[m.sensor_objid[sensor]]]
            for contact in range(d.ncon):
                if d.contact.efc_address[contact] >= 0:
                    for side in range(2):
                        geom = d.contact.geom[contact, side]
                        if geom >= 0 and m.body_weldid[m.geom_bodyid[geom]] == body:
                            add_contact(m, d, instance, sensor, contact, 1.0 if side else -1.0)


TOUCH_GRID = Plugin(
    "mujoco.sensor.touch_grid",
    ("nchannel", "size", "fov", "gamma"),
    ("sensor",),
    needstage=STAGE_ACC,
    nsensordata=nsensordata,
    validate=grid_of,
    init=init,
    compute=compute,
)
