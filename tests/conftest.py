"""What holds for all tests: a share of them by choice (``--each``), and word of what is missing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from types import ModuleType

import pytest
from models import SHARED_MODELS

NO_REFERENCE = find_spec("mujoco") is None


class _NoReference(MetaPathFinder):
    """Skips the test, or the file of tests, that imports the reference where there is none, as for a later Python."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Nothing is found; a test that asks for the reference ends here."""
        if fullname.partition(".")[0] == "mujoco":
            pytest.skip("the reference (mujoco) isn't installed", allow_module_level=True)


if NO_REFERENCE:
    sys.meta_path.append(_NoReference())


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--each N``: a share of the tests, for runs that would take too long with all."""
    parser.addoption("--each", type=int, metavar="N", help="of each test function run at most N cases, evenly spaced")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep at most as many cases of each function as ``--each`` says; look whether mujoco still is the reference."""
    if "cardan.as_mujoco" in sys.modules:
        raise pytest.UsageError(
            "a file of tests imported cardan.as_mujoco, so `import mujoco` means Cardan in this process and tests of "
            "parity compare it with itself: import it in a process of the test's own"
        )
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
    """Say at the end of a run when the models of real size or the reference weren't there, and what was left out."""
    missing = [f"no shared models at {SHARED_MODELS}"] if not SHARED_MODELS.is_dir() else []
    if NO_REFERENCE:
        missing.append("no reference (mujoco 3.1.6, for Python up to 3.12)")
    if missing:
        skipped = len(terminalreporter.stats.get("skipped", []))
        terminalreporter.write_sep("!", f"{', '.join(missing)}: {skipped} skipped", red=True, bold=True)
