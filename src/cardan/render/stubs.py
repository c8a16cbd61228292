"""Type stubs ``kernel_views.pyi``, made from the tables of fields by ``python -m cardan.render.stubs``."""

from __future__ import annotations

from pathlib import Path

from cardan.files import write_file
from cardan.model.stubs import kernel_views_text
from cardan.render.fields import ASSETS, FRAME

STUB = Path(__file__).with_name("kernel_views.pyi")
HEADER = '"""Fields as kernels of the renderer see them; written by `python -m cardan.render.stubs`."""'


def stub_text() -> str:
    """Return the text of ``kernel_views.pyi``."""
    return HEADER + "\n\n" + kernel_views_text(ASSETS, FRAME)


if __name__ == "__main__":
    write_file(STUB, stub_text())
