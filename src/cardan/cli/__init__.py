"""The command line: ``cardan simulate``, ``info``, ``testspeed``, ``warmup``."""

from __future__ import annotations

import sys

from cardan.cli.app import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line; errors in the input end with a message, not a traceback."""
    try:
        app()
    except (ValueError, OSError) as error:
        print(f"cardan: error: {error}", file=sys.stderr)
        sys.exit(1)
