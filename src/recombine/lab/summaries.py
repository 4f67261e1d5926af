"""A finished trial in a few words, from the facts of its record."""

from __future__ import annotations

from .record import Record

NAMES = {"r2": "R2", "episode_accuracy": "episodes right"}


def summary_of_trial(record: Record, metric: str) -> str:
    """What was impossible, diverged, or scored; an error is one minus the skill that the facts have."""
    facts = record.facts
    if "impossible" in facts:
        return f"impossible: {facts['impossible']}"
    if facts.get("diverged_at") is not None:
        return f"diverged at step {facts['diverged_at']}"
    known = [facts[name] for name in ("trained", "held_out") if facts.get(name) is not None]
    if len(known) < 2:
        return ""
    seen, unseen = (1 - value if metric == "error" else value for value in known)
    took = f" ({facts['seconds']:.0f} s)" if isinstance(facts.get("seconds"), (int, float)) else ""
    return f"{NAMES.get(metric, metric)} trained {seen:.3f}, held out {unseen:.3f}{took}"
