"""Interactive viewer in the browser, with the interface of ``mujoco.viewer``.

``python -m cardan.viewer [--mjcf=FILE]`` shows a model, or a humanoid.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cardan.view.launching import Handle, launch, launch_from_path, launch_passive

__all__ = ["Handle", "launch", "launch_from_path", "launch_passive"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from cardan.view import launching

        return getattr(launching, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _main() -> None:
    from cardan.view import launching

    parser = argparse.ArgumentParser(prog="python -m cardan.viewer", description="Show a model in the browser.")
    parser.add_argument("--mjcf", metavar="FILE", help="model file: MJCF, URDF, or binary (default: a humanoid)")
    path = parser.parse_args().mjcf
    if path is None:
        launching.launch()
    else:
        launching.launch_from_path(path)


if __name__ == "__main__":
    _main()
