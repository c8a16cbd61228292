"""Binary model files: what is saved comes back; what is wrong with a file is said, and nothing crashes."""

from __future__ import annotations

import struct
from pathlib import Path

import mujoco
import numpy as np
import pytest
from fields_compared import differences
from hypothesis import given, settings
from hypothesis import strategies as st
from models import model_path

import cardan
from cardan.errors import FatalError, MjcfError
from cardan.model.binary import MAGIC, PREAMBLE, VERSION, dump_model, load_model

SLIDER = '<mujoco><worldbody><body><joint name="j" type="slide"/><geom size=".1"/></body></worldbody></mujoco>'
DATA = dump_model(cardan.MjModel.from_xml_string(SLIDER))


@pytest.mark.parametrize("name", ["humanoid", "clutter"])
def test_models_come_back(name: str, tmp_path: Path) -> None:
    m = cardan.MjModel.from_xml_path(model_path(name))
    m.body_mass[1] = 1 / 3
    cardan.mj_saveModel(m, tmp_path / "m.mjb")
    again = cardan.MjModel.from_binary_path(tmp_path / "m.mjb")
    assert differences(m, again, ()) == [] and again.body_mass[1] == 1 / 3
    assert dump_model(again) == dump_model(m)


def test_a_loaded_model_runs_the_same() -> None:
    m = cardan.MjModel.from_xml_path(model_path("humanoid"))
    again = load_model(dump_model(m), "file")
    d, e = cardan.MjData(m), cardan.MjData(again)
    for _ in range(3):
        cardan.mj_step(m, d)
        cardan.mj_step(again, e)
    assert np.array_equal(d.qpos, e.qpos)


def test_buffers_and_assets() -> None:
    m = cardan.MjModel.from_xml_string(SLIDER)
    buffer = np.zeros(cardan.mj_sizeModel(m) + 5, np.uint8)
    cardan.mj_saveModel(m, "not written", buffer)
    assert buffer[:-5].tobytes() == DATA and not Path("not written").exists()
    assert cardan.MjModel.from_binary_path("a.mjb", {"a.mjb": DATA}).nv == 1
    with pytest.raises(FatalError, match="the buffer has 10 bytes"):
        cardan.mj_saveModel(m, None, np.zeros(10, np.uint8))
    with pytest.raises(TypeError, match="filename or a buffer"):
        cardan.mj_saveModel(m)
    with pytest.raises(TypeError, match="uint8"):
        cardan.mj_saveModel(m, None, np.zeros(10))
    with pytest.raises(OSError, match="can't write"):
        cardan.mj_saveModel(m, "/no/such/folder/m.mjb")


def test_foreign_files(tmp_path: Path) -> None:
    mujoco.mj_saveModel(mujoco.MjModel.from_xml_string(SLIDER), str(tmp_path / "theirs.mjb"))
    with pytest.raises(MjcfError, match=r"theirs\.mjb: .*MJB.* of MuJoCo"):
        cardan.MjModel.from_binary_path(tmp_path / "theirs.mjb")
    for content, match in [(SLIDER.encode(), "from_xml_path"), (b"PK\x03\x04", "does not begin"), (b"", "truncated")]:
        with pytest.raises(MjcfError, match=match):
            load_model(content, "file")
    with pytest.raises(MjcfError, match=r"missing\.mjb: cannot read"):
        cardan.MjModel.from_binary_path(tmp_path / "missing.mjb")


def test_newer_versions() -> None:
    newer = MAGIC + struct.pack("<I", VERSION + 1) + DATA[len(MAGIC) + 4 :]
    with pytest.raises(MjcfError, match=f"format {VERSION + 1}, newer than {VERSION}"):
        load_model(newer, "file")


def test_truncated_at_every_length() -> None:
    for length in range(len(DATA)):
        with pytest.raises(MjcfError, match="truncated"):
            load_model(DATA[:length], "file")
    with pytest.raises(MjcfError, match="follow its end"):
        load_model(DATA + b"\0", "file")


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 8 * len(DATA) - 1), min_size=1, max_size=4, unique=True))
def test_flipped_bits(bits: list[int]) -> None:
    damaged = bytearray(DATA)
    for bit in bits:
        damaged[bit // 8] ^= 1 << bit % 8
    with pytest.raises(MjcfError):
        load_model(damaged, "file")


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.integers(0, PREAMBLE + 400), st.binary(min_size=1, max_size=40))
def test_overwritten_pieces(at: int, piece: bytes) -> None:
    damaged = DATA[:at] + piece + DATA[at + len(piece) :]
    if damaged != DATA:
        with pytest.raises(MjcfError):
            load_model(damaged, "file")
