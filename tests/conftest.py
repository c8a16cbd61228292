"""What holds for all tests: a share of them by choice (``--each``), and word of shared models that are missing."""

from __future__ import annotations

import pytest
from models import SHARED_MODELS


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--each N``: a share of the tests, for runs that would take too long with all."""
    parser.addoption("--each", type=int, metavar="N", help="of each test function run at most N cases, evenly spaced")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep at most as many cases of each function as ``--each`` says."""
    most = config.getoption("--each")
    if most is None:
        return
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = {
        id(of_one[round(k * (len(of_one) - 1) / max(1, min(most, len(of_one)) - 1))])
        for of_one in cases.values()
        for k in range(min(most, len(of_one)))
    }
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = [item for item in items if id(item) in kept]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end of a run when the models of real size weren't there, and what was left out for it."""
    if not SHARED_MODELS.is_dir():
        skipped = len(terminalreporter.stats.get("skipped", []))
        terminalreporter.write_sep("!", f"no shared models at {SHARED_MODELS}: {skipped} skipped", red=True, bold=True)
