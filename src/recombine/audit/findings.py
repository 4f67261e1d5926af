"""Findings: the smallest patterns that explain the failures of a table, as data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ..labels import listed, quoted

#: rule -> what it says of a combination
RULES = {
    "unseen": "combinations that were never trained",
    "untrained level": "combinations with a level that was never trained",
    "unseen pair": "combinations with a pair of levels that was never trained together",
    "unseen triple": "combinations with a triple of levels that was never trained together",
}

NAMED = 3  # levels, pairs or triples that a sentence on a rule names


def together(pattern: Mapping[str, str]) -> str:
    """Levels in words: "'kiosk'", "'pl' with 'insurance'"."""
    first, *others = (quoted(level, 40) for level in pattern.values())
    return f"{first} with {listed(others)}" if others else first


@dataclass(frozen=True)
class Finding:
    """One cause of failure: a level, a pair, a triple, or a rule of coverage. Each is found given all the others.

    Args:
        pattern: factor -> level; empty where a rule is found.
        rule: a key of `RULES`; "" where a pattern is found.
        rate: share of wrong answers on the combinations that it covers.
        low: of the 90 % interval of that rate.
        high: of it, too.
        n: answers on the combinations that it covers.
        odds: by how much it raises the log odds of failure, given the other findings.
        p: of no such effect, corrected for all that was asked.
        combinations: how many combinations of the table it covers, answered or not.
        rows: how many rows of the table it covers.
        examples: up to 20 rows that it covers and that were wrong: their ids, or their numbers from 0 without ids.
        untrained: of a rule about levels, pairs or triples: which were never trained, those with most wrong answers
            first, up to 20.
        untrained_in_all: how many there are of them.
    """

    pattern: dict[str, str]
    rule: str
    rate: float
    low: float
    high: float
    n: float
    odds: float
    p: float
    combinations: int
    rows: float
    examples: tuple[str | int, ...] = ()
    untrained: tuple[dict[str, str], ...] = ()
    untrained_in_all: int = 0

    @property
    def words(self) -> str:
        """What fails: "'kiosk'", "'pl' with 'insurance'", or a rule in words and what it is about."""
        if not self.rule:
            return together(self.pattern)
        named = [together(one) for one in self.untrained[:NAMED]]
        more = self.untrained_in_all - len(named)
        about = [*named, f"{more:,} more"] if more else named
        return f"{RULES[self.rule]}: {listed(about, joint='or')}" if named else RULES[self.rule]

    def __str__(self) -> str:
        right = f"{1 - self.rate:.0%} right [{1 - self.high:.0%}, {1 - self.low:.0%}]"
        return f"{self.words}: {right}, {self.n:,.6g} answers on {self.combinations:,} combinations"

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"examples": list(self.examples), "untrained": list(self.untrained)}


@dataclass(frozen=True)
class Impossible:
    """A pair of levels that never occurs though it was to be expected: it cannot be, or nobody looked.

    Args:
        pattern: factor -> level, two of them.
        expected: rows in which it would occur if its two factors were independent.
    """

    pattern: dict[str, str]
    expected: float

    def __str__(self) -> str:
        return f"{together(self.pattern)} never occurs, {self.expected:,.0f} expected: impossible, or a blind spot?"

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"said": str(self)}


@dataclass(frozen=True)
class FindingsReport:
    """What fails, and against which rate that is judged.

    Args:
        findings: the largest share of all failures first.
        reference: share of wrong answers on seen combinations (on all, where no seen one has answers).
        overdispersion: how much more alike answers on one combination are than the findings say, 0 to 1.
        asked: how many levels, pairs, triples and rules were asked.
        impossible: pairs that never occur though they were to be expected.
    """

    findings: list[Finding]
    reference: float
    overdispersion: float = 0.0
    asked: dict[str, int] = field(default_factory=dict)
    impossible: list[Impossible] = field(default_factory=list)

    def headline(self) -> str:
        """The answer to "which combinations fail?" in one sentence; "" without outcomes."""
        if math.isnan(self.reference):
            return ""
        if not self.findings:
            return f"No combination is shown to fail more than others ({1 - self.reference:.0%} right on seen ones)."
        named = [f"{one.words} ({1 - one.rate:.0%} right)" for one in self.findings[:3]]
        more = len(self.findings) - len(named)
        rest = f", and {more} more cause{'s' if more > 1 else ''}" if more else ""
        return f"Fails on {' and on '.join(named)}{rest}."

    def sentences(self) -> list[str]:
        if math.isnan(self.reference):
            return ["No outcome was given."]
        return [str(one) for one in self.findings] or [self.headline()]
