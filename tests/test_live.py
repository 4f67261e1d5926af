"""The live page: one address, behind a token, and nothing else."""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from pathlib import Path

import pytest

from recombine.report import live as module
from recombine.report.live import HEAD, LivePage, open_browser


@pytest.fixture
def live():
    with LivePage(every=60) as served:
        served.show(lambda: "<p>the page</p>")
        yield served


def ask(live: LivePage, target: str | bytes, method: str = "GET", headers: dict | None = None) -> tuple[int, str, dict]:
    """What a target gives, sent as it is; clients would tidy it up."""
    lines = {"Host": live.host} | (headers or {})
    raw = target if isinstance(target, bytes) else target.encode()
    head = b"".join(f"{name}: {value}\r\n".encode() for name, value in lines.items() if value is not None)
    return send(live, method.encode() + b" " + raw + b" HTTP/1.1\r\n" + head + b"\r\n")


def send(live: LivePage, data: bytes) -> tuple[int, str, dict]:
    port = int(live.host.split(":")[1])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(data)
        answer = http.client.HTTPResponse(connection, method=data.split(b" ")[0].decode("latin-1"))
        answer.begin()
        return answer.status, answer.read().decode(), dict(answer.getheaders())


def test_the_page_is_served_with_the_token_and_asks_to_be_asked_again(live):
    status, text, headers = ask(live, f"/{live.token}/")
    assert (status, text) == (200, "<p>the page</p>")
    assert headers["Refresh"] == "60" and headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Referrer-Policy"] == "no-referrer" and headers["Cache-Control"] == "no-store"
    assert headers["X-Frame-Options"] == "DENY" and "Access-Control-Allow-Origin" not in headers
    assert "Server" not in headers  # no versions
    assert ask(live, f"/{live.token}/", "HEAD")[:2] == (200, "")
    assert ask(live, f"/{live.token}/", headers={"Origin": f"http://{live.host}"})[0] == 200
    assert len(live.token) >= 43  # 256 bits
    with LivePage() as other:
        assert other.token != live.token


PATHS = ["/", "", "/index.html", "/report.html", "/store.json", "/records/", "/favicon.ico", "/robots.txt", "*",
         "/..", "/../", "/../../etc/passwd", "/./", "//", "///etc/passwd", "/" + "../" * 500,
         "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd", "/%252e%252e%252fetc%252fpasswd", "/..%252f",
         "/%25252e%25252e/", "/..\\..\\etc\\passwd", "\\..\\", "/%5c..%5c", "/%255c..%255c",
         "/%00", "/\xff\xfe", "/?token=", "/#", "/None/", "/null/", "/" + "a" * 43 + "/"]  # fmt: skip


@pytest.mark.parametrize("path", PATHS, ids=range(len(PATHS)))
def test_no_route_without_the_token(live, path):
    status, text, headers = ask(live, path.encode("latin-1"))
    assert status in (400, 404) and text in module.REFUSALS.values() and "Refresh" not in headers


def test_the_token_opens_one_address_only(live):
    token = live.token
    first = ord(token[0])
    shut = [f"/{token}", f"//{token}/", f"/{token}//", f"/{token}/.", f"/{token}/..", f"/{token}/../{token}/",
            f"/./{token}/", f"/x/../{token}/", f"/{token}/%2e%2e/", f"/{token}/%252e%252e/", f"/{token}/..\\",
            f"\\{token}\\", f"/{token}/report.html", f"/{token}/../store.json", f"/{token}/?", f"/{token}/?x=1",
            f"/{token}/#", f"/?token={token}", f"/{token[:-1]}/", f"/{token}x/", f"/%{first:02x}{token[1:]}/",
            f"/%25{first:02x}{token[1:]}/", f"/{token.swapcase()}/", f"http://{live.host}/{token}/",
            f"http://evil.example/{token}/"]  # fmt: skip
    for target in shut:
        assert ask(live, target)[0] == 404, target
    for place in ({"Cookie": f"token={token}"}, {"Authorization": f"Bearer {token}"}, {"Referer": live.address}):
        assert ask(live, "/", headers=place)[0] == 404


def test_host_and_origin_must_be_exact(live):
    port, good, own = live.host.split(":")[1], f"/{live.token}/", live.host
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"localhost:{port}", f"[::1]:{port}", "", None,
                 f"{own}.evil.example", f"{own}0", f"127.1:{port}", f"{own},evil.example"):  # fmt: skip
        assert ask(live, good, headers={"Host": host})[0] == 403, host
    twice = f"GET {good} HTTP/1.1\r\nHost: {live.host}\r\nHost: evil.example\r\n\r\n"
    assert send(live, twice.encode())[0] == 403
    for origin in (
        "http://evil.example",
        "null",
        f"https://{live.host}",
        f"http://localhost:{port}",
        "http://127.0.0.1",
    ):
        assert ask(live, good, headers={"Origin": origin})[0] == 403, origin


def test_methods_and_malformed_requests_are_refused_in_one_sentence(live):
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "BREW", "__class__"):
        assert ask(live, f"/{live.token}/", method)[:2] == (405, module.REFUSALS[405])
    for line in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"<script>alert(1)</script> x y z\r\n\r\n",
                 b"GET / HTTP/x\r\n\r\n", bytes(range(14, 40)) + b"\r\n\r\n"):  # fmt: skip
        try:
            status, text, _ = send(live, line)
        except http.client.HTTPException:
            continue  # hung up without a word
        assert status in (400, 403) and text in module.REFUSALS.values()
    assert send(live, f"GET /{live.token}/\r\n\r\n".encode())[0] == 403  # HTTP 0.9 has no Host


