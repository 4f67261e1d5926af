"""What the transformers that write sequences have in common: their sizes, and what is refused of them."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import UserError, require_int, unknown
from ..tasks import Task
from .base import Blueprint
from .layers.positions import POSITIONS
from .layers.sequence_block import BlockSizes
from .sequence_net import require_longest, require_sequences, require_truth, room_for


@dataclass(frozen=True)
class SequenceTransformer(Blueprint):
    """Sizes of a transformer that writes sequences; subclasses say what they are."""

    width: int = 128
    depth: int = 2
    heads: int = 4
    feedforward: int = 256
    positions: str = "sinusoidal"
    key_heads: int | None = None
    tied: bool = False
    longest: int | None = None

    def __post_init__(self):
        for name in ("width", "depth", "heads", "feedforward"):
            require_int(name, getattr(self, name), at_least=1)
        require_longest(self.longest)
        require_truth("tied", self.tied)
        if self.positions not in POSITIONS:
            raise unknown("kind of positions", self.positions, POSITIONS)
        width, heads = self.width, self.heads
        if width % (2 * heads):
            near = max(1, round(width / (2 * heads))) * 2 * heads
            raise UserError(
                f"width={width} does not give {heads} heads an even number of features each; {near} would do"
            )
        if self.key_heads is not None and heads % require_int("key_heads", self.key_heads, at_least=1):
            near = max(n for n in range(1, heads + 1) if heads % n == 0 and n <= self.key_heads)
            raise UserError(f"key_heads={self.key_heads} do not share {heads} heads evenly; {near} would do")

    def require(self, task: Task) -> None:
        room_for(self, require_sequences(self, task))

    def block_sizes(self, precision: str) -> BlockSizes:
        key_heads = self.key_heads or self.heads
        return BlockSizes(self.width, self.heads, key_heads, self.feedforward, self.positions, precision)
