"""A folder of this machine: files are written aside, fsynced, renamed."""

from __future__ import annotations

import contextlib
import os
import stat
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO

from ..machine.processes import Process, this_process
from .base import cannot_write
from .marks import marked, refuse_foreign

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

#: our own marker, by which what a crash left behind can be told from other files; the writer's name follows
TEMPORARY = ".recombine-tmp-"
ABANDONED = 24 * 3600  # seconds after which what a writer left that cannot be seen from here is abandoned
AT_ONCE = 8  # writers at once: a disk makes several files durable in about the time of one


class Disk:
    """What can fail. Tests put another in its place."""

    def write(self, file: BinaryIO, data: bytes) -> None:
        file.write(data)
        file.flush()

    def fsync(self, handle: int) -> None:
        os.fsync(handle)

    def replace(self, path: Path, to: Path) -> None:
        os.replace(path, to)

    def create(self, path: Path, data: bytes) -> None:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        try:
            os.write(handle, data)
        finally:
            os.close(handle)

    def unlink(self, path: Path) -> None:
        os.unlink(path)


DISK = Disk()


def write_whole(path: Path, data: bytes, disk: Disk = DISK, durable: bool = True) -> None:
    """Puts `data` at `path` so that no reader, and no crash, ever sees a part of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _put(path, data, disk, durable)
    if durable:
        _sync_folder(path.parent, disk)


def write_or_refuse(path: Path, data: bytes, force: bool = False, ours: bool = False) -> None:
    """`write_whole` for what a user asked to have written: one sentence on what is in the way.

    Args:
        path: of the file; one that we did not write, or that was changed since, is not replaced.
        data: its content, which gets a mark where its format has room for one.
        force: replace whatever is there.
        ours: something else vouches for what is there.
    """
    refuse_foreign(path, force, ours)
    try:
        write_whole(path, marked(data, path.suffix))
    except OSError as problem:
        raise cannot_write(path, problem) from problem


def temporary(folder: Path) -> Path:
    """A new name for what is being written to a folder; it says who writes."""
    return folder / f"{TEMPORARY}{this_process()}-{uuid.uuid4().hex[:12]}"


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """One thread of one process at a time is in here, per folder. The system lets go where a process dies.

    Where folders cannot be locked (Windows, some network drives) everybody comes in.
    """
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _put(path: Path, data: bytes, disk: Disk, durable: bool) -> None:
    aside = temporary(path.parent)
    try:
        with open(aside, "xb") as file:
            disk.write(file, data)
            if durable:
                disk.fsync(file.fileno())
        disk.replace(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            disk.unlink(aside)
        raise


def _sync_folder(folder: Path, disk: Disk) -> None:
    """The rename itself is made durable where folders can be synced."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            disk.fsync(handle)
        finally:
            os.close(handle)


class LocalFiles:
    """Files of a folder. The folder is made by the first write only: if it goes later, that is an error."""

    def __init__(self, root: Path, disk: Disk = DISK):
        self.root, self.disk = root, disk
        self.place = str(root)
        self._made = os.path.isdir(root)
        self._folders: set[Path] = set()

    def read(self, name: str) -> bytes:
        # a bare descriptor: a hundred thousand records are read this way
        handle = os.open(f"{self.place}/{name}", os.O_RDONLY)
        try:
            size = os.fstat(handle).st_size
            data = os.read(handle, size + 1)
            while more := os.read(handle, 1 << 20):
                data += more
            return data
        finally:
            os.close(handle)

    def write(self, name: str, data: bytes, durable: bool = True) -> None:
        path = self._path_to_write(name)
        _put(path, data, self.disk, durable)
        if durable:
            _sync_folder(path.parent, self.disk)

    def write_all(self, contents: Mapping[str, bytes]) -> None:
        paths = [(self._path_to_write(name), data) for name, data in contents.items()]
        if len(paths) == 1:
            _put(*paths[0], self.disk, True)
        else:
            with ThreadPoolExecutor(min(AT_ONCE, len(paths))) as pool:
                writes = [pool.submit(_put, path, data, self.disk, True) for path, data in paths]
            for write in writes:
                write.result()
        for folder in {path.parent for path, _ in paths}:
            _sync_folder(folder, self.disk)

    def create(self, name: str, data: bytes) -> bool:
        try:
            self.disk.create(self._path_to_write(name), data)
        except FileExistsError:
            return False
        return True

    def names(self, folder: str = "") -> list[str]:
        try:
            return [name for name in os.listdir(self.root / folder) if not name.startswith(TEMPORARY)]
        except FileNotFoundError:
            return []

    def exists(self, name: str) -> bool:
        try:
            os.stat(f"{self.place}/{name}")
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def move(self, name: str, to: str) -> None:
        self.disk.replace(self.root / name, self._path_to_write(to))

    def remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self.disk.unlink(self.root / name)

    def sweep(self) -> None:
        now = None
        for folder, _, names in os.walk(self.root):
            for name in names:
                if not name.startswith(TEMPORARY):
                    continue
                path = Path(folder, name)
                with contextlib.suppress(OSError):
                    facts = path.lstat()
                    if not stat.S_ISREG(facts.st_mode):
                        continue
                    writer = Process.parse(name.removeprefix(TEMPORARY).rpartition("-")[0])
                    alive = writer.alive if writer is not None else None
                    if alive is None:
                        now = now if now is not None else self._clock()
                        alive = now - facts.st_mtime < ABANDONED
                    if not alive:
                        self.disk.unlink(path)

    def _clock(self) -> float:
        """The time by the clock that dates the files, which may be a server's."""
        probe = temporary(self.root)
        try:
            probe.touch()
            return probe.stat().st_mtime
        except OSError:
            return 0.0  # then nothing is old
        finally:
            with contextlib.suppress(OSError):
                probe.unlink()

    def _path_to_write(self, name: str) -> Path:
        path = self.root / name
        if not self._made:
            self.root.mkdir(parents=True, exist_ok=True)
            self._made = True
        if path.parent != self.root and path.parent not in self._folders:
            path.parent.mkdir(exist_ok=True)  # and not its parents: a folder that was deleted is not made again
            self._folders.add(path.parent)
        return path
