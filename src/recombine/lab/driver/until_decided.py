"""Until decided: looks at more seeds of the claims that are open, the one first that is likeliest to be decided soon.

It is sound because each claim stops by its own sequence: which claim is fed, and when one stops, changes no verdict.
A claim that seeds will not decide is left alone.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..boundaries import LOOKS
from ..cells import Cell
from ..reopening import Run
from ..sequential import OPEN
from ..study_result import Result
from ..verdicts import Verdict
from ..wanted import read_by
from .queue import estimates
from .run_progress import duration

CHANCES = 1e-9  # a claim that can only be decided later than by its next look is still fed, after all others


@dataclass(frozen=True)
class Look:
    """More seeds for one claim.

    Args:
        claim: its id.
        seeds: it is to have.
        cells: how many have to be run for it.
        chance: that it is decided then.
        seconds: that it takes, about.
        worth: chance per second of the best look from here on.
    """

    claim: str
    seeds: int
    cells: int
    chance: float
    seconds: float
    worth: float

    def __str__(self) -> str:
        return (
            f"feeding {self.claim} to {self.seeds} seeds: {self.cells} cells, about {duration(self.seconds)}, "
            f"decided then with a chance of {100 * self.chance:.0f} %"
        )


@dataclass(frozen=True)
class Budget:
    """How long open claims are fed: seconds from when a command began; None is no limit."""

    seconds: float | None = None
    clock: Callable[[], float] = time.monotonic
    began: float = 0.0

    @classmethod
    def from_now(cls, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> Budget:
        return cls(seconds, clock, clock())

    @property
    def left(self) -> float:
        return float("inf") if self.seconds is None else self.seconds - (self.clock() - self.began)

    @property
    def over(self) -> bool:
        return self.left <= 0


#: runs what a run wants and judges it; not longer than a budget, if one is given
Compute = Callable[[Run, Budget | None], Result]


def until_decided(run: Run, compute: Compute, budget: Budget, quiet: bool = False, workers: int = 1) -> Result:
    """Runs what is wanted, and then more seeds of open claims until all are decided, or cannot be, or time is up.

    Args:
        run: what is wanted so far.
        compute: runs what a run wants, and judges it.
        budget: after which no further seeds are begun.
        quiet: say nothing of what is fed.
        workers: cells that are computed at once.
    """
    result = compute(run, None)
    while not budget.over:
        looks = possible_looks(run, result, workers)
        affordable = [look for look in looks if look.seconds <= budget.left]
        if not quiet:
            _say(progress_of(result.verdicts) + (f"; {affordable[0]}" if affordable else ""))
        if not affordable:
            break
        run = fed_run(run, affordable[0])
        result = compute(run, budget)
        if not result.extent.complete and budget.over:
            break
    if not quiet:
        for line in left_over(run, result, budget, workers):
            _say(line)
    return result


def possible_looks(run: Run, result: Result, workers: int = 1) -> list[Look]:
    """The next look of each claim that more seeds may decide, the best one first."""
    there = {record.cell.id for record in result.records}
    seconds = seconds_by_program(run, result)
    grids: dict[int, list[Cell]] = {}
    found = []
    for verdict in result.verdicts:
        if not may_be_fed(verdict, run):
            continue
        have, chances = _seeds(verdict), verdict.chances
        costs = {n: _cost(run, verdict, n, there, seconds, grids) for n in LOOKS if n > have}
        worths = [chance / max(costs[n][1], 1e-3) for n, chance in chances.items()]
        number, (cells, took) = min(costs), costs[min(costs)]
        worth = max(worths, default=CHANCES)
        found.append(Look(verdict.claim.id, number, cells, chances.get(number, 0.0), took / workers, worth))
    return sorted(found, key=lambda look: -look.worth)  # stable: claims of equal worth stay in order


def may_be_fed(verdict: Verdict, run: Run) -> bool:
    """Whether more seeds of a claim are worth a try: it is open, nothing of it is missing, and seeds may decide it."""
    whole = _seeds(verdict) >= max(run.seeds, run.fed.get(verdict.claim.id, 0))
    return verdict.may_be_fed and whole and not verdict.hopeless


def _seeds(verdict: Verdict) -> int:
    """How many seeds of a claim are whole, one after the other."""
    return min((cell.asked for cell in verdict.cells), default=0)


def _cost(
    run: Run,
    verdict: Verdict,
    seeds: int,
    there: set[str],
    seconds: Mapping[str, float],
    grids: dict[int, list[Cell]],
) -> tuple[int, float]:
    """The cells that a claim lacks to have so many seeds, and the seconds of one core that they take."""
    lacking: list[Cell] = []
    for seed in range(_seeds(verdict), seeds):
        if seed not in grids:
            study = run.study
            grids[seed] = [Cell(study.id, study.version, spec) for spec in study.grid(run.settings, seed)]
        lacking += [cell for cell in read_by(verdict.claim, grids[seed]) if cell.id not in there]
    return len(lacking), sum(estimates(run.study, lacking, seconds).values()) if lacking else 0.0


def seconds_by_program(run: Run, result: Result) -> dict[str, float]:
    """What cells took, by program."""
    took: dict[str, list[float]] = {}
    for record in result.records:
        seconds = record.facts.get("seconds")
        if isinstance(seconds, (int, float)) and seconds > 0 and "reused_from" not in record.facts:
            took.setdefault(run.study.program(record.cell.spec), []).append(float(seconds))
    return {program: sum(times) / len(times) for program, times in took.items()}


def fed_run(run: Run, look: Look) -> Run:
    """The run with more seeds for one claim. The store says so first: what is wanted follows from it."""
    fed = {**run.fed, look.claim: look.seeds}
    if run.store is not None:
        run.store.update(fed=fed)
    return Run.of(run.study, run.scale, run.settings, run.seeds, run.store, fed)


# -- what is said on the way ------------------------------------------------------------------------------------------
def progress_of(verdicts: Sequence[Verdict]) -> str:
    """How many claims are decided and how many open."""
    asked = [verdict.outcome for verdict in verdicts if verdict.outcome not in ("by construction", "not asked")]
    still = asked.count(OPEN)
    return f"claims: {len(asked) - still} decided, {still} open"


def left_over(run: Run, result: Result, budget: Budget, workers: int) -> list[str]:
    """What became of each claim that is still open."""
    looks = {look.claim: look for look in possible_looks(run, result, workers)}
    lines = []
    for verdict in result.verdicts:
        if verdict.outcome != OPEN:
            continue
        look = looks.get(verdict.claim.id)
        if look is not None:
            more = f"the budget is used up; its next look, {look.seeds} seeds, takes about {duration(look.seconds)}"
        else:
            more = verdict.would_decide if verdict.hopeless else verdict.why
        lines.append(f"open: {verdict.claim.id}: {more}")
    return lines


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
