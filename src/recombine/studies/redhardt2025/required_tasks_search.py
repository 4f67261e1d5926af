"""What required-tasks trains: one net at a share, or as many as the search for the smallest number tries."""

from __future__ import annotations

import math
from typing import Any

from ...context import Context, Measured
from ...errors import UserError, require_int, unknown
from ...lab.bisection import expected_tries, smallest_enough
from ...lab.cells import Spec
from ...lab.record import Record
from ...lab.study import Settings
from ...spaces import Subsets
from ...tasks import registry as tasks
from ...trials import Trial
from ...trials import measure as measure_trial
from ...trials.trial import build_space

METHODS = ("bisection", "grid")


def measure(spec: Spec, context: Context) -> Measured:
    """The score at a share (grid), or at every number that the search for the smallest one tries (bisection)."""
    if spec["options"]["method"] == "bisection":
        return bisect(spec, context)
    size = build_space(spec["trial"]["world"]).size
    found = try_number(spec, size - int(size * spec["at"]["held_out"]), context)
    return found or Measured([], {"seconds": 0.0})


def bisect(spec: Spec, context: Context) -> Measured:
    """Tries numbers of training combinations until the smallest that is enough is known within `bisection.CLOSE`.

    The panel is that of the smallest number that was enough, or of the largest that was tried if none was.
    """
    size = build_space(spec["trial"]["world"]).size
    most = int((1 - spec["at"]["held_out"]) * size)
    # fewest that can use and connect every module, each combination adding at most K - 1 of them
    low = max(1, math.ceil((spec["at"]["modules"] - 1) / max(spec["at"]["at_most"] - 1, 1)) - 1)
    tried: dict[int, Measured] = {}

    def enough(n: int) -> bool:
        context.progress(min(len(tried) / expected_tries(low, most), 0.95), f"{n} of {size}")
        found = try_number(spec, n, Context())
        if found is None:
            return False  # an impossible split is not enough
        tried[n] = found
        return found.rows[0]["value"] > spec["options"]["threshold"]

    needed = smallest_enough(low, most, enough)
    facts = {"seconds": sum(one.facts["seconds"] for one in tried.values()), "needed": needed}
    if tried:
        facts |= panel_of(tried[needed or max(tried)].facts)
    return Measured([row for one in tried.values() for row in one.rows], facts)


def try_number(spec: Spec, n: int, context: Context) -> Measured | None:
    """Trains on `n` combinations: the reading, the seconds that it took and its panel; None without such a split."""
    data = spec["trial"]
    size = build_space(data["world"]).size
    trial = Trial.from_json({**data, "support": {**data["support"], "held_out": (size - n + 0.5) / size}})
    facts = measure_trial(trial, context).facts
    if "impossible" in facts:
        return None
    diverged = facts["diverged_at"] is not None
    reading = {
        "reading": "tried",
        "metric": tasks[data["world"]["name"]].metrics[0].name,
        "threshold": spec["options"]["threshold"],
        "trained_on": facts["trained_on"],
        "value": float("nan") if diverged else facts["held_out"],
        "trained_score": None if diverged else facts["trained"],
    }
    return Measured([reading], {"seconds": facts["seconds"]} | panel_of(facts))


def panel_of(facts: dict[str, Any]) -> dict[str, Any]:
    """The panel alone; nothing of a net that diverged, or of a space too large for one."""
    return {"panel": facts["panel"]} if "panel" in facts else {}


def refuse(settings: Settings) -> None:
    for m in settings["modules"] if isinstance(settings["modules"], list) else []:
        require_int("modules", m, at_least=3)
    if settings["options.method"] not in METHODS:
        raise unknown("method", settings["options.method"], METHODS)
    if not 0 < settings["options.threshold"] < 1:
        raise UserError(f"threshold={settings['options.threshold']} must lie between 0 and 1")


def label(spec: Spec) -> str:
    at = spec["at"]
    share = f", {at['held_out']:g} held out" if spec["options"]["method"] == "grid" else ""
    return f"{at['net']}, M={at['modules']}, K={at['at_most']}{share}, seed {spec['seed']}"


def summary(record: Record) -> str:
    if not record.rows:
        return "impossible: no such split"
    at = record.cell.spec["at"]
    took = f"({len(record.rows)} nets, {record.facts['seconds']:.0f} s)"
    passed = [row["trained_on"] for row in record.rows if row["value"] > row["threshold"]]
    if not passed:
        return f"no number was enough: {max(row['value'] for row in record.rows):.3f} {took}"
    return f"{min(passed)} of {Subsets(at['modules'], at['at_most']).size} were enough {took}"