def test_a_request_is_read_up_to_a_size(live):
    long = ask(live, f"/{live.token}/", headers={"X": "x" * (HEAD - 500)})
    assert long[0] == 200
    for data in (b"GET /" + b"a" * 50_000, b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20_000):
        with contextlib.suppress(ConnectionError, http.client.HTTPException):  # or cut off: the rest is not wanted
            assert send(live, data + b"\r\n\r\n")[0] == 431
    body = f"GET /{live.token}/ HTTP/1.1\r\nHost: {live.host}\r\nContent-Length: 9999999999\r\n\r\n".encode()
    assert send(live, body)[0] == 200  # a body is never waited for


def connect(live: LivePage) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(live.host.split(":")[1])), timeout=20)


def test_who_dawdles_is_hung_up_on(live, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.5)
    with connect(live) as connection:
        connection.settimeout(0.1)
        for _ in range(200):  # a byte now and then does not buy time
            try:
                connection.sendall(b"G")
                if connection.recv(1) == b"":
                    return
            except TimeoutError:
                continue
            except ConnectionError:
                return
    raise AssertionError("the connection was still open")


def test_few_are_served_at_once(live):
    slow = [connect(live) for _ in range(module.AT_ONCE)]
    for connection in slow:
        connection.sendall(b"GET /")
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        ask(live, f"/{live.token}/")  # all places are taken: they are given out in the order of coming
    for connection in slow:
        connection.close()
    for _ in range(100):  # the places are free again
        with contextlib.suppress(ConnectionError, http.client.HTTPException):
            assert ask(live, f"/{live.token}/")[0] == 200
            return
        time.sleep(0.1)
    raise AssertionError("no place became free")


def test_a_page_that_cannot_be_made_gives_no_trace(live, capfd):
    def broken() -> str:
        raise ValueError("a secret of the store")

    live.show(broken)
    status, text, headers = ask(live, f"/{live.token}/")
    assert (status, text) == (503, module.REFUSALS[503]) and "Refresh" in headers
    live.show(lambda: "again")
    assert ask(live, f"/{live.token}/")[:2] == (200, "again")
    out, err = capfd.readouterr()
    assert out == err == ""


def test_the_page_is_made_once_for_many_and_again_when_old():
    made = []
    with LivePage(every=600) as live:
        live.show(lambda: str(made.append(1) or len(made)))
        readers = [threading.Thread(target=ask, args=(live, f"/{live.token}/")) for _ in range(5)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        assert len(made) == 1
        live.every = 0
        assert ask(live, f"/{live.token}/")[1] == "2"


def test_the_last_page_is_waited_for_and_asks_for_nothing_more(live, monkeypatch):
    began = time.monotonic()
    assert live.finish() is False and time.monotonic() - began < 5  # nobody ever looked
    monkeypatch.setattr(live, "every", 0.2)
    monkeypatch.setattr(module, "PATIENCE", 5)
    ask(live, f"/{live.token}/")
    live.show(lambda: "the end")
    assert live.finish() is True  # that one had been seen to the end
    status, text, headers = ask(live, f"/{live.token}/")
    assert (status, text) == (200, "the end") and "Refresh" not in headers


def test_the_server_listens_on_loopback_only_and_stops_with_its_block():
    with LivePage() as live:
        port = int(live.host.split(":")[1])
        assert live._server.socket.getsockname() == ("127.0.0.1", port)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), timeout=2)


def test_no_browser_is_opened_where_there_is_none(monkeypatch):
    opened = []

    class Window(webbrowser.BackgroundBrowser):
        def open(self, url, new=0, autoraise=True):
            opened.append(url)
            return True

    monkeypatch.setattr(webbrowser, "get", lambda: Window("window"))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    assert not open_browser("http://127.0.0.1/") and not opened
    monkeypatch.setenv("DISPLAY", ":0")
    assert open_browser("http://127.0.0.1/") and opened == ["http://127.0.0.1/"]
    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.GenericBrowser("lynx"))  # one for the terminal
    assert not open_browser("http://127.0.0.1/")

    def none():
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "get", none)
    assert not open_browser("http://127.0.0.1/")


def test_run_open_serves_the_study_that_runs(tmp_path):
    """A real run in a process of its own: the page is there while cells run, and the run ends by itself."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    small = ("support=random", "steps=30", "modules=6", "at_most=2", "width=16")
    command = [sys.executable, "-m", "recombine", "run", "supports", "--scale", "smoke", "--seeds", "1", "--open",
               "--json", "--engine", "inprocess", "--set", *small]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        match = re.fullmatch(r"live page: http://(127\.0\.0\.1:\d+)/([\w-]{43,})/\n", process.stderr.readline())
        assert match
        seen = ""
        for _ in range(300):
            connection = http.client.HTTPConnection(match[1], timeout=60)
            try:
                connection.request("GET", f"/{match[2]}/")
                answer = connection.getresponse()
            except ConnectionError:
                break
            seen = answer.read().decode()
            if answer.status == 200 and answer.getheader("Refresh") is None:
                break
            time.sleep(0.2)
        assert "<html" in seen and "supports" in seen and "1 of 1 cells" in seen
        out, _ = process.communicate(timeout=60)
        assert process.returncode == 0 and '"study": "supports"' in out
        assert (tmp_path / "runs").exists() and Path(next((tmp_path / "runs").iterdir()) / "report.html").exists()
    finally:
        process.kill()
        process.wait()
