"""Signals at random moments: the exception of the handler comes out soon, and nothing is left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from marks import takes_minutes_interpreted

COUNT, SEED = 200, 26
SOON = 0.1  # s of processor time for each running world


@takes_minutes_interpreted
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timer signals")
def test_calls_are_interrupted_at_random_moments() -> None:
    program = Path(__file__).with_name("interrupted_calls.py")
    command = [sys.executable, "-X", "faulthandler", str(program), str(COUNT), str(SEED)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "Exception ignored" not in done.stderr, done.stderr[-4000:]
    lines = done.stdout.splitlines()
    assert len(lines) == COUNT
    for line in lines:
        seconds, running = line.rpartition(": ")[2].split()
        assert float(seconds) < SOON * int(running), line
