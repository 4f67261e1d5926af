"""The page of a study while it runs: one route on loopback, behind a token, and nothing else.

    GET /TOKEN/   the page, made from the store when it is asked for, at most every few seconds

The browser asks again by itself (a `Refresh` header: the page needs no script for it and stays as closed as it is on
disk). No path is ever looked up: what is asked for is compared with the one address there is, as bytes. A request is
read up to a size and a time, few are answered at once, and a refusal says one short sentence and no more.

Who can list the processes of this machine may see the address while a browser starts with it. What it opens is the
report, to be read; nothing can be written, started or stopped through it.
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from typing import Any, cast

LOOPBACK = "127.0.0.1"
EVERY = 5.0  # seconds between two pages
HEAD = 8192  # bytes of a request; what browsers send is a tenth of it
PATIENCE = 10.0  # seconds for a request to arrive, and for its answer to leave
AT_ONCE = 8  # requests

#: what there is to see before the first cell is planned
WAITING = (
    '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Recombine</title><link rel="icon" href="data:,">'
    '<meta name="color-scheme" content="light dark">'
    "<p>The study is being prepared; its page comes by itself.</p></html>"
)
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",  # the page brings the rest of its policy
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",  # the address is the key: no link of the page may give it away
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
REFUSALS = {
    400: "This request cannot be read.",
    403: "This address is not served here.",
    404: "There is nothing here.",
    405: "Only GET and HEAD are answered.",
    431: "This request is too large.",
    503: "The page could not be made; it is tried again.",
}


class LivePage:
    """Serves what `show` was given, in a thread of its own, from `with` to the end of the block."""

    def __init__(self, every: float | int = EVERY):
        self.token = secrets.token_urlsafe(32)
        self.every = every
        self._render: Callable[[], str] | None = None
        self._page, self._made, self._last = b"", -float("inf"), False
        self._making = threading.Lock()
        self._opened, self._asked = False, -float("inf")  # whether a browser was started, when someone last asked
        self._seen_to_the_end = threading.Event()
        self._server = _Server(self)
        self.host = f"{LOOPBACK}:{self._server.server_address[1]}"
        self.address = f"http://{self.host}/{self.token}/"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    def __enter__(self) -> LivePage:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def show(self, render: Callable[[], str]) -> None:
        """The page from now on, always at the same address."""
        with self._making:
            self._render, self._made = render, -float("inf")

    def open(self) -> bool:
        """Opens a browser, where there is one."""
        self._opened = open_browser(self.address)
        return self._opened

    def finish(self) -> bool:
        """There will be no other page. Waits until a reader has it, if there is one: it then stays with the reader."""
        with self._making:
            self._last, self._made = True, -float("inf")
        waits = 2 * self.every + PATIENCE
        if not self._opened and time.monotonic() - self._asked > waits:
            return False
        return self._seen_to_the_end.wait(waits)

    # -- for the server -----------------------------------------------------------------------------------------
    def page(self) -> tuple[bytes, bool]:
        """The page, and whether it is the last; made again if it is old. Many who ask at once wait for one."""
        if not self._making.acquire(timeout=PATIENCE):
            raise TimeoutError
        try:
            self._asked = time.monotonic()
            if self._render is None:
                raise LookupError
            if time.monotonic() - self._made >= self.every:
                self._page = self._render().encode()
                self._made = time.monotonic()
            return self._page, self._last
        finally:
            self._making.release()

    def sent(self, last: bool) -> None:
        if last:
            self._seen_to_the_end.set()


def open_browser(address: str) -> bool:
    """Opens the address where there is a browser with a window; says whether it did."""
    windows = sys.platform in ("darwin", "win32") and "SSH_CONNECTION" not in os.environ
    if not windows and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return False
    try:
        browser = webbrowser.get()
        if type(browser) is webbrowser.GenericBrowser:  # one for the terminal, which the study writes to
            return False
        return browser.open(address)
    except (webbrowser.Error, OSError):
        return False


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = False

    def __init__(self, live: LivePage):
        self.live = live
        self._places = threading.BoundedSemaphore(AT_ONCE)
        super().__init__((LOOPBACK, 0), _Handler)

    def server_bind(self) -> None:
        # not that of HTTPServer, which asks the network for the name of this machine
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = LOOPBACK, int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Someone hung up, or sent nonsense: no concern of who runs the study."""


class _Handler(BaseHTTPRequestHandler):
    timeout = PATIENCE
    default_request_version = "HTTP/1.0"  # a request that cannot be read is answered with headers, too

    def handle(self) -> None:
        try:
            head = _head(self.connection)
        except TimeoutError:
            return
        if head is None:
            self.request_version, self.command = self.default_request_version, ""
            return self.send_error(431)
        self.rfile = BytesIO(head)  # what comes after the head is never read
        self.handle_one_request()

    def do_GET(self) -> None:
        live = cast(_Server, self.server).live
        # as it was sent: the library's `path` has been tidied up
        target = self.requestline.split()[1].encode("latin-1")
        origins = self.headers.get_all("Origin", [])
        if self.headers.get_all("Host", []) != [live.host] or any(o != f"http://{live.host}" for o in origins):
            return self.send_error(403)
        if not hmac.compare_digest(target, f"/{live.token}/".encode()):
            return self.send_error(404)
        try:
            page, last = live.page()
        except Exception:  # a store that cannot be read just now; the run itself says what is wrong
            return self.send_error(503)
        self._answer(200, "text/html; charset=utf-8", page, None if last else live.every)
        if self.command == "GET":
            live.sent(last)

    do_HEAD = do_GET

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """A short sentence of our own; nothing of the request is repeated."""
        code = 405 if code == 501 else code if code in REFUSALS else 400
        self._answer(code, "text/plain; charset=utf-8", REFUSALS[code].encode(), EVERY if code == 503 else None)

    def _answer(self, code: int, kind: str, body: bytes, again: float | int | None) -> None:
        self.close_connection = True
        self.send_response_only(code)  # without the versions of server and Python
        for name, value in (HEADERS | {"Content-Type": kind, "Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        if again is not None:
            self.send_header("Refresh", f"{again:g}")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """The terminal belongs to the study, and addresses are no matter for logs."""


def _head(connection: socket.socket) -> bytes | None:
    """The head of a request, all of it in good time; None if it is too large."""
    end, head = time.monotonic() + PATIENCE, b""
    while b"\r\n\r\n" not in head and b"\n\n" not in head:
        if len(head) > HEAD:
            return None
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        more = connection.recv(HEAD)
        if not more:
            break
        head += more
    connection.settimeout(PATIENCE)
    return None if len(head.split(b"\r\n\r\n", 1)[0]) > HEAD else head
