"""The example of cloth and soft blocks: the sheet holds the ball, the softer beam sags more, a picture is drawn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from PIL import Image

EXAMPLE = Path(__file__).parents[2] / "examples" / "soft.py"


def test_gives_way(tmp_path: Path) -> None:
    file = tmp_path / "soft.png"
    command = [sys.executable, str(EXAMPLE), "--picture", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    sheet, soft, stiff, ball = (float(line.split()[-2]) for line in done.stdout.splitlines())
    assert 0.03 < sheet < 0.3
    assert soft > 3.0 * stiff > 0.01
    assert 0.4 < ball < 0.85
    assert Image.open(file).size == (640, 400)
