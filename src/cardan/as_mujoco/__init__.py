"""A door for programs written for MuJoCo's Python package: ``import mujoco`` means Cardan.

``python -m cardan.as_mujoco SCRIPT ARGS...`` (or ``-m MODULE``) runs an unmodified program; ``import cardan.as_mujoco``
as the first line of a program does the same from within. It holds for the whole process, and must come before the first
``import mujoco``.
"""

from cardan.as_mujoco.door import VERSION, open_door

__all__ = ["VERSION", "open_door"]

open_door()
