"""Error messages of the command line: one line on standard error and an exit status, never a traceback."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

FAILED = 1
INTERRUPTED = 130  # as in a shell: 128 plus the number of the signal


def _say(kind: str, message: str) -> None:
    print(f"cardan: {kind}{' '.join(message.split())}", file=sys.stderr)


def _show_warning(message: Warning | str, *args: Any, **named: Any) -> None:
    _say("warning: ", str(message))


@contextmanager
def friendly_messages() -> Iterator[None]:
    """Context in which errors of input, files and memory end the program with a message, without a traceback.

    Warnings are printed on one line each.

    Raises:
        typer.Exit: with the exit status.
    """
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            yield
        except KeyboardInterrupt:
            _say("", "interrupted; no file was written")
            raise typer.Exit(INTERRUPTED) from None
        except MemoryError as error:
            _say("error: ", f"not enough memory ({error})")
            raise typer.Exit(FAILED) from None
        except (ValueError, OSError) as error:
            _say("error: ", str(error))
            raise typer.Exit(FAILED) from None
