"""Archives of kernels: what is written comes back, damage is noticed, and edited sources are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cardan.jit.cache.packaged import Archive, ArchiveError, is_up_to_date, sources, write_archive
from cardan.jit.target.processor import NEEDS, PLATFORMS, host_platform, runs

OBJECTS = {"fast": {"a.b": b"first", "c": b"\0" * 100}, "slow": {"a.b": b"second"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A package of two files."""
    (tmp_path / "package" / "inner").mkdir(parents=True)
    (tmp_path / "package" / "one.py").write_text("A = 1\n")
    (tmp_path / "package" / "inner" / "two.py").write_text("B = 2\n")
    return tmp_path / "package"


@pytest.fixture
def path(tmp_path: Path, folder: Path) -> Path:
    write_archive(tmp_path / "kernels.bin", "somewhere", OBJECTS, sources(folder))
    return tmp_path / "kernels.bin"


def test_what_is_written_comes_back(path: Path) -> None:
    archive = Archive(path)
    assert (archive.platform, archive.levels) == ("somewhere", ("fast", "slow"))
    for level, objects in OBJECTS.items():
        assert archive.names(level) == list(objects)
        assert {name: archive.code(level, name) for name in objects} == objects
    assert archive.code("slow", "c") is None


def test_nothing_is_left_beside_it(path: Path) -> None:
    assert [file.name for file in path.parent.iterdir() if file.is_file()] == ["kernels.bin"]


@pytest.mark.parametrize(
    "content", [b"", b"something else", b"cardan-kernels-1\n", b"cardan-kernels-1\n" + b"\xff" * 40]
)
def test_damage_is_named(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(ArchiveError, match=r"kernels\.bin"):
        Archive(path)


def edits(folder: Path) -> dict[str, tuple[Path, str | None]]:
    """Files and what they are replaced by."""
    return {
        "same size": (folder / "one.py", "A = 3\n"),
        "another size": (folder / "inner" / "two.py", "B = 20\n"),
        "a file more": (folder / "three.py", ""),
        "a file less": (folder / "one.py", None),
    }


@pytest.mark.parametrize("edit", edits(Path()))
@pytest.mark.parametrize("known", [False, True])
def test_edited_sources_are_noticed(path: Path, folder: Path, tmp_path: Path, edit: str, known: bool) -> None:
    """Also if they are edited at once, keep their times, or were compared before."""
    archive, seen = Archive(path), tmp_path / "cache" / "seen"
    assert archive.is_made_from(folder)
    if known:
        assert is_up_to_date(archive, folder, seen) and seen.is_file()
    file, text = edits(folder)[edit]
    if text is None:
        file.unlink()
    else:
        times = (file if file.exists() else path).stat()
        file.write_text(text)
        if os.name == "posix":  # elsewhere nothing tells of an edit that keeps the times
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert not archive.is_made_from(folder)
    assert not is_up_to_date(archive, folder, seen)


def test_sources_are_read_once(path: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive, seen = Archive(path), tmp_path / "cache" / "seen"
    assert is_up_to_date(archive, folder, seen)
    monkeypatch.setattr(Archive, "is_made_from", lambda *arguments: pytest.fail("read again"))
    assert is_up_to_date(Archive(path), folder, seen)


def test_sources_that_only_look_newer_are_the_same(path: Path, folder: Path, tmp_path: Path) -> None:
    archive, seen = Archive(path), tmp_path / "cache" / "seen"
    for _ in range(2):
        assert is_up_to_date(archive, folder, seen)
        later = path.stat().st_mtime + 120
        os.utime(folder / "one.py", (later, later))


def test_another_archive_is_compared_again(path: Path, folder: Path, tmp_path: Path) -> None:
    seen = tmp_path / "cache" / "seen"
    assert is_up_to_date(Archive(path), folder, seen)
    write_archive(path, "somewhere", OBJECTS, {"one.py": (6, 0), "inner/two.py": (6, 0)})
    assert not is_up_to_date(Archive(path), folder, seen)


def test_a_cache_that_cannot_be_written(path: Path, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "wall").write_text("")
    for _ in range(2):
        assert is_up_to_date(Archive(path), folder, tmp_path / "wall" / "seen")


def test_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {level for platform in PLATFORMS.values() for level in platform.levels} == set(NEEDS)
    monkeypatch.setenv("CARDAN_CPU", "x86-64-v3")
    assert runs("x86-64-v3") and not runs("x86-64-v4")
    monkeypatch.delenv("CARDAN_CPU")
    assert "-" in host_platform()
    assert all(runs("x86-64-v3") for level in ("x86-64-v4",) if runs(level))
