"""The server of the viewer's pages: on this machine only, behind an address that contains a secret.

viser serves the page and carries messages to and from it. It asks nobody who they are, so each request, of the page and
of its connection, passes a guard first: the first part of its path must be the token.
"""

from __future__ import annotations

import contextlib
import hmac
import io
import secrets
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http import HTTPStatus
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from viser import ViserServer
    from websockets.http11 import Request, Response

HOST = "127.0.0.1"
PORT = 8012
"""Where the server listens; a higher port if this one is taken."""
TOKEN_BYTES = 16
NEEDED = "the viewer needs the package viser: pip install 'cardan[view]'"

Answer = Callable[[Any, "Request"], "Response | None"]
_starting = threading.Lock()


def split_token(path: str) -> tuple[str, str]:
    """The first part of a request's path, and the path without it."""
    token, _, rest = path.partition("?")[0].lstrip("/").partition("/")
    return token, f"/{rest}"


def guarded(answer: Answer | None, token: str) -> Answer:
    """What answers requests: refuses those without the token, and hands others on without it."""
    from websockets.datastructures import Headers
    from websockets.http11 import Response

    def check(connection: Any, request: Request) -> Response | None:
        given, rest = split_token(request.path)
        if not hmac.compare_digest(given.encode(), token.encode()):
            body = b"The address lacks the token that the viewer printed when it started.\n"
            return Response(HTTPStatus.FORBIDDEN.value, "Forbidden", Headers({"Content-Length": str(len(body))}), body)
        return answer(connection, replace(request, path=rest)) if answer is not None else None

    return check


def _viser() -> ModuleType:
    try:
        import viser
    except ModuleNotFoundError:
        raise ImportError(NEEDED) from None
    return viser


@contextlib.contextmanager
def _guarding(token: str) -> Iterator[None]:
    """Within it, servers that viser starts are guarded, and print nothing.

    viser has no setting for either. It opens its socket by `websockets.asyncio.server.serve`; only calls that come from
    viser are changed.
    """
    import websockets.asyncio.server as sockets

    serve = sockets.serve

    def guarded_serve(*args: Any, process_request: Answer | None = None, **named: Any) -> Any:
        if getattr(process_request, "__module__", "").startswith("viser."):
            process_request = guarded(process_request, token)
        return serve(*args, process_request=process_request, **named)

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

    Attributes:
        viser: viser's server, by which the scene and the controls are made.
        address: what to open in a browser.

    Raises:
        ImportError: the package viser isn't installed.
    """

    def __init__(self, title: str, port: int = PORT) -> None:
        viser = _viser()
        from viser._messages import ShareUrlRequest

        token = secrets.token_urlsafe(TOKEN_BYTES)
        with _guarding(token):
            self.viser: ViserServer = viser.ViserServer(host=HOST, port=port, label=title, verbose=False)
        # a page can't ask for a tunnel through which others would see it
        self.viser._websock_server.unregister_handler(ShareUrlRequest)
        self.viser.gui.configure_theme(show_logo=False, show_share_button=False, control_width="large", dark_mode=True)
        self.address = f"http://{HOST}:{self.viser.get_port()}/{token}/"
        self._closed = False

    def close(self) -> None:
        """Stop serving; open pages show that they lost the connection."""
        if not self._closed:
            self._closed = True
            with contextlib.redirect_stdout(io.StringIO()):
                self.viser.stop()
