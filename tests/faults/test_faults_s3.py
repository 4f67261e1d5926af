"""The store at an object store: the S3 protocol, spoken by moto's server on loopback."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator

import pytest
from harness import Driver, completions, environment, undisturbed, until

from recombine.errors import UserError
from recombine.files import open_files
from recombine.lab.driver.run import run_study
from recombine.lab.loaded import load
from recombine.lab.store import Store

ASKED = {"seeds": 1, "changes": {"cells": 6, "seconds": 0.05}}
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    pytest.importorskip("moto", reason="moto is not installed; the extra [dev] brings it")
    pytest.importorskip("s3fs", reason="s3fs is not installed; the extra [s3] brings it")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    endpoint = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONWARNINGS": "ignore"},
    )
    names = {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    try:
        until(lambda: _answers(endpoint), every=0.1)
        urllib.request.urlopen(urllib.request.Request(f"{endpoint}/bucket", method="PUT")).close()
        yield "s3://bucket"
    finally:
        server.kill()
        server.wait()
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _answers(endpoint: str) -> bool:
    with contextlib.suppress(OSError):
        urllib.request.urlopen(endpoint, timeout=2).close()
        return True
    return False


def contents(url: str) -> dict[str, bytes]:
    files = open_files(url)
    return {name: files.read(f"records/{name}") for name in files.names("records")}


def test_create_is_conditional_and_names_are_fresh(bucket):
    one, two = open_files(f"{bucket}/files"), open_files(f"{bucket}/files")
    assert one.names() == [] and not one.exists("x") and one.create("locks/x", b"1")
    assert not two.create("locks/x", b"2") and two.read("locks/x") == b"1" and two.names("locks") == ["x"]
    two.move("locks/x", "quarantine/x")
    assert one.names("locks") == [] and one.names("quarantine") == ["x"]
    one.remove("locks/x")
    one.write_all({"records/a": b"a", "records/b": b"b"})
    assert sorted(two.names("records")) == ["a", "b"] and two.read("records/b") == b"b"
    with pytest.raises(FileNotFoundError):
        one.read("nothing")


def test_a_killed_run_at_an_object_store_goes_on_and_two_drivers_share_it(bucket, tmp_path):
    expected = undisturbed(tmp_path / "whole", **ASKED)
    url, log = f"{bucket}/deep/run", tmp_path / "log"
    more = {"engine": "local:1", **ASKED}
    first = Driver(url, log, **more)
    until(lambda: contents(url), every=0.1)
    first.kill()
    assert contents(url).items() <= expected.items()
    drivers = [Driver(url, log, **more) for _ in range(2)]
    assert [driver.wait()[0] for driver in drivers] == [0, 0]
    assert contents(url) == expected and len(load(url).table) == 6
    assert sum(completions(log).values()) <= 6 + 2
    files = open_files(url)
    assert files.names("locks") == [] and files.names("drivers") == []
    assert sorted(files.names()) == ["records", "store.json"]


def test_a_damaged_object_is_set_aside(bucket):
    url = f"{bucket}/damaged"
    whole = run_study_here(url)
    files = open_files(url)
    files.write(f"records/{whole.records[0].cell.id}.json", b"{")
    with pytest.warns(UserWarning, match="quarantine"):
        again = run_study_here(url)
    assert [r.to_bytes() for r in again.records] == [r.to_bytes() for r in whole.records]
    assert files.names("quarantine") == [f"{whole.records[0].cell.id}.json"]


def run_study_here(url: str):
    from light import Logged

    return run_study(Logged(), "smoke", seeds=1, out=url, quiet=True)


def test_a_service_that_is_not_there_is_one_sentence(bucket):
    script = "import light, recombine.lab.loaded as s; s.load('s3://bucket/x')"
    asked = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_MAX_ATTEMPTS": "1"}
    done = subprocess.run([sys.executable, "-c", script], env=environment(**asked), capture_output=True, text=True)
    assert "UserError: s3://bucket/x cannot be read" in done.stderr, done.stderr[-500:]
    with pytest.raises(UserError, match="not a store"):
        Store.open(f"{bucket}/nothing")


def test_a_url_that_lost_a_slash_is_named():
    from pathlib import Path

    with pytest.raises(UserError, match="lost a slash"):
        open_files(Path("s3://bucket/x"))
    with pytest.raises(UserError, match="no place"):
        open_files("gibberish://x")
