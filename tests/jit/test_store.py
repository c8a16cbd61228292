"""The disk cache is pruned: by the time since the last use, by size, and of what dead processes left."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from cardan.jit.cache import store
from cardan.jit.cache.store import DAY, HOUR, STAMP, prune

KEY = "0123456789abcdef" * 2
CODE = b"c" * 1000


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CARDAN_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def age(path: Path, seconds: float) -> None:
    at = time.time() - seconds
    os.utime(path, (at, at))


def stored(folder: Path, name: str, seconds: float) -> Path:
    store.write(name, KEY, "symbol", CODE)
    path = folder / f"{name}-{KEY}.o"
    age(path, seconds)
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name.split("-")[0] for path in folder.iterdir() if path.name != STAMP)


def test_what_was_not_used_for_long_goes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARDAN_CACHE_DAYS", "10")
    for name, days in (("new", 0), ("middle", 9), ("old", 11)):
        stored(folder, name, days * DAY)
    prune(folder)
    assert names(folder) == ["middle", "new"]
    monkeypatch.setenv("CARDAN_CACHE_DAYS", "inf")
    stored(folder, "old", 1e5 * DAY)
    prune(folder)
    assert names(folder) == ["middle", "new", "old"]


def test_reading_is_use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARDAN_CACHE_DAYS", "10")
    for name in ("read", "unread"):
        stored(folder, name, 9 * DAY)
    assert store.read("read", KEY) == ("symbol", CODE)
    for path in folder.glob("*.o"):
        age(path, time.time() - path.stat().st_mtime + 2 * DAY)
    prune(folder)
    assert names(folder) == ["read"]


def test_a_recent_time_is_not_written_again(folder: Path) -> None:
    path = stored(folder, "read", HOUR)
    before = path.stat().st_mtime_ns
    store.read("read", KEY)
    assert path.stat().st_mtime_ns == before


def test_the_oldest_go_when_there_is_too_much(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARDAN_CACHE_MB", "0.0025")
    for k in range(5):
        stored(folder, f"k{k}", (10 - k) * HOUR)
    prune(folder)
    assert names(folder) == ["k3", "k4"]
    monkeypatch.setenv("CARDAN_CACHE_MB", "0")
    age(folder / f"k4-{KEY}.o", HOUR / 2)
    prune(folder)
    assert names(folder) == ["k4"]  # somebody may be about to use it


def test_what_dead_processes_left_goes(folder: Path) -> None:
    stored(folder, "kernel", 0)
    gone = [".cardan-0123456789abcdef.tmp", f"kernel-{KEY}.oab12_x9z", f"kernel-{KEY}.lock"]
    kept = [".cardan-fedcba9876543210.tmp", "notes.txt", "program.o", "other.lock", "cardan.tmp"]
    for name in (*gone, *kept):
        (folder / name).write_text("")
        age(folder / name, 2 * DAY if name != kept[0] else 60.0)
    (folder / f"folder-{KEY}.o").mkdir()
    age(folder / f"folder-{KEY}.o", 1000 * DAY)
    prune(folder)
    assert {path.name for path in folder.iterdir()} == {*kept, STAMP, f"kernel-{KEY}.o", f"folder-{KEY}.o"}


def test_it_happens_after_a_compilation_once_a_day(folder: Path) -> None:
    stored(folder, "old", 1000 * DAY)
    stored(folder, "new", 0)
    assert names(folder) == ["new", "old"]  # it happened today
    age(folder / STAMP, 1.1 * DAY)
    stored(folder, "newer", 0)
    assert names(folder) == ["new", "newer"]


@pytest.mark.parametrize("value", ["many", "-1", "nan"])
@pytest.mark.parametrize("variable", ["CARDAN_CACHE_DAYS", "CARDAN_CACHE_MB"])
def test_limits_are_numbers(folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ValueError, match=f"{variable} is a number"):
        prune(folder)


def test_files_that_go_meanwhile(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several processes prune at once, and others read and write."""
    monkeypatch.setenv("CARDAN_CACHE_MB", "0")
    trouble: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for k in range(40):
                stored(folder, f"{name}{k % 5}", 2 * HOUR)
                prune(folder)
                assert store.read(f"{name}{k % 3}", KEY) in (None, ("symbol", CODE))
        except BaseException as error:
            trouble.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b", "a")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # a file that another thread removed before it was aged is no trouble of the cache
    assert [error for error in trouble if not isinstance(error, FileNotFoundError)] == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    prune(tmp_path / "no")
    assert not (tmp_path / "no").exists()


def test_locks_leave_no_files(folder: Path) -> None:
    with store.compile_lock("kernel", KEY) as free:
        assert free
        with store.compile_lock("kernel", KEY, wait=False) as other:
            assert not other
    with store.compile_lock("kernel", KEY, wait=False) as free:
        assert free
    assert list(folder.iterdir()) == []


def test_a_write_that_fails_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def replace(source: str, target: str) -> None:
        raise OSError("no")

    folder.mkdir()
    monkeypatch.setattr("cardan.files.os.replace", replace)
    store.write("kernel", KEY, "symbol", CODE)
    assert list(folder.iterdir()) == []
