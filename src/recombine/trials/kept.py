"""Kept nets: the net after each stage of a trial, in one safetensors file, found by the hash of what made it.

    FOLDER/HASH.safetensors      arrays by leaf path: "scored/...", and "raw/..." where the two differ
    FOLDER/HASH.lock             who is training it now

The hash is of the world, the split, the stages so far, the seed, the precision, the version of this contract and the
source of worlds and nets that are not ours. So any cell of any study that begins in the same way finds it. Arrays that
a stage froze are not written: they are those of the stage before, whose file is read for them. Nothing here is worth a
run: what cannot be written is said in a sentence, what is damaged is set aside and made again. $RECOMBINE_NETS is how
many megabytes the shared folder may have; 0 keeps no nets at all.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any

import jax.numpy as jnp
import numpy as np

from .. import __version__
from ..errors import UserError, require_number
from ..files import temporary, user_cache, write_whole
from ..files.arrays import pack, set_aside, unpack
from ..files.foreign_json import parsed_json
from ..files.local import ABANDONED, alone_in
from ..machine.processes import Process, this_process
from ..nets import Net, Parts, cut, join
from ..nets.parts import Arrays
from ..training import Member

VERSION = 3  # of what a training gives for the same data; raise it when numbers change
MOST_MEGABYTES = 2000.0  # of nets in the shared folder; the ones used longest ago go first
LOOK_AGAIN = 0.2  # seconds between two looks at a lock


def key_of(made_by: dict[str, Any], stages: int) -> str:
    """The name of the net after the first `stages` stages of what a trial is made by."""
    parts = made_by | {"stages": made_by["stages"][:stages], "version": [__version__, VERSION]}
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class KeptNets:
    """Nets in a folder, and in a second one that studies share, if there is one."""

    folder: Path
    shared: Path | None = None
    most_megabytes: float | int = MOST_MEGABYTES

    @classmethod
    def beside(cls, folder: Path) -> KeptNets | None:
        """In a folder of a store, and in this user's cache; None where no nets are to be kept."""
        most = allowed_megabytes()
        return cls(folder, shared_folder(), most) if most else None

    def find(self, key: str) -> Path | None:
        """The file of a net, here or in the shared folder."""
        for folder in (self.folder, self.shared):
            if folder is not None and (path := folder / f"{key}.safetensors").exists():
                return path
        return None

    def load(self, key: str, fresh: Callable[[], Net]) -> Member | None:
        """The member that was kept, None if there is none. A damaged file is named, set aside, and counts as none.

        fresh: makes a net with its shapes, and with what is frozen in it.
        """
        path = self.find(key)
        if path is None:
            return None
        try:
            arrays, notes = unpack(path)
            made_by = parsed_json(notes["made_by"])
            if key_of(made_by, len(made_by["stages"])) != key:
                raise ValueError("it is the net of another trial")
            member = member_of(notes, arrays, fresh())
        except (ValueError, KeyError, TypeError, RecursionError) as problem:
            set_aside(path, "the kept net", f"{problem}; it is made again")
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # it was used: others go first
            if path.parent != self.folder:  # so that a store has the nets of its cells, whatever the cache loses
                self.folder.mkdir(parents=True, exist_ok=True)
                os.link(path, self.folder / path.name)
        return member

    def save(self, key: str, member: Member, made_by: dict[str, Any]) -> None:
        """Writes a member whole, with what made it; a full disk costs a sentence and not the run."""
        scored, raw = cut(member.net).trained, cut(member.raw).trained
        arrays = {f"scored/{path}": np.asarray(leaf) for path, leaf in scored.items()}
        if any(scored[path] is not raw[path] for path in raw):
            arrays |= {f"raw/{path}": np.asarray(leaf) for path, leaf in raw.items()}
        facts = {
            "seed": member.seed,
            "history": member.history,
            "diverged_at": member.diverged_at,
            "seconds": member.seconds,
            "steps_per_second": member.steps_per_second,
            "compile_seconds": member.compile_seconds,
        }
        path = self.folder / f"{key}.safetensors"
        try:
            notes = {"member": json.dumps(facts), "made_by": json.dumps(made_by)}
            write_whole(path, pack(arrays, notes), durable=False)
        except OSError as problem:
            warnings.warn(f"the net {path} was not kept: {problem.strerror}", stacklevel=2)
            return
        try:
            self._share(path)
        except OSError as problem:
            warnings.warn(
                f"the net {path} is kept, and not shared in {self.shared}: {problem.strerror}; `recombine clean` makes "
                "room there",
                stacklevel=2,
            )

    def _share(self, path: Path) -> None:
        """The same file in the shared folder, which is then brought below its most."""
        if self.shared is None or self.shared == self.folder:
            return
        self.shared.mkdir(parents=True, exist_ok=True)
        other, aside = self.shared / path.name, temporary(self.shared)
        try:
            os.link(path, aside)
            os.replace(aside, other)
        except OSError:  # another file system
            write_whole(other, path.read_bytes(), durable=False)
        remove_oldest(self.shared, self.most_megabytes)

    @contextlib.contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Waits until nobody else trains this net, and holds the lock while the block runs.

        The holder is a process; one that is gone, or that cannot be seen from here for a day, holds nothing.
        """
        path = (self.shared or self.folder) / f"{key}.lock"
        held = False
        try:
            while not (held := _take(path)):
                time.sleep(LOOK_AGAIN)
        except OSError:
            held = False  # a folder that cannot be written: two may train the same net, and both are right
        try:
            yield
        finally:
            if held:
                _release(path)


def _take(path: Path) -> bool:
    """Whether the lock is ours now. It appears whole: written aside, then linked to its name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = temporary(path.parent)
    try:
        aside.write_text(f"{this_process()} {threading.get_ident()}")
        os.link(aside, path)
        return True
    except FileExistsError:
        _break_if_abandoned(path)
        return False
    finally:
        with contextlib.suppress(OSError):
            aside.unlink()


