"""What holds for all tests: models to go through, a share of the tests by choice, and word of what is left out."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import models
import pytest
from known_differences import open_difference

NO_REFERENCE = find_spec("mujoco") is None
SWEEP = "model_file"
"""The fixture of tests that go through all files of models."""


class _NoReference(MetaPathFinder):
    """Skips the test, or the file of tests, that imports the reference where there is none, as for a later Python."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Nothing is found; a test that asks for the reference ends here."""
        if fullname.partition(".")[0] == "mujoco":
            pytest.skip("the reference (mujoco 3.1.6, for Python up to 3.12) isn't installed", allow_module_level=True)


if NO_REFERENCE:
    sys.meta_path.append(_NoReference())


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--each N``: a share of the tests, for runs that would take too long with all; ``--models``: other models."""
    parser.addoption("--each", type=int, metavar="N", help="of each test function run at most N cases, evenly spaced")
    parser.addoption(
        "--models",
        metavar="DIR",
        help="run the tests that go through all files of models, and no others, with the MJCF and URDF files of DIR",
    )


def folder_of_models(config: pytest.Config) -> Path | None:
    """The folder that ``--models`` names.

    Raises:
        pytest.UsageError: there is none, or it has no models.
    """
    given = config.getoption("--models")
    if given is None:
        return None
    folder = Path(given).resolve()
    if not models.files_in(folder):
        raise pytest.UsageError(f"--models: no files of models (*.xml, *.urdf) in {folder}")
    return folder


def pytest_configure(config: pytest.Config) -> None:
    """Models of the folder find their assets there."""
    folder = folder_of_models(config)
    if folder is not None:
        models.BASES.append(folder)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give each test that asks for ``model_file`` all of them."""
    if SWEEP in metafunc.fixturenames:
        folder = folder_of_models(metafunc.config)
        files = models.files_in(folder) if folder else models.known_files()
        metafunc.parametrize(SWEEP, files, ids=models.short_name, indirect=True)


@pytest.fixture(scope="session")
def has_answer() -> Iterator[Callable[[Path], bool]]:
    """Whether the reference reads or refuses a file; some make it crash or hang, and a run with it."""
    from verdicts import CRASH, Reference

    reference = Reference()
    yield cache(lambda path: reference.refusal_of_file(path) != CRASH)
    reference.close()


@pytest.fixture
def model_file(request: pytest.FixtureRequest) -> Path:
    """A file of a model: of those that the tests know, or of the folder that ``--models`` names."""
    other = request.config.getoption("--models") is not None and not NO_REFERENCE
    if other and not request.getfixturevalue("has_answer")(request.param):
        pytest.skip("the reference crashes or hangs with this file")
    open_yet = open_difference(request.param)
    if open_yet is not None:
        request.applymarker(pytest.mark.xfail(reason=f"open: {open_yet}"))
    return models.there(request.param)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests that ``--models`` and ``--each`` ask for; look whether mujoco still is the reference."""
    if "cardan.as_mujoco" in sys.modules:
        raise pytest.UsageError(
            "a file of tests imported cardan.as_mujoco, so `import mujoco` means Cardan in this process and tests of "
            "parity compare it with itself: import it in a process of the test's own"
        )
    if config.getoption("--models") is not None:
        keep_only(config, items, {id(item) for item in items if SWEEP in getattr(item, "fixturenames", ())})
    most = config.getoption("--each")
    if most is None:
        return
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(function_of(item.nodeid), []).append(item)
    kept = {
        id(of_one[round(k * (len(of_one) - 1) / max(1, min(most, len(of_one)) - 1))])
        for of_one in cases.values()
        for k in range(min(most, len(of_one)))
    }
    keep_only(config, items, kept)


def keep_only(config: pytest.Config, items: list[pytest.Item], kept: set[int]) -> None:
    """Leave out all tests but some, by their identity."""
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in kept])
    items[:] = [item for item in items if id(item) in kept]


def function_of(nodeid: str) -> str:
    """The test function that a case belongs to."""
    return nodeid.partition("[")[0]


def reason_of(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a test was skipped, without what differs from case to case."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return text.removeprefix("Skipped: ").splitlines()[0]


def functions_left_out(report: pytest.TestReport | pytest.CollectReport) -> set[str]:
    """The test functions that a skipped case belongs to: one, or all of a file that is skipped as a whole."""
    if isinstance(report, pytest.TestReport):
        return {function_of(report.nodeid)}
    text = (Path(__file__).parents[1] / report.nodeid).read_text()
    return {f"{report.nodeid}::{name}" for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say at the end of a run how many test functions ran, and why cases were skipped, each reason once."""
    stats = terminalreporter.stats
    skipped = stats.get("skipped", [])
    if not skipped:
        return
    done = [report for outcome in ("passed", "failed", "xfailed", "xpassed") for report in stats.get(outcome, [])]
    ran = {function_of(report.nodeid) for report in done}
    left_out = set[str]().union(*map(functions_left_out, skipped)) - ran
    terminalreporter.write_sep("-", "skipped")
    for reason, count in Counter(map(reason_of, skipped)).most_common():
        terminalreporter.write_line(f"{count:5d} {reason}")
    total = len(ran) + len(left_out)
    terminalreporter.write_line(f"{len(ran)} of {total} test functions ran ({len(ran) / total:.1%})")
