"""`open_source`: a path, a glob, several of them, or a table in memory, ready to be queried."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

from .base import MEMORY, Origin, Source
from .frames import from_frame
from .readers import from_files, from_patterns


@contextlib.contextmanager
def open_source(data: Any) -> Iterator[Source]:
    """The source for a path, a glob, a list of them, a table in memory (`from_frame` says which), or an origin."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="recombine-") as spill, duckdb.connect(":memory:") as connection:
        for setting in ("autoinstall_known_extensions", "autoload_known_extensions", "allow_community_extensions"):
            connection.execute(f"SET {setting}=false")
        connection.execute(f"SET memory_limit='{MEMORY}'")
        connection.execute("SET temp_directory=$folder", {"folder": spill})
        connection.execute("SET enable_progress_bar=false")
        if isinstance(data, Origin) and data.files:
            yield from_files(list(data.files), data.files[0].name, connection)
        elif isinstance(data, (str, os.PathLike)):
            yield from_patterns([str(data)], connection)
        elif _are_paths(data):
            yield from_patterns([str(one) for one in data], connection)
        else:
            yield from_frame(data.frame if isinstance(data, Origin) else data, connection)


def _are_paths(data: Any) -> TypeGuard[Sequence[str | os.PathLike]]:
    return isinstance(data, (list, tuple)) and all(isinstance(one, (str, os.PathLike)) for one in data)
