"""A real Ray cluster of a head and worker nodes, each in its own processes on this machine. Needs the extra [ray]."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from interruptible import INTERRUPTIBLE

import recombine as rc
from recombine.lab.store import Store

TESTS = Path(__file__).parents[2]
HELPERS = TESTS / "helpers"
SOURCE = TESTS.parent / "src"
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None,
    reason="Ray is not installed, so no cluster is tested: make check-extras installs and tests it",
)
#: seconds for what takes a few on a machine with nothing else to do
PATIENCE = int(os.environ.get("RECOMBINE_PATIENCE", "120"))
TRIES = 3


def until(what, condition, seconds=PATIENCE):
    """Waits for a condition, and gives what it gives."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited {seconds:g} s in vain for {what}")


class Cluster:
    """Nodes by `ray start`, in a temporary folder of their own and with a token of their own."""

    def __init__(self):
        # not pytest's folder: the names of sockets in it would be too long
        self.folder = Path(tempfile.mkdtemp(prefix="rc-"))
        self.environment = os.environ | {
            "RAY_TMPDIR": str(self.folder),
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_raylet_start_wait_time_s": "60",
            "RAY_agent_register_timeout_ms": str(1000 * PATIENCE),
            "RAY_health_check_timeout_ms": str(1000 * PATIENCE),
            "PYTHONPATH": os.pathsep.join(map(str, (SOURCE, HELPERS))),
            "CLUSTER_LOG": str(self.folder / "cells.log"),
            "XLA_FLAGS": "",
        }
        self.nodes: list[subprocess.Popen] = []
        self.address = ""

    def open(self) -> None:
        """The head, which computes nothing."""
        self.start("--head", "--port=0", "--num-cpus=0", "--include-dashboard=false")
        current = self.folder / "ray" / "ray_current_cluster"
        self.address = until("the head", lambda: current.exists() and current.read_text().strip())

    def start(self, *options: str, **environment: str) -> subprocess.Popen:
        """A node; tried again where Ray gave up, as it does if its own processes take half a minute to start."""
        ray = [sys.executable, "-c", "from ray.scripts.scripts import main; main()", "start", "--block"]
        log = self.folder / f"node-{len(self.nodes)}.log"
        for _ in range(TRIES):
            with open(log, "w") as file:
                node = subprocess.Popen(
                    [*ray, "--object-store-memory=100000000", *options],
                    start_new_session=True,
                    env=self.environment | environment,
                    stdout=file,
                    stderr=file,
                )
            self.nodes.append(node)
            until("a node", lambda node=node: "Ray runtime started" in log.read_text() or node.poll() is not None)
            if node.poll() is None:
                return node
            self.kill(node)
        raise AssertionError(log.read_text())

    def join(self, cpus: int = 1, **environment: str) -> subprocess.Popen:
        return self.start(f"--address={self.address}", f"--num-cpus={cpus}", **environment)

    def kill(self, node: subprocess.Popen) -> None:
        """As a power cut would: every process of the node, at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(node.pid, signal.SIGKILL)
        node.wait()

    def leave(self, node: subprocess.Popen) -> None:
        """As `ray stop` would."""
        node.terminate()
        node.wait(PATIENCE)

    def close(self) -> None:
        for node in reversed(self.nodes):
            self.kill(node)
        shutil.rmtree(self.folder, ignore_errors=True)

    def drive(self, environment: dict[str, str] | None = None, **asked) -> subprocess.Popen:
        """A driver on the cluster, as a process of its own."""
        asked = {"engine": f"ray:{self.address}"} | asked
        return subprocess.Popen(
            [*INTERRUPTIBLE, sys.executable, "-m", "cluster_cells", json.dumps(asked)],
            env=self.environment | (environment or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def begun(self) -> list[tuple[str, str]]:
        """Cells that were begun, and by which actor."""
        log = Path(self.environment["CLUSTER_LOG"])
        return [tuple(line.split()) for line in log.read_text().splitlines()] if log.exists() else []


@pytest.fixture(scope="module")
def cluster():
    cluster = Cluster()
    try:
        cluster.open()
        cluster.join()
        yield cluster
    finally:
        cluster.close()


def records(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "records").rglob("*.json")}


def answer(driver: subprocess.Popen) -> tuple[int, dict, str]:
    out, err = driver.communicate(timeout=PATIENCE)
    return driver.returncode, json.loads(out) if out.startswith("{") else {}, err


def test_a_node_dies_and_nothing_is_lost(cluster, tmp_path):
    """Three nodes: one that lives, one that is killed within its cells, and one whose recombine is not ours."""
    other = shutil.copytree(SOURCE, tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    with open(other / "recombine" / "errors.py", "a") as file:
        file.write("# another line\n")
    helpers = shutil.copytree(HELPERS, tmp_path / "tests" / "helpers")  # it looks for the source beside itself
    stranger = cluster.join(PYTHONPATH=os.pathsep.join(map(str, (other, helpers))))
    doomed = cluster.join(cpus=2)
    cells = 16
    changes = {"cells": cells, "seconds": 1.5, "programs": 4}  # long: a node is not to be killed between its cells
    driver = cluster.drive(out=str(tmp_path / "run"), changes=changes)
    here = cluster.drive({"CLUSTER_LOG": ""}, out=str(tmp_path / "here"), changes=changes, engine="inprocess")
    # three actors at work: one of the node that lives, two of the one that dies
    until("three actors", lambda: driver.poll() is not None or len({actor for _, actor in cluster.begun()}) == 3)
    cluster.kill(doomed)
    code, failures, err = answer(driver)
    assert code == 0 and failures == {}, err
    assert "would mix results of two versions: code" in err, err
    assert "lost an actor; what ran there runs again elsewhere" in err, err
    cluster.leave(stranger)
    begun = [number for number, _ in cluster.begun()]
    assert len(set(begun)) == cells < len(begun) <= cells + 2, "only what ran on the dead node ran again"
    assert answer(here)[0] == 0
    assert records(tmp_path / "run") == records(tmp_path / "here") and len(records(tmp_path / "run")) == cells


def test_a_study_of_nets_gives_the_same_bytes_as_in_this_process(cluster, tmp_path):
    """All but the seconds that things took."""
    changes = ["support=random,disconnected", "steps=20", "modules=6", "at_most=2", "width=16"]
    environment = cluster.environment | {"PYTHONPATH": str(SOURCE)}
    run = [sys.executable, "-m", "recombine", "run", "supports", "--scale", "smoke", "--seeds", "1", "--set", *changes]
    stores = []
    for engine in (f"ray:{cluster.address}", "inprocess"):
        folder = tmp_path / engine[:3]
        done = subprocess.run(
            [*run, "--engine", engine, "--out", str(folder), "--json"], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["study"] == "supports", "stdout is the result and nothing else"
        stores.append(sorted(Store.open(folder).records(), key=lambda record: record.cell.id))
    untimed = lambda facts: {name: value for name, value in facts.items() if "second" not in name}  # noqa: E731
    for a, b in zip(*stores, strict=True):
        assert (a.cell, a.rows, untimed(a.facts), a.provenance) == (b.cell, b.rows, untimed(b.facts), b.provenance)


def test_cells_that_misbehave_are_reported_and_the_others_finish(cluster, tmp_path):
    trouble = ["1:raise", "2:hang", "3:exit", "4:crash", "5:kill actor"]
    changes = {"cells": 7, "trouble": trouble, "programs": 1}
    code, failures, err = answer(cluster.drive(out=str(tmp_path / "run"), changes=changes, limits={"seconds": 6.0}))
    assert code == 3, err
    assert failures.pop("5").startswith("it lost its actor 3 times, the last time so: ")
    assert failures == {
        "1": "RuntimeError: this cell was asked to fail",
        "2": "it took longer than the limit of 6 s",
        "3": "its process ended with code 0 and no result",
        "4": "its process ended with code -9 (SIGKILL) and no result",
    }
    assert len(records(tmp_path / "run")) == 2


def test_ctrl_c_once_finishes_what_runs_and_twice_stops_now(cluster, tmp_path):
    for often, seconds, left in ((1, 1.5, 1), (2, 600.0, 0)):
        before = len(cluster.begun())
        folder = tmp_path / str(often)
        driver = cluster.drive(out=str(folder), changes={"cells": 30, "seconds": seconds})
        until("a cell", lambda before=before: len(cluster.begun()) > before)
        for _ in range(often):
            driver.send_signal(signal.SIGINT)
            time.sleep(0.3)
        code, _, err = answer(driver)
        assert code == 130, err
        assert len(records(folder)) == left, "what ran was finished" if left else "nothing was waited for"


def test_without_a_cluster_at_the_address_one_sentence_says_so(cluster, tmp_path):
    code, _, err = answer(cluster.drive(out=str(tmp_path / "run"), engine="ray:127.0.0.1:1"))
    assert code == 2 and "127.0.0.1:1" in err and "Traceback" not in err


def test_the_engine_is_what_its_name_says():
    from recombine.lab.driver.engines import parse_engine

    assert parse_engine("ray:auto").address == "auto"
    with pytest.raises(rc.UserError, match="client"):
        parse_engine("ray:ray://head:10001")
