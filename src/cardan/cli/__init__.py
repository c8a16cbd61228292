"""The command line: ``cardan simulate``, ``info``, ``testspeed``, ``warmup``."""

from __future__ import annotations

from cardan.cli.app import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line."""
    app()
