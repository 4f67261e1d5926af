"""Locks: two drivers on one store do not compute the same cell, and a dead one holds nothing up.

    drivers/DRIVER.json   a driver at work: which process, a number that it raises every few seconds, how far it is
    locks/CELL.json        a cell that is being computed, and the driver that does it

A driver is dead if its file is gone, if its process is seen to have ended (by number and start, so a reused number does
not deceive), or, on another machine, if its number was not raised for a minute by the clock of who looks: the clocks of
two machines are never compared. Locks save work and protect nothing: a record is whole whoever writes it, and a cell
that is computed twice gives the same one.
"""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from collections.abc import Callable
from types import NoneType
from typing import Any

from ...files import Files, LocalFiles
from ...files.foreign_json import NotJson, parsed_json, require_fields
from ...machine.processes import Process, this_process
from ..cells import Cell, canonical

BEAT = 2.0  # seconds; five times that where each beat is a request
#: what a driver says of itself, beside its process
SAID = {
    "beat": int,
    "total": int,
    "done": int,
    "running": list,
    "rate": (int, float, NoneType),
    "seconds_left": (int, float, NoneType),
    "memory": (int, float, NoneType),
}
_OURS: set[str] = set()  # drivers at work in this process
PATIENCE = 60.0  # seconds without a beat until a driver on another machine counts as dead


class Watch:
    """Tells which drivers of a store are at work, by what their files say, read now and then."""

    def __init__(self, files: Files, clock: Callable[[], float] = time.monotonic):
        self.files, self.clock = files, clock
        self._seen: dict[str, tuple[Any, float]] = {}

    def driver(self, id: str) -> dict[str, Any] | None:
        """What a driver says of itself, None if it is dead."""
        try:
            said = require_fields(parsed_json(self.files.read(f"drivers/{id}.json")), {"process": str})
            require_fields(said, SAID, optional=True)
            if not all(isinstance(label, str) for label in said.get("running", [])):
                raise NotJson("what it runs has no names")
            process = Process.parse(said["process"])
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            return {} if self._moves(id, "damaged") else None
        alive = process.alive if process is not None else None
        if process == this_process():
            alive = id in _OURS
        if alive is None:
            alive = self._moves(id, said.get("beat"))
        return said if alive else None

    def drivers(self) -> dict[str, dict[str, Any]]:
        """Drivers at work, by id."""
        ids = [name.removesuffix(".json") for name in self.files.names("drivers")]
        return {id: said for id in ids if (said := self.driver(id)) is not None}

    def owner(self, cell: str) -> str | None:
        """The living driver that computes a cell, by id; None if there is none, "" if it is not known yet."""
        try:
            id = require_fields(parsed_json(self.files.read(f"locks/{cell}.json")), {"driver": str})["driver"]
        except FileNotFoundError:
            return None
        except (OSError, ValueError):  # being written just now, or cut off by a crash
            return "" if self._moves(cell, "damaged", 5.0) else None
        return id if self.driver(id) is not None else None

    def clear_dead(self) -> None:
        """Removes what dead drivers left."""
        living = self.drivers()
        for name in self.files.names("drivers"):
            if name.removesuffix(".json") not in living:
                self.files.remove(f"drivers/{name}")
        for name in self.files.names("locks"):
            if self.owner(name.removesuffix(".json")) is None:
                self.files.remove(f"locks/{name}")

    def _moves(self, id: str, beat: Any, patience: float = PATIENCE) -> bool:
        now = self.clock()
        before, since = self._seen.get(id, (None, now))
        if id not in self._seen or before != beat:
            since = now
        self._seen[id] = (beat, since)
        return now - since < patience


class Locks:
    """What this driver has locked in a store, from `open` to `close`. `tell` gives what it says of itself."""

    def __init__(self, files: Files, tell: Callable[[], dict[str, Any]] = dict):
        self.files, self.tell = files, tell
        self.id = uuid.uuid4().hex[:12]
        self.watch = Watch(files)
        self.refused_by: dict[str, str] = {}  # driver by cell
        self._held: set[str] = set()
        self._over = threading.Event()
        self._beat = 0
        self._heart = threading.Thread(target=self._keep_beating, daemon=True)

    def open(self) -> None:
        """Says that we are at work."""
        _OURS.add(self.id)
        self._say()
        self._heart.start()

    def lock(self, cell: Cell) -> bool:
        """Whether the cell is ours to compute: nobody else does, and it has no record."""
        name, mine = f"locks/{cell.id}.json", canonical({"driver": self.id}).encode()
        if not self.files.create(name, mine):
            owner = self.watch.owner(cell.id)
            if owner is not None:
                self.refused_by[cell.id] = owner
                return False
            self.files.remove(name)  # of a dead driver; if two come here at once, the cell is computed twice at worst
            if not self.files.create(name, mine):
                return False
        self._held.add(cell.id)
        if self.files.exists(f"records/{cell.id}.json"):
            self.release(cell)
            return False
        return True

    def release(self, cell: Cell) -> None:
        """The cell has a record, or is not being computed any more."""
        if cell.id in self._held:
            self._held.discard(cell.id)
            self.files.remove(f"locks/{cell.id}.json")

    def close(self) -> None:
        """Gives everything back."""
        _OURS.discard(self.id)
        self._over.set()
        if self._heart.is_alive():
            self._heart.join()
        with contextlib.suppress(OSError):  # a folder that is gone holds no locks
            for id in sorted(self._held):
                self.files.remove(f"locks/{id}.json")
            self.files.remove(f"drivers/{self.id}.json")

    def _say(self) -> None:
        self._beat += 1
        said = {"process": str(this_process()), "beat": self._beat, **self.tell()}
        self.files.write(f"drivers/{self.id}.json", canonical(said).encode(), durable=False)

    def _keep_beating(self) -> None:
        every = BEAT if isinstance(self.files, LocalFiles) else 5 * BEAT
        while not self._over.wait(every):
            with contextlib.suppress(OSError):  # who cannot write does not count as alive; its records say more
                self._say()
