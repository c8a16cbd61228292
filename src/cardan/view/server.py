"""The server of the viewer's pages: on this machine only, behind an address that contains a secret.

viser serves the page and carries messages to and from it. It asks nobody who they are, so each request, of the page and
of its connection, passes a guard first: the first part of its path must be the token. Behind the same guard and port
stand small pages of our own, which viser's page shows in frames.
"""

from __future__ import annotations

import contextlib
import gzip
import hmac
import io
import logging
import os
import secrets
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from http import HTTPStatus
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from viser import ViserServer
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

HOST = "127.0.0.1"
PORT = 8012
"""Where the server listens; a higher port if this one is taken."""
MOST, ATTEMPTS = 65535, 1000
"""The last port, and how many are tried."""
TOKEN_BYTES = 16
NEEDED = "the viewer needs the package viser: pip install 'cardan[view]'"

SCRIPT = b"""<script>
  // Keys by which viser's page moves its camera mean something else here. Its listener is one of the document, added
  // after this one; those of commands sit further down and have heard the key already.
  const taken = /^(Key[WASDQE]|Arrow(Up|Down|Left|Right))$/;
  document.addEventListener("keydown", event => { if (taken.test(event.code)) event.stopImmediatePropagation(); });
</script>
<style>
  [role="tablist"] { flex-wrap: nowrap !important; }
  [role="tab"] { flex: 1 1 auto; min-width: 0; overflow: hidden; padding-inline: 3px !important; }
</style>
"""
"""What is added to the head of viser's page; six tabs share a row, whatever the letters."""

Answer = Callable[[Any, "Request"], "Response | None"]
Talk = Callable[["ServerConnection"], Awaitable[None]]
_starting = threading.Lock()
_log = logging.getLogger("cardan.view.server")


def _is_worth_showing(record: logging.LogRecord) -> bool:
    """Drop messages about requests that are not valid HTTP, or end early; all other errors of the server are shown.

    Browsers open connections that they close unused. websockets reports each with a traceback, under the same message
    as errors in the code that answers requests; viser hides both kinds by that message, from the first request on. So
    the message of what is shown is another one.
    """
    from websockets.exceptions import ConnectionClosed, InvalidHandshake

    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, InvalidHandshake | ConnectionClosed | ConnectionError | EOFError):
        return False
    if error is not None:
        record.msg, record.args = f"the viewer could not answer a request: {record.getMessage()}", ()
    return True


_log.setLevel(logging.WARNING)
_log.addFilter(_is_worth_showing)


class Frame(NamedTuple):
    """A small page of our own.

    Attributes:
        content: what it shows, HTML.
        talk: what answers the connection that it opens to its own address.
    """

    content: bytes
    talk: Talk


Frames = Mapping[str, Frame]
"""By their path behind the token, ``/upload``."""


def split_token(path: str) -> tuple[str, str]:
    """The first part of a request's path, and the path without it."""
    token, _, rest = path.partition("?")[0].lstrip("/").partition("/")
    return token, f"/{rest}"


