"""``mujoco.egl.egl_ext``: names of PyOpenGL's module EGL, which programs import even if they draw nothing.

Devices can't be listed, because Cardan draws without OpenGL.
"""

from __future__ import annotations

from typing import Any, NoReturn

try:
    from OpenGL import EGL
except (ImportError, AttributeError) as error:  # PyOpenGL raises AttributeError if the library is missing
    raise ImportError("mujoco.egl.egl_ext needs PyOpenGL and the library libEGL") from error

globals().update({name: value for name, value in vars(EGL).items() if not name.startswith("_")})


def eglQueryDevicesEXT(*arguments: Any) -> NoReturn:
    """Raise RuntimeError: Cardan has no EGL devices."""
    raise RuntimeError("there are no EGL devices: Cardan draws without OpenGL; give no GL context to it")


eglGetPlatformDisplayEXT = eglQueryDevicesEXT
