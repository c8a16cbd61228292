"""Settings of the log, and messages about compilations."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from later import later_run

import cardan
from cardan.api.log import COMPILE_TIME

XML = "<mujoco><worldbody><geom size='.1'/></worldbody></mujoco>"
MEMBERS = ("logfile", "logto_console", "logto_file", "topics")


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Restore the settings after a test."""
    kept = cardan.MjLogConfig.get()
    yield
    kept.set()


def test_settings_are_those_of_4_0() -> None:
    code = "out = [[getattr(c, n) for n in names] for c in (mujoco.MjLogConfig.get(), mujoco.MjLogConfig())]"
    wanted = later_run(code, names=MEMBERS)
    for config, values in zip((cardan.MjLogConfig.get(), cardan.MjLogConfig()), wanted, strict=True):
        assert [getattr(config, name) for name in MEMBERS] == values


def test_times_of_compilations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the topic, each compilation prints and logs the durations of its phases."""
    config = cardan.MjLogConfig.get()
    config.topics, config.logfile = COMPILE_TIME, str(tmp_path / "log.txt")
    cardan.MjModel.from_xml_string(XML)
    assert capsys.readouterr().out == ""
    config.set()
    cardan.MjModel.from_xml_string(XML)
    spec = cardan.MjSpec.from_string(XML)
    spec.compile()
    printed = capsys.readouterr().out
    assert printed.count("INFO: compile time (ms)") == 2
    assert f"  total:       {1e3 * spec.timer[0]:6.1f}" in printed
    logged = (tmp_path / "log.txt").read_text()
    assert logged.count("compile time (ms)") == 2 and logged.startswith("INFO ")
    config.logto_console, config.logto_file = False, False
    config.set()
    cardan.MjModel.from_xml_string(XML)
    assert capsys.readouterr().out == "" and (tmp_path / "log.txt").read_text() == logged
    cardan.mju_writeLog("kind", "text")
    assert (tmp_path / "log.txt").read_text().endswith("kind: text\n\n")


def test_bad_settings() -> None:
    config = cardan.MjLogConfig()
    with pytest.raises(TypeError, match="topics should be an integer"):
        config.topics = 1.5
    config.topics = 7
    with pytest.raises(ValueError, match="only about mjTOPIC_TIME_CMP"):
        config.set()
    with pytest.raises(AttributeError):
        config.other = 1


def test_topics_of_the_environment() -> None:
    code = "import cardan; print(cardan.MjLogConfig.get().topics)"
    result = subprocess.run(
        [sys.executable, "-W", "always", "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "MUJOCO_LOG_TOPICS": "TIME_CMP, sleep"},
    )
    assert int(result.stdout) == COMPILE_TIME
    assert "'sleep' is ignored" in result.stderr


def test_message_as_data() -> None:
    message = cardan.MjLogMessage()
    assert (message.level, message.topic, message.subject, message.body) == (0, 0, "", None)
