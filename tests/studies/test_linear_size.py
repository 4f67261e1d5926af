"""linear-size: laws of written nets, least widths and how they grow, and training from written weights."""

from __future__ import annotations

import math

import numpy as np
import pandas
import pytest

from recombine.context import Context, Measured
from recombine.lab.study_table import Censored, PreconditionFailed, StudyTable
from recombine.studies import registry
from recombine.studies.redhardt2025 import linear_size_readings as read
from recombine.studies.redhardt2025 import linear_size_search as search
from recombine.studies.redhardt2025 import linear_size_written as written

STUDY = registry["linear-size"]


def specs(part: str, scale: str = "smoke", changes: dict | None = None) -> list[dict]:
    found = STUDY.grid(STUDY.settings(scale, changes), 0)
    return [spec for spec in found if spec["at"]["part"] == part]


def values(found: Measured) -> dict[str, float]:
    return {row["metric"]: row["value"] for row in found.rows}


def widths(needed: dict[tuple[str, int, int], int | None], most: int = 256) -> StudyTable:
    """What searches found: None where no width was enough."""
    rows = []
    for (taught, k, m), width in needed.items():
        shared = {"seed": 0, "part": "learned", "taught": taught, "at_most": k, "modules": m, "stream": "trained"}
        shared |= {"reading": "tried", "metric": "r2", "threshold": 0.9}
        rows.append(shared | {"width": most, "value": 0.95 if width else 0.4})
        rows += [shared | {"width": width, "value": 0.92}, shared | {"width": width - 1, "value": 0.8}] if width else []
    return StudyTable(pandas.DataFrame(rows), "r2")


def test_written_nets_obey_their_laws_and_a_net_for_another_teacher_does_not():
    spec = max(specs("written"), key=lambda spec: (spec["at"]["modules"], spec["at"]["pieces"]))
    right = values(written.measure_written(spec, Context()))
    assert right["of_bound"] <= 1 and right["units"] == 2 * 8 * 8 * spec["at"]["pieces"] + 2 * 8
    wrong = values(written.measure_written(spec | {"options": spec["options"] | {"judged_by": "another"}}, Context()))
    assert wrong["of_bound"] > 1 and wrong["rms"] > 10 * right["rms"] and wrong["units"] == right["units"]


def test_where_nothing_is_shared_every_combination_has_units_of_its_own():
    spec = specs("written", changes=STUDY.control("lookup"))[0]
    found = values(written.measure_written(spec, Context()))
    # 6 combinations of at most two of three modules; each takes the net of a family of two modules
    assert found == {"units": 6 * (2 * 8 * 8 * spec["at"]["pieces"] + 2 * 8)}


def test_twins_agree_inside_blocks_and_differ_across():
    (spec,) = specs("twins")
    found = values(written.measure_twins(spec, Context()))
    assert found["inside/largest"] < 1e-5 and found["across/largest"] > 0.5
    one = values(written.measure_twins(spec | {"options": spec["options"] | {"blocks": "one"}}, Context()))
    assert one["across/largest"] < 1e-5
    other = values(written.measure_twins(spec | {"options": spec["options"] | {"blocks": "interleaved"}}, Context()))
    assert other["inside/largest"] > 0.1


@pytest.mark.parametrize("enough_from", [7, 40, 200, 1000])
def test_the_search_finds_the_least_width(monkeypatch, enough_from):
    spec = specs("learned", "laptop")[0]
    asked = []

    def pretend(trial, context):
        width = trial.stages[0]["net"]["width"]
        asked.append(width)
        score = 0.95 if width >= enough_from else 0.5
        return Measured([], {"trained": score, "held_out": score - 0.1, "seconds": 1.0, "panel": {"score": [width]}})

    monkeypatch.setattr(search, "measure_trial", pretend)
    found = search.measure_learned(spec, Context())
    assert found.facts["seconds"] == len(asked) == len(set(asked))
    if enough_from > 256:
        assert asked == [256] and found.facts["needed"] is None
    else:
        assert enough_from <= found.facts["needed"] <= max(enough_from + 1, 1.2 * enough_from)
    assert found.facts["panel"] == {"score": [found.facts["needed"] or 256]}
    table = StudyTable(pandas.DataFrame([row | {"seed": 0} | spec["at"] for row in found.rows]), "r2")
    needed = read.least_widths(table, "composed").needed.item()
    assert needed == found.facts["needed"] or (math.isnan(needed) and found.facts["needed"] is None)


def test_exponents_are_those_of_the_widths_that_were_enough():
    table = widths({("composed", 2, m): 10 * m for m in (6, 12, 24)} | {("composed", 3, m): 2 * m**2 for m in (4, 8)})
    assert read.learned_exponent(table) == pytest.approx({"K = 2": 1.0, "K = 3": 2.0}, abs=1e-6)
    lost = widths({("composed", 2, 6): 32, ("composed", 2, 12): 64, ("composed", 2, 24): None})
    assert read.learned_exponent(lost) == {"K = 2": Censored(low=pytest.approx(1.5), high=math.inf)}
    with pytest.raises(PreconditionFailed, match="no width was enough for the smallest family, K=2"):
        read.learned_exponent(widths({("composed", 2, 6): None, ("composed", 2, 12): None}))
    with pytest.raises(PreconditionFailed, match="an exponent takes two sizes"):
        read.learned_exponent(widths({("composed", 2, 6): 30}))


def test_worlds_are_compared_over_the_same_sizes():
    # beyond M = 12 nothing is known of the one, and the other bends
    composed = {("composed", 2, 6): 20, ("composed", 2, 12): 40, ("composed", 2, 24): 41}
    whole = widths(composed | {("apart", 2, 6): 40, ("apart", 2, 12): 160})
    assert read.below_lookup(whole) == {"K = 2": pytest.approx(1.0)}
    lost = widths(composed | {("apart", 2, 6): 64, ("apart", 2, 12): None, ("apart", 2, 24): None})
    assert read.below_lookup(lost) == {"K = 2": Censored(low=pytest.approx(1.0), high=math.inf)}
    with pytest.raises(PreconditionFailed, match="no width was looked for where modules are apart"):
        read.below_lookup(widths(composed))


def test_training_begins_at_the_weights_that_were_written():
    (spec,) = specs("start", changes={"steps": 1, "learning_rate": 0.0, "start:recipe.learning_rate": 0.0})
    found = written.measure_start(spec, Context())
    by = {
        (row["when"], row["reading"], row.get("stream"), row["group"], row["layer"]): row["value"]
        for row in found.rows
        if row["metric"] == "r2"
    }
    for (when, *rest), value in by.items():
        assert value == pytest.approx(by["before" if when == "after" else "after", *rest], abs=1e-4)
    assert by["before", "score", "held_out", "", ""] > 0.5
    assert by["before", "decodability", "held_out", "", "layer1"] > 0.99


def test_a_cell_says_what_it_found_and_where_it_is():
    spec = specs("learned", "laptop")[0]
    assert search.label(spec) == "learned, composed, at_most=2, modules=6, seed 0"
    assert np.isfinite(STUDY.cost(spec))
