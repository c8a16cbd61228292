"""Transfers of files from a page: those of a folder, or several at once, which viser's own button can't send.

A frame in the page (`upload.html`) opens a connection to its own address for each transfer, and sends for each file its
path and its size as JSON, then its bytes in pieces; an empty text ends the transfer. The answer is one text.
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
"""Where the frame is, behind the token."""
HEIGHT = 84
"""Height of the frame in the page, pixels."""
HTML = f'<iframe src="{PATH}" title="Upload" style="border: 0; width: 100%; height: {HEIGHT}px"></iframe>'
"""What shows the frame."""

Show = Callable[[list[Path]], str]
"""Shows the first model file of a list that can be loaded; returns what there is to say."""


def receiver(uploads: Uploads, show: Show) -> Frame:
    """The frame that sends files.

    Args:
        uploads: what keeps them.
        show: called after each transfer, in a thread of its own, with the model files that came.
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
            pass  # the page was closed, or shows the new model already

    return Frame(Path(__file__).with_name("upload.html").read_bytes(), talk)


async def _receive(connection: ServerConnection, uploads: Uploads) -> list[Path]:
    """The files of a transfer; returns the models among them.

    Raises:
        ValueError: something else came than was said, too much, or a file whose name leads out of the folder.
    """
    models: list[Path] = []
    left = MOST_BYTES
    while head := await connection.recv():
        path, size = _parse(head)
        left -= size
        if left < 0:
            raise ValueError(f"the files hold more than {MOST_BYTES} bytes, the most that is taken at once")
        content = bytearray()
        while len(content) < size:
            piece = await connection.recv()
            if not isinstance(piece, bytes) or len(piece) > size - len(content):
                raise ValueError(f"{path}: other bytes came than the {size} that were said")
            content += piece
        models += await asyncio.to_thread(uploads.add, path, bytes(content))
    return models


def _parse(head: str | bytes) -> tuple[str, int]:
    """Path and size of a file that is about to come."""
    try:
        values = json.loads(head)
        path, size = values["path"], values["size"]
    except (ValueError, TypeError, KeyError):
        path = size = None
    if not isinstance(path, str) or not isinstance(size, int) or size < 0:
        raise ValueError("a file's path and size should have come")
    return path, size
