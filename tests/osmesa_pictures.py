"""Pictures of the reference, drawn in software by OSMesa: run as a program, in a process of its own.

``python osmesa_pictures.py MODEL OUT.npz WIDTH HEIGHT ["DX DY DZ"]``: colours, depths and segments from three cameras,
which are moved by so many extents of the model.
"""

from __future__ import annotations

import os
import sys

CAMERAS = ((None, None), (30.0, -20.0), (200.0, -60.0))
"""Azimuth and elevation of free cameras, degrees; None: as the model says."""


def free_cameras(package, model, shift):
    """The cameras, of either engine; moved by a shift in extents of the model."""
    cameras = []
    for azimuth, elevation in CAMERAS:
        camera = package.MjvCamera()
        package.mjv_defaultFreeCamera(model, camera)
        if azimuth is not None:
            camera.azimuth, camera.elevation = azimuth, elevation
        camera.lookat += [model.stat.extent * x for x in shift]
        cameras.append(camera)
    return cameras


def pictures(package, path, width, height, shift=(0.0, 0.0, 0.0)):
    """Colours, depths and segments of a model's first keyframe, or of its start, from all cameras."""
    model = package.MjModel.from_xml_path(path)
    buffer = model.vis.global_
    buffer.offwidth, buffer.offheight = max(buffer.offwidth, width), max(buffer.offheight, height)
    data = package.MjData(model)
    if model.nkey:
        package.mj_resetDataKeyframe(model, data, 0)
    package.mj_forward(model, data)
    found = {}
    with package.Renderer(model, height, width) as renderer:
        for number, camera in enumerate(free_cameras(package, model, shift)):
            renderer.update_scene(data, camera)
            found[f"color{number}"] = renderer.render()
            renderer.enable_depth_rendering()
            found[f"depth{number}"] = renderer.render()
            renderer.disable_depth_rendering()
            renderer.enable_segmentation_rendering()
            found[f"segment{number}"] = renderer.render()
            renderer.disable_segmentation_rendering()
    return found


if __name__ == "__main__":
    os.environ["MUJOCO_GL"] = "osmesa"
    import mujoco
    import numpy as np

    moved = [float(x) for x in sys.argv[5].split()] if len(sys.argv) > 5 else (0.0, 0.0, 0.0)
    np.savez(sys.argv[2], **pictures(mujoco, sys.argv[1], int(sys.argv[3]), int(sys.argv[4]), moved))
