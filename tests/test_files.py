"""Files are written whole or not at all; links, permissions, devices and pipes stay what they are."""

from __future__ import annotations

import dis
import errno
import os
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import cardan
from cardan import files
from cardan.files import check_writable, write_file

posix = pytest.mark.skipif(os.name != "posix", reason="needs the files of a POSIX system")
SLIDER = "<mujoco><worldbody><body><joint type='slide'/><geom size='1'/></body></worldbody></mujoco>"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user of the machine can reach and write to."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)


def as_another_user(body: Callable[[], None]) -> None:
    """Run the body in a child process without the rights of an administrator; fails where the body does."""
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            body()
            os._exit(0)
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def test_content_and_nothing_else(tmp_path: Path) -> None:
    write_file(tmp_path / "a", b"\x00\xff")
    write_file(os.fsencode(tmp_path / "b"), "Zähler\n")
    write_file(str(tmp_path / "a"), b"new")
    assert (tmp_path / "a").read_bytes() == b"new" and (tmp_path / "b").read_bytes() == "Zähler\n".encode()
    assert names(tmp_path) == ["a", "b"]


def test_the_longest_name(tmp_path: Path) -> None:
    write_file(tmp_path / ("x" * 255), b"1")
    assert len(names(tmp_path)[0]) == 255


@posix
def test_a_new_file_has_the_permissions_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "a", b"")
    finally:
        os.umask(before)
    assert mode(tmp_path / "a") == 0o640


@posix
@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o755, 0o666])
def test_permissions_stay(tmp_path: Path, permissions: int) -> None:
    (tmp_path / "a").write_text("old")
    os.chmod(tmp_path / "a", permissions)
    write_file(tmp_path / "a", b"new")
    assert mode(tmp_path / "a") == permissions and (tmp_path / "a").read_text() == "new"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only an administrator gives files away")
