"""Two stores side by side: before and after, two scales, two machines. Differences beyond their interval are marked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import UserError
from ..statistics.intervals import Interval, of_difference, over_seeds
from .found_stores import find_stores
from .reopening import reopen_any_version
from .study import Study
from .study_result import Result
from .verdicts import Verdict


@dataclass(frozen=True)
class Difference:
    """One reading in both stores. `differs`: zero lies outside of the 95 % interval of the difference (Welch)."""

    text: str
    reads: str
    first: Interval
    second: Interval
    difference: Interval  # second minus first
    outcomes: tuple[str, str] | None = None  # of a claim; None of a question
    wanted: str = ""

    @property
    def differs(self) -> bool:
        d = self.difference
        # rounding is no difference: two equal means may differ in the last digit
        return d.seeds >= 2 and (d.low > 0 or d.high < 0) and abs(d.mean) > 1e-9 * (1 + abs(self.first.mean))

    @property
    def turned(self) -> bool:
        """Whether the verdict is another."""
        return self.outcomes is not None and self.outcomes[0] != self.outcomes[1]

    def to_json(self) -> dict[str, Any]:
        return {
            "reading": self.text,
            "first": _number(self.first.mean),
            "second": _number(self.second.mean),
            "difference": _number(self.difference.mean),
            "interval": [_number(self.difference.low), _number(self.difference.high)],
            "differs": self.differs,
            "verdicts": list(self.outcomes) if self.outcomes else None,
        }


@dataclass(frozen=True)
class Comparison:
    """A study in two stores."""

    first: Result
    second: Result
    claims: list[Difference]
    questions: list[Difference]
    settings: list[tuple[str, Any, Any]]  # those that differ
    made_by: list[tuple[str, str, str]]  # versions and hardware that differ

    @property
    def readings(self) -> list[Difference]:
        return [*self.claims, *self.questions]

    def sentence(self) -> str:
        """What came out, in one sentence."""
        compared = [one for one in self.readings if one.difference.seeds >= 2]
        differ, turned = sum(one.differs for one in compared), sum(one.turned for one in self.claims)
        if not compared:
            return "Nothing can be compared: it takes at least two seeds on both sides."
        words = f"{differ} of {len(compared)} readings differ by more than the interval of the difference"
        words += f"; {turned} of {len(self.claims)} verdicts changed" if self.claims else ""
        return f"{words}."

    def to_json(self) -> dict[str, Any]:
        return {
            "study": self.first.study.id,
            "stores": [side.store.place if side.store else None for side in (self.first, self.second)],
            "readings": [one.to_json() for one in self.readings],
            "settings": [{"name": name, "first": a, "second": b} for name, a, b in self.settings],
            "sentence": self.sentence(),
        }


def compare(first: Result, second: Result) -> Comparison:
    """Reads the same claims and questions in both."""
    if first.study.id != second.study.id:
        raise UserError(
            f"the stores hold different studies, {first.study.id!r} and {second.study.id!r}; compare runs of one study"
        )
    claims = [
        Difference(
            a.claim.text,
            a.claim.description,
            over_seeds(known(a)),
            over_seeds(known(b)),
            of_difference(known(a), known(b)),
            (a.outcome, b.outcome),
            a.claim.wanted,
        )
        for a, b in zip(first.verdicts, second.verdicts, strict=True)
    ]
    questions = [
        Difference(q.text, q.description, a, b, of_difference(list(of_a.values()), list(of_b.values())))
        for (q, a, of_a), (_, b, of_b) in zip(first.measurements, second.measurements, strict=True)
    ]
    names = dict.fromkeys([*first.settings, *second.settings])
    settings = [(n, first.settings.get(n), second.settings.get(n)) for n in names]
    return Comparison(
        first, second, claims, questions, [(n, a, b) for n, a, b in settings if a != b], _made_by(first, second)
    )


def known(verdict: Verdict) -> list[float]:
    """The readings of a claim that are numbers: runs are compared at the seeds they have, by Student's interval."""
    return [value for value in verdict.values.values() if math.isfinite(value)]


def compare_folders(
    first: Path | str, second: Path | str, studies: Mapping[str, Study]
) -> tuple[list[Comparison], list[str]]:
    """Two stores, or the stores of the same name in two folders; and the names that only one of these has."""
    a, b = _stores(first), _stores(second)
    if a == [first] and b == [second]:
        return [compare(reopen_any_version(first, studies), reopen_any_version(second, studies))], []
    left, right = ({Path(place).name: place for place in side} for side in (a, b))
    both = [name for name in left if name in right]
    if not both:
        raise UserError(f"{first} and {second} have no store of the same name; name two stores")
    alone = sorted(set(left) ^ set(right))
    sides = [[reopen_any_version(side[name], studies) for side in (left, right)] for name in both]
    return [compare(*pair) for pair in sides], alone


def _stores(place: Path | str) -> list[Path | str]:
    """The place itself if it is a store (a URL is taken for one), else the stores in it."""
    if "://" in str(place):
        return [place]
    found = find_stores(Path(place))
    return [place] if found == [Path(place)] else list(found)


def _made_by(first: Result, second: Result) -> list[tuple[str, str, str]]:
    """Versions and hardware that differ, each as all values that occur."""
    sides = [_values(result) for result in (first, second)]
    return [
        (name, ", ".join(sides[0].get(name, [])) or "–", ", ".join(sides[1].get(name, [])) or "–")
        for name in dict.fromkeys([*sides[0], *sides[1]])
        if sides[0].get(name) != sides[1].get(name)
    ]


def _values(result: Result) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for setup in result.setups:
        for name, value in sorted(setup.facts.items()):
            if str(value) not in found.setdefault(name, []):
                found[name].append(str(value))
    return {name: sorted(values) for name, values in found.items()}


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
