"""What the viewer's server prints: the address, errors of its own, and nothing about requests that are not for it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("viser")

from cardan.view import server as pages
from cardan.view.server import PageServer

MODEL = "<mujoco><worldbody><geom type='plane' size='1 1 1'/></worldbody></mujoco>"
START = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # background processes of a shell ignore it
from cardan.cli import main
main()
"""
"""The command line of a process that SIGINT ends."""
BROKEN = {
    "nothing": b"",
    "half a request": b"GET / HTTP/1.1\r\nHost: ",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "text": b"hello\r\n\r\n",
    "a posted form": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
    "half an upgrade": b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
}


def send(port: int, content: bytes) -> None:
    """Open a connection, send something, and wait until the server has closed it."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(content)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(1000):
            pass


def reset(port: int) -> None:
    """Open a connection and break it."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
    connection.close()


@pytest.mark.skipif(os.name != "posix", reason="ends the viewer by a signal")
def test_requests_that_are_not_for_the_viewer_print_nothing(tmp_path: Path) -> None:
    (tmp_path / "m.xml").write_text(MODEL)
    command = [sys.executable, "-c", START, "view", str(tmp_path / "m.xml"), "--port", "18012"]
    environment = os.environ | {"CARDAN_VIEWER_OPEN": "0"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment, text=True) as viewer:
        assert viewer.stderr is not None
        try:
            line = viewer.stderr.readline()
            address = re.search(r"http://127\.0\.0\.1:(\d+)/\S+", line)
            assert address is not None, line
            for content in BROKEN.values():  # before the first page, and after it
                send(int(address[1]), content)
            reset(int(address[1]))
            assert urllib.request.urlopen(address[0]).status == 200
            for content in BROKEN.values():
                send(int(address[1]), content)
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(f"http://127.0.0.1:{address[1]}/")
        finally:
            viewer.send_signal(signal.SIGINT)
            try:
                _, rest = viewer.communicate(timeout=60)
            finally:
                viewer.kill()
    assert rest == ""


@pytest.fixture
def server() -> Iterator[PageServer]:
    made = PageServer("test", 0)
    yield made
    made.close()


def test_errors_of_the_server_are_shown(
    server: PageServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(response: object) -> None:
        raise RuntimeError("the page is lost")

    assert urllib.request.urlopen(server.address).status == 200
    monkeypatch.setattr(pages, "with_script", fail)
    with pytest.raises(urllib.error.HTTPError, match="500"):
        urllib.request.urlopen(server.address)
    end = time.monotonic() + 60  # the answer comes before the message
    while not caplog.records and time.monotonic() < end:
        time.sleep(0.01)
    (record,) = [record for record in caplog.records if record.name == "cardan.view.server"]
    assert "could not answer a request" in record.getMessage()
    assert record.exc_info is not None and "the page is lost" in str(record.exc_info[1])
