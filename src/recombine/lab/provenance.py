"""Provenance: which versions on which hardware; no user, host or path."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import platform
from pathlib import Path

from ..machine.processes import cores


@functools.cache
def provenance() -> dict[str, str]:
    """Facts about this machine and software that a record carries."""
    import jax

    from ..machine.precision import resolve

    facts = {"python": platform.python_version(), "system": platform.system(), "machine": platform.machine()}
    for package in ("recombine", "jax", "jaxlib", "equinox", "optax", "numpy", "scipy"):
        facts[package] = importlib.metadata.version(package)
    info = Path("/proc/cpuinfo")
    models = []
    if info.exists():
        models = [
            line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
    facts["processor"] = models[0] if models else platform.processor() or "unknown"
    facts["cores"] = str(cores())
    facts["device"] = jax.devices()[0].device_kind
    facts["precision auto"] = resolve("auto")  # what it means here
    return facts


@functools.cache
def code_fingerprint() -> str:
    """A short hash of this package's source: two machines of one version may still run different code."""
    package = Path(__file__).parent.parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def about() -> dict[str, str]:
    """What is installed here, for who compares machines."""
    return provenance() | {"code": code_fingerprint()}
