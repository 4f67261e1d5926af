"""phase: a map of coverage and width, and the line where composition begins."""

from __future__ import annotations

import pytest
from paper_scale import scores_table

from recombine.charts.heat_chart import _frontier
from recombine.lab.study_table import PreconditionFailed
from recombine.studies import registry
from recombine.studies.redhardt2025 import phase_readings as read

SCORES = {(16, 0.9): 0.1, (16, 0.25): 0.4, (64, 0.9): 0.3, (64, 0.25): 0.85}


def planted_map():
    return scores_table([{"width": w, "held_out": h, "value": v} for (w, h), v in SCORES.items()])


def test_it_reads_its_map():
    table = planted_map()
    assert read.best_at_lowest(table) == pytest.approx(0.3)
    assert read.spread_at_highest(table) == pytest.approx(0.45)
    assert read.coverage_where_it_begins(table) == pytest.approx(0.75)


def test_a_map_with_holes_is_not_read():
    table = planted_map()
    with pytest.raises(PreconditionFailed, match="the map has holes: cells that were not run, diverged or are impossi"):
        read.grid_of(table[table.value > 0.1])
    with pytest.raises(PreconditionFailed, match="at least two coverages and two widths"):
        read.grid_of(table.where(width=16))


def test_where_composition_begins_nowhere_nothing_is_read():
    low = scores_table([{"width": w, "held_out": h, "value": 0.2} for w, h in SCORES])
    with pytest.raises(PreconditionFailed, match=r"the widest net never reaches 0\.8"):
        read.coverage_where_it_begins(low)


def test_it_draws_the_line_where_composition_begins():
    rows = [
        {"trained": f"{1 - h:g}", "width": w, "value": v, "low": v, "high": v}
        for (w, h), v in sorted(SCORES.items(), key=lambda item: -item[0][1])
    ]
    level, beside = _frontier(rows, "trained", "width", ["0.1", "0.75"], [64, 16], 0.8)
    assert level == beside == [{"trained": "0.75", "width": 64}]


def test_its_chart_is_the_map_with_the_least_trained_first():
    (figure,) = registry["phase"].figures(planted_map())
    rows = figure.spec["data"]["values"]
    assert [row["trained"] for row in rows] == ["10 %", "10 %", "75 %", "75 %"]
    assert {(row["width"], row["trained"]): row["value"] for row in rows}[64, "75 %"] == 0.85
    assert figure.title == "Where composition begins" and "nowhere" not in figure.caption
    low = scores_table([{"width": w, "held_out": h, "value": 0.2} for w, h in SCORES])
    assert registry["phase"].figures(low)[0].caption.endswith("It is reached nowhere here.")
