"""Support: a split of a space into what is trained and what is held out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import UserError, unknown
from ..keys import STREAMS, key_for
from ..notebook import table_html
from ..spaces import Space
from .certificate import Certificate, certify
from .groups import ActiveCount
from .ranks import distinct_ranks, in_both
from .sides import ListedSide, Predicate, Side


@dataclass(frozen=True)
class Support:
    """A split of a space: training combinations and held-out ones, disjoint by construction.

    Args:
        space: what can be combined.
        train: the combinations that are trained on.
        held_out: those that are never trained on.
        design: the name of what made it.
        settings: what the design was told.
        named: groups of the held-out side by name, as predicates on rows; they are scored apart.
        asks: what its held-out score is about: "held_out", or a group of it such as "held_out/cross-block".

    Example:
        >>> split = rc.supports.random(rc.Subsets(6, 2), held_out=0.25)
        >>> split
        Support(random on Subsets(modules=6, at_most=2): 16 trained, 5 held out)
        >>> split.certificate().connected
        True
    """

    space: Space
    train: Side
    held_out: Side
    design: str
    settings: dict[str, Any] = field(default_factory=dict)
    named: dict[str, Predicate] = field(default_factory=dict)
    #: what its held-out score is about: "held_out", or a group of it such as "held_out/cross-block"
    asks: str = "held_out"

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
        """Where a stream draws its combinations: "held_out" or "held_out/GROUP", else the training side.

        "validation/GROUP" and the like are the trained combinations of a group that the split names.
        """
        if stream == "held_out":
            return self.held_out
        if stream.startswith("held_out/"):
            return self.group(stream.removeprefix("held_out/"))
        name, _, group = stream.partition("/")
        if name not in STREAMS or (group and group not in self.named):
            of_groups = (*(f"held_out/{one}" for one in self.groups), *(f"validation/{one}" for one in self.named))
            raise unknown("stream", stream, (*STREAMS, *of_groups))
        return self.train.where(self.named[group]) if group else self.train

    def certificate(self) -> Certificate:
        """What this split is, checked."""
        return self._certificate

    @cached_property
    def _certificate(self) -> Certificate:
        return certify(self)

    def __repr__(self) -> str:
        return f"Support({self.design} on {self.space}: {self.train.size:,} trained, {self.held_out.size:,} held out)"

    def _repr_html_(self) -> str:
        certificate = self.certificate()
        facts = {
            "space": self.space,
            "trained": f"{self.train.size:,}",
            "held out": f"{self.held_out.size:,}",
            "compositional": "yes" if certificate.compositional else "no",
            "connected": "yes" if certificate.connected else "no",
            **{f"{one.strength}-way coverage": f"{one.share:.1%}" for one in certificate.coverage},
            "divergence": certificate.divergence_words(),
        }
        return table_html(f"Support: {self.design}", facts.items())


def from_ranks(
    space: Space,
    train: np.ndarray,
    held_out: np.ndarray | None,
    design: str,
    *,
    weights: np.ndarray | None = None,
    held_out_weights: np.ndarray | None = None,
    **more: Any,
) -> Support:
    """A listed support; `held_out=None` means all the rest. Refuses an empty or overlapping side.

    weights: one per rank of `train`; those of a rank that is given twice add up. held_out_weights: likewise.
    """
    train, weights = distinct_ranks(space, train, weights)
    if held_out is None:
        rest = np.ones(space.size, dtype=bool)
        rest[train] = False
        held_out = np.flatnonzero(rest)
    else:
        held_out, held_out_weights = distinct_ranks(space, held_out, held_out_weights)
    both = in_both(train, held_out)
    if both.size:
        raise UserError(f"{space.describe(space.unrank(both[:1])[0])} is both trained and held out; choose one")
    for name, side in (("train on", train), ("hold out", held_out)):
        if not side.size:
            raise UserError(
                f"the split {design!r} of {space} leaves nothing to {name} of its {space.size:,} combinations; "
                "each side needs at least one"
            )
    sides = ListedSide(space, train, weights), ListedSide(space, held_out, held_out_weights)
    return Support(space, *sides, design, **more)
