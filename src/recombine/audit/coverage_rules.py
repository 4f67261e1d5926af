"""Rules of coverage: what of a combination was never trained, for any number of combinations at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .findings import RULES
from .seen import Seen

_AT_ONCE = 50_000


@dataclass(frozen=True)
class Trained:
    """Which levels, pairs and triples have training rows, as far as counting them stays within reason."""

    seen: Seen

    def places(self, strength: int) -> list[tuple[int, ...]]:
        """Columns that hold a level, a pair or a triple; none where these are too many."""
        if strength > self.seen.space.width or (strength > 1 and not self.seen.affordable(strength)):
            return []
        return self.seen.places(strength)

    def has(self, place: tuple[int, ...], codes: np.ndarray) -> np.ndarray:
        """Whether levels at some columns were trained together, by their code."""
        if len(place) == 1:
            return self.seen.usage[np.asarray(self.seen.space.classes[place[0]])[codes]] > 0
        return self.seen.table(place).look_up(codes)[0] > 0

    def rules(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, rules) which of `RULES` each combination falls under; (n,) the share of its pairs that are unseen."""
        parts = [self._rules(rows[start : start + _AT_ONCE]) for start in range(0, max(len(rows), 1), _AT_ONCE)]
        found, share = zip(*parts, strict=True)
        return np.concatenate(found), np.concatenate(share)

    def _rules(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = np.zeros((len(rows), len(RULES)), bool)
        found[:, 0] = ~self.seen.contains(rows)
        share = np.zeros(len(rows))
        for strength in (1, 2, 3):
            for place in self.places(strength):
                lacks = ~self.has(place, self.seen.codes(rows, place)[1])
                found[:, strength] |= lacks
                if strength == 2:
                    share += lacks
        return found, share / max(len(self.places(2)), 1)
