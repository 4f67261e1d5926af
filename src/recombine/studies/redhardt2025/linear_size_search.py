"""The search of linear-size: the least width at which a trained net has learned all that it was trained on."""

from __future__ import annotations

from typing import Any

from ...context import Context, Measured
from ...lab.bisection import expected_tries, smallest_enough
from ...lab.cells import Spec
from ...lab.record import Record
from ...trials import Trial
from ...trials import measure as measure_trial
from .linear_size_written import measure_start, measure_twins, measure_written


def measure_learned(spec: Spec, context: Context) -> Measured:
    """Tries widths until the least that is enough is known; the panel is that of it, or of the widest if none was.

    What has to be learned is the score on trained combinations: where every combination has a teacher of its own,
    nothing else can be learned.
    """
    trial, options = spec["trial"], spec["options"]
    low, most = options["too_narrow"], options["widest"]
    tried: dict[int, Measured] = {}

    def enough(width: int) -> bool:
        context.progress(min(len(tried) / expected_tries(low, most), 0.95), f"width {width}")
        (stage,) = trial["stages"]
        changed = trial | {"stages": [stage | {"net": stage["net"] | {"width": width}}]}
        tried[width] = found = measure_trial(Trial.from_json(changed), Context())
        return (found.facts.get("trained") or 0.0) > options["threshold"]

    needed = smallest_enough(low, most, enough, close=options["close"])
    streams, asked = ("trained", "held_out"), options["threshold"]
    rows = [_row(width, stream, asked, found) for width, found in tried.items() for stream in streams]
    facts = {"seconds": sum(one.facts["seconds"] for one in tried.values()), "needed": needed}
    shown = tried[needed or most].facts
    return Measured(rows, facts | {name: shown[name] for name in ("panel",) if name in shown})


def _row(width: int, stream: str, threshold: float, found: Measured) -> dict[str, Any]:
    value = found.facts.get(stream)
    shared = {"reading": "tried", "metric": "r2", "stream": stream, "width": width, "threshold": threshold}
    return shared | {"value": float("nan") if value is None else value}


PARTS = {
    "written": measure_written,
    "twins": measure_twins,
    "learned": measure_learned,
    "start": measure_start,
}


def measure(spec: Spec, context: Context) -> Measured:
    """One cell: which part of the study it belongs to, its options say."""
    return PARTS[spec["options"]["part"]](spec, context)


def label(spec: Spec) -> str:
    words = [str(v) if isinstance(v, str) else f"{axis}={v}" for axis, v in spec["at"].items()]
    return ", ".join([*words, f"seed {spec['seed']}"])


def summary(record: Record) -> str:
    """A finished cell in a few words."""
    part = record.cell.spec["at"]["part"]
    if part == "learned":
        needed, widths = record.facts["needed"], len(record.rows) // 2
        took = f"({widths} nets, {record.facts['seconds']:.0f} s)"
        return f"width {needed} is enough {took}" if needed else f"no width was enough {took}"
    found = [f"{one['metric']} {one['value']:.3g}" for one in record.rows if one["reading"] in ("written", "twins")]
    scores = [f"{one['when']} {one['value']:.3f}" for one in record.rows if one.get("stream") == "held_out"]
    return ", ".join(found or scores[:2]) or "no numbers"
