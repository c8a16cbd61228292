"""Server of the viewer's pages. It accepts connections from this machine only, at a URL with a secret token.

viser serves the page and exchanges messages with the page, without authentication. So a guard first checks each HTTP
and WebSocket request: the first part of the path must be the token. The same guard and port also serve small pages of
Cardan, which viser's page shows in frames.
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
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from viser import ViserServer
    from websockets.asyncio.server import ServerConnection
    from websockets.http11 import Request, Response

HOST = "127.0.0.1"
PORT = 8012
"""Default port of the server; if it is taken, a higher port is used."""
MOST, ATTEMPTS = 65535, 1000
"""The last port, and the largest number of ports that are tried."""

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
"""HTML that is added to the head of viser's page. The style lets six tabs share a row."""

Answer = Callable[[Any, "Request"], "Response | None"]
Talk = Callable[["ServerConnection"], Awaitable[None]]
_starting = threading.Lock()
_log = logging.getLogger("cardan.view.server")


def _is_worth_showing(record: logging.LogRecord) -> bool:
    """Return whether to show a log record: False only for requests that end early or are not valid HTTP.

    Browsers open connections and close them unused. The package websockets logs each of these connections with a
    traceback, and with the message that it also uses for errors in request handlers. After the first request, viser
    hides all records with this message. So records to be shown get another message.
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
    """A page embedded in viser's page: HTML, and the handler `talk` of the WebSocket that the page opens to its URL."""

    content: bytes
    talk: Talk


Frames = Mapping[str, Frame]
"""Frames, by their path after the token, such as ``/upload``."""


def split_token(path: str) -> tuple[str, str]:
    """Split a request's path into its first part, the token, and the rest of the path."""
    token, _, rest = path.partition("?")[0].lstrip("/").partition("/")
    return token, f"/{rest}"


def _response(status: HTTPStatus, body: bytes, kind: str) -> Response:
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    headers = Headers({"Content-Type": f"{kind}; charset=utf-8", "Content-Length": str(len(body))})
    return Response(status.value, status.phrase, headers, body)


def guarded(answer: Answer | None, token: str, frames: Frames) -> Answer:
    """Make a request handler that rejects requests without `token` and removes the token from all other requests.

    The handler answers requests for one of the `frames` itself, and passes all others to viser's handler, `answer`.
    """

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
    """Add `SCRIPT` to the head of viser's page."""
    headers = response.headers.copy()
    body = _with_script(bytes(response.body or b""), headers.get("Content-Encoding") == "gzip")
    del headers["Content-Length"]
    headers["Content-Length"] = str(len(body))
    return replace(response, body=body, headers=headers)


@lru_cache(maxsize=4)
def _with_script(body: bytes, packed: bool) -> bytes:
    page = gzip.decompress(body) if packed else body
    page = page.replace(b"<head>", b"<head>\n" + SCRIPT, 1)
    return gzip.compress(page) if packed else page


def routed(talk: Talk, frames: Frames) -> Talk:
    """Make a WebSocket handler that calls the handler of a frame for the frame's path, and `talk` for other paths."""

    async def choose(connection: ServerConnection) -> None:
        path = split_token(connection.request.path)[1] if connection.request is not None else ""
        await (frames[path].talk if path in frames else talk)(connection)

    return choose


def free_port(port: int) -> int:
    """Return the first free port that is at least `port`. Return 0, which means any port, unchanged.

    viser's own search waits forever if no port is free.

    Raises:
        ValueError: `port` is not a port number.
        OSError: all tried ports are taken, or the system forbids their use.
    """
    if not 0 <= port <= MOST:
        raise ValueError(f"a port is a number from 0 to {MOST}, not {port}")
    trouble: OSError | None = None
    last = min(port + ATTEMPTS - 1, MOST)
    for at in range(port, last + 1):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            if os.name == "posix":  # as asyncio does: ports of recently closed connections are free
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
    """In this context, make viser start servers that check the token, serve the frames, and log only real errors.

    viser has no settings for this. It opens its socket with `websockets.asyncio.server.serve`, which is replaced in
    this context, for calls by viser only.
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
    """Server of the viewer's page, with a title above its controls, and of further pages (`frames`), on this machine.

    `viser` is viser's server, which shows the scene and the controls. `port` is the port in use: `asked`, a
    higher port if `asked` is taken, or any free port if `asked` is 0.

    Raises:
        ImportError: the package viser isn't installed.
        ValueError, OSError: see `free_port`.
    """

    def __init__(self, title: str, port: int = PORT, frames: Frames | None = None) -> None:
        try:
            import viser
        except ModuleNotFoundError:
            raise ImportError("the viewer needs the package viser: pip install 'cardan[view]'") from None
        self.asked, port = port, free_port(port)
        from viser._messages import ShareUrlRequest

        token = secrets.token_urlsafe(16)
        with _guarding(token, frames or {}):
            self.viser: ViserServer = viser.ViserServer(host=HOST, port=port, label=title, verbose=False)
        # a page must not request a tunnel through which others would see it
        self.viser._websock_server.unregister_handler(ShareUrlRequest)
        self.viser.gui.configure_theme(show_logo=False, show_share_button=False, control_width="large", dark_mode=True)
        self.port = int(self.viser.get_port())
        self.address = f"http://{HOST}:{self.port}/{token}/"
        self._closed = False

    def close(self) -> None:
        """Stop serving. Pages that are still open show that the connection is lost."""
        if not self._closed:
            self._closed = True
            with contextlib.redirect_stdout(io.StringIO()):
                self.viser.stop()
