"""What the tests of faults share: drivers as processes, disks that fail, and what must be true of a store after."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from interruptible import INTERRUPTIBLE
from light import Logged

from recombine.files import TEMPORARY, Disk
from recombine.lab.driver.run import run_study
from recombine.lab.store import Store

HERE = Path(__file__).parent


# -- drivers ----------------------------------------------------------------------------------------------------------
def environment(**more: str) -> dict[str, str]:
    """For processes that find the light lab."""
    return os.environ | {"PYTHONPATH": str(HERE)} | more


class Driver:
    """A run in a process of its own."""

    def __init__(self, out: str | Path, log: Path | None = None, **asked: Any):
        asked = {"out": str(out), "engine": "local:2", "seeds": 1} | asked
        self.process = subprocess.Popen(
            [*INTERRUPTIBLE, sys.executable, "-m", "light_run", json.dumps(asked)],
            env=environment(**({"FAULTS_LOG": str(log)} if log else {})),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait(self, timeout: float = 300) -> tuple[int, str, str]:
        """Exit code, stdout and stderr."""
        try:
            out, err = self.process.communicate(timeout=timeout)
        finally:
            self.process.kill()
        return self.process.returncode, out, err

    def workers(self) -> list[int]:
        return children(self.process.pid)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


def children(pid: int) -> list[int]:
    """Processes that a process started (Linux)."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, IndexError, ValueError):
            if entry.name.isdecimal() and int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry.name))
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def until(true: Callable[[], Any], seconds: float = 120.0, every: float = 0.01) -> Any:
    """Waits until something is true; fails if it does not become so."""
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(every)
    return found


# -- disks ------------------------------------------------------------------------------------------------------------
class PowerCut(BaseException):
    """Nothing happens after it, not even tidying up."""


class FailingDisk(Disk):
    """Counts what it is asked to do and fails at the Nth; `power` means for good and without mercy."""

    def __init__(self, at: int, code: int = errno.EIO, power: bool = False):
        self.at, self.code, self.power = at, code, power
        self.asked = 0

    def _count(self) -> None:
        self.asked += 1
        if self.asked == self.at or (self.power and self.asked > self.at):
            raise PowerCut if self.power else OSError(self.code, os.strerror(self.code))

    def write(self, file, data):
        try:
            self._count()
        except BaseException:
            file.write(data[: len(data) // 2])  # what was written until then
            file.flush()
            raise
        super().write(file, data)

    def fsync(self, handle):
        self._count()
        super().fsync(handle)

    def replace(self, path, to):
        self._count()
        super().replace(path, to)

    def create(self, path, data):
        self._count()
        super().create(path, data)

    def unlink(self, path):
        if self.power and self.asked >= self.at:
            raise PowerCut
        super().unlink(path)


class FullDisk(Disk):
    """Takes so many bytes and no more."""

    def __init__(self, free: int):
        self.free = free

    def write(self, file, data):
        if len(data) > self.free:
            super().write(file, data[: self.free])
            self.free = 0
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.free -= len(data)
        super().write(file, data)

    def create(self, path, data):
        if not self.free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().create(path, data)


class ReadOnlyDisk(Disk):
    """Takes nothing."""

    def _refuse(self, *_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    write = fsync = replace = create = unlink = _refuse


# -- what must be true ------------------------------------------------------------------------------------------------
def undisturbed(folder: Path, **asked: Any) -> dict[str, bytes]:
    """Records by name, of a run without faults."""
    run_study(Logged(), "smoke", out=folder, quiet=True, **asked)
    return records(folder)


def records(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "records").glob("*") if path.suffix == ".json"}


def left_over(folder: Path) -> list[str]:
    """What only somebody at work should have: temporary files, claims, drivers."""
    names = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
    return [n for n in names if Path(n).name.startswith(TEMPORARY) or n.startswith(("locks/", "drivers/"))]


def assert_whole(folder: Path, expected: dict[str, bytes]) -> None:
    """What is there is part of the undisturbed run, byte for byte, and nothing is torn."""
    if (folder / "store.json").exists():
        assert len(Store.open(folder).records()) == len(records(folder))  # a damaged one would be a warning: an error
    there = records(folder)
    assert there.items() <= expected.items(), sorted(there.keys() - expected.keys())


def completions(log: Path) -> Counter[str]:
    """How often each cell ran to its end."""
    return Counter(log.read_text().split()) if log.exists() else Counter()


@contextlib.contextmanager
def another_process() -> Iterator[None]:
    """This process counts as another one, which started later: what it did before is a dead one's."""
    from recombine.machine import processes

    before = processes._start_of
    processes._start_of = lambda pid: f"{before(pid)}9" if pid == os.getpid() else before(pid)
    processes._this.cache_clear()
    try:
        yield
    finally:
        processes._start_of = before
        processes._this.cache_clear()
