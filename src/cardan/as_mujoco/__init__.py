"""Import hook for programs written for MuJoCo's Python package: their ``import mujoco`` imports Cardan.

To run a program on Cardan without editing it, start it with ``python -m cardan.as_mujoco SCRIPT ARGS...`` (or ``-m
MODULE``). Alternatively, make ``import cardan.as_mujoco`` the first line of the program. The hook affects the whole
process, and must be installed before the first ``import mujoco``.
"""

from cardan.as_mujoco.import_hook import install, version

__all__ = ["install", "version"]

install()