def test_the_owner_stays(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    os.chmod(tmp_path / "a", 0o640)
    os.chown(tmp_path / "a", 1234, 4321)
    write_file(tmp_path / "a", b"new")
    status = (tmp_path / "a").stat()
    assert (status.st_uid, status.st_gid, mode(tmp_path / "a")) == (1234, 4321, 0o640)


@posix
def test_links_stay_and_their_target_is_replaced(tmp_path: Path) -> None:
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
    target = tmp_path / "there" / "target"
    target.write_text("old")
    (tmp_path / "here" / "second").symlink_to("../there/target")
    (tmp_path / "here" / "first").symlink_to(tmp_path / "here" / "second")
    write_file(tmp_path / "here" / "first", b"new")
    assert (tmp_path / "here" / "first").is_symlink() and (tmp_path / "here" / "second").is_symlink()
    assert not target.is_symlink() and target.read_text() == "new"
    assert names(target.parent) == ["target"]


@posix
def test_a_link_to_nothing_makes_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    write_file(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_text() == "new"
    (tmp_path / "lost").symlink_to("no/target")
    with pytest.raises(FileNotFoundError, match=r"can't write .*lost"):
        write_file(tmp_path / "lost", b"new")


@posix
def test_links_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for action in (lambda: write_file(tmp_path / "a", b""), lambda: check_writable(tmp_path / "a")):
        with pytest.raises(OSError, match=r"can't write .*a: ") as caught:
            action()
        assert caught.value.errno == errno.ELOOP
    assert names(tmp_path) == ["a", "b"]


def test_relative_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_file("a", b"1")
    write_file(os.path.join("..", tmp_path.name, "b"), b"2")
    assert names(tmp_path) == ["a", "b"]


@posix
def test_a_device_stays_one() -> None:
    before = os.stat("/dev/null")
    m = cardan.MjModel.from_xml_string(SLIDER)
    cardan.mj_saveModel(m, "/dev/null")
    cardan.mj_saveLastXML("/dev/null", m)
    cardan.mj_printModel(m, "/dev/null")
    check_writable("/dev/null")
    after = os.stat("/dev/null")
    assert (before.st_ino, before.st_mode, before.st_uid) == (after.st_ino, after.st_mode, after.st_uid)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_a_full_device() -> None:
    with pytest.raises(OSError, match="can't write /dev/full") as caught:
        write_file("/dev/full", b"x")
    assert caught.value.errno == errno.ENOSPC


@posix
def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    check_writable(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write_file(pipe, b"x" * 300_000)
    reader.join()
    assert found == [b"x" * 300_000] and stat.S_ISFIFO(pipe.stat().st_mode)


@posix
def test_standard_output(tmp_path: Path) -> None:
    """As a pipe, and as a file, which must not be replaced: what the shell opened is what it gets."""
    program = (
        "from cardan.files import check_writable as c, write_file as w; p = '/dev/stdout'; c(p); w(p, b'some text')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"some text"
    with open(tmp_path / "out", "w+b") as file:
        subprocess.run([sys.executable, "-c", program], stdout=file, check=True)
        assert file.read() == b"some text"
    assert names(tmp_path) == ["out"]


def test_no_folder_and_folders(tmp_path: Path) -> None:
    for path in (tmp_path / "no" / "a", tmp_path, f"{tmp_path / 'no'}{os.sep}", ""):
        with pytest.raises(OSError, match="can't write"):
            write_file(path, b"")
    assert names(tmp_path) == []


@posix
def test_a_file_that_must_not_be_written_is_not_replaced(open_folder: Path) -> None:
    file = open_folder / "a"
    file.write_text("old")
    os.chmod(file, 0o444)

    def body() -> None:
        for action in (lambda: write_file(file, b"new"), lambda: check_writable(file)):
            with pytest.raises(PermissionError, match=r"can't write .*a: "):
                action()

    as_another_user(body)
    assert file.read_text() == "old" and mode(file) == 0o444


@posix
def test_a_file_in_a_folder_that_takes_no_others_is_written_to(open_folder: Path) -> None:
    folder = open_folder / "closed"
    folder.mkdir()
    file = folder / "a"
    file.write_text("much longer old content")
    os.chmod(file, 0o666)
    os.chmod(folder, 0o555)

    def body() -> None:
        check_writable(file)
        write_file(file, b"new")
        for action in (lambda: write_file(folder / "b", b"new"), lambda: check_writable(folder / "b")):
            with pytest.raises(PermissionError, match=r"can't write .*b: "):
                action()

    as_another_user(body)
    assert file.read_text() == "new" and names(folder) == ["a"]
    os.chmod(folder, 0o777)


@posix
def test_a_file_that_is_mounted_on_its_own_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers mount single files; the system lets nobody replace those."""
    (tmp_path / "a").write_text("old")

    def replace(source: str, target: str) -> None:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(files.os, "replace", replace)
    write_file(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_text() == "new" and names(tmp_path) == ["a"]


FULL = """
import resource, sys
from pathlib import Path
import numpy as np
import cardan
from cardan.cli.simulate import archive
from cardan.files import write_file
from cardan.view.capture import Recorder

m = cardan.MjModel.from_xml_string({model!r})
d = cardan.MjData(m)
noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8)
film = Recorder(Path({folder!r} + "/film.gif"), 20)
film.add(noise)
picture = Recorder(Path({folder!r} + "/picture.png"), 20)
picture.add(noise)
actions = dict(
    binary=lambda path: cardan.mj_saveModel(m, path),
    xml=lambda path: cardan.mj_saveLastXML(path, m),
    model=lambda path: cardan.mj_printModel(m, path),
    data=lambda path: cardan.mj_printData(m, d, path),
    spec=lambda path: cardan.MjSpec.from_string({model!r}).to_file(path),
    rows=lambda path: write_file(path, archive(dict(a=np.random.random(1000)))),
)
actions["film.gif"] = lambda path: film.save()
actions["picture.png"] = lambda path: picture.save()
resource.setrlimit(resource.RLIMIT_FSIZE, (150, 150))
for name, action in actions.items():
    try:
        action({folder!r} + "/" + name)
    except (OSError, cardan.FatalError) as error:
        assert "can't write" in str(error) and name in str(error), error
    else:
        sys.exit(name + " was written to a full disk")
"""


@posix
def test_a_full_disk_leaves_the_old_content_and_nothing_else(tmp_path: Path) -> None:
    old = ["binary", "data", "film.gif", "model", "picture.png", "rows", "spec", "xml"]
    for name in old:
        (tmp_path / name).write_text("old")
    program = FULL.format(model=SLIDER, folder=str(tmp_path))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert names(tmp_path) == old
    assert {path.read_text() for path in tmp_path.iterdir()} == {"old"}


def _can_be_interrupted(frame: FrameType) -> bool:
    """Whether Python may handle signals at the current instruction.

    NOT_TAKEN (Python 3.14) only marks a branch for monitoring. Signals are never handled there, and the tables of
    exception handlers leave it out.
    """
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] != "NOT_TAKEN"


class Interruption:
    """Raises KeyboardInterrupt at an instruction of `cardan.files`, the k-th that is run."""

    def __init__(self, k: int) -> None:
        self.left = k

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != files.__file__:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and _can_be_interrupted(frame):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self


def interrupted(k: int, action: Callable[[], None]) -> bool:
    """Whether an action was interrupted at its k-th instruction; false: it has fewer."""
    before = sys.gettrace()
    sys.settrace(Interruption(k))
    try:
        action()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("existing", [True, False])
def test_an_interruption_at_any_moment(tmp_path: Path, existing: bool) -> None:
    path, k = tmp_path / "a", 0
    contents = set()
    while True:
        k += 1
        path.unlink(missing_ok=True)
        if existing:
            path.write_text("old")
        if not interrupted(k, lambda: write_file(path, b"new")):
            break
        assert names(tmp_path) in (["a"], [] if not existing else ["a"]), k
        contents.add(path.read_text() if path.exists() else None)
    assert k > 100
    assert contents == {"old" if existing else None, "new"}


def test_the_content_is_on_the_disk_before_the_file_is_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    sync, replace = os.fsync, os.replace

    def recorded_sync(descriptor: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        sync(descriptor)

    def recorded_replace(source: str, target: str) -> None:
        done.append("move")
        replace(source, target)

    monkeypatch.setattr(files.os, "fsync", recorded_sync)
    monkeypatch.setattr(files.os, "replace", recorded_replace)
    write_file(tmp_path / "a", b"1")
    assert done[:2] == ["file", "move"]
    assert done[2:] == (["folder"] if os.name == "posix" else [])


@pytest.mark.parametrize(("code", "fails"), [(errno.EIO, True), (errno.EINVAL, False)])
def test_a_disk_that_fails_at_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, fails: bool) -> None:
    """EIO: the content was lost; EINVAL: this file system doesn't know how to wait for the disk."""
    (tmp_path / "a").write_text("old")

    def sync(descriptor: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(files.os, "fsync", sync)
    if fails:
        with pytest.raises(OSError, match="can't write"):
            write_file(tmp_path / "a", b"new")
    else:
        write_file(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_text() == ("old" if fails else "new") and names(tmp_path) == ["a"]


def test_several_writers_at_once(tmp_path: Path) -> None:
    contents = [bytes([65 + k]) * 50_000 for k in range(4)]

    def work(content: bytes) -> None:
        for _ in range(20):
            write_file(tmp_path / "a", content, durable=False)
            assert (tmp_path / "a").read_bytes() in contents

    threads = [threading.Thread(target=work, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names(tmp_path) == ["a"] and (tmp_path / "a").read_bytes() in contents


def test_a_name_that_is_empty_prints_the_model(capfd: pytest.CaptureFixture[str]) -> None:
    """As in the reference."""
    m = cardan.MjModel.from_xml_string(SLIDER)
    cardan.mj_saveLastXML("", m)
    assert capfd.readouterr().out == m.to_xml()
