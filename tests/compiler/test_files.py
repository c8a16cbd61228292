"""Files of assets: where they are found, and what is refused."""

from __future__ import annotations

from pathlib import Path

import asset_files as made
import numpy as np
import pytest

from cardan.api.loading import load_path, load_string
from cardan.errors import MjcfError

IMAGE = made.png(np.full((2, 2, 3), 10, np.uint8))
OTHER = made.png(np.full((2, 2, 3), 20, np.uint8))


def model(file: str, settings: str = "") -> str:
    """A model with one texture."""
    return f'<mujoco><compiler {settings}/><asset><texture type="2d" name="t" file="{file}"/></asset></mujoco>'


@pytest.mark.parametrize("name", ["a.png", "A.PNG", "d/a.png", "./a.png", "d\\a.png", "/abs/a.png"])
@pytest.mark.parametrize("key", ["a.png", "folder/a.png"])
def test_assets_are_found_by_the_last_part(name: str, key: str) -> None:
    assert load_string(model(name, 'texturedir="q"'), {key: IMAGE}).tex_rgb[0] == 10


def test_assets_come_before_the_disk(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(IMAGE)
    (tmp_path / "m.xml").write_text(model("a.png"))
    path = str(tmp_path / "m.xml")
    assert load_path(path).tex_rgb[0] == 10
    assert load_path(path, {"a.png": OTHER}).tex_rgb[0] == 20


@pytest.mark.parametrize("assets", [{"a.png": b""}, {"d/a.png": IMAGE, "e/A.PNG": OTHER}])
def test_assets_have_content_and_names_of_their_own(assets: dict[str, bytes]) -> None:
    with pytest.raises(MjcfError, match="asset"):
        load_string("<mujoco/>", assets)


@pytest.mark.parametrize("name", ["nowhere.png", ".", "/dev/zero", "/proc/self/mem", "../../../../../etc"])
def test_what_is_no_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "m.xml").write_text(model(name))
    with pytest.raises(MjcfError, match="file"):
        load_path(str(tmp_path / "m.xml"))


def test_file_that_is_too_large(tmp_path: Path) -> None:
    with open(tmp_path / "a.bin", "wb") as file:
        file.truncate(2**40)
    (tmp_path / "m.xml").write_text(model("a.bin"))
    with pytest.raises(MjcfError, match="at most"):
        load_path(str(tmp_path / "m.xml"))
