"""``cardan compile``: save a model in another format: canonical XML, binary, text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.markup import escape

import cardan
from cardan.cli.loading import load_model
from cardan.files import check_writable, write_file

FULL_PRECISION = "%.17g"


def _save_xml(m: cardan.MjModel, out: Path) -> None:
    write_file(out, m.to_xml())


def _print_text(m: cardan.MjModel, out: Path) -> None:
    cardan.mj_printFormattedModel(m, out, FULL_PRECISION)


FORMS: dict[str, Callable[[cardan.MjModel, Path], None]] = {
    ".xml": _save_xml,
    ".mjb": cardan.mj_saveModel,
    ".txt": _print_text,
}


def run(model: Path, out: Path) -> None:
    """Compile a model and write it to a file, in the format of the file name's suffix.

    Args:
        model: model file (MJCF, URDF, or a binary model).
        out: ``.xml`` for canonical MJCF, ``.mjb`` for a binary model, ``.txt`` for a listing of all fields.

    Raises:
        ValueError: the suffix of ``out`` is unknown, the model is invalid, or it can't be written as XML.
        OSError: a file can't be read or written.
    """
    write = FORMS.get(out.suffix.lower())
    if write is None:
        raise ValueError(f"{out}: the suffix selects the format; use one of {', '.join(FORMS)}")
    check_writable(out)
    m = load_model(model)
    if out.exists() and out.samefile(model):
        raise ValueError(f"{out} is the model itself; give another file")
    write(m, out)
    Console().print(f"{escape(str(out))}: {out.stat().st_size} bytes, {m.nbody} bodies, {m.nv} degrees of freedom")
