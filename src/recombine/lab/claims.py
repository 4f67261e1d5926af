"""Claims: what is claimed, by whom, which number decides, and how seeds decide it. Written before the run."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import UserError, unknown
from .boundaries import LOOKS
from .cells import canonical
from .scales import SCALES
from .sequential import FLOOR, TRANSFORMS
from .study_table import Censored, PreconditionFailed, StudyTable

Value = float | Censored
#: the trials of one seed -> a number, one for each cell of a claim "for every", or an interval; may raise
#: PreconditionFailed, and a cell of its own may be one
Reading = Callable[[StudyTable], Value | Mapping[str, Value] | Mapping[str, Value | PreconditionFailed]]
#: which trials a claim reads: values by axis, or a question about the place of a trial on its axes
Needs = Mapping[str, Any] | Callable[[Mapping[str, Any]], bool]


@dataclass(frozen=True)
class Bound:
    """Which side of which number a claim is on."""

    side: Literal["at least", "at most"]
    value: float

    @property
    def sign(self) -> float:
        """1 where larger is on the claim's side, else -1."""
        return 1.0 if self.side == "at least" else -1.0

    def holds(self, value: float) -> bool:
        return self.sign * (value - self.value) >= 0


def at_least(value: float) -> Bound:
    """The bound of a claim that its reading is at least a number.

    Args:
        value: the number.

    Example:
        >>> rc.at_least(0.5)
        Bound(side='at least', value=0.5)
    """
    return Bound("at least", float(value))


def at_most(value: float) -> Bound:
    """The bound of a claim that its reading is at most a number.

    Args:
        value: the number.

    Example:
        >>> rc.at_most(0.5)
        Bound(side='at most', value=0.5)
    """
    return Bound("at most", float(value))


@dataclass(frozen=True)
class Claim:
    """What is claimed, by whom, and the number that decides; the threshold is written before the run.

    Args:
        id: a short name.
        reading: the trials of one seed -> the number that decides; {cell: number} for a claim "for every cell";
            `Censored(low, high)` where only an interval is known. May raise PreconditionFailed.
        bound: `at_least(number)` or `at_most(number)`.
        text: the claim as a sentence.
        false_in: the control in which it is false by construction: one of the world's ("lookup"), one of the study's,
            "same-arms" (what varies is recorded and not applied) or "unrelated" (scores are replaced by chance).
        description: the reading in words; the first line of its docstring, if none is given.
        source: who claims it; the study's source, if none is given.
        scales: at which it is asked.
        supported: what the headline says if it is supported.
        refuted: and if it is refuted.
        transform: where readings are roughly normal: "identity" (scores, gaps), "log" (ratios, errors), "fisher"
            (correlations) or "logit" (shares, AUROC).
        tie: the margin around the threshold, where readings are normal, within which a difference does not matter; that
            of the transform, if none is given.
        floor: the least spread over seeds there: the resolution of a reading; .01, if none is given.
        how_often: the claim is that this share of seeds, or more, lies on the bound's side.
        by_construction: why it is true by construction: then it is shown as such, and is no evidence.
        needs: which trials it reads: {axis: values}, or a question about the place of a trial; all, if none is given.

    Example:
        >>> claim = rc.Claim("biased", heads, rc.at_least(0.6), "The coin is biased", false_in="fair")
        >>> claim.description, claim.threshold
        ('share of heads', 0.6)
    """

    id: str
    reading: Reading
    bound: Bound
    text: str
    false_in: str = ""
    description: str = ""
    source: str = ""
    scales: tuple[str, ...] = SCALES
    supported: str = ""
    refuted: str = ""
    transform: str = "identity"
    tie: float | None = None
    floor: float | None = None
    how_often: float | None = None
    by_construction: str = ""
    needs: Needs | None = None

    def __post_init__(self):
        if not self.description:
            object.__setattr__(self, "description", first_line(self.reading, self.id))
        for scale in self.scales:
            if scale not in SCALES:
                raise unknown(f"scale of claim {self.id!r}", scale, SCALES)
        if self.transform not in TRANSFORMS:
            raise unknown(f"transform of claim {self.id!r}", self.transform, TRANSFORMS)
        TRANSFORMS[self.transform]([self.threshold])  # refused by name where it is not on that scale
        if self.how_often is not None and not 0 < self.how_often < 1:
            raise UserError(
                f"how_often={self.how_often} of claim {self.id!r} is a share of seeds between 0 and 1, such as .75"
            )
        if self.tie is not None and not self.tie >= 0:
            raise UserError(f"tie={self.tie} of claim {self.id!r} is a margin around the threshold: 0 or more")
        if self.floor is not None and not self.floor > 0:
            raise UserError(f"floor={self.floor} of claim {self.id!r} is the resolution of its reading: above 0")

    @property
    def side(self) -> str:
        return self.bound.side

    @property
    def threshold(self) -> float:
        return self.bound.value

    @property
    def resolution(self) -> float:
        """The least spread over seeds that is believed."""
        return FLOOR if self.floor is None else self.floor

    @property
    def margin(self) -> float:
        """How far from the threshold a difference does not matter."""
        return TRANSFORMS[self.transform].tie if self.tie is None else self.tie

    @property
    def wanted(self) -> str:
        """The side and the threshold in words."""
        one = f"{self.side} {self.threshold:g}"
        return one if self.how_often is None else f"{one} in at least {100 * self.how_often:g} % of seeds"

    def reads(self, at: Mapping[str, Any]) -> bool:
        """Whether it reads the trial at this place of the axes."""
        if self.needs is None:
            return True
        if callable(self.needs):
            return bool(self.needs(at))
        return all(
            at.get(axis) in values if isinstance(values, (list, tuple, set, frozenset)) else at.get(axis) == values
            for axis, values in self.needs.items()
        )

    def rule(self) -> dict[str, Any]:
        """How seeds decide it: what may not change between two looks."""
        return {
            "threshold": self.threshold,
            "side": self.side,
            "transform": self.transform,
            "tie": self.margin,
            "floor": self.resolution,
            "how_often": self.how_often,
            "looks": list(LOOKS),
        }

    @property
    def hash(self) -> str:
        """Identity of the rule: a claim with another one is another claim."""
        return hashlib.sha256(canonical(self.rule()).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Measurement:
    """A reading without a threshold: measured and reported.

    Args:
        id: a short name.
        reading: the trials of one seed -> a number; may raise PreconditionFailed.
        text: what is measured.
        description: the reading in words; the first line of its docstring, if none is given.

    Example:
        >>> rc.Measurement("heads", heads, "How often the coin shows heads").description
        'share of heads'
    """

    id: str
    reading: Reading
    text: str
    description: str = ""

    def __post_init__(self):
        if not self.description:
            object.__setattr__(self, "description", first_line(self.reading, self.id))


def first_line(reading: Any, id: str) -> str:
    """A reading in words, by its docstring, as they stand in a sentence."""
    line = (getattr(reading, "__doc__", None) or "").strip().split("\n")[0].rstrip(".")
    if not line:
        raise UserError(f"the reading of {id!r} has no docstring, and no description says what it reads")
    return line[:1].lower() + line[1:] if line[1:2].islower() or line[1:2] == " " else line
