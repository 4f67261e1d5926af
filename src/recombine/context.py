"""What a cell is given besides its settings, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Measured:
    """What a cell found: tidy readings, and facts worth keeping.

    Args:
        rows: one dictionary per reading, with "reading" and "value".
        facts: what else its record keeps, by name.

    Example:
        >>> from recombine.context import Measured
        >>> Measured([{"reading": "toss", "value": 1.0}], {"seconds": 0.1}).facts
        {'seconds': 0.1}
    """

    rows: list[dict[str, Any]]
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Context:
    """What a cell is given besides its settings.

    Args:
        progress: is called with a share and a note on the way.
        checkpoint: a folder of its own, DIR/checkpoints/ID; None for nowhere.

    Example:
        >>> from recombine.context import Context
        >>> toss({"options": {"bias": 0.9}}, Context()).rows
        [{'reading': 'toss', 'value': 0.9}]
    """

    progress: Callable[[float, str], None] = lambda share, note: None
    checkpoint: Path | None = None

    @property
    def nets(self) -> Path | None:
        """Where trained nets are kept and found, for all cells of a store: DIR/nets; None for nowhere."""
        return self.checkpoint.parent.with_name("nets") if self.checkpoint is not None else None
