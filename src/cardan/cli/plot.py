"""The picture that ``cardan simulate --plot`` makes: poses over time, energy, contacts."""

from __future__ import annotations

from typing import Any

import matplotlib
import numpy as np

import cardan

matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.collections import LineCollection  # noqa: E402

POSES = 6
SEGMENT_TYPES = (int(cardan.mjtGeom.mjGEOM_CAPSULE), int(cardan.mjtGeom.mjGEOM_CYLINDER))
PLANE = int(cardan.mjtGeom.mjGEOM_PLANE)


def _segments(m: cardan.MjModel, d: cardan.MjData) -> tuple[np.ndarray, np.ndarray]:
    """Each geom as a line in space (ngeom, 2, 3) and its radius: capsules along their axis, others as a dot."""
    axis = d.geom_xmat.reshape(-1, 3, 3)[:, :, 2]
    half = np.where(np.isin(m.geom_type, SEGMENT_TYPES), m.geom_size[:, 1], 0.0)
    ends = np.stack([d.geom_xpos - half[:, None] * axis, d.geom_xpos + half[:, None] * axis], axis=1)
    return ends[m.geom_type != PLANE], m.geom_size[m.geom_type != PLANE, 0]


def _draw_poses(axes: Any, m: cardan.MjModel, rows: dict[str, np.ndarray]) -> None:
    """Side view (x right, z up) of some moments of the motion, the later the darker."""
    d = cardan.MjData(m)
    chosen = np.unique(np.linspace(0, len(rows["time"]) - 1, POSES).astype(int))
    pitch = 2.2 * float(m.stat.extent) / 2
    for place, k in enumerate(chosen):
        d.qpos[:] = rows["qpos"][k]
        cardan.mj_kinematics(m, d)
        ends, radius = _segments(m, d)
        lines = ends[:, :, (0, 2)] + np.array([place * pitch, 0.0])
        axes.add_collection(LineCollection(list(lines), linewidths=np.clip(90 * radius, 1, 14), colors="#33658a", capstyle="round"))
        axes.text(place * pitch, -0.12 * m.stat.extent, f"{rows['time'][k]:.2f} s", ha="center", va="top", fontsize=8)
    axes.axhline(0.0, color="0.6", linewidth=0.8)
    axes.autoscale_view()
    axes.set_aspect("equal")
    axes.set_axis_off()


def save_plot(m: cardan.MjModel, rows: dict[str, np.ndarray], path: str, title: str) -> None:
    """Draw poses, energy and contacts into a picture file (the format follows its suffix)."""
    figure, (poses, energy, contacts) = plt.subplots(3, 1, figsize=(8, 8), height_ratios=(3, 2, 1), layout="constrained")
    _draw_poses(poses, m, rows)
    poses.set_title(title)
    time, potential, kinetic = rows["time"], rows["energy"][:, 0], rows["energy"][:, 1]
    energy.plot(time, potential, label="potential", color="#33658a")
    energy.plot(time, kinetic, label="kinetic", color="#f26419")
    energy.plot(time, potential + kinetic, label="total", color="0.2", linewidth=1.0)
    energy.set_ylabel("energy (J)")
    energy.legend(loc="upper right", fontsize=8)
    contacts.step(time, rows["ncon"], where="post", color="#55a630")
    contacts.set_ylabel("contacts")
    contacts.set_xlabel("time (s)")
    for axes in (energy, contacts):
        axes.spines[["top", "right"]].set_visible(False)
        axes.margins(x=0.0)
    figure.savefig(path, dpi=110)
    plt.close(figure)