def _break_if_abandoned(path: Path) -> None:
    """Removes the lock of a holder that is gone. One at a time looks and removes: of two that saw the same dead holder,
    the slower one would otherwise remove the lock that a third has taken meanwhile."""
    with contextlib.suppress(OSError), alone_in(path.parent):
        text, since = path.read_text(), path.stat().st_mtime
        holder = Process.parse(text.partition(" ")[0])
        alive = holder.alive if holder is not None else None
        if alive or (alive is None and abs(time.time() - since) < ABANDONED):  # a date far ahead: the clock jumped
            return
        path.unlink()


def _release(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.read_text() == f"{this_process()} {threading.get_ident()}":
            path.unlink()


def member_of(notes: dict[str, str], arrays: dict[str, np.ndarray], fresh: Net) -> Member:
    """The member that a file holds, on the shapes and the frozen arrays of a fresh net; a ValueError if it does not."""
    facts, parts = _facts(parsed_json(notes["member"], nan=True)), cut(fresh)

    def net(kind: str) -> Net:
        found: Arrays = {
            path: jnp.asarray(arrays[f"{kind}/{path}"], leaf.dtype) for path, leaf in parts.trained.items()
        }
        for path, leaf in parts.trained.items():
            if found[path].shape != leaf.shape:
                raise ValueError(f"{path} has shape {found[path].shape}, not {leaf.shape}")
        return join(Parts(found, parts.frozen, parts.static))

    scored = net("scored")
    raw = net("raw") if any(name.startswith("raw/") for name in arrays) else scored
    return Member(net=scored, raw=raw, **facts)


def _facts(facts: Any) -> dict[str, Any]:
    """What a file says of its member, checked: it may have come from anywhere."""
    kinds = {
        "seed": int,
        "history": list,
        "diverged_at": (int, NoneType),
        "seconds": (int, float),
        "steps_per_second": (int, float),
        "compile_seconds": (int, float),
    }
    if not isinstance(facts, dict) or set(facts) != set(kinds):
        raise ValueError("it does not say what its member is")
    for name, kind in kinds.items():
        if not isinstance(facts[name], kind) or isinstance(facts[name], bool):
            raise ValueError(f"its {name} is {str(facts[name])[:40]!r}")
    if not all(isinstance(row, dict) and isinstance(row.get("step"), int) for row in facts["history"]):
        raise ValueError("its history has no steps")
    return facts


def shared_folder() -> Path | None:
    """Where nets of all studies of this user are found."""
    base = user_cache()
    return base / "nets" if base else None


def allowed_megabytes() -> float:
    """What the shared folder may have, from $RECOMBINE_NETS; 0: nothing is kept."""
    chosen = os.environ.get("RECOMBINE_NETS")
    if chosen is None:
        return MOST_MEGABYTES
    try:
        return require_number("RECOMBINE_NETS", float(chosen), at_least=0)
    except ValueError:
        raise UserError(
            f"RECOMBINE_NETS={chosen!r} is no number of megabytes; 0 keeps no nets, 2000 is usual"
        ) from None


def megabytes(folder: Path) -> float:
    """How much the nets of a folder take, damaged ones among them."""
    return sum(size for _, size, _ in _files(folder)) / 2**20


def remove_oldest(folder: Path, most: float) -> int:
    """Removes the nets that were used longest ago until the rest takes at most so many megabytes; how many went."""
    found = sorted(_files(folder))
    total, gone = sum(size for _, size, _ in found), 0
    for _, size, path in found:
        if total <= most * 2**20:
            break
        with contextlib.suppress(OSError):
            path.unlink()
            total, gone = total - size, gone + 1
    return gone


def _files(folder: Path) -> list[tuple[float, int, Path]]:
    """When each net was last used, its bytes, and where it is; what vanishes meanwhile is not there."""
    found = []
    for path in (*folder.glob("*.safetensors"), *folder.glob("*.damaged")):
        with contextlib.suppress(OSError):
            about = path.stat()
            # damaged ones are of no use: they go first
            found.append((about.st_mtime if path.suffix == ".safetensors" else 0.0, about.st_size, path))
    return found
