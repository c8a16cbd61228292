"""The command line: ``cardan simulate``, ``render``, ``view``, ``info``, ``compile``, ``testspeed``, ``warmup``."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from cardan.cli.app import app

    app()