def _response(status: HTTPStatus, body: bytes, kind: str) -> Response:
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    headers = Headers({"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(body))})
    return Response(status.value, status.phrase, headers, body)


def guarded(answer: Answer | None, token: str, frames: Frames) -> Answer:
    """What answers requests: refuses those without the token, and hands others on without it."""

    def check(connection: Any, request: Request) -> Response | None:
        given, rest = split_token(request.path)
        if not hmac.compare_digest(given.encode(), token.encode()):
            body = b"The address lacks the token that the viewer printed when it started.\n"
            return _response(HTTPStatus.FORBIDDEN, body, "text/plain")
        if rest in frames:
            is_page = request.headers.get("Upgrade", "").lower() != "websocket"
            return _response(HTTPStatus.OK, frames[rest].content, "text/html") if is_page else None
        response = answer(connection, replace(request, path=rest)) if answer is not None else None
        return with_script(response) if response is not None and rest == "/" else response

    return check


def with_script(response: Response) -> Response:
    """The page of viser with `SCRIPT` in its head."""
    packed = response.headers.get("Content-Encoding") == "gzip"
    body = _with_script(bytes(response.body or b""), packed)
    headers = response.headers.copy()
    del headers["Content-Length"]
    headers["Content-Length"] = str(len(body))
    return replace(response, body=body, headers=headers)


@lru_cache(maxsize=4)
def _with_script(body: bytes, packed: bool) -> bytes:
    page = gzip.decompress(body) if packed else body
    page = page.replace(b"<head>", b"<head>\n" + SCRIPT, 1)
    return gzip.compress(page) if packed else page


def routed(talk: Talk, frames: Frames) -> Talk:
    """What answers connections: those of frames go to theirs, others are handed on."""

    async def choose(connection: ServerConnection) -> None:
        path = split_token(connection.request.path)[1] if connection.request is not None else ""
        await (frames[path].talk if path in frames else talk)(connection)

    return choose


def _viser() -> ModuleType:
    try:
        import viser
    except ModuleNotFoundError:
        raise ImportError(NEEDED) from None
    return viser


def free_port(port: int) -> int:
    """The first port from this one on where a server may listen; 0, which stands for any, is taken as it is.

    viser looks for one itself, but beyond the last one it waits for ever.

    Raises:
        ValueError: it is no port.
        OSError: from there on all are taken, or the system allows none.
    """
    if not 0 <= port <= MOST:
        raise ValueError(f"a port is a number from 0 to {MOST}, not {port}")
    trouble: OSError | None = None
    last = min(port + ATTEMPTS - 1, MOST)
    for at in range(port, last + 1):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            if os.name == "posix":  # as asyncio does: ports of connections that were closed a moment ago are free
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, at))
            except OSError as error:
                trouble = trouble or error
            else:
                return at
    raise OSError(f"the viewer can't listen on any port from {port} to {last}: {trouble}")


@contextlib.contextmanager
def _guarding(token: str, frames: Frames) -> Iterator[None]:
    """Within it, servers that viser starts are guarded, know the frames, and print nothing but errors worth showing.

    viser has no setting for any of it. It opens its socket by `websockets.asyncio.server.serve`; only calls that come
    from viser are changed.
    """
    import websockets.asyncio.server as sockets

    serve = sockets.serve

    def guarded_serve(talk: Talk, *args: Any, process_request: Answer | None = None, **named: Any) -> Any:
        if getattr(process_request, "__module__", "").startswith("viser."):
            process_request = guarded(process_request, token, frames)
            talk = routed(talk, frames)
            named["logger"] = _log
        return serve(talk, *args, process_request=process_request, **named)

    with _starting:
        sockets.serve = guarded_serve  # type: ignore[assignment]
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                yield
        finally:
            sockets.serve = serve  # type: ignore[misc]


class PageServer:
    """Serves pages to browsers on this machine.

    Args:
        title: what stands above the controls.
        port: where to listen; a higher one if it is taken, any free one if 0.
        frames: further pages.

    Attributes:
        viser: viser's server, by which the scene and the controls are made.
        asked, port: where it should listen, and where it does.
        address: what to open in a browser.

    Raises:
        ImportError: the package viser isn't installed.
        ValueError: there is no such port.
        OSError: no port is free.
    """

    def __init__(self, title: str, port: int = PORT, frames: Frames | None = None) -> None:
        viser = _viser()
        self.asked, port = port, free_port(port)
        from viser._messages import ShareUrlRequest

        token = secrets.token_urlsafe(TOKEN_BYTES)
        with _guarding(token, frames or {}):
            self.viser: ViserServer = viser.ViserServer(host=HOST, port=port, label=title, verbose=False)
        # a page can't ask for a tunnel through which others would see it
        self.viser._websock_server.unregister_handler(ShareUrlRequest)
        self.viser.gui.configure_theme(show_logo=False, show_share_button=False, control_width="large", dark_mode=True)
        self.port = int(self.viser.get_port())
        self.address = f"http://{HOST}:{self.port}/{token}/"
        self._closed = False

    def close(self) -> None:
        """Stop serving; open pages show that they lost the connection."""
        if not self._closed:
            self._closed = True
            with contextlib.redirect_stdout(io.StringIO()):
                self.viser.stop()
