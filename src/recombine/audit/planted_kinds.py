"""Kinds of planted worlds: what each is made of."""

from __future__ import annotations

from dataclasses import dataclass

BASE = (0.02, 0.10)  # how often a combination fails for no reason, from and to
HARD = (0.40, 0.95)  # how often one fails for a planted cause


@dataclass(frozen=True)
class Kind:
    """What a world is made of.

    Args:
        patterns: how many levels each planted pattern has.
        rule: of coverage that is a cause.
        untrained: the patterns have no training rows.
        harmless: some pair of levels has no training rows, and fails no more than others.
        xor: of two factors with two levels each, those combinations fail where the levels differ.
        lottery: each combination has its own rate.
        additive: levels add up in log odds.
        zipf: the r-th level of a factor occurs as 1 / r.
        zeros: two pairs of levels cannot be.
        answers: how many; None for 200 to 50,000.
        covered: share of the combinations that may have training rows, from and to.
    """

    patterns: tuple[int, ...] = ()
    rule: str = ""
    untrained: bool = False
    harmless: bool = False
    xor: bool = False
    lottery: bool = False
    additive: bool = False
    zipf: bool = False
    zeros: bool = False
    answers: int | None = None
    covered: tuple[float, float] = (0.3, 0.9)


_SPARSE = (0.05, 0.25)  # coverage where pairs and triples lack
KINDS: dict[str, Kind] = {
    "noise": Kind(),
    "noise-zeros": Kind(zeros=True),
    "noise-harmless": Kind(harmless=True),
    "lottery": Kind(lottery=True),
    "lottery-pair": Kind((2,), lottery=True),
    "level": Kind((1,)),
    "level-few": Kind((1,), answers=200),
    "level-untrained": Kind((1,), untrained=True),
    "level-harmless": Kind((1,), harmless=True),
    "level-zipf": Kind((1,), zipf=True),
    "pair": Kind((2,)),
    "pair-few": Kind((2,), answers=200),
    "pair-many": Kind((2,), answers=50_000),
    "pair-untrained": Kind((2,), untrained=True),
    "pair-zipf": Kind((2,), zipf=True),
    "pair-zeros": Kind((2,), zeros=True),
    "triple": Kind((3,)),
    "triple-many": Kind((3,), answers=50_000),
    "triple-untrained": Kind((3,), untrained=True),
    "xor": Kind(xor=True),
    "additive": Kind(additive=True),
    "memorizer": Kind(rule="unseen"),
    "binder": Kind(rule="unseen pair", covered=_SPARSE),
    "triple-binder": Kind(rule="unseen triple", covered=_SPARSE),
    "level-pair": Kind((1, 2)),
    "pair-pair": Kind((2, 2)),
    "level-triple": Kind((1, 3)),
    "binder-level": Kind((1,), rule="unseen pair", covered=_SPARSE),
    "memorizer-pair": Kind((2,), rule="unseen"),
    "level-level-pair": Kind((1, 1, 2)),
}
#: worlds in which nothing is to be found
NOTHING = ("noise", "noise-zeros", "noise-harmless", "lottery")
