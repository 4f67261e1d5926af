"""Which process is which: a name that tells a living process from a dead one whose number was given to another.

And how many cores this process may use, which is often less than the machine has, and linear algebra on one of them.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import subprocess
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any


@dataclass(frozen=True)
class Process:
    """A process of some machine. Machines are known by a hash: no name of a host leaves this one."""

    machine: str
    boot: str  # of the machine: after another boot all processes are others
    space: str  # of process numbers: containers have their own
    pid: int
    start: str  # when it started, as the system tells it: numbers are given again, together with this they are not

    def __str__(self) -> str:
        return ".".join((self.machine, self.boot, self.space, str(self.pid), self.start))

    @classmethod
    def parse(cls, text: str) -> Process | None:
        """What `str` gave, or None."""
        parts = text.split(".")
        if len(parts) != 5 or not parts[3].isdecimal():
            return None
        return cls(parts[0], parts[1], parts[2], int(parts[3]), parts[4])

    @property
    def alive(self) -> bool | None:
        """Whether it runs; None if that cannot be seen from here."""
        here = this_process()
        if self.machine != here.machine:
            return None
        if self.boot != here.boot:
            return False
        if self.space != here.space:
            return None
        return _start_of(self.pid) == self.start


def this_process() -> Process:
    """The process that asks."""
    return _this(os.getpid())


@functools.cache
def _this(pid: int) -> Process:
    machine = "|".join((platform.node(), _read("/etc/machine-id"), str(uuid.getnode())))
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    boot = _read("/proc/sys/kernel/random/boot_id")
    return Process(_short(machine), _short(boot), _short(space), pid, _start_of(pid) or "0")


def _start_of(pid: int) -> str | None:
    """When a process started, None if there is none. A zombie has ended."""
    if os.path.isdir("/proc/self"):
        fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
        return None if len(fields) < 20 or fields[0] in "ZX" else fields[19]
    try:
        printed = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, timeout=5).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _short(printed.decode("ascii", "replace")) if printed else None


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


# -- cores ------------------------------------------------------------------------------------------------------------
def cores() -> int:
    """Cores that this process may use: those it is bound to, and no more than its container's share of time."""
    if hasattr(os, "process_cpu_count"):  # Python 3.13
        bound = os.process_cpu_count()  # type: ignore[attr-defined]
    elif hasattr(os, "sched_getaffinity"):
        bound = len(os.sched_getaffinity(0))
    else:
        bound = os.cpu_count()
    quota = cpu_quota()
    return max(1, min(bound or 1, int(quota) if quota is not None else bound or 1))


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Products of NumPy and SciPy on one thread, in here: threads that wait for each other by spinning take many times
    as long where the cores are busy. Workers are started so; this is for what runs in the user's own process.
    """
    with _blas().limit(limits=1, user_api="blas"):
        yield


@functools.cache
def _blas() -> Any:
    """The libraries of linear algebra that are loaded; looking for them takes milliseconds."""
    import scipy.linalg  # noqa: F401  (its library is not NumPy's, and must be loaded to be found)
    import threadpoolctl

    return threadpoolctl.ThreadpoolController()


def cpu_quota(root: str = "/") -> float | None:
    """Cores' worth of time that control groups allow this process; None where nothing is limited.

    A group is limited by those around it, too, so the least of all up to the root counts. Inside a container the path
    of the group may be one of the host's that is not there; the root is then the container's own group.
    """
    found = []
    for line in _read(f"{root}/proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if controllers and "cpu" not in controllers.split(","):
            continue
        inside = PurePosixPath(group.lstrip("/"))
        # version 2 names no controllers here and has one tree; a tree of version 1 may be called by one of several
        for tree in {controllers, "cpu"} if controllers else {""}:
            for place in (inside, *inside.parents):
                at = Path(root, "sys/fs/cgroup", tree, place)
                found.append(_version_1(at) if controllers else _version_2(at))
    limits = [limit for limit in found if limit is not None]
    return min(limits) if limits else None


def _version_2(group: Path) -> float | None:
    quota, _, period = _read(str(group / "cpu.max")).strip().partition(" ")
    return _ratio(quota, period)


def _version_1(group: Path) -> float | None:
    return _ratio(_read(str(group / "cpu.cfs_quota_us")).strip(), _read(str(group / "cpu.cfs_period_us")).strip())


def _ratio(quota: str, period: str) -> float | None:
    """Cores from microseconds of time in each period; "max", -1 and what cannot be read are no limit."""
    if not (quota.isdecimal() and period.isdecimal() and int(period) > 0):
        return None
    return int(quota) / int(period)
