"""scaling-data: rises are read where they were planted, and the paper's grid is the published one."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from recombine.lab.driver.run import run_study
from recombine.lab.study_table import PreconditionFailed, StudyTable
from recombine.studies import registry
from recombine.studies.redhardt2025 import scaling_data_readings as read


def scores(points: list[dict], metric: str = "r2") -> StudyTable:
    """A table of final held-out scores as studies store them."""
    common = {"reading": "score", "metric": metric, "stream": "held_out", "group": "", "seed": 0, "asked": True}
    return StudyTable(pandas.DataFrame([common | point for point in points]), metric)


def test_rises_are_read_where_they_were_planted():
    def score(m, k, share):
        return 0.5 + 0.02 * m + 0.03 * k - 0.4 * share

    grid = [(m, k, share) for m in (8, 16) for k in (2, 3, 4) for share in (0.25, 0.5, 0.9)]
    table = scores([{"modules": m, "at_most": k, "held_out": h, "value": score(m, k, h)} for m, k, h in grid])
    assert read.coverage_rise(table) == {f"M={m}, K={k}": pytest.approx(0.4 * 0.65) for m in (8, 16) for k in (2, 3, 4)}
    assert read.rise_with_modules(table) == pytest.approx(0.16)
    assert read.rise_with_active(table) == pytest.approx(0.06)
    assert read.largest_fall(table) == pytest.approx(-0.1)  # every step rises by at least that
    with pytest.raises(PreconditionFailed, match="only one value"):
        read.rise_with_modules(table.where(modules=8))
    # no composition anywhere: scores far below zero do not make a rise
    table.frame["value"] = np.linspace(-5, -1, len(table))
    assert set(read.coverage_rise(table).values()) == {0.0}


def test_the_rise_is_that_of_a_line_through_every_share_and_not_of_the_ends():
    values = {0.25: 0.8, 0.5: 0.2, 0.75: 0.2, 0.9: 0.2}
    rows = [{"modules": 8, "at_most": 2, "held_out": share, "value": value} for share, value in values.items()]
    (rise,) = read.coverage_rise(scores(rows)).values()
    assert isinstance(rise, float) and 0.45 < rise < 0.6


def test_settings_are_read_apart_and_only_where_every_net_has_learned():
    rows = [
        {"setting": setting, "modules": 8, "at_most": 2, "held_out": share, "value": value, "cell": f"{setting}{share}"}
        for setting, values in (("mlp", (0.9, 0.5)), ("transformer", (0.9, 0.7)))
        for share, value in zip((0.25, 0.75), values, strict=True)
    ]
    assert read.coverage_rise(scores(rows), "mlp")["M=8, K=2"] == pytest.approx(0.4)
    assert read.coverage_rise(scores(rows), "transformer")["M=8, K=2"] == pytest.approx(0.2)
    trained = [row | {"stream": "test", "asked": False, "value": 0.3} for row in rows]
    with pytest.raises(PreconditionFailed, match=r"a net of transformer has not learned: 0\.30"):
        read.coverage_rise(scores([*rows, *trained]), "transformer")


def test_what_is_right_without_knowing_the_combination_is_no_composition():
    rows = [
        {"cell": str(i), "held_out": share, "modules": 6, "at_most": 2, "value": value}
        for i, (share, value) in enumerate([(0.25, 0.6), (0.75, 0.3)])
    ]
    floors = [row | {"stream": "blind", "value": floor} for row, floor in zip(rows, (0.5, 0.2), strict=True)]
    (rise,) = read.coverage_rise(scores(rows, "episode_accuracy")).values()
    (above,) = read.coverage_rise(scores([*rows, *floors], "episode_accuracy")).values()
    assert rise == pytest.approx(0.3)
    assert above == pytest.approx(0.1 / 0.5 - 0.1 / 0.8)  # shares of what there is to learn


def test_an_impossible_split_is_recorded_and_not_a_failure():
    changes = {"setting": ["mlp"], "modules": [8], "at_most": [2], "held_out": [0.98]}
    result = run_study(registry["scaling-data"], "smoke", seeds=1, changes=changes, quiet=True)
    assert not result.failures and not result.records[0].rows
    assert "compositional and connected" in result.records[0].facts["impossible"]
    assert {verdict.outcome for verdict in result.verdicts} == {"open"}
