"""The picture made by ``cardan simulate --plot``: poses over time, energy, contacts."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import cardan
from cardan.cli.outlines import SURFACES, camera, outlines

matplotlib.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.collections import PolyCollection

POSES = 7
VIEW = camera(azimuth=-60.0, elevation=8.0)
SHOWN_GROUPS = 3
FAR_SHADE = 0.7
DPI = 120


def check_picture(path: Path) -> None:
    """Check that matplotlib can write picture files with this suffix.

    Raises:
        ValueError: the suffix is not supported.
    """
    known = plt.figure().canvas.get_supported_filetypes()
    if path.suffix.removeprefix(".") not in known:
        raise ValueError(f"{path}: can't draw a picture of this kind; known suffixes: {', '.join(sorted(known))}")


def _visible_geoms(m: cardan.MjModel) -> list[int]:
    """List the geoms with a known shape that are in a visible group and not transparent."""
    alpha = np.where(m.geom_matid >= 0, m.mat_rgba[m.geom_matid, 3] if m.nmat else 1.0, m.geom_rgba[:, 3])
    shown = (m.geom_group < SHOWN_GROUPS) & (alpha > 0.0) & np.isin(m.geom_type, list(SURFACES))
    return np.flatnonzero(shown).tolist()


def _colour(m: cardan.MjModel, geom: int) -> np.ndarray:
    """Colour of a geom (3,): the colour of its material, or its own."""
    material = int(m.geom_matid[geom])
    return (m.mat_rgba[material] if material >= 0 else m.geom_rgba[geom])[:3].astype(float)


def _shades(depths: np.ndarray) -> np.ndarray:
    """Brightness of each geom: 1 for the nearest, `FAR_SHADE` for the farthest."""
    reach = np.ptp(depths)
    return np.ones_like(depths) if reach == 0.0 else 1.0 - (1.0 - FAR_SHADE) * (depths.max() - depths) / reach


def _draw_pose(axes: Any, m: cardan.MjModel, d: cardan.MjData, geoms: list[int], left: float) -> float:
    """Draw one pose with its left edge at `left`; return its right edge."""
    depths, polygons = zip(*outlines(m, d, geoms, VIEW), strict=True)
    colours = np.array([_colour(m, g) for g in geoms]) * _shades(np.array(depths))[:, None]
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
    geoms = _visible_geoms(m)
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


def _draw_energy(axes: Any, rows: dict[str, np.ndarray]) -> None:
    time, potential, kinetic = rows["time"], rows["energy"][:, 0], rows["energy"][:, 1]
    axes.plot(time, potential, label="potential", color="#33658a")
    axes.plot(time, kinetic, label="kinetic", color="#f26419")
    axes.plot(time, potential + kinetic, label="total", color="0.2", linewidth=1.0)
    axes.set_ylabel("energy (J)")
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, fontsize=8, frameon=False)


def _draw_contacts(axes: Any, rows: dict[str, np.ndarray]) -> None:
    axes.step(rows["time"], rows["ncon"], where="post", color="#55a630")
    axes.set_ylabel("contacts")
    axes.set_xlabel("time (s)")
    axes.set_ylim(bottom=0)


def plotted(m: cardan.MjModel, rows: dict[str, np.ndarray], suffix: str, title: str) -> bytes:
    """Draw poses, energy and contacts of a trajectory; return a picture file in the format of the suffix."""
    figure, (poses, energy, contacts) = plt.subplots(
        3, 1, figsize=(9, 6.4), height_ratios=(4, 3, 2), layout="constrained"
    )
    _draw_poses(poses, m, rows)
    poses.set_title(title)
    _draw_energy(energy, rows)
    _draw_contacts(contacts, rows)
    for axes in (energy, contacts):
        axes.spines[["top", "right"]].set_visible(False)
        axes.margins(x=0.0)
    file = io.BytesIO()
    figure.savefig(file, dpi=DPI, format=suffix.removeprefix("."))
    plt.close(figure)
    return file.getvalue()
