"""Trials of audit-transfer: a net is trained, and each unseen combination scored by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...audit.prior import risk_table
from ...keys import generator, key_for
from ...lab.cells import Spec
from ...lab.record import Record
from ...lab.summaries import summary_of_trial
from ...training import Items, Trained
from ...trials import Context, Measured, Trial
from ...trials.keeping import per_combination
from .families import measure_own

QUANTILE = 0.05
SCORED = 256  # combinations of a side


def measure(spec: Spec, context: Context) -> Measured:
    """Trains, and scores unseen combinations one by one, with what the audit knows about each."""
    given, metric, family = spec["options"]["told"], spec["options"]["metric"], spec["at"]["family"]

    def scored(run: Trained, asked: Items | None) -> Measured:
        seed, support = run.members[0].seed, run.support
        rng = generator(key_for("audit-transfer", seed))
        trained = support.train.combinations()
        sides = [rows[rng.permutation(len(rows))[:SCORED]] for rows in (trained, support.held_out.combinations())]
        known, scores = (per_combination(run.task, run.nets[0], rows, metric, seed) for rows in sides)
        if given == "shuffled":
            scores = rng.permutation(scores)
        low, median = float(np.quantile(known, QUANTILE)), float(np.median(known))
        table = risk_table(run.task.space, trained, sides[1], scores < low, family)
        shared = {"reading": "combination", "metric": metric, "trained_low": low, "trained_median": median}
        rows = [
            shared | dict(zip(table["features"], values, strict=True)) | {"value": float(score)}
            for values, score in zip(table["rows"], scores, strict=True)
        ]
        facts: dict[str, Any] = {"unseen": float(scores.mean()), "failing": float(np.mean(scores < low))}
        facts |= {"trained_median": median}
        return Measured(rows, facts | ({"risk": table} if given == "truth" else {}))

    return measure_own(Trial.from_json(spec["trial"]), context, scored)


def summary(record: Record) -> str:
    facts = record.facts
    if "failing" not in facts:
        return summary_of_trial(record, "")
    return (
        f"trained {facts['trained_median']:.3f}, held out {facts['unseen']:.3f}, "
        f"{facts['failing']:.0%} of the unseen fail ({facts['seconds']:.0f} s)"
    )
