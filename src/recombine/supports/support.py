"""Support: a split of a space into what is trained and what is held out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import UserError, unknown
from ..keys import STREAMS, key_for
from ..spaces import Space
from .certificate import Certificate, certify
from .groups import ActiveCount
from .sides import ListedSide, Predicate, Side


@dataclass(frozen=True)
class Support:
    """Training combinations and held-out ones, disjoint by construction, with named groups of the held-out ones."""

    space: Space
    train: Side
    held_out: Side
    design: str
    settings: dict[str, Any] = field(default_factory=dict)
    named: dict[str, Predicate] = field(default_factory=dict)

    @cached_property
    def groups(self) -> dict[str, Predicate]:
        """Groups of held-out combinations that are scored apart; only those that have members."""
        groups: dict[str, Predicate] = dict(self.named)
        if not (self.space.fixed_size and self.space.ordered):  # a set of one is told by its number, too
            groups |= {f"{k} active": ActiveCount(self.space, k) for k in self.space.sizes}
        # Where a side cannot be listed, a group too rare to meet in a sample could not be scored either.
        listed = self.held_out.listed
        rows = self.held_out.combinations() if listed else self.held_out.sample(key_for("groups", 0), 5_000)
        return {name: predicate for name, predicate in groups.items() if np.any(predicate(rows))}

    def group(self, name: str) -> Side:
        """The held-out combinations of one group."""
        if name not in self.groups:
            raise unknown("group", name, self.groups)
        return self.held_out.where(self.groups[name])

    def side(self, stream: str) -> Side:
        """Where a stream draws its combinations: "held_out" (or "held_out/GROUP"), else the training side."""
        if stream == "held_out":
            return self.held_out
        if stream.startswith("held_out/"):
            return self.group(stream.removeprefix("held_out/"))
        if stream not in STREAMS:
            raise unknown("stream", stream, (*STREAMS, *(f"held_out/{group}" for group in self.groups)))
        return self.train

    def certificate(self) -> Certificate:
        """What this split is, checked."""
        return self._certificate

    @cached_property
    def _certificate(self) -> Certificate:
        return certify(self)

    def __repr__(self) -> str:
        return f"Support({self.design} on {self.space}: {self.train.size:,} trained, {self.held_out.size:,} held out)"


def from_ranks(
    space: Space,
    train: np.ndarray,
    held_out: np.ndarray | None,
    design: str,
    *,
    weights: np.ndarray | None = None,
    **more: Any,
) -> Support:
    """A listed support; `held_out=None` means all the rest. Refuses an empty or overlapping side.

    weights: one per rank of `train`; those of a rank that is given twice add up.
    """
    train, at = np.unique(train, return_inverse=True)
    if weights is not None:
        weights = np.bincount(at, weights=weights, minlength=len(train))
    if held_out is None:
        rest = np.ones(space.size, dtype=bool)
        rest[train] = False
        held_out = np.flatnonzero(rest)
    held_out = np.unique(held_out)
    both = np.intersect1d(train, held_out)
    if both.size:
        raise UserError(f"{space.describe(space.unrank(both[:1])[0])} is both trained and held out; choose one")
    for name, side in (("train on", train), ("hold out", held_out)):
        if not side.size:
            raise UserError(
                f"the split {design!r} of {space} leaves nothing to {name} of its {space.size:,} combinations; "
                "each side needs at least one"
            )
    return Support(space, ListedSide(space, train, weights), ListedSide(space, held_out), design, **more)
