"""The command line: ``cardan simulate``, ``info``, ``testspeed``, ``warmup``."""

from __future__ import annotations

import sys
from importlib import import_module

NEEDED = ("typer", "rich")
"""Packages of the extra ``cardan[cli]``."""


def main() -> None:
    """Run the command line, or say which package it lacks."""
    for name in NEEDED:
        try:
            import_module(name)
        except ModuleNotFoundError:
            sys.exit(f"cardan: the command line needs the package {name}: pip install 'cardan[cli]'")
    from cardan.cli.app import app

    app()
