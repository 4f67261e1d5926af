"""The search of `data-efficiency`: the fewest pictures that are enough, of one net at one size."""

from __future__ import annotations

import functools
import math
from typing import Any

from ...context import Context, Measured
from ...lab.bisection import expected_tries, smallest_enough
from ...lab.cells import Spec
from ...supports.regions import donut_range
from ...trials import Trial
from ...trials import measure as measure_trial
from ...trials.trial import build_space
from .data_efficiency_readings import CRITERIA, meets

MOST_STORED = 16  # pictures of each place, at most


def measure(spec: Spec, context: Context) -> Measured:
    """Two bisections over the number of bumps, one for each criterion, that share what they tried.

    Beyond one picture of every place around the hole, real centers give more of the same places (`stored`); as many
    are counted as there are. The panel is that of the trial with the most pictures.
    """
    world = spec["trial"]["world"]
    size, (low, high) = world["space"]["size"], donut_range(build_space(world), None, None)
    around = size**2 - (high - low + 1) ** 2
    counted = world["centers"] == "real"  # beyond one picture of each place come others of the same places
    most = around * MOST_STORED if counted else around
    stripes = 2 * size if spec["options"]["with_stripes"] else 0
    found: dict[int, dict[str, float]] = {}
    panels: dict[int, dict[str, Any]] = {}  # none where a net diverged, or where there are too many combinations
    facts: dict[str, Any] = {"seconds": 0.0, "diverged_at": None}

    def read(bumps: int, criterion: str) -> bool:
        if bumps not in found:
            context.progress(min(len(found) / (1.5 * expected_tries(1, most)), 0.95), f"{bumps} of {most} bumps")
            support = {**spec["trial"]["support"], "bumps": min(bumps, around), "stripes": stripes}
            of = {**world, "stored": max(math.ceil(bumps / around), 1)} if counted else world
            one = measure_trial(Trial.from_json({**spec["trial"], "world": of, "support": support}), Context())
            facts["seconds"] += one.facts["seconds"]
            rows = [row for row in one.rows if row["reading"] == "score" and row["stream"] == "held_out"]
            found[bumps] = {row["metric"]: row["value"] for row in rows}
            panels[bumps] = {name: value for name, value in one.facts.items() if name == "panel"}
            if bumps == most and "drawings" in one.facts:
                facts["drawings"] = one.facts["drawings"]
        return meets(criterion, found[bumps].get(criterion, math.nan))

    for criterion in CRITERIA:
        if stripes and read(0, criterion):
            facts[criterion] = stripes  # stripes alone are enough
            continue
        bumps = smallest_enough(1, most, functools.partial(read, criterion=criterion))
        facts[criterion] = None if bumps is None else bumps + stripes
    rows = [
        {"reading": "tried", "metric": metric, "bumps": bumps, "pictures": bumps + stripes}
        | {"value": values.get(metric, math.nan)}
        for bumps, values in sorted(found.items())
        for metric in CRITERIA
    ]
    return Measured(rows, facts | panels[max(panels)])
