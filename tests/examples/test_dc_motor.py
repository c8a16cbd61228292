"""The example of a DC motor: the winding heats up, and a picture is drawn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from PIL import Image

EXAMPLE = Path(__file__).parents[2] / "examples" / "dc_motor.py"


def test_heats_up(tmp_path: Path) -> None:
    file = tmp_path / "temperature.png"
    command = [sys.executable, str(EXAMPLE), "--picture", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    temperatures = [float(line.split()[2]) for line in done.stdout.splitlines()[1:]]
    assert temperatures == sorted(temperatures)
    assert temperatures[-1] > temperatures[0] + 5.0
    assert Image.open(file).size == (640, 400)
