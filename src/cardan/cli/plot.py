"""The picture made by ``cardan simulate --plot``: poses over time, energy, contacts."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import cardan

matplotlib.use("Agg")

import math
from collections.abc import Callable
from contextlib import suppress

from matplotlib import pyplot as plt
from matplotlib.collections import PolyCollection
from scipy.spatial import ConvexHull, QhullError

ROUND = 24
"""Number of points on a circle."""


def _sphere_points() -> np.ndarray:
    """Points on the unit sphere (n, 3)."""
    azimuth = np.linspace(0.0, 2.0 * math.pi, ROUND, endpoint=False)
    rows = []
    for elevation in np.linspace(-0.5 * math.pi, 0.5 * math.pi, ROUND // 2 + 1):
        c, s = math.cos(elevation), math.sin(elevation)
        rows.append(np.stack([c * np.cos(azimuth), c * np.sin(azimuth), np.full(ROUND, s)], axis=1))
    return np.concatenate(rows)


SPHERE = _sphere_points()
CIRCLE = SPHERE[np.abs(SPHERE[:, 2]) < 1e-9] * (1.0, 1.0, 0.0)
CORNERS = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def _both_ends(points: np.ndarray, half: float) -> np.ndarray:
    """Return two copies of points, moved along z by +half and by -half."""
    return np.concatenate([points + (0.0, 0.0, half), points - (0.0, 0.0, half)])


SURFACES: dict[int, Callable[[np.ndarray], np.ndarray]] = {
    cardan.mjtGeom.mjGEOM_SPHERE: lambda size: SPHERE * size[0],
    cardan.mjtGeom.mjGEOM_ELLIPSOID: lambda size: SPHERE * size,
    cardan.mjtGeom.mjGEOM_CAPSULE: lambda size: _both_ends(SPHERE * size[0], size[1]),
    cardan.mjtGeom.mjGEOM_CYLINDER: lambda size: _both_ends(CIRCLE * size[0], size[1]),
    cardan.mjtGeom.mjGEOM_BOX: lambda size: CORNERS * size,
}
"""Functions by geom type: each maps a geom's sizes to points in the geom's frame whose convex hull is the geom."""


def camera(azimuth: float, elevation: float) -> np.ndarray:
    """Return unit vectors to a camera's right, its top, and the viewer, as rows (3, 3); angles are in degrees."""
    a, e = math.radians(azimuth), math.radians(elevation)
    right = (-math.sin(a), math.cos(a), 0.0)
    towards = (math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e))
    return np.array([right, np.cross(towards, right), towards])


def outlines(m: cardan.MjModel, d: cardan.MjData, geoms: list[int], view: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """Return the depth (larger is nearer) and the outline (n, 2) of each geom, in metres, seen from a camera."""
    found = []
    for g in geoms:
        points = SURFACES[int(m.geom_type[g])](m.geom_size[g])
        surface = (d.geom_xpos[g] + points @ d.geom_xmat[g].reshape(3, 3).T) @ view[:2].T
        with suppress(QhullError):  # raised if the points are on a line
            surface = surface[ConvexHull(surface).vertices]
        found.append((float(view[2] @ d.geom_xpos[g]), surface))
    return found


POSES = 7
VIEW = camera(azimuth=-60.0, elevation=8.0)
SHOWN_GROUPS = 3
FAR_SHADE = 0.7
DPI = 120


def check_picture(path: Path) -> None:
    """Raise ValueError if matplotlib can't write files with the suffix of `path`."""
    known = plt.figure().canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".") not in known:
        raise ValueError(f"{path}: can't draw a picture of this kind; known suffixes: {', '.join(sorted(known))}")


def _draw_pose(axes: Any, m: cardan.MjModel, d: cardan.MjData, geoms: list[int], left: float) -> float:
    """Draw one pose with its left edge at `left`; return the position of its right edge."""
    depths, polygons = zip(*outlines(m, d, geoms, VIEW), strict=True)
    depths = np.array(depths)
    shades = 1.0 - (1.0 - FAR_SHADE) * (depths.max() - depths) / (np.ptp(depths) or 1.0)  # 1 for the nearest geom
    materials = m.geom_matid[geoms]
    own = m.geom_rgba[geoms, :3].astype(float)
    colours = np.where(materials[:, None] >= 0, m.mat_rgba[materials, :3], own) if m.nmat else own
    colours = colours * shades[:, None]
    corners = np.concatenate(polygons)
    offset = np.array([left - corners[:, 0].min(), 0.0])
    order = np.argsort(depths)
    axes.add_collection(
        PolyCollection(
            [polygons[k] + offset for k in order],
            facecolors=np.clip(colours[order], 0.0, 1.0),
            edgecolors=np.clip(0.55 * colours[order], 0.0, 1.0),
            linewidths=0.5,
        )
    )
    return float(corners[:, 0].max() + offset[0])


def _draw_poses(axes: Any, m: cardan.MjModel, rows: dict[str, np.ndarray]) -> None:
    """Draw some poses of the motion, from left to right."""
    axes.set_axis_off()
    alpha = np.where(m.geom_matid >= 0, m.mat_rgba[m.geom_matid, 3] if m.nmat else 1.0, m.geom_rgba[:, 3])
    shown = (m.geom_group < SHOWN_GROUPS) & (alpha > 0.0) & np.isin(m.geom_type, list(SURFACES))
    geoms = np.flatnonzero(shown).tolist()
    if not geoms:
        return
    d = cardan.MjData(m)
    right = 0.0
    labels = []
    for k in np.unique(np.linspace(0, len(rows["time"]) - 1, POSES).astype(int)):
        d.qpos[:] = rows["qpos"][k]
        cardan.mj_kinematics(m, d)
        left = right
        right = _draw_pose(axes, m, d, geoms, left)
        labels.append((0.5 * (left + right), rows["time"][k]))
        right += 0.12 * (right - left)
    axes.autoscale_view()
    axes.set_aspect("equal")
    bottom = axes.get_ylim()[0]
    for place, time in labels:
        axes.text(place, bottom, f"{time:.2f} s", ha="center", va="top", fontsize=9, color="0.3")


def plotted(m: cardan.MjModel, rows: dict[str, np.ndarray], suffix: str, title: str) -> bytes:
    """Draw poses, energy and contacts of a trajectory; return a picture file in the format of the suffix.

    `rows` contains the arrays of the trajectory by name, one row for each step. `suffix` is the file's suffix, such
    as ``.png``. `title` is written above the picture.
    """
    figure, (poses, energy, contacts) = plt.subplots(
        3, 1, figsize=(9, 6.4), height_ratios=(4, 3, 2), layout="constrained"
    )
    _draw_poses(poses, m, rows)
    poses.set_title(title)
    time, (potential, kinetic) = rows["time"], rows["energy"].T
    energy.plot(time, potential, label="potential", color="#33658a")
    energy.plot(time, kinetic, label="kinetic", color="#f26419")
    energy.plot(time, potential + kinetic, label="total", color="0.2", linewidth=1.0)
    energy.set_ylabel("energy (J)")
    energy.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, fontsize=8, frameon=False)
    contacts.step(time, rows["ncon"], where="post", color="#55a630")
    contacts.set(ylabel="contacts", xlabel="time (s)")
    contacts.set_ylim(bottom=0)
    for axes in (energy, contacts):
        axes.spines[["top", "right"]].set_visible(False)
        axes.margins(x=0.0)
    file = io.BytesIO()
    figure.savefig(file, dpi=DPI, format=suffix.removeprefix("."))
    plt.close(figure)
    return file.getvalue()
