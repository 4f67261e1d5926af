"""Keepers: what a record keeps beside readings, by name; a study that draws something of its own registers one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..registry import Registry
from ..training import Items, Trained

#: (what was trained, what was asked about every combination) -> facts
keepers: Registry[Callable[[Trained, Items | None], dict[str, Any]]] = Registry("part of a record")
