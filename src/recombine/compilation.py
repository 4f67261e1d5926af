"""Compiled programs are kept on disk, so the second start of a study does not compile again."""

from __future__ import annotations

import functools
import gc
import hashlib
import os
import platform
from pathlib import Path

import jax

from .files import user_cache


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
