"""Transfers of files from a page: of a folder, or of several files, which viser's own button can't send.

For each transfer, a frame in the page (`upload.html`) opens a connection to its own address. For each file it sends the
path and the size as JSON, then the bytes in pieces; an empty text ends the transfer. The answer is one text.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from cardan.view.server import Frame
from cardan.view.uploads import MOST_BYTES, Uploads

if TYPE_CHECKING:
    from websockets.asyncio.server import ServerConnection

PATH = "upload"
"""Path of the frame, after the token."""
HEIGHT = 84
"""Height of the frame in the page, pixels."""
HTML = f'<iframe src="{PATH}" title="Upload" style="border: 0; width: 100%; height: {HEIGHT}px"></iframe>'
"""HTML that shows the frame."""

Show = Callable[[list[Path]], str]
"""Function that shows the first model file of a list that can be loaded, and returns a message for the user."""


def receiver(uploads: Uploads, show: Show) -> Frame:
    """Make the frame that sends files.

    Args:
        uploads: storage of the files.
        show: called after each transfer, in a thread of its own, with the received model files.
    """
    from websockets.exceptions import ConnectionClosed

    async def talk(connection: ServerConnection) -> None:
        try:
            try:
                models = await _receive(connection, uploads)
                answer = await asyncio.to_thread(show, models)
            except (ValueError, OSError) as error:
                answer = str(error)
            await connection.send(answer)
        except ConnectionClosed:
            pass  # the page was closed, or already shows the new model

    return Frame(Path(__file__).with_name("upload.html").read_bytes(), talk)


async def _receive(connection: ServerConnection, uploads: Uploads) -> list[Path]:
    """Receive the files of a transfer, and return the models among them.

    Raises:
        ValueError: the data differs from its announcement, is too large, or a file name leads out of the folder.
    """
    models: list[Path] = []
    left = MOST_BYTES
    while head := await connection.recv():
        path, size = _parse(head)
        left -= size
        if left < 0:
            raise ValueError(f"the files have more than {MOST_BYTES} bytes, the limit of one transfer")
        content = bytearray()
        while len(content) < size:
            piece = await connection.recv()
            if not isinstance(piece, bytes) or len(piece) > size - len(content):
                raise ValueError(f"{path}: received data that differs from the announced {size} bytes")
            content += piece
        models += await asyncio.to_thread(uploads.add, path, bytes(content))
    return models


def _parse(head: str | bytes) -> tuple[str, int]:
    """Return path and size of the next file."""
    try:
        values = json.loads(head)
        path, size = values["path"], values["size"]
    except (ValueError, TypeError, KeyError):
        path = size = None
    if not isinstance(path, str) or not isinstance(size, int) or size < 0:
        raise ValueError("expected a file's path and size")
    return path, size
