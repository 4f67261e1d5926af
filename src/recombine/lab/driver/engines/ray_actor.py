"""The Ray actor: what runs on a node of a cluster, one for each worker process.

It starts the worker of `lab/driver/worker.py` beside itself, hands it cells as lines of JSON, passes on what it says,
and ends it beyond a limit. Its classes are made inside functions, so that they travel as they are: a node runs them
with nothing but Python's own library, finds out by itself whether recombine is there, and holds jax in memory once
and not twice.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

#: settings of a node that can change numbers and are no versions
SETTINGS = ("XLA_FLAGS", "JAX_ENABLE_X64", "JAX_PLATFORMS", "JAX_DEFAULT_MATMUL_PRECISION")


def started_class() -> type:
    """What starts a worker process, writes to it and listens to it."""

    class Started:
        end: Any  # of the half below

        def __init__(self, module: str, arguments: tuple[str, ...]):
            self.module, self.arguments = module, arguments
            self.process: Any = None
            self.lines: Any = None
            self.reader: Any = None

        def start(self, ask: bool) -> bytes:
            """Starts the worker. Answers that it is `ready`, with what is installed there if asked; or how it `ended`.

            Started by the thread that lives as long as the actor: the worker ends with the thread that started it.
            """
            names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", self.module, str(os.getpid()), *self.arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | dict.fromkeys(names, "1"),
                start_new_session=True,
            )
            self.lines = queue.SimpleQueue()
            self.reader = threading.Thread(target=self.listen, args=(self.process.stdout, self.lines), daemon=True)
            self.reader.start()
            if ask:
                self.write({"about": True})
            while (line := self.lines.get()) is not None:
                event = json.loads(line)
                if event["event"] == "about":
                    settings = {name: os.environ.get(name, "") for name in SETTINGS}
                    return json.dumps({"event": "ready", "facts": event["facts"], "settings": settings}).encode()
                if event["event"] == "ready" and not ask:
                    return line
            return json.dumps({"event": "ended", "code": self.end(), "python": sys.executable}).encode()

        def write(self, order: dict[str, Any]) -> None:
            with contextlib.suppress(BrokenPipeError):  # it died just now: `listen` says so
                self.process.stdin.write(json.dumps(order).encode() + b"\n")
                self.process.stdin.flush()

        @staticmethod
        def listen(pipe: Any, lines: Any) -> None:
            for line in pipe:
                if line.endswith(b"\n"):  # else the last word of a dying process
                    lines.put(line)
            lines.put(None)

    return Started


def process_class() -> type:
    """The half that has a worker process: started, written to, listened to, weighed and ended."""
    base: Any = started_class()

    class OneProcess(base):
        process: Any

        def resident(self) -> int:
            """Bytes of memory of the worker; 0 where the system does not tell."""
            with contextlib.suppress(OSError, IndexError), open(f"/proc/{self.process.pid}/statm", "rb") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            return 0

        def end(self, kill: bool = True) -> int:
            """Ends the worker and what it started, or waits for one that ended by itself; its exit code."""
            process, self.process = self.process, None
            if kill:
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
            code = process.wait()
            self.reader.join(timeout=5)
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
            return code

        @staticmethod
        def how_it_ended(code: int) -> str:
            with contextlib.suppress(ValueError):
                if code < 0:
                    return f"its process ended with code {code} ({signal.Signals(-code).name}) and no result"
            return f"its process ended with code {code} and no result"

    return OneProcess


def limited_class() -> type:
    """What knows the limits of a cell, and whether the folder of the run is seen from this node."""
    base: Any = process_class()

    class Limited(base):
        def __init__(self, module: str, arguments: tuple[str, ...], seconds: float | None, memory: int | None):
            super().__init__(module, arguments)
            self.seconds, self.memory = seconds, memory

        def visible(self, work: dict[str, Any]) -> str | None:
            """The folder for the cell's states, if the run's own folder is seen from this node."""
            if not work["checkpoint"] or not work["proof"]:
                return None
            with contextlib.suppress(OSError), open(work["proof"]["path"], "rb") as file:
                if hashlib.sha256(file.read()).hexdigest() == work["proof"]["sha256"]:
                    return work["checkpoint"]
            return None

        def beyond(self, seconds: float, size: int) -> str | None:
            if self.seconds is not None and seconds > self.seconds:
                return f"it took longer than the limit of {self.seconds:g} s"
            if self.memory is not None and size > self.memory:
                return f"it took more memory than the limit of {self.memory / 1e6:,.0f} MB"
            return None

        @staticmethod
        def failed(error: str) -> bytes:
            return json.dumps({"event": "failed", "error": error, "traceback": ""}).encode()

    return Limited


def actor_class() -> type:
    """The class, for `ray.remote`."""
    base: Any = limited_class()

    class RayActor(base):
        """One worker process and what it is doing. Everything that goes in and comes out is JSON in bytes."""

        def compute(self, order: bytes) -> Iterator[bytes]:
            """One cell: its progress, the memory it takes, and last its record or why there is none."""
            work = json.loads(order)
            if self.process is None:
                event = json.loads(self.start(ask=False))
                if event["event"] != "ready":
                    yield self.failed(f"its process ended with code {event['code']} before it could begin")
                    return
            self.write({"cell": work["cell"], "checkpoint": self.visible(work)})
            begun = reported = weighed = time.monotonic()
            progress = b""
            while True:
                try:
                    line = self.lines.get(timeout=0.1)
                except queue.Empty:
                    line = b""
                if line is None:
                    yield self.failed(self.how_it_ended(self.end(kill=False)))
                    return
                if line:
                    event = json.loads(line)["event"]
                    if event in ("done", "failed"):
                        yield line
                        return
                    progress = line if event == "progress" else progress
                now, size = time.monotonic(), self.resident()
                beyond = self.beyond(now - begun, size)
                if beyond:
                    self.end()
                    yield self.failed(beyond)
                    return
                if progress and now - reported > 0.2:  # the latest is enough for who looks on
                    yield progress
                    progress, reported = b"", now
                if now - weighed > 2:
                    yield json.dumps({"event": "memory", "bytes": size}).encode()
                    weighed = now

    return RayActor
