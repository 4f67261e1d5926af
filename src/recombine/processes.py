"""Which process is which: a name that tells a living process from a dead one whose number was given to another."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import subprocess
import uuid
from dataclasses import dataclass


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


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


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
        told = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, timeout=5).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _short(told.decode("ascii", "replace")) if told else None


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def _read(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""
