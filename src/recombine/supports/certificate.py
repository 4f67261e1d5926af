"""The certificate: what a split is, checked and not assumed."""

from __future__ import annotations

import hashlib
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..keys import key_for
from ..notebook import table_html
from ..spaces import LISTED_UP_TO, Space, count_tuples
from .divergence import Divergences, divergences
from .ranks import as_text, in_both
from .sides import ListedSide, Side
from .weights import shares_of

if TYPE_CHECKING:
    from .support import Support

_TUPLE_WORK = 50_000_000  # t-way coverage stops at the strength that would look at more tuples than this
_TUPLE_CODES = 1 << 28  # ... or that would need a larger table of flags
_BLOCK = 1 << 16  # combinations looked at together where the first few may tell


@dataclass(frozen=True)
class Coverage:
    """t-way coverage: how many sets of `strength` elements occur together in training, of how many that could.

    Args:
        strength: t, the number of elements in a set.
        seen: sets that occur together in some training combination.
        possible: sets that occur together in some combination of the space.

    Example:
        >>> rc.supports.Coverage(strength=2, seen=30, possible=40).share
        0.75
    """

    strength: int
    seen: int
    possible: int

    @property
    def share(self) -> float:
        return self.seen / self.possible if self.possible else float("nan")


@dataclass(frozen=True)
class Certificate:
    """Checked facts about a split. `exact` is false where a side follows a rule and a sample was looked at.

    On a sample, "compositional", "connected" and tuples seen are still proofs (more training combinations can only
    add to them); a negative finding there is not.

    Args:
        space: the space, in words.
        combinations: how many it has.
        train: how many of them are trained.
        held_out: how many are held out.
        disjoint: whether no combination is on both sides.
        compositional: whether every element that some combination has is trained.
        connected: whether the trained elements form one component of the co-occurrence graph.
        components: the elements of each component.
        untrained: the elements that no training combination has.
        usage: by element, how many training combinations contain it.
        coverage: t-way coverage for t = 1, 2, ... as far as it can be counted.
        groups: by group, how many held-out combinations it has.
        exact: whether all combinations were looked at, and not a sample.
        looked_at: how many training combinations were looked at.
        content: hash of the space, both sides and the weights; the same split has the same one.
        weights: the least and the largest share of training that a combination has; None where all are drawn alike.
        atom_divergence: how unlike the two sides are in their elements, from 0 to 1; None where a sample was looked at,
            or too much would have to be.
        compound_divergence: how unlike they are in their pairs of elements, from 0 to 1; None likewise.

    Example:
        >>> found = rc.supports.missing(rc.Subsets(6, 2)).certificate()
        >>> found.compositional, found.untrained, found.usage["m0"]
        (False, ('m5',), 5)
    """

    space: str
    combinations: int
    train: int
    held_out: int
    disjoint: bool
    compositional: bool  # every element that some combination has is trained
    connected: bool  # the trained elements form one component of the co-occurrence graph
    components: tuple[tuple[str, ...], ...]
    untrained: tuple[str, ...]
    usage: dict[str, int]  # training combinations that contain the element
    coverage: tuple[Coverage, ...]
    groups: dict[str, int]  # held-out combinations in each group
    exact: bool
    looked_at: int
    content: str  # hash of the space, both sides and the weights: the same split has the same one
    weights: tuple[float, float] | None = None  # the least and the largest share of training; None: all alike
    #: between the two sides (`divergence.py`); None where a sample was looked at, or too much would have to be
    atom_divergence: float | None = None
    compound_divergence: float | None = None

    def to_json(self) -> dict:
        """The certificate as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        def yes(flag: bool) -> str:
            return "yes" if flag else ("no" if self.exact else "not shown")

        def names(listed: tuple[str, ...]) -> str:
            return ", ".join(listed[:8]) + (f", ... ({len(listed)})" if len(listed) > 8 else "")

        usage = list(self.usage.values())
        parts = " | ".join("{" + names(c) + "}" for c in self.components[:4])
        if len(self.components) > 4:
            parts += f" | ... ({len(self.components)} components)"
        lines = [
            f"{self.space}: {self.combinations:,} combinations",
            f"trained {self.train:,}, held out {self.held_out:,} ({self.held_out / self.combinations:.1%})",
            f"disjoint       {yes(self.disjoint)}",
            f"compositional  {yes(self.compositional)}"
            + (f" (never trained: {names(self.untrained)})" if self.untrained else ""),
            f"connected      {yes(self.connected)}" + (f" ({parts})" if len(self.components) > 1 else ""),
            f"usage          {min(usage):,} to {max(usage):,} training combinations per element",
        ]
        if self.weights is not None:
            least, largest = self.weights
            lines.append(f"weights        a training combination is drawn with a share of {least:.3g} to {largest:.3g}")
        for c in self.coverage:
            lines.append(f"{c.strength}-way coverage {c.share:.1%} ({c.seen:,} of {c.possible:,})")
        lines.append(f"divergence     {self.divergence_words()}")
        for name, size in self.groups.items():
            lines.append(f"group          {name}: {size:,} held out")
        if not self.exact:
            lines.append(
                f"looked at      a sample of {self.looked_at:,}: what it shows is proven, what it lacks is not"
            )
        lines.append(f"content        {self.content[:16]}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        facts = [(line[:15].strip(), line[15:].strip()) for line in str(self).splitlines()[2:]]
        trained = f"trained {self.train:,}, held out {self.held_out:,} of {self.combinations:,} combinations"
        return table_html(f"Certificate: {self.space}", [("sizes", trained), *facts])

    def divergence_words(self) -> str:
        """Both divergences in words, or why there are none."""
        if self.atom_divergence is None:
            return "not computed: " + ("too many pairs to count" if self.exact else "the sides follow a rule")
        found = self.compound_divergence
        pairs = "no combination of two elements on a side" if found is None else f"{found:.3f}"
        return f"{self.atom_divergence:.3f} of atoms (elements), {pairs} of compounds (pairs)"


def certify(support: Support) -> Certificate:
    """Looks at both sides of the split and writes down what they are."""
    space = support.space
    exact = (support.train.listed and support.held_out.listed) or space.size <= LISTED_UP_TO
    if exact:
        train, held_out = support.train.combinations(), support.held_out.combinations()
        disjoint = not in_both(*(_ranks(side) for side in (support.train, support.held_out))).size
        groups = {name: int(np.sum(predicate(held_out))) for name, predicate in support.groups.items()}
    else:
        n = max(50_000, enough_to_meet_all(space))
        train = support.train.sample(key_for("certificate-train", 0), n)
        held_out = support.held_out.sample(key_for("certificate-held-out", 0), n)
        # A rule answers yes or no for a combination; that it never says both is checked on all that was drawn.
        disjoint = not (support.held_out.contains(train).any() or support.train.contains(held_out).any())
        groups = {
            name: round(float(np.mean(predicate(held_out))) * support.held_out.size)
            for name, predicate in support.groups.items()
        }
    usage = element_usage(space, train)
    names = space.element_names
    parts = components(space, train)
    occurs = space.occurs
    shares = None if support.train.weights is None else shares_of(support.train.weights)
    unlike = _divergences(support, train, held_out) if exact else None
    return Certificate(
        space=str(space),
        combinations=space.size,
        train=len(train) if exact else support.train.size,
        held_out=len(held_out) if exact else support.held_out.size,
        disjoint=bool(disjoint),
        compositional=bool((usage > 0)[occurs].all()),
        connected=len(parts) == 1,
        components=tuple(tuple(names[i] for i in part) for part in parts),
        untrained=tuple(names[i] for i in np.flatnonzero(occurs & (usage == 0))),
        usage={name: n for name, n, there in zip(names, usage.tolist(), occurs, strict=True) if there},
        coverage=tuple(tuple_coverage(space, train)),
        groups=groups,
        exact=exact,
        looked_at=len(train),
        content=content_hash(support),
        weights=None if shares is None else (float(shares.min()), float(shares.max())),
        atom_divergence=unlike.atoms if unlike else None,
        compound_divergence=unlike.compounds if unlike else None,
    )


def _divergences(support: Support, train: np.ndarray, held_out: np.ndarray) -> Divergences | None:
    """Both divergences of the two sides, unless there are too many pairs."""
    pairs = math.comb(support.space.element_sets(train[:1]).shape[1], 2)
    if (len(train) + len(held_out)) * max(pairs, 1) > _TUPLE_WORK:
        return None
    return divergences(support.space, train, held_out, (support.train.weights, support.held_out.weights))


def _ranks(side: Side) -> np.ndarray:
    """The ranks of a side that can be listed, rising."""
    return side.ranks if isinstance(side, ListedSide) else side.space.rank(side.combinations())


def enough_to_meet_all(space: Space) -> int:
    """Uniform draws in which every element turns up with near certainty (the coupon collector's number and more)."""
    n = len(space.element_names)
    return math.ceil(n * (math.log(n + 1) + 6))


def element_usage(space: Space, rows: np.ndarray) -> np.ndarray:
    """How many of the combinations contain each element."""
    return _usage(space.element_sets(rows), len(space.element_names))


def _usage(ids: np.ndarray, elements: int) -> np.ndarray:
    counts = np.zeros(elements + 1, np.int64)
    for column in ids.T:  # column by column: several times as fast as all at once
        counts += np.bincount(column + 1, minlength=len(counts))  # 0 is padding
    return counts[1:]


def components(space: Space, rows: np.ndarray) -> list[list[int]]:
    """Components of the co-occurrence graph of the elements that occur in `rows`, by union-find.

    Rows are read block by block, and no further than to the one in which the last elements are joined.
    """
    n = len(space.element_names)
    parent = list(range(n))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]  # halve the path on the way up
            i = parent[i]
        return i

    there, wanted = np.zeros(n, bool), int(space.occurs.sum())
    joined = 0
    for start in range(0, len(rows), _BLOCK):
        ids = space.element_sets(rows[start : start + _BLOCK])
        there |= _usage(ids, n) > 0
        for a, b in _cooccurring_pairs(ids, n):
            if (first := root(a)) != (second := root(b)):
                parent[first] = second
                joined += 1
        if joined == wanted - 1:
            break
    parts: dict[int, list[int]] = {}
    for element in np.flatnonzero(there).tolist():
        parts.setdefault(root(element), []).append(element)
    return sorted(parts.values())


