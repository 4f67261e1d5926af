"""Probes: trained net -> readings. One file a probe."""

from .base import Readings as Readings
from .base import probes as registry
from .decodability import decodability as decodability

__all__ = [name for name in globals() if not name.startswith("_")]
