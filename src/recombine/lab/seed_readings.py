"""What a claim reads, seed by seed: the numbers of each of its cells, and where they end.

Seeds count as a prefix 0, 1, 2, ...: they end before the first that is not there (it *waits* for its trials) or whose
reading cannot be (an *error* of the study). A seed that does not meet the precondition is counted and has no number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from .claims import Claim, Reading, Value
from .sequential import LARGEST, TRANSFORMS
from .study_table import Censored, Missing, PreconditionFailed, StudyTable

ONE = ""  # the cell of a reading that is one number


@dataclass
class Series:
    """The readings of one cell of a claim over seeds."""

    values: dict[int, Value] = field(default_factory=dict)  # by seed
    unmet: dict[int, str] = field(default_factory=dict)  # seeds that did not meet the precondition, and why

    @property
    def seeds(self) -> list[int]:
        return sorted([*self.values, *self.unmet])


@dataclass
class SeedReadings:
    """The readings of a claim.

    series: by cell; of a reading that is one number, by "".
    waits: why the first seed that does not count is not there.
    error: why its reading cannot be.
    """

    series: dict[str, Series] = field(default_factory=dict)
    waits: str = ""
    error: str = ""


class _Impossible(Exception):
    """A reading that cannot be."""


def read_seeds(claim: Claim, table: StudyTable, blocked: Mapping[int, str] | None = None) -> SeedReadings:
    """Reads each seed until one is not there.

    Args:
        claim: what is read.
        table: the trials of all seeds.
        blocked: seeds that lack a trial of this claim, and which.
    """
    found = SeedReadings()
    parts = dict(table.seeds()) if len(table) else {}
    if not parts:
        found.waits = "nothing was measured"
        return found
    whole: dict[int, str] = {}  # seeds of which no cell met the precondition
    last, read, fits = max(parts), claim.reading, _fits(claim)
    one: Series | None = None  # where each seed is one number
    for seed in range(last + 2):
        if blocked and seed in blocked:
            found.waits = blocked[seed] and f"seed {seed}: {blocked[seed]}"
            break
        if seed not in parts:
            found.waits = f"seed {seed} is not there" if seed < last else ""
            break
        try:
            value = read(parts[seed])
            if one is not None and type(value) is float and fits(value):  # what most are
                one.values[seed] = value
                continue
            _add(found.series, seed, _values(value, claim))
            one = found.series.get(ONE)
        except Missing as problem:
            found.waits = f"seed {seed}: {problem}"
            break
        except PreconditionFailed as problem:
            whole[seed] = str(problem)
        except _Impossible as problem:
            found.error = f"seed {seed}: {problem}"
            break
        except Exception as problem:  # of the study's own code: it may not take the other claims with it
            found.error = f"seed {seed}: its reading failed ({type(problem).__name__}: {problem})"
            break
    for series in found.series.values() if found.series else [found.series.setdefault(ONE, Series())]:
        series.unmet.update(whole)
    return found


def number_of(reading: Reading, part: StudyTable) -> float | None:
    """The reading of one seed, where it has one and it is a number."""
    try:
        found = _values(reading(part)).get(ONE)
    except (PreconditionFailed, _Impossible):
        return None
    return found if isinstance(found, float) else None


def _values(found: Any, claim: Claim | None = None) -> dict[str, Any]:
    """A reading by cell; refuses what is none, or is not on the scale of its claim."""
    if not isinstance(found, Mapping):
        return {ONE: _value(found, "the reading", claim)}
    if not found:
        raise _Impossible("the reading has no cells")
    return {str(name): _value(value, f"the reading of {name}", claim) for name, value in found.items()}


def _value(found: Any, what: str, claim: Claim | None) -> Any:
    if isinstance(found, PreconditionFailed):
        if isinstance(found, Missing):
            raise found
        return found
    if isinstance(found, Censored):
        if not found.low <= found.high:
            raise _Impossible(f"{what} is known to lie from {found.low:g} to {found.high:g}, which is no interval")
        return found
    if isinstance(found, (bool, str)) or not isinstance(found, Real) and not _scalar(found):
        raise _Impossible(f"{what} is {found!r}, and not a number")
    value = float(found)
    if not math.isfinite(value):
        raise _Impossible(f"{what} is {'undefined (NaN)' if math.isnan(value) else 'infinite'}")
    if abs(value) > LARGEST:
        raise _Impossible(f"{what} is {value:g}, which is too large to be judged")
    if claim is not None and not _on_scale(value, claim):
        raise _Impossible(f"{what}: {TRANSFORMS[claim.transform].refusal(value)}")
    return value


def _on_scale(value: float, claim: Claim | None) -> bool:
    return claim is None or claim.how_often is not None or bool(TRANSFORMS[claim.transform].takes(value))


def _fits(claim: Claim) -> Callable[[float], bool]:
    """Whether a number is a reading of a claim."""
    takes = TRANSFORMS[claim.transform].takes
    if claim.how_often is not None or claim.transform == "identity":
        return lambda value: -LARGEST <= value <= LARGEST
    return lambda value: -LARGEST <= value <= LARGEST and bool(takes(value))


def _scalar(found: Any) -> bool:
    """Numbers of numpy and jax that are no Real."""
    return getattr(found, "shape", None) == () and getattr(getattr(found, "dtype", None), "kind", "") in "fiu"


def _add(series: dict[str, Series], seed: int, values: dict[str, Any]) -> None:
    if series and values.keys() != series.keys():
        known, now = (", ".join(sorted(map(repr, names))) for names in (series, values))
        raise _Impossible(f"the reading has the cells {now}, and those of seed 0 are {known}")
    for cell, value in values.items():
        one = series.get(cell) or series.setdefault(cell, Series())
        if isinstance(value, PreconditionFailed):
            one.unmet[seed] = str(value)
        else:
            one.values[seed] = value
