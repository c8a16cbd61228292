"""Models and data as text: every field is there; formats are checked."""

from __future__ import annotations

from pathlib import Path

import pytest
from models import EXAMPLES

import cardan
from cardan.model.tables import DATA, MODEL

HUMANOID = EXAMPLES / "humanoid.xml"


def test_all_fields_are_printed(tmp_path: Path) -> None:
    m = cardan.MjModel.from_xml_path(HUMANOID)
    d = cardan.MjData(m)
    cardan.mj_forward(m, d)
    cardan.mj_printModel(m, tmp_path / "m.txt")
    cardan.mj_printData(m, d, tmp_path / "d.txt")
    model, data = (tmp_path / "m.txt").read_text().lower(), (tmp_path / "d.txt").read_text().lower()
    for field in MODEL.members(""):
        if not (field.is_scalar or field.is_attached) and m._memory.arrays[field.name].size:
            assert field.name.lower() in model, field.name
    for field in DATA.members(""):
        if not (field.is_scalar or field.is_attached) and getattr(d, field.name).size:
            assert field.name.lower() in data, field.name


def test_only_iterations_that_there_were_are_printed(tmp_path: Path) -> None:
    m = cardan.MjModel.from_xml_path(HUMANOID)
    d = cardan.MjData(m)
    d.qpos[2] = 1.2
    cardan.mj_forward(m, d)
    cardan.mj_printFormattedData(m, d, tmp_path / "d.txt", "%.17g")
    lines = (tmp_path / "d.txt").read_text().splitlines()
    count = d.solver_niter.sum()
    assert count > 0
    shown = " ".join(lines[lines.index("SOLVER.NEVAL") + 1 : lines.index("SOLVER.NUPDATE") - 1]).split()
    assert [int(number) for number in shown] == d.solver.neval[:count].tolist()
    assert len(lines) < 2500


def test_formats(tmp_path: Path) -> None:
    m = cardan.MjModel.from_xml_path(HUMANOID)
    cardan.mj_printFormattedModel(m, tmp_path / "m.txt", "%.17g")
    assert repr(float(m.body_mass[1])) in (tmp_path / "m.txt").read_text()
    for wrong in ("%s", "%d", "%f %f", "", "%*f", "%999999999f", "%n"):
        with pytest.raises(ValueError, match="not a format of one float"):
            cardan.mj_printFormattedModel(m, tmp_path / "w.txt", wrong)
    with pytest.raises(OSError, match="can't write"):
        cardan.mj_printModel(m, tmp_path / "no" / "m.txt")
    assert not (tmp_path / "w.txt").exists()
