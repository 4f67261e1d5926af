"""Files of a URL, through fsspec: object stores, where a put is whole or absent and nothing can be renamed."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator, Mapping
from typing import Any

from ..errors import UserError, describe

#: where "create, if nothing is there" is one request; elsewhere it is looked at again after writing
CONDITIONAL = frozenset({"s3", "s3a", "gs", "gcs"})


class RemoteFiles:
    """Files below a URL. What a listing said is never remembered: others write there, too."""

    def __init__(self, url: str):
        self.place = url.rstrip("/")
        protocol = url.partition("://")[0]
        try:
            import fsspec

            self.system, self.root = fsspec.core.url_to_fs(
                self.place, use_listings_cache=False, skip_instance_cache=True
            )
        except ImportError as problem:
            needed = problem.name or "a package of fsspec's"
            if protocol in ("s3", "s3a") or needed == "fsspec":
                raise UserError(f"{url} needs {needed}; pip install 'recombine[s3]' brings it") from None
            raise UserError(f"{url} needs a package that is not installed: {describe(problem)}") from None
        except ValueError as problem:
            raise UserError(f"{url} is no place that can be written: {describe(problem)}") from None
        except OSError as problem:
            raise UserError(f"{url} cannot be reached: {problem.strerror or describe(problem)}") from None
        self.conditional = protocol in CONDITIONAL

    def read(self, name: str) -> bytes:
        with _as_os_errors():
            return self.system.cat_file(self._at(name))

    def write(self, name: str, data: bytes, durable: bool = True) -> None:
        with _as_os_errors():
            self.system.pipe_file(self._at(name), data)

    def write_all(self, contents: Mapping[str, bytes]) -> None:
        with _as_os_errors():
            self.system.pipe({self._at(name): data for name, data in contents.items()})

    def create(self, name: str, data: bytes) -> bool:
        try:
            with _as_os_errors():
                if not self.conditional and self.system.exists(self._at(name)):
                    return False
                self.system.pipe_file(self._at(name), data, mode="create")
        except FileExistsError:
            return False
        return self.conditional or self.read(name) == data

    def names(self, folder: str = "") -> list[str]:
        try:
            with _as_os_errors():
                found: list[Any] = self.system.ls(self._at(folder) if folder else self.root, detail=False)
        except FileNotFoundError:
            return []
        return [name for path in found if (name := str(path).rstrip("/").rpartition("/")[2])]

    def exists(self, name: str) -> bool:
        with _as_os_errors():
            return bool(self.system.exists(self._at(name)))

    def move(self, name: str, to: str) -> None:
        self.write(to, self.read(name))
        self.remove(name)

    def remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError), _as_os_errors():
            self.system.rm_file(self._at(name))

    def sweep(self) -> None:
        """Nothing is ever half-written here."""

    def _at(self, name: str) -> str:
        return f"{self.root.rstrip('/')}/{name}"


@contextlib.contextmanager
def _as_os_errors() -> Iterator[None]:
    """Problems of networks and services, which have classes of their own, as what a disk would give."""
    try:
        yield
    except OSError as problem:
        if "PreconditionFailed" in str(problem) or problem.errno == errno.EEXIST:
            raise FileExistsError(errno.EEXIST, str(problem)) from None
        raise
    except Exception as problem:
        raise OSError(errno.EIO, describe(problem)) from problem
