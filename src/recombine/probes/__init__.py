"""Probes: trained net -> readings. One file a probe."""

from .base import Readings as Readings
from .base import probes as registry  # noqa: F401
from .decodability import decodability as decodability
