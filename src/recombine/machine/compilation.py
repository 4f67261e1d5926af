"""Compiled programs are kept on disk, so the second start of a study does not compile again."""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import os
import platform
from pathlib import Path
from typing import Any

import jax

from ..files import user_cache


def cache_folder() -> Path | None:
    """Where programs are kept, None for nowhere."""
    base = user_cache()
    # Machine code of one processor must not be loaded on another, e.g. from a shared home folder.
    return base / f"programs-{_processor()}" if base else None


@functools.cache
def enable_cache() -> None:
    """Turns the cache on, unless the user has pointed jax at one already or the folder cannot be written."""
    folder = cache_folder()
    if folder is None or jax.config.jax_compilation_cache_dir:  # type: ignore[attr-defined]
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return  # a cache is a convenience: without it everything works, only later
    if not os.access(folder, os.W_OK):
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    # The default also keeps XLA's own autotuning files, whose absolute path would enter the cache key.
    jax.config.update("jax_persistent_cache_enable_xla_caches", "none")
    replace_damaged(folder)


def replace_damaged(folder: Path) -> None:
    """Makes jax take an entry that it cannot read for one that is not there, so that it is compiled and written again.

    jax itself leaves it where it is and warns at every start. It has no setting for this: its reading function is
    wrapped, where it has the one that we know.
    """
    try:
        from jax._src import compilation_cache as cache

        read = cache.get_executable_and_time
    except (ImportError, AttributeError):
        return
    if getattr(read, "replaces_damaged", False):
        return

    @functools.wraps(read)
    def reading(key: str, *arguments: Any, **options: Any) -> Any:
        try:
            return read(key, *arguments, **options)
        except Exception:
            for ending in ("-cache", "-atime"):
                with contextlib.suppress(OSError):
                    (folder / f"{key}{ending}").unlink()
            return None, None

    reading.replaces_damaged = True  # type: ignore[attr-defined]
    cache.get_executable_and_time = reading


#: a compiled program takes a dozen of the 65,530 memory maps that Linux gives a process, and one too many ends it
MOST_MAPS = 30_000


def let_go_of_programs() -> bool:
    """Forgets compiled programs where a process has too many; those still needed come from disk. Whether it did."""
    maps = Path("/proc/self/maps")
    try:
        too_many = maps.read_bytes().count(b"\n") > MOST_MAPS
    except OSError:
        return False  # no such limit here, or it cannot be seen
    if too_many:
        jax.clear_caches()
        gc.collect()
    return too_many


def _processor() -> str:
    facts = [platform.machine(), jax.__version__]
    info = Path("/proc/cpuinfo")
    if info.exists():
        text = info.read_text()
        facts += sorted({line for line in text.splitlines() if line.startswith(("model name", "flags", "Features"))})
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()[:12]