def _cooccurring_pairs(ids: np.ndarray, n: int) -> list[tuple[int, int]]:
    """Distinct pairs of elements that follow each other in some combination: enough to connect all of them."""
    ids = ids.astype(np.int64)
    left, right = ids[:, :-1].ravel(), ids[:, 1:].ravel()
    both = (left >= 0) & (right >= 0)
    codes = np.unique(left[both] * n + right[both])
    return [(int(code // n), int(code % n)) for code in codes]


def tuple_coverage(space: Space, rows: np.ndarray, strengths: tuple[int, ...] = (1, 2, 3)) -> list[Coverage]:
    """t-way coverage: distinct sets of t elements that occur together in some row."""
    found = []
    n = len(space.element_names)
    ids = space.element_sets(rows)
    looked_at = len(rows) if space.free else space.size  # what a list could show is counted over all of it
    for t in strengths:
        if looked_at * math.comb(ids.shape[1], t) > _TUPLE_WORK or n**t > _TUPLE_CODES:
            break
        possible = space.possible_tuples(t)
        if not possible:
            break
        found.append(Coverage(t, count_tuples(ids, t, n), possible))
    return found


def cooccurrence(space: Space, rows: np.ndarray) -> Any:
    """Co-occurrence counts, (elements, elements): combinations that contain both; the diagonal is the usage.

    Args:
        space: whose elements are counted.
        rows: combinations (n, width).

    Example:
        >>> pairs = rc.Subsets(modules=3, at_most=2)
        >>> rc.supports.cooccurrence(pairs, pairs.from_sets([{0, 1}, {1, 2}])).tolist()
        [[1, 1, 0], [1, 2, 1], [0, 1, 1]]
    """
    import scipy.sparse  # here, since importing it takes a tenth of a second

    ids = space.element_sets(rows)
    at, column = np.nonzero(ids >= 0)
    hot = scipy.sparse.csr_array(
        (np.ones(len(at), np.int32), (at, ids[at, column])), shape=(len(rows), len(space.element_names))
    )
    return (hot.T @ hot).toarray()


def content_hash(support: Support) -> str:
    """Hash of what the split is, not of how it was made."""
    digest = hashlib.sha256(repr(support.space.to_json()).encode())
    for side in (support.train, support.held_out):
        if isinstance(side, ListedSide):
            digest.update(as_text(side.ranks))
        else:
            rule = side.rule  # type: ignore[attr-defined]
            digest.update(f"rule {int(rule.salt)} {int(rule.cut)} {rule.held_out}".encode())
        if side.weights is not None:  # shares: twice all weights is the same split
            digest.update(("weights " + ",".join(f"{share:.9g}" for share in shares_of(side.weights))).encode())
        digest.update(b"|")
    return digest.hexdigest()
