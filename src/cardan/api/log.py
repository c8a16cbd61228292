"""Settings of the log, and durations of compilations as a message (spec: simulation, errors, warnings, logging).

Warnings are Python warnings (`warnings.warn`), so the settings do not concern them.
"""

from __future__ import annotations

import operator
import os
import warnings
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from cardan.compiler.timers import PHASES
from cardan.enums.later import mjtLogTopic

LOG_FILE = "MUJOCO_LOG.TXT"
COMPILE_TIME = 1 << (int(mjtLogTopic.mjTOPIC_TIME_CMP) - 1)
"""Bit of the topic ``mjTOPIC_TIME_CMP``, the only one for which there are messages."""
VARIABLE = "MUJOCO_LOG_TOPICS"
"""Environment variable with the topics that are enabled at the start: names separated by commas."""


class MjLogConfig:
    """Settings of the log. `MjLogConfig.get()` returns the current ones, `config.set()` makes others current.

    Attributes:
        logto_console: print messages.
        logto_file: append messages to the file.
        logfile: path of the file; empty: none.
        topics: enabled topics, bits ``1 << (topic - 1)`` of `mjtLogTopic`. Only ``mjTOPIC_TIME_CMP``, the durations of
            compilations, is supported.
    """

    __slots__ = ("logfile", "logto_console", "logto_file", "topics")

    def __init__(self) -> None:
        self.logto_console, self.logto_file, self.logfile, self.topics = False, False, "", 0

    def __setattr__(self, name: str, value: Any) -> None:
        convert = {"logfile": os.fsdecode, "topics": operator.index}.get(name, bool)
        try:
            object.__setattr__(self, name, convert(value))
        except TypeError:
            wanted = "a path" if name == "logfile" else "an integer"
            raise TypeError(f"MjLogConfig.{name} should be {wanted}, got {value!r}") from None

    @staticmethod
    def get() -> MjLogConfig:
        """Return a copy of the current settings."""
        return _copied(log.config)

    def set(self) -> None:
        """Make these settings the current ones.

        Raises:
            ValueError: `topics` has bits other than that of ``mjTOPIC_TIME_CMP``.
        """
        if self.topics & ~COMPILE_TIME:
            raise ValueError(
                f"MjLogConfig.topics is {self.topics:#x}, but there are messages only about mjTOPIC_TIME_CMP "
                f"({COMPILE_TIME:#x}); topics of steps and of sleep are not supported"
            )
        log.config = _copied(self)

    def __repr__(self) -> str:
        return "\n".join(["<MjLogConfig", *(f"  {name}: {getattr(self, name)!r}" for name in self.__slots__), ">"])


class MjLogMessage:
    """A message of the log, as data. No function of the interface takes or returns one.

    Attributes:
        level: severity (mjtLogLevel).
        topic: topic (mjtLogTopic); 0: none.
        subject: text, one line.
        body: further lines, or None.
        func, file, line: place in the source; None, None and 0 if unknown.
        timestamp: whether the output begins with the time.
    """

    def __init__(self) -> None:
        self.level, self.topic, self.subject, self.timestamp, self.line = 0, 0, "", False, 0
        self.body: str | None = None
        self.func: str | None = None
        self.file: str | None = None


def _copied(config: MjLogConfig) -> MjLogConfig:
    new = MjLogConfig()
    for name in MjLogConfig.__slots__:
        setattr(new, name, getattr(config, name))
    return new


def _initial() -> MjLogConfig:
    """Return the settings at the start: the file of MuJoCo's log, and topics from the environment."""
    config = MjLogConfig()
    config.logto_console, config.logto_file, config.logfile = True, True, LOG_FILE
    for word in filter(None, (word.strip().lower() for word in os.environ.get(VARIABLE, "").split(","))):
        if word == "time_cmp":
            config.topics = COMPILE_TIME
        else:
            warnings.warn(f"{VARIABLE}: {word!r} is ignored; the only topic with messages is time_cmp", stacklevel=2)
    return config


class _Log:
    """The log. `config` are the settings that hold now; `MjLogConfig.set` replaces them."""

    def __init__(self) -> None:
        self.config = _initial()


log = _Log()


def append_to_log(text: str) -> None:
    """Append text to the file of the log.

    Raises:
        OSError: the file can't be written.
    """
    with Path(log.config.logfile or LOG_FILE).open("a", encoding="utf-8") as file:
        file.write(text)


def now() -> str:
    """Return the date and time for an entry of the log."""
    return f"{datetime.now().astimezone():%a %b %d %H:%M:%S %Y}"


def report_compilation(durations: np.ndarray) -> None:
    """Print and log the durations of the phases of a compilation, s, if the topic is enabled (see `PHASES`)."""
    config = log.config
    if not config.topics & COMPILE_TIME:
        return
    text = compilation_text(durations)
    if config.logto_console:
        print(f"INFO: {text}\n")
    if config.logto_file and config.logfile:
        append_to_log(f"INFO {now()}: {text}\n\n")


def compilation_text(durations: np.ndarray) -> str:
    """Return a table of the durations of the phases of a compilation, in ms."""
    spent = dict(zip(PHASES, (1e3 * durations).tolist(), strict=True))
    lines = ["compile time (ms)", _line("total", spent["total"], 2), _line("assets", spent["assets"], 2)]
    for phase in ("mesh_load", "mesh_hull", "mesh_polygon", "mesh_inertia", "mesh_bvh", "mesh_octree", "texture"):
        lines.append(_line(phase.removeprefix("mesh_"), spent[phase], 4))
    return "\n".join([*lines, _line("other", max(0.0, spent["total"] - spent["assets"]), 2)])


def _line(name: str, value: float, indent: int) -> str:
    return f"{' ' * indent + name + ':':<15}{value:6.1f}"


__all__ = ["MjLogConfig", "MjLogMessage"]
