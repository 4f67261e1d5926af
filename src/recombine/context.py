"""What a cell is given besides its settings, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Measured:
    """What a cell found: tidy readings, and facts worth keeping."""

    rows: list[dict[str, Any]]
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Context:
    """What a cell is given besides its settings."""

    progress: Callable[[float, str], None] = lambda share, note: None
    checkpoint: Path | None = None  # a folder of its own, DIR/checkpoints/ID

    @property
    def nets(self) -> Path | None:
        """Where trained nets are kept and found, for all cells of a store: DIR/nets; None for nowhere."""
        return self.checkpoint.parent.with_name("nets") if self.checkpoint is not None else None
