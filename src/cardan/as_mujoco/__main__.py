"""``python -m cardan.as_mujoco SCRIPT ARGS...``: run a program that imports mujoco on Cardan."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from cardan.compat import set_compat

USAGE = """usage: python -m cardan.as_mujoco [--compat VERSION] SCRIPT [ARGS...]
       python -m cardan.as_mujoco [--compat VERSION] -m MODULE [ARGS...]
       python -m cardan.as_mujoco [--compat VERSION] -c COMMAND [ARGS...]

Run a Python program whose import mujoco, and imports of its submodules, import Cardan.
--compat 4.0 gives models the behaviour of MuJoCo 4.0; the default is 3.1."""


def _take_compat(arguments: list[str]) -> list[str]:
    """Set the version given by the option ``--compat``, if present; return the arguments after the option.

    If the version is unknown, exit with an error.
    """
    first = arguments[0] if arguments else ""
    if first != "--compat" and not first.startswith("--compat="):
        return arguments
    version, rest = (first[9:], arguments[1:]) if "=" in first else ("".join(arguments[1:2]), arguments[2:])
    try:
        set_compat(version)
    except ValueError as error:
        sys.exit(f"cardan.as_mujoco: {error}")
    return rest


def main() -> None:
    """Run the program named on the command line as `python` would run it."""
    arguments = _take_compat(sys.argv[1:])
    if not arguments or arguments[0] in ("-h", "--help") or (arguments[0] in ("-m", "-c") and len(arguments) < 2):
        print(USAGE, file=sys.stdout if arguments and arguments[0] in ("-h", "--help") else sys.stderr)
        sys.exit(0 if arguments and arguments[0] in ("-h", "--help") else 2)
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path.insert(0, "")
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    elif arguments[0] == "-c":
        sys.argv = ["-c", *arguments[2:]]
        sys.path.insert(0, "")
        exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__"})
    else:
        if not Path(arguments[0]).exists():
            sys.exit(f"cardan.as_mujoco: file {arguments[0]} does not exist")
        sys.argv = arguments
        sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
