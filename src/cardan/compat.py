"""Choice of the MuJoCo version whose behaviour a model has.

Some models have different meanings in different versions. A model is compiled for one of `VERSIONS`: ``"3.1"`` (the
default, and the specification of this project) or ``"4.0"``. `docs/compat.md` lists every difference.

A loader's argument ``compat`` sets the version of one model. `set_compat`, or the environment variable
``CARDAN_COMPAT``, sets the default of the process.
"""

from __future__ import annotations

import os
import sys

VERSIONS = ("3.1", "4.0")
"""Versions whose behaviour a model can have; the first is the default."""
VARIABLE = "CARDAN_COMPAT"
"""Environment variable that sets the default version of a process."""


def _checked(version: object, where: str) -> str:
    """Return `version` if it is one of `VERSIONS`; else raise TypeError or ValueError."""
    if not isinstance(version, str):
        raise TypeError(f"{where} should be a string, {' or '.join(map(repr, VERSIONS))}, got {version!r}")
    if version not in VERSIONS:
        raise ValueError(f"{where}: unknown version {version!r}; expected {' or '.join(map(repr, VERSIONS))}")
    return version


def set_compat(version: str | None) -> None:
    """Set the version whose behaviour new models have, in this process and its child processes.

    Models that are already compiled do not change. The version is stored in the environment variable ``CARDAN_COMPAT``.
    It also determines the numbers of enumerations (``cardan.mjtSensor``) and the values of constants; names that a
    program has imported before keep their meaning.

    Args:
        version: ``"3.1"``, ``"4.0"``, or None for the default, ``"3.1"``.

    Raises:
        TypeError: `version` is not a string.
        ValueError: there is no such version.
    """
    os.environ[VARIABLE] = VERSIONS[0] if version is None else _checked(version, "set_compat")
    sys.modules["cardan"]._forget_versioned_names()


def get_compat() -> str:
    """Return the version whose behaviour new models of this process have: ``"3.1"`` or ``"4.0"``.

    Raises:
        ValueError: ``CARDAN_COMPAT`` is set to another value.
    """
    return _checked(os.environ.get(VARIABLE) or VERSIONS[0], VARIABLE)


def resolved(version: str | None) -> str:
    """Return the version that a loader's argument ``compat`` specifies; None means the default of the process.

    Raises:
        TypeError: `version` is not a string.
        ValueError: there is no such version.
    """
    return get_compat() if version is None else _checked(version, "compat")


__all__ = ["get_compat", "set_compat"]
