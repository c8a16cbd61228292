"""What holds for all tests: the shared models that are missing are reported."""

from __future__ import annotations

import pytest
from models import SHARED_MODELS


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end of a run when the models of real size weren't there, and what was left out for it."""
    if not SHARED_MODELS.is_dir():
        skipped = len(terminalreporter.stats.get("skipped", []))
        terminalreporter.write_sep("!", f"no shared models at {SHARED_MODELS}: {skipped} skipped", red=True, bold=True)
